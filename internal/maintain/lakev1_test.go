package maintain_test

import (
	stdsql "database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/maintain"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/lake"
)

// lakeV1 is the folder of a lake of format version 1, written when that format was new. It is never written again: this
// program and each later one must read it.
func lakeV1(t testing.TB) string { return testkit.Root(t) + "/testdata/lake/v1" }

// TestLakeV1 reads that lake: verify finds it sound, every query returns what it returned then, and a further night
// extends it.
func TestLakeV1(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	world.CopyStore(t, world.Folder(t, lakeV1(t)), w.Store)
	world.WantSound(t, w.Store)
	var got strings.Builder
	w.Ask(t, func(db *stdsql.DB) {
		for _, query := range lakeV1Questions(w.Log(t)) {
			fmt.Fprintf(&got, "%s\n  %s\n", query, strings.Join(world.Lines(t, db, asOfV1(query)), "\n  "))
		}
	})
	testkit.Golden(t, testkit.Root(t)+"/testdata/lake/v1.golden", []byte(got.String()))

	w.Clock.Set(w.Log(t).KnownAt.Add(time.Hour))
	b.WriteAll(world.Priced, 1, 3, `"message":"years later"`)
	before := w.Log(t).Number
	result, err := w.Run(t, world.Feeds(world.Priced))
	if err != nil || result.Commit != before+1 {
		t.Fatalf("a further night: %v", err)
	}
	world.WantSound(t, w.Store)
}

// TestReplayOldLake replays that lake under the present schema. The parsers fill their columns, replay reports which,
// and no earlier answer changes. The lake is sound even while its snapshots have the old schema.
func TestReplayOldLake(t *testing.T) {
	t.Parallel()
	w, _ := world.NewBook(t)
	world.CopyStore(t, world.Folder(t, lakeV1(t)), w.Store)
	questions := lakeV1Questions(w.Log(t))[1:] // there will be more runs
	answers := func() (all []string) {
		w.Ask(t, func(db *stdsql.DB) {
			for _, query := range questions {
				all = append(all, asOfV1(query)+": "+strings.Join(world.Lines(t, db, asOfV1(query)), "; "))
			}
		})
		return all
	}
	before := answers()
	for _, how := range [][]string{nil, {"snapshots"}} {
		result := w.MustReplay(t, how...)
		if result.Commit == 0 || !result.Equal {
			t.Fatalf("replay %v: commit %d, equal %t", how, result.Commit, result.Equal)
		}
		improved := map[string][]string{}
		for _, table := range result.Tables {
			improved[table.Table] = table.Improved
		}
		name := "history.bond_priced_price_evolution"
		if how != nil {
			name = "snapshots.bond_priced_price_evolution"
		}
		want := []string{"parser_version", "value_benchmark", "value_bp", "value_hi_bp", "value_lo_bp", "value_stage", "value_status"}
		if !slices.Equal(improved[name], want) {
			t.Errorf("replay %v says that %q of %s are read anew, want %q", how, improved[name], name, want)
		}
		world.WantSound(t, w.Store)
		if after := answers(); !slices.Equal(before, after) {
			t.Errorf("replay %v: answers were\n%s\nand are\n%s", how, strings.Join(before, "\n"), strings.Join(after, "\n"))
		}
	}
	w.Ask(t, func(db *stdsql.DB) {
		got := world.Lines(t, db, "SELECT DISTINCT value, value_stage, value_benchmark, value_bp FROM history.bond_priced_price_evolution ORDER BY ALL")
		if want := []string{"IPTs MS+90 IPT MS 90", "MS+75 - MS 75"}; !slices.Equal(got, want) {
			t.Errorf("read anew: %q, want %q", got, want)
		}
	})
}

// lakeV1Questions are queries of that lake.
func lakeV1Questions(log *load.Log) []string {
	questions := []string{
		`SELECT "commit", command, known_at, snapshot_date, outcome, added, changed, removed, reappeared, quarantined, drift FROM runs WHERE command <> 'sync' ORDER BY ALL`,
		"SELECT service, market, kind, deal_id, version, valid_from FROM deals ORDER BY ALL",
		"SELECT service, kind, deal_id, version, change, reason, known_at, content_hash, payload_hash FROM history.deal_versions WHERE deal_id <> 1 ORDER BY ALL",
	}
	for _, table := range lake.Tables() {
		if (table.Service == world.Priced.Service && table.Kind == world.Priced.Kind) || (table.Service == world.LoanExpected.Service && table.Kind == world.LoanExpected.Kind) {
			for _, from := range []string{table.Name, "snapshots." + table.Name, world.AsOf(log.Runs[0].KnownAt)(table.Name), world.AsOf(log.Runs[len(log.Runs)/2].KnownAt)(table.Name)} {
				questions = append(questions, "SELECT count(*), md5(string_agg(t::VARCHAR, chr(10) ORDER BY t::VARCHAR)) FROM "+from+" t")
			}
		}
	}
	return questions
}

// asOfV1 queries only the columns that a table had when the lake was written.
func asOfV1(query string) string {
	head, from, ok := strings.Cut(query, " FROM ")
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(from, " t"), "snapshots."), "_as_of(")
	table, known := lake.TableByName(name)
	if !ok || !known || len(table.Helpers) == 0 {
		return query
	}
	var later []string
	for _, c := range table.Helpers {
		later = append(later, c.Name)
	}
	return head + " FROM (SELECT * EXCLUDE (" + strings.Join(later, ", ") + ") FROM " + strings.TrimSuffix(from, " t") + ") t"
}

var writeLakeV1 = flag.Bool("write-lake-v1", false, "write testdata/lake/v1, which must be absent; for a new format number only")

// TestWriteLakeV1 wrote that lake.
func TestWriteLakeV1(t *testing.T) {
	if !*writeLakeV1 {
		t.Skip("a written lake is never written again")
	}
	if _, err := os.Stat(lakeV1(t)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%s is there", lakeV1(t))
	}
	w, b := world.NewBook(t)
	w.Store = new(memstore.Mem)
	both := world.Feeds(world.Priced, world.LoanExpected)
	rich := map[string]string{
		"bond": `"dealType":"ORIGINAL","pricingDate":"2026-01-05","currency":"EUR","nominal":{"amount":500.25,"converted":{"usd":583.123456}},"isinCode":"XS0000000001",` +
			`"banks":[{"name":"Bank A","status":"Bookrunner"},{"name":"Bank B","status":"Co-Manager"}],"priceEvolution":[{"date":"2026-01-05T08:00:00Z","value":"IPTs MS+90"},{"date":"2026-01-05T11:00:00Z","value":"MS+75"}],` +
			`"stats":{"finalBooks":1.9,"finalAccounts":120,"investorType":{"Fund Managers":61.5,"Banks":38.5},"geography":{"Nordics":100}},"green":true,"unheard":"of"`,
		"loan": `"stage":"Launched","borrower":{"name":"Borrower","region":"Western Europe","sponsors":{"sponsorBacked":true,"sponsors":[{"name":"Sponsor"}]}},` +
			`"tranches":[{"name":"TLB","currency":"EUR","volume":"EUR1.2bn","margin":"E+400","nominal":{"amount":1200,"converted":{"usd":1400.5}}},null]`,
	}
	b.WriteAll(world.Priced, 1, 6, rich["bond"])
	w.Later(time.Hour)
	b.WriteAll(world.LoanExpected, 1, 4, rich["loan"])
	b.Write(world.Priced, 6, rich["bond"])
	w.Night(t, 0, both, world.Quiet)
	for n := range 46 {
		w.Later(5 * time.Minute)
		b.Write(world.Priced, 1, fmt.Sprintf(`"message":"edit %d"`, n))
		w.MustSync(t, both, world.Quiet)
	}
	b.Strike(world.Priced, 2)
	b.Strike(world.LoanExpected, 3)
	b.WriteBody(world.Priced, 4, `{"dealId":4,"dealId":4}`)
	w.Night(t, 1, both, world.Quiet)
	b.Write(world.Priced, 2, rich["bond"])
	b.Forbid(world.Priced, 5)
	b.Write(world.Priced, 4, `"message":"readable again"`)
	w.Night(t, 2, both, world.Quiet)
	cfg := w.Upkeep(t)
	cfg.NoCatalog = true
	if _, err := maintain.Compact(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	w.Night(t, 3, both, world.Quiet)
	w.Night(t, 4, both, world.Quiet)

	to := world.Folder(t, lakeV1(t))
	for object, err := range w.Store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if live(w.Log(t), object.Key) {
			if err := to.Put(t.Context(), object.Key, strings.NewReader(string(storetest.Bytes(t, w.Store, object.Key))), store.CreateOnly); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Remove(filepath.Join(lakeV1(t), ".tmp-lock")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

// live says whether an object is part of a lake.
func live(log *load.Log, key string) bool {
	for _, file := range log.AllFiles() {
		if file.Path == key {
			return true
		}
	}
	return strings.HasPrefix(key, "_dealflow/")
}
