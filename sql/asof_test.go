package sql_test

import (
	stdsql "database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// known is a version of a deal as a test knows it.
type known struct {
	feed    api.Feed
	deal    int64
	version int32
	change  string
	commit  int // from 0
	rows    int // in each list of the deal
}

// chronicle is a history of random changes, with all versions that it contains.
type chronicle struct {
	*history
	all []known
}

// tell writes commits of random changes to a few deals of each feed, which have the same ids everywhere.
func (c *chronicle) tell(commits int, rng *rand.Rand, each func()) {
	newest := map[api.Feed]map[int64]known{}
	for range commits {
		for _, feed := range api.Feeds() {
			if newest[feed] == nil {
				newest[feed] = map[int64]known{}
			}
			for deal := range int64(4) {
				last, seen := newest[feed][deal]
				next := known{feed: feed, deal: deal, version: last.version + 1, commit: len(c.runs), rows: rng.IntN(3)}
				switch {
				case rng.IntN(3) == 0:
					continue
				case !seen:
					next.change = lake.Added
				case last.change == lake.Removed:
					next.change = lake.Reappeared
				case rng.IntN(2) == 0:
					next.change = lake.Removed
				default:
					next.change = lake.Changed
				}
				newest[feed][deal] = next
				c.all = append(c.all, next)
				c.versions(feed, next.change, next.version, deal, deal)
				if next.change == lake.Removed {
					continue
				}
				for _, table := range lake.FeedTables(feed) {
					for row := range next.rowsOf(table) {
						var set []string
						for _, key := range table.KeyColumns()[3:] {
							set = append(set, fmt.Sprintf("%d AS %s", row+1, key.Name))
						}
						c.rows(table.Name, feed.Market, next.version, deal, deal, set...)
					}
				}
			}
		}
		c.commit()
		each()
	}
}

// rowsOf is how many rows the version has in a table.
func (k *known) rowsOf(table *lake.Table) int {
	if table.Depth() == 0 {
		return 1
	}
	return k.rows
}

func (c *chronicle) instant(commit int) time.Time { return c.runs[commit].KnownAt.Time }

// asOf lists the latest version of each deal as of an instant, without removed deals.
func (c *chronicle) asOf(at time.Time) (standing []known) {
	type key struct {
		feed api.Feed
		deal int64
	}
	newest := map[key]known{}
	for _, k := range c.all {
		if !c.instant(k.commit).After(at) {
			newest[key{k.feed, k.deal}] = k
		}
	}
	for _, k := range newest {
		if k.change != lake.Removed {
			standing = append(standing, k)
		}
	}
	return standing
}

// between lists the versions with rows that were current at any instant from since to at.
func (c *chronicle) between(since, at time.Time) (current []known) {
	for i := range c.all {
		k := &c.all[i]
		until := c.until(k)
		if k.change != lake.Removed && !c.instant(k.commit).After(at) && (until == "-" || until > lake.At(since).String()) {
			current = append(current, *k)
		}
	}
	return current
}

// rowsIn returns the rows of versions in a table, with the instants at which they became known.
func (c *chronicle) rowsIn(table *lake.Table, versions []known) []string {
	rows := []string{}
	for _, k := range versions {
		if k.feed.Service == table.Service && k.feed.Kind == table.Kind {
			for range k.rowsOf(table) {
				rows = append(rows, fmt.Sprintf("%s %d %d %s", k.feed.Market, k.deal, k.version, lake.At(c.instant(k.commit))))
			}
		}
	}
	slices.Sort(rows)
	return rows
}

// texts reads the only column of a query.
func texts(t *testing.T, db *stdsql.DB, question string) []string {
	t.Helper()
	rows, err := db.Query(question)
	if err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	defer rows.Close()
	found := []string{}
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		found = append(found, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

const spelt = "strftime(%s AT TIME ZONE 'UTC', '%%Y-%%m-%%dT%%H:%%M:%%S.%%fZ')"

// TestAsOf queries every table, and the index of deals, around the instant of each commit. It does so in a catalog that
// was extended commit by commit, and in one from scratch. Both show the versions as of that instant, in parent tables
// and in lists.
func TestAsOf(t *testing.T) {
	t.Parallel()
	c := &chronicle{history: newHistory(t)}
	grown := ""
	c.tell(5, rand.New(rand.NewPCG(1, 7)), func() {
		if len(c.runs) == 3 {
			c.compact() // the next catalog finds versions in the new files that it already has
			return
		}
		grown = c.buildFrom(grown)
	})
	for name, path := range map[string]string{"grown": grown, "from scratch": c.buildFrom("")} {
		db := c.open(path)
		want := func(what, question string, rows []string) {
			t.Helper()
			if got := texts(t, db, question); !slices.Equal(got, rows) {
				t.Errorf("%s: %s: got %d\n%s\nwant %d\n%s", name, what, len(got), strings.Join(got, "\n"), len(rows), strings.Join(rows, "\n"))
			}
		}
		columns := "market || ' ' || deal_id || ' ' || version || ' ' || " + fmt.Sprintf(spelt, "known_at")
		for commit := range c.runs {
			for _, off := range []time.Duration{-time.Microsecond, 0, time.Microsecond} {
				at := c.instant(commit).Add(off)
				standing := c.asOf(at)
				for _, table := range lake.Tables() {
					want(fmt.Sprintf("%s as of %s", table.Name, lake.At(at)),
						fmt.Sprintf("SELECT %s FROM %s_as_of(TIMESTAMPTZ '%s')", columns, table.Name, lake.At(at)), c.rowsIn(table, standing))
					since := at.AddDate(0, 0, -2)
					want(fmt.Sprintf("%s from %s to %s", table.Name, lake.At(since), lake.At(at)),
						fmt.Sprintf("SELECT %s FROM %s_as_of('%s', since := '%s')", columns, table.Name, lake.At(at), lake.At(since)), c.rowsIn(table, c.between(since, at)))
				}
				var deals []string
				for _, k := range standing {
					deals = append(deals, c.indexed(&k))
				}
				slices.Sort(deals)
				want(fmt.Sprintf("deals as of %s", lake.At(at)), fmt.Sprintf("SELECT %s FROM deals_as_of(TIMESTAMPTZ '%s')", indexed, lake.At(at)), slices.Concat([]string{}, deals))
			}
		}
		now := c.asOf(c.instant(len(c.runs) - 1))
		for _, table := range lake.Tables() {
			want(table.Name, "SELECT "+columns+" FROM "+table.Name, c.rowsIn(table, now))
			c.wantHistory(table, want)
		}
		var deals, versions []string
		for i := range now {
			deals = append(deals, c.indexed(&now[i]))
		}
		for i := range c.all {
			versions = append(versions, c.interval(&c.all[i]))
		}
		slices.Sort(deals)
		slices.Sort(versions)
		want("deals", "SELECT "+indexed+" FROM deals", deals)
		want("deal_versions", "SELECT service || ' ' || market || ' ' || kind || ' ' || deal_id || ' ' || version || ' ' || change || ' ' || "+
			fmt.Sprintf(spelt, "valid_from")+" || ' ' || coalesce("+fmt.Sprintf(spelt, "valid_to")+", '-') FROM history.deal_versions", versions)
		var censored []string
		for i := range c.all {
			if k := &c.all[i]; c.first(k) == 0 {
				censored = append(censored, fmt.Sprintf("%s %d %d", k.feed, k.deal, k.version))
			}
		}
		slices.Sort(censored)
		want("left-censored", "SELECT service || '/' || lower(market) || '/' || kind || ' ' || deal_id || ' ' || version FROM _dealflow.version_index WHERE left_censored", censored)
	}
}

const indexed = "service || '/' || lower(market) || '/' || kind || ' ' || deal_id || ' ' || version || ' ' || " +
	"strftime(valid_from AT TIME ZONE 'UTC', '%d') || ' ' || strftime(first_known_at AT TIME ZONE 'UTC', '%d')"

// indexed is a version's row in deals: with the days of its commit and of the deal's first one.
func (c *chronicle) indexed(k *known) string {
	return fmt.Sprintf("%s %d %d %02d %02d", k.feed, k.deal, k.version, c.instant(k.commit).Day(), c.instant(c.first(k)).Day())
}

// first is the commit in which the deal of a version became known.
func (c *chronicle) first(k *known) int {
	i := slices.IndexFunc(c.all, func(other known) bool { return other.feed == k.feed && other.deal == k.deal })
	return c.all[i].commit
}

// until is the instant of the deal's next version; "-" where there is none.
func (c *chronicle) until(k *known) string {
	for i := range c.all {
		if next := &c.all[i]; next.feed == k.feed && next.deal == k.deal && next.version == k.version+1 {
			return lake.At(c.instant(next.commit)).String()
		}
	}
	return "-"
}

func (c *chronicle) interval(k *known) string {
	return fmt.Sprintf("%s %s %s %d %d %s %s %s", k.feed.Service, k.feed.Market, k.feed.Kind, k.deal, k.version, k.change, lake.At(c.instant(k.commit)), c.until(k))
}

// wantHistory checks a table's history: all versions with their intervals and runs.
func (c *chronicle) wantHistory(table *lake.Table, want func(what, question string, rows []string)) {
	rows := []string{}
	for i := range c.all {
		k := &c.all[i]
		if k.feed.Service != table.Service || k.feed.Kind != table.Kind || k.change == lake.Removed {
			continue
		}
		for range k.rowsOf(table) {
			rows = append(rows, fmt.Sprintf("%s %d %d %s %s %s", k.feed.Market, k.deal, k.version, lake.At(c.instant(k.commit)), c.until(k), c.runs[k.commit].RunID))
		}
	}
	slices.Sort(rows)
	want("history of "+table.Name, "SELECT market || ' ' || deal_id || ' ' || version || ' ' || "+fmt.Sprintf(spelt, "valid_from")+" || ' ' || coalesce("+
		fmt.Sprintf(spelt, "valid_to")+", '-') || ' ' || run_id FROM history."+table.Name, rows)
}

// TestKnowledge checks up to which instant the lake knows the source: maintenance adds no knowledge.
func TestKnowledge(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	commands := []string{"run", "sync", "quarantine", "compact", "expire", "replay"}
	for i, command := range commands {
		if i == 0 {
			h.deals(pricedIG, 1, 1, 1)
		}
		h.commit()
		run := &h.runs[i]
		run.Command = command
		if i > 2 {
			run.Feeds = nil
		}
	}
	db := h.open(h.buildFrom(""))
	for i := range commands {
		for _, off := range []time.Duration{-time.Microsecond, 0} {
			at := h.runs[i].KnownAt.Add(off)
			last := min(i, 2)
			if off < 0 && i <= 2 {
				last--
			}
			want := "-"
			if last >= 0 {
				want = h.runs[last].KnownAt.String()
			}
			if got := texts(t, db, fmt.Sprintf("SELECT coalesce("+spelt+", '-') FROM (SELECT knowledge_at(TIMESTAMPTZ '%s') AS k)", "k", lake.At(at))); got[0] != want {
				t.Errorf("at %s, %s: known up to %s, want %s", lake.At(at), commands[i], got[0], want)
			}
		}
	}
}
