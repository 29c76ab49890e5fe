package analyses_test

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/testkit/oracle"
	"dealflow/internal/testkit/world"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/transform"
	"dealflow/transform/text"
)

// history is what a lake must know about a market that was observed night by night. It is computed from the market's
// own state, with loops and maps, and without a lake.
type history struct {
	deals                   map[api.Feed]map[int64]*deal
	nights                  []observation
	bankNames, companyNames aliases

	oracle *oracle.Oracle
	tables map[string]oracle.Table
}

func newHistory(tr *world.Truth) *history {
	h := &history{deals: map[api.Feed]map[int64]*deal{}, oracle: tr.Oracle, tables: map[string]oracle.Table{}}
	for _, table := range tr.Oracle.Tables() {
		h.tables[table.Name] = table
	}
	return h
}

// follow says of all expected deals' tranches which they are.
func (h *history) follow() {
	for _, deals := range h.deals {
		for _, d := range deals {
			d.follow()
		}
	}
}

// observation is a night: when it became known, and of which feeds.
type observation struct {
	at    time.Time
	feeds []api.Feed
}

// deal is one deal and all its versions, in their order.
type deal struct {
	feed     api.Feed
	id       int64
	versions []*version
}

// version is one version of a deal; a removal has no content.
type version struct {
	number         int64
	change, reason string
	at             time.Time // when it became known
	form           string    // its content, independent of spelling
	tables         map[string][]fact
	uids           []int64 // uids of an expected deal's tranches
}

// observe adds the market's state of a night: of each feed the deals that can be known.
func (h *history) observe(t testing.TB, url string, at time.Time, feeds []api.Feed, visible func(api.Feed) []serve.Record) {
	t.Helper()
	h.nights = append(h.nights, observation{at, feeds})
	base, err := api.ParseBase(url)
	if err != nil {
		t.Fatal(err)
	}
	canonical := transform.NewCanonicalizer(base)
	for _, feed := range feeds {
		if h.deals[feed] == nil {
			h.deals[feed] = map[int64]*deal{}
		}
		there := map[int64]bool{}
		for _, record := range visible(feed) {
			there[record.ID] = true
			form, err := canonical.Form(record.Body)
			if err != nil {
				t.Fatal(err)
			}
			if v := h.see(feed, record.ID, at, string(form)); v != nil {
				v.tables = h.flatten(t, url, feed, record.Body)
			}
		}
		for id, d := range h.deals[feed] {
			if !there[id] && d.last().change != "removed" {
				d.add(&version{change: "removed", reason: reasonOf(d.last()), at: at})
			}
		}
	}
}

// see adds a record, and returns its version if it is a new one.
func (h *history) see(feed api.Feed, id int64, at time.Time, form string) *version {
	d := h.deals[feed][id]
	v := &version{change: "changed", at: at, form: form}
	switch {
	case d == nil:
		d = &deal{feed: feed, id: id}
		h.deals[feed][id] = d
		v.change = "added"
	case d.last().change == "removed":
		v.change = "reappeared"
	case d.last().form == form:
		return nil
	}
	d.add(v)
	return v
}

func (d *deal) last() *version { return d.versions[len(d.versions)-1] }

func (d *deal) add(v *version) {
	v.number = int64(len(d.versions)) + 1
	d.versions = append(d.versions, v)
}

// reasonOf returns the reason for a deal's removal. v is the deal's last version before it.
func reasonOf(v *version) string {
	for table, rows := range v.tables {
		for _, row := range rows {
			if strings.Contains(table, "_expected_") && row["priced_deal_href"] != nil {
				return "priced"
			}
		}
	}
	return "gone"
}

// flatten returns a record's rows, with the parsers' readings of their texts.
func (h *history) flatten(t testing.TB, url string, feed api.Feed, body []byte) map[string][]fact {
	t.Helper()
	rows, err := h.oracle.Rows(feed, url, body)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]fact{}
	for _, table := range lake.FeedTables(feed) {
		for _, row := range rows[table.Name] {
			f := typed(row, h.tables[table.Name])
			deal := f
			if table.DealsTable() != table {
				deal = all[table.DealsTable().Name][0]
			}
			readTexts(table, f, deal)
			all[table.Name] = append(all[table.Name], f)
		}
	}
	return all
}

// readTexts fills the helper columns of a row. deal is the row of its deal. The parsers have tests of their own.
func readTexts(table *lake.Table, row, deal fact) {
	for i := range table.Helpers {
		helper := &table.Helpers[i]
		if helper.IsParserVersion() {
			row[helper.Name] = int64(lake.ParserVersion)
			continue
		}
		row[helper.Name] = nil
		if helper.IsComposite() {
			row[helper.Name] = compositeOf(helper, row)
			continue
		}
		if raw, ok := row[helper.Parse.From].(string); ok {
			with := row
			if helper.Parse.OfDeal {
				with = deal
			}
			beside := besideOf(with[helper.Parse.With])
			normal, _ := text.Normalise(nil, []byte(raw))
			var reading text.Reading
			text.Parser(helper.Parse.Parser)(normal, beside, &reading)
			row[helper.Name] = partOf(&reading, helper.Parse.Part)
		}
	}
}

// besideOf returns the currency or the day that a text's parser needs.
func besideOf(value any) (b text.Siblings) {
	with, ok := value.(string)
	if !ok {
		return b
	}
	if day, err := time.Parse(time.DateOnly, with); err == nil {
		b.Day, b.Dated = day.Unix()/86400, true
		return b
	}
	b.Currency = []byte(with)
	return b
}

// partOf returns a column's part of a reading.
func partOf(r *text.Reading, part string) any {
	switch part {
	case lake.PartStatus:
		return word(r.Status)
	case lake.PartBenchmark, lake.PartIndex:
		return word(r.Benchmark)
	case lake.PartBenchmarkIndex:
		return word(r.Index)
	case lake.PartStage:
		return word(r.Stage)
	case lake.PartQuality:
		return word(r.Quality)
	case lake.PartBasis:
		return word(r.Basis)
	case lake.PartNotch:
		if r.Notch.Set {
			return r.Notch.Value
		}
	case lake.PartGrade:
		return word(r.Grade)
	case lake.PartTenorYears:
		return number(r.Tenor)
	case lake.PartExtendedYears:
		return number(r.Extended)
	case lake.PartDate:
		if r.Date.Set {
			return time.Unix(86_400*r.Date.Value, 0).UTC().Format(time.DateOnly)
		}
	case lake.PartMonth:
		if r.Month.Set {
			return r.Month.Value
		}
	case lake.PartCurrency:
		return word(r.Currency)
	case lake.PartBP, lake.PartPct, lake.PartAmount, lake.PartPrice:
		return number(r.Main.Point)
	case lake.PartLoBP, lake.PartLoPct, lake.PartLo:
		return number(r.Main.Lo)
	case lake.PartHiBP, lake.PartHiPct, lake.PartHi:
		return number(r.Main.Hi)
	case lake.PartYieldLoPct:
		return number(r.Yield.Lo)
	case lake.PartYieldHiPct:
		return number(r.Yield.Hi)
	case lake.PartTotal:
		return number(r.Total.Point)
	case lake.PartYear:
		if r.Year.Set {
			return r.Year.Value
		}
	case lake.PartInstant:
		if r.Instant.Set {
			return time.UnixMicro(r.Instant.Value).UTC().Format(instantForm)
		}
	}
	return nil // a part that no analysis reads
}

// compositeOf returns a column of a composite of ratings, which were read before it.
func compositeOf(helper *lake.Column, row fact) any {
	var notches [3]text.Integer
	unread := false
	for i, name := range lake.RatingColumns(helper.Parse.From) {
		notches[i].Value, notches[i].Set = row[name+"_"+lake.PartNotch].(int64)
		unread = unread || row[name] != nil && !notches[i].Set && row[name+"_"+lake.PartStatus] != lake.ParsedNoNumber
	}
	composite := text.CompositeOf(notches, unread, nil)
	switch helper.Parse.Part {
	case lake.PartCompositeNotch:
		if composite.Notch.Set {
			return composite.Notch.Value
		}
	case lake.PartCompositeGrade:
		return word(composite.Grade)
	case lake.PartIsInvestment:
		if composite.IsInvestment != text.Unknown {
			return composite.IsInvestment == text.Yes
		}
	}
	return nil // a part that no analysis reads
}

func word(text []byte) any {
	if text == nil {
		return nil
	}
	return string(text)
}

func number(n text.Number) any {
	if !n.Set {
		return nil
	}
	return new(big.Rat).SetFrac(n.Millionths.BigInt(), big.NewInt(1_000_000))
}

// view is a history as it was known at an instant.
type view struct {
	*history
	at time.Time
}

// known is a deal that exists, as known at an instant.
type known struct {
	*deal
	now   *version
	first time.Time // when it first became known
	left  bool      // it was there when its feed was first read
}

// clock is the last instant at which the lake learned something about the source.
func (v view) clock() (at time.Time) {
	for _, night := range v.nights {
		if !night.at.After(v.at) {
			at = night.at
		}
	}
	return at
}

func (v view) today() string { return v.clock().Format(time.DateOnly) }

// versions returns the known versions of a deal.
func (v view) versions(d *deal) []*version {
	var all []*version
	for _, version := range d.versions {
		if !version.at.After(v.at) {
			all = append(all, version)
		}
	}
	return all
}

// ever lists the deals of a service and kind that were ever known, by market and id.
func (v view) ever(service api.Service, kind api.Kind) (all []known) {
	for feed, deals := range v.deals {
		if feed.Service != service || feed.Kind != kind {
			continue
		}
		for _, d := range deals {
			if versions := v.versions(d); len(versions) > 0 {
				first := versions[0].at
				all = append(all, known{d, versions[len(versions)-1], first, first.Equal(v.began(feed))})
			}
		}
	}
	slices.SortFunc(all, func(a, b known) int {
		return cmp.Or(cmp.Compare(a.feed.Market, b.feed.Market), cmp.Compare(a.id, b.id))
	})
	return all
}

// standing returns those deals of ever that have not been removed.
func (v view) standing(service api.Service, kind api.Kind) []known {
	return slices.DeleteFunc(v.ever(service, kind), func(k known) bool { return k.now.change == "removed" })
}

// began returns when a feed first knew a deal.
func (v view) began(feed api.Feed) (began time.Time) {
	for _, d := range v.deals[feed] {
		if began.IsZero() || d.versions[0].at.Before(began) {
			began = d.versions[0].at
		}
	}
	return began
}

// table names one of the deal's tables: "deals", "tranches", …
func (d *deal) table(name string) string {
	return string(d.feed.Service) + "_" + string(d.feed.Kind) + "_" + name
}

// rows returns the rows of a version in one of the deal's tables.
func (d *deal) rows(v *version, table string) []fact { return v.tables[d.table(table)] }

// row returns the deal's own row.
func (k *known) row() fact { return k.rows(k.now, "deals")[0] }

// name is the key of the deal in an answer.
func (d *deal) name() fact {
	return fact{"service": string(d.feed.Service), "market": string(d.feed.Market), "kind": string(d.feed.Kind), "deal_id": d.id}
}

func instant(at time.Time) string { return at.UTC().Format(instantForm) }

// distinct counts the different names, without NULLs.
func distinct(names []string) int {
	set := map[string]bool{}
	for _, name := range names {
		if name != "" {
			set[name] = true
		}
	}
	return len(set)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
