package transform_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/internal/testkit"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
	"dealflow/transform"
)

// leastUnderstood is, for each text column, the least share in percent of texts in a simulated market that the parsers
// must understand: their status is not UNPARSED. The market corrupts about one text in a hundred, and more of the times
// of pricing.
var leastUnderstood = map[string]float64{
	"bond_priced_deals.pricing_time": 95, "bond_priced_deals.cpn": 97, "bond_priced_deals.non_bullet": 97, "bond_priced_deals.spread": 97,
	"bond_priced_deals.yield": 97, "bond_priced_deals.gov": 97, "bond_priced_deals.nip": 97, "bond_priced_deals.swap": 97,
	"bond_priced_deals.premium_nip":     97,
	"bond_priced_price_evolution.value": 97,
	"bond_expected_tranches.volume":     97, "bond_expected_tranches.structure": 97, "bond_expected_tranches.price_evolution": 97,
	"bond_expected_tranches.books":                  97,
	"loan_priced_deals.borrower_leveraged_multiple": 97,
	"loan_priced_tranches.maturity":                 97, "loan_priced_tranches.margin": 97, "loan_priced_tranches.oid": 97,
	"loan_expected_tranches.volume": 97, "loan_expected_tranches.maturity": 97, "loan_expected_tranches.margin": 97,
	"loan_expected_tranches.oid":      97,
	"bond_priced_deals.rating_moodys": 97, "bond_priced_deals.rating_standard_and_poors": 97, "bond_priced_deals.rating_fitch": 97,
	"bond_expected_tranches.ratings_moodys": 99, "bond_expected_tranches.ratings_standard_and_poors": 99,
	"bond_expected_tranches.ratings_fitch":      99,
	"loan_priced_deals.borrower_ratings_moodys": 99, "loan_priced_deals.borrower_ratings_standard_and_poors": 99,
	"loan_priced_deals.borrower_ratings_fitch": 99,
	"loan_priced_tranches.rating_moodys":       99, "loan_priced_tranches.rating_standard_and_poors": 99, "loan_priced_tranches.rating_fitch": 99,
}

// leastTexts is the least number of texts for which a share is meaningful.
const leastTexts = 50

// coverage counts the statuses of texts, by table and column.
type coverage map[string]map[string]int

// TestCoverage flattens simulated markets. Each text has a status, each row has the parsers' version, and the parsers
// understand enough texts of each column. With -v it prints the shares.
func TestCoverage(t *testing.T) {
	found := coverage{}
	for _, feed := range api.Feeds() {
		found.flatten(t, feed)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		texts, share := found.understood(name)
		t.Log(found.line(name))
		if least, known := leastUnderstood[name]; !known || texts < leastTexts || share < least {
			t.Errorf("%s: understood %.1f %% of %d texts, want %.0f %% of at least %d", name, share, texts, least, leastTexts)
		}
	}
	if len(found) != len(leastUnderstood) {
		t.Errorf("got texts in %d columns, want %d", len(found), len(leastUnderstood))
	}
}

// flatten reads a feed of a simulated market: once for priced deals, day by day for expected deals.
func (c coverage) flatten(t *testing.T, feed api.Feed) {
	t.Helper()
	config, days := sim.Config{Seed: 7, Years: 6, Scale: 0.06, Epoch: time.Date(2025, time.March, 3, 17, 0, 0, 0, time.UTC)}, 1
	if feed.Kind == api.Expected {
		config.Years, config.Scale, days = 1, 0.4, 30
	}
	market := sim.New(config)
	f := transform.NewFlattener(feed, mustBase(t, samplesBase))
	batches := transform.NewHistoryBatches(testkit.Allocator(t), feed)
	defer batches.Release()
	for range days {
		for _, deal := range market.Deals(feed) {
			if _, err := f.Read(deal.Body); err != nil {
				t.Fatalf("%s: %v\n%s", feed, err, deal.Body)
			}
			batches.Append(f, deal.ID, 1)
		}
		if _, err := market.Advance(24 * time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	for i := range batches.Tables() {
		batch := batches.Take(i)
		c.count(t, batch)
		batch.Record.Release()
	}
}

// count adds the statuses of a table's rows.
func (c coverage) count(t *testing.T, batch lake.Batch) {
	t.Helper()
	column := func(name string) arrow.Array {
		return batch.Record.Column(batch.Record.Schema().FieldIndices(name)[0])
	}
	for _, helper := range batch.Table.Helpers {
		switch {
		case helper.IsParserVersion():
			for row, version := range column(helper.Name).(*array.Int32).Int32Values() {
				if version != lake.ParserVersion {
					t.Fatalf("%s: row %d has %s %d, want %d", batch.Table.Name, row, helper.Name, version, lake.ParserVersion)
				}
			}
		case helper.Parse.Part == lake.PartStatus:
			name := batch.Table.Name + "." + helper.Parse.From
			c.add(t, name, column(helper.Parse.From), column(helper.Name))
		}
	}
}

// add counts the texts of one column by their status.
func (c coverage) add(t *testing.T, name string, texts, statuses arrow.Array) {
	t.Helper()
	if c[name] == nil {
		c[name] = map[string]int{}
	}
	for row := range texts.Len() {
		if texts.IsNull(row) != statuses.IsNull(row) {
			t.Fatalf("%s: text %q has status %q", name, texts.ValueStr(row), statuses.ValueStr(row))
		}
		if !texts.IsNull(row) {
			c[name][statuses.ValueStr(row)]++
		}
	}
}

// understood is the number of texts of a column and the share, in percent, that are not UNPARSED.
func (c coverage) understood(name string) (texts int, share float64) {
	for _, n := range c[name] {
		texts += n
	}
	return texts, 100 * float64(texts-c[name][lake.ParsedNot]) / float64(texts)
}

// line is the row of a column in the printed table.
func (c coverage) line(name string) string {
	texts, share := c.understood(name)
	var b strings.Builder
	fmt.Fprintf(&b, "%-46s %6d texts %5.1f %% understood", name, texts, share)
	for _, status := range lake.ParseStatuses() {
		if n := c[name][status]; n > 0 {
			fmt.Fprintf(&b, "  %s %.1f", status, 100*float64(n)/float64(texts))
		}
	}
	return b.String()
}
