package sql_test

import (
	"crypto/sha256"
	stdsql "database/sql"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/maintain"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
	"dealflow/sql"
)

// questionsAsOf returns all queries as of an instant, with {as_of} for the instant: the flattened tables, the index of
// deals, and the queries in the comments of the analyses (sql.Analysis.AsOf).
func questionsAsOf(t testing.TB) map[string]string {
	all := map[string]string{
		"deals": "deals_as_of({as_of})", "changes_rows": "changes_rows(TIMESTAMPTZ '2026-01-06', {as_of})",
		"bond_priced_banks_changes_rows": "bond_priced_banks_changes_rows(TIMESTAMPTZ '2026-01-06', {as_of})",
	}
	for _, table := range lake.Tables() {
		all[table.Name] = table.Name + "_as_of({as_of})"
	}
	analyses, err := sql.Analyses()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range analyses {
		for _, query := range a.AsOf {
			all[query] = query
		}
	}
	return all
}

// seen is a digest of each query's answer, right after a commit.
type seen struct {
	first   lake.Instant // known_at of the first commit that the answers before did not have
	at      lake.Instant
	command string
	digests map[string]string
}

// look runs all queries as of an instant and returns a digest of each answer.
func look(t testing.TB, db *stdsql.DB, questions map[string]string, at string) map[string]string {
	t.Helper()
	digests := map[string]string{}
	for name, question := range questions {
		rows := world.SortedRows(t, db, "FROM "+strings.ReplaceAll(question, "{as_of}", at))
		digests[name] = fmt.Sprintf("%d rows, %x", len(rows), sha256.Sum256([]byte(strings.Join(rows, "\n"))))
	}
	return digests
}

// TestNoLookAhead proves that the catalog has no look-ahead. Right after a commit we query everything that is known.
// Later the same queries, as of any instant until the next commit, must give the same answers. In between there are
// nights and syncs over a faulty API, removals and reappearances, compaction, expiry and replay. Parsers and aliases do
// not change.
//
// TEST_LOOKAHEAD is the number of markets, each for six days and with three instants of each interval: its first, its
// middle, its last. By default it is one market for three days, one of the three instants in turn, and one of three queries.
func TestNoLookAhead(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a short run, under the race detector, asks less")
	}
	const variable = "TEST_LOOKAHEAD"
	testkit.Seeds(t, testkit.Count(t, variable, 1), func(t *testing.T, seed uint64) { checkNoLookAhead(t, seed, os.Getenv(variable) != "") })
}

func checkNoLookAhead(t *testing.T, seed uint64, long bool) {
	quirks := sim.AwkwardQuirks()
	quirks.Removal, quirks.Reappear, quirks.FlipFlop = 20, 0.8, 0.2
	days, deals := 3, 12
	if long {
		days, deals = 6, 25
	}
	w := world.New(t, sim.Config{Seed: seed, Deals: deals, Birthdays: seed%2 == 1, Quirks: &quirks})
	faults := serve.AllFaults(seed, 0.05, serve.FaultTooMany, serve.FaultBareTooMany) // each 429 costs a real second
	w.ServeAgain(t, serve.Config{Source: w.Market, Faults: faults})
	w.Attempts = 8

	var past []seen
	questions := maps.Collect(testkit.SampleOf(questionsAsOf(t), 3))
	families := familiesOf(t, questions)
	note := func() {
		log := w.Log(t)
		last := log.Commits[len(log.Commits)-1]
		if len(past) > 0 && past[len(past)-1].at == last.KnownAt {
			return
		}
		first := last.KnownAt // a pull may be two commits: its own, and that of a compaction
		for _, c := range slices.Backward(log.Commits) {
			if len(past) == 0 || c.KnownAt.After(past[len(past)-1].at.Time) {
				first = c.KnownAt
			}
		}
		w.Ask(t, func(db *stdsql.DB) {
			past = append(past, seen{first, last.KnownAt, last.Command, look(t, db, families(db), "'infinity'")})
		})
	}
	for day := range days {
		if day > 0 {
			w.Clock.Set(world.Epoch.AddDate(0, 0, day).Add(13 * time.Hour))
			if _, err := w.Sync(t); err != nil {
				t.Fatal(err)
			}
			note()
		}
		w.Evening(day)
		if _, err := w.Run(t); err != nil {
			t.Fatal(err)
		}
		note()
		switch days - day {
		case 3:
			w.MustReplay(t, "force", "snapshots")
			note()
		case 2:
			w.MustCompact(t)
			note()
			w.MustExpire(t, maintain.Retention{Days: 1}, true)
			note()
		}
	}
	w.Ask(t, func(db *stdsql.DB) {
		all := families(db)
		for i, then := range past {
			instants := []time.Time{then.at.Time}
			if i+1 < len(past) {
				next := past[i+1].first.Time
				instants = append(instants, then.at.Add(next.Sub(then.at.Time)/2), next.Add(-time.Microsecond))
			}
			if !long {
				instants = instants[i%len(instants):][:1]
			}
			for _, at := range instants {
				compareSeen(t, then, lake.At(at), look(t, db, all, fmt.Sprintf("TIMESTAMPTZ '%s'", lake.At(at))))
			}
		}
	})
	if len(past) < 2*days {
		t.Errorf("%d commits were looked at", len(past))
	}
}

// familiesOf replaces queries about one deal of a feed by one query per feed, about the feed's deal with the least id.
func familiesOf(t *testing.T, questions map[string]string) func(*stdsql.DB) map[string]string {
	done := false
	return func(db *stdsql.DB) map[string]string {
		if done {
			return questions
		}
		done = true
		for name, question := range maps.Clone(questions) {
			if !strings.Contains(question, "{feed}") {
				continue
			}
			delete(questions, name)
			for _, feed := range api.Feeds() {
				for _, id := range world.SortedRows(t, db, fmt.Sprintf("SELECT min(deal_id) FROM deals WHERE service = '%s' AND market = '%s' AND kind = '%s'", feed.Service, feed.Market, feed.Kind)) {
					if id != "" {
						named := fmt.Sprintf("'%s', '%s', '%s'", feed.Service, feed.Market, feed.Kind)
						questions[name+" of "+feed.String()] = strings.NewReplacer("{feed}", named, "{deal_id}", id).Replace(question)
					}
				}
			}
		}
		return questions
	}
}

func compareSeen(t *testing.T, then seen, at lake.Instant, now map[string]string) {
	t.Helper()
	for name, want := range then.digests {
		if now[name] != want {
			t.Errorf("%s: as of %s the catalog says %s; right after the %s of %s it said %s", name, at, now[name], then.command, then.at, want)
		}
	}
}
