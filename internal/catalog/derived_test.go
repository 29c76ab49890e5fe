package catalog_test

import (
	"bytes"
	"crypto/sha256"
	stdsql "database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/catalog"
	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
	"dealflow/sql"
)

// derived are queries of everything that a catalog copies from the one before and adds to. (field_seen is not among
// them: it may or may not know a field in which no version has a value yet.)
var derived = []string{
	"FROM _dealflow.tranche_lineage", "FROM _dealflow.field_change", "FROM _dealflow.tranche_known", "FROM _dealflow.version_index",
	"FROM _dealflow.spelling", "FROM _dealflow.bank_count", "FROM _dealflow.listing",
	"FROM runs", "FROM feed_runs", "FROM checks", "SELECT view_name, sql FROM duckdb_views() WHERE schema_name = '_dealflow'",
}

// TestDerivedForward extends a catalog from commit to commit, with syncs, a replay and a compaction between, and checks
// that it equals one that is built from all of history at once.
func TestDerivedForward(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 11, Deals: 40, Birthdays: true})
	w.Night(t, 0)
	for day := 1; day < 7; day++ {
		w.Clock.Set(world.Epoch.AddDate(0, 0, day).Add(15 * time.Hour))
		if _, err := w.Sync(t); err != nil {
			t.Fatal(err)
		}
		w.Night(t, day)
		switch day {
		case 3:
			w.MustReplay(t, "force")
		case 5:
			w.MustCompact(t)
		}
	}
	grown := map[string][]string{}
	w.Published(t, func(db *stdsql.DB) {
		for _, question := range derived {
			grown[question] = world.SortedRows(t, db, question)
		}
	})
	w.Publish(t)
	w.Published(t, func(db *stdsql.DB) {
		for _, question := range derived {
			anew := world.SortedRows(t, db, question)
			if len(anew) < 10 || !slices.Equal(grown[question], anew) {
				t.Errorf("%s: %d rows that grew, %d derived at once; they must be the same, and some", question, len(grown[question]), len(anew))
			}
		}
	})
}

// TestBackfill lets the source begin to send new fields of its deals, just inside and just outside of what a backfill is: the first
// value of a field in 20 deals of a feed, or in half of its deals and more than one.
func TestBackfill(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	expected := func(market api.Market) api.Feed {
		return api.Feed{Service: api.Bond, Market: market, Kind: api.Expected}
	}
	half, less, single := expected(api.IG), expected(api.HY), expected(api.EM)
	b.WriteAll(world.Priced, 1, 60, `"spread":"T+95"`)
	b.WriteAll(half, 1, 9, "")
	b.WriteAll(less, 1, 9, "")
	b.WriteAll(single, 1, 2, "")
	w.Night(t, 0)
	b.Strike(half, 9) // of 8 deals that are left, 4 are half
	w.Night(t, 1)
	b.WriteAll(world.Priced, 1, 20, `"spread":"T+95","figiCode":"BBGZZ7KDP4W7"`)
	b.WriteAll(world.Priced, 21, 39, `"spread":"T+95","tier":"T2"`)
	b.WriteAll(half, 1, 4, `"message":"Books open"`)
	b.WriteAll(less, 1, 4, `"message":"Books open"`)
	b.Write(single, 1, `"message":"Books open"`)
	w.Evening(2)
	if _, err := w.Run(t); err != nil { // it warns of the backfill
		t.Fatal(err)
	}
	b.Write(world.Priced, 1, `"spread":"T+96","figiCode":"BBGZZ7KDP4W7"`)
	b.Write(world.Priced, 2, `"spread":"T+95","figiCode":"BBGZZ7KDP4W7","unheardOf":1`)
	b.Write(world.Priced, 21, `"spread":"T+95","tier":"T2","figiCode":"BBGZZ7KDP4W7"`)
	w.Night(t, 3)
	w.Publish(t) // again, all commits at once
	w.Published(t, func(db *stdsql.DB) {
		got := world.SortedRows(t, db, `
SELECT market, kind, coalesce(field, '-'), change, change_kind, count(*), min(deal_id), max(deal_id)
FROM field_change
GROUP BY ALL`)
		want := []string{
			"EM\texpected\tmessage\tset\tedit\t1\t1\t1",
			"HY\texpected\tmessage\tset\tedit\t4\t1\t4",
			"IG\texpected\tmessage\tset\tbackfill\t4\t1\t4",
			"IG\tpriced\t-\tother\tother\t1\t2\t2",
			"IG\tpriced\tfigi_code\tset\tbackfill\t20\t1\t20",
			"IG\tpriced\tfigi_code\tset\tedit\t1\t21\t21",
			"IG\tpriced\tspread\tedited\tedit\t1\t1\t1",
			"IG\tpriced\ttier\tset\tedit\t19\t21\t39",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestChangedRows follows child rows from version to version.
func TestChangedRows(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.Write(world.Priced, 7, `"banks":[{"name":"Aspen","status":"Bookrunner"},{"name":"Birch","status":"Co-Lead"},{"name":"Aspen","status":"Bookrunner"}],"stats":{"investorType":{"FM":60,"HF":40}}`)
	b.Write(world.Expected, 8, `"_embedded":{"tranches":[{"name":"5yr","currency":"EUR","status":"EXPECTED"},{"name":"10yr","currency":"EUR","status":"EXPECTED"}]}`)
	w.Night(t, 0)
	b.Write(world.Priced, 7, `"banks":[{"name":"Birch","status":"Co-Lead"},{"name":"Aspen","status":"Bookrunner"},{"name":"Cedar","status":"B&D"}],"stats":{"investorType":{"FM":55,"HF":45}}`)
	b.Write(world.Expected, 8, `"_embedded":{"tranches":[{"name":"Long 5yr","currency":"EUR","status":"EXPECTED"},{"name":"10yr","currency":"EUR","status":"EXPECTED","volume":"EUR500m"}]}`)
	w.Night(t, 1)
	b.Write(world.Expected, 8, `"_embedded":{"tranches":[{"name":"10yr","currency":"EUR","status":"EXPECTED","volume":"EUR500m"},{"name":"LONG 5yr","currency":"EUR","status":"EXPECTED"},{"name":"2yr"}]}`)
	w.Night(t, 2)
	w.Published(t, func(db *stdsql.DB) {
		got := world.SortedRows(t, db, `SELECT table_name, row_key, coalesce(field, '-'), change, coalesce(was, '-'), coalesce("is", '-') FROM field_change WHERE table_name NOT LIKE '%_deals'`)
		want := []string{
			"bond_expected_tranches\t1\tname\tedited\t5yr\tLong 5yr",
			"bond_expected_tranches\t1\tname\tedited\tLong 5yr\tLONG 5yr",
			"bond_expected_tranches\t2\tvolume\tset\t-\tEUR500m",
			"bond_expected_tranches\t3\t-\trow added\t-\t2yr",
			"bond_priced_banks\tAspen | Bookrunner | #2\t-\trow removed\tAspen | Bookrunner\t-",
			"bond_priced_banks\tCedar | B&D\t-\trow added\t-\tCedar | B&D",
			"bond_priced_investor_types\tFM\tvalue\tedited\t60\t55",
			"bond_priced_investor_types\tHF\tvalue\tedited\t40\t45",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		lineage := world.SortedRows(t, db, "SELECT version, ordinal, tranche_uid, matched_by FROM _dealflow.tranche_lineage")
		if want := []string{
			"1\t1\t1\tnew", "1\t2\t2\tnew", "2\t1\t1\tposition", "2\t2\t2\tname and currency",
			"3\t1\t2\tname and currency", "3\t2\t1\tnormal name and currency", "3\t3\t3\tnew",
		}; !slices.Equal(lineage, want) {
			t.Errorf("lineage %q, want %q", lineage, want)
		}
	})
}

// TestQuality checks that a held run leaves nothing visible, that its check can be accepted by name, and that accepted
// checks and warnings are reported.
func TestQuality(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 120, `"cpn":"3.375%","currency":"EUR"`)
	first := w.Night(t, 0)
	if len(first.Checks) != len(sql.QualityChecks()) {
		t.Fatalf("%d checks were asked, want %d", len(first.Checks), len(sql.QualityChecks()))
	}
	b.WriteAll(world.Priced, 1, 60, `"currency":"EUR"`)
	w.Evening(1)
	result, err := w.Run(t)
	if err == nil || !strings.Contains(err.Error(), "emptied_columns") || !strings.Contains(err.Error(), "bond_priced_deals.cpn") || result.Commit != 0 {
		t.Fatalf("got commit %d and %v, want a hold that names the check and the column", result.Commit, err)
	}
	if n := w.Log(t).Number; n != 1 {
		t.Fatalf("the log is at %d after a hold", n)
	}
	w.Published(t, func(db *stdsql.DB) {
		if got := world.SortedRows(t, db, "SELECT count(*), count(cpn) FROM bond_priced_deals"); got[0] != "120\t120" {
			t.Errorf("after a hold the catalog shows %s", got[0])
		}
	})
	result, err = w.Run(t, func(c *pull.Config) { c.AcceptChecks = []string{"emptied_columns"} })
	if err != nil || result.Commit != 2 || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "emptied_columns") {
		t.Fatalf("accepted: commit %d, %v, warnings %q", result.Commit, err, result.Warnings)
	}
	w.Published(t, func(db *stdsql.DB) {
		got := world.SortedRows(t, db, `SELECT "commit", severity, outcome, count FROM checks WHERE name = 'emptied_columns'`)
		if want := []string{"1\thold\tpassed\t0", "2\thold\taccepted\t60"}; !slices.Equal(got, want) {
			t.Errorf("checks %q, want %q", got, want)
		}
	})
	kept := w.Log(t).Commits[1].Checks
	if i := slices.IndexFunc(kept, func(c lake.Check) bool { return c.Name == "emptied_columns" }); i < 0 || kept[i].Outcome != lake.CheckAccepted {
		t.Errorf("the commit says %+v", kept)
	}
	if _, err := w.Run(t, func(c *pull.Config) { c.AcceptChecks = []string{"no_such"} }); err == nil || !strings.Contains(err.Error(), "no_such") {
		t.Errorf("an unknown check: %v", err)
	}
}

// TestQualityChecks makes each check find something.
func TestQualityChecks(t *testing.T) {
	t.Parallel()
	rescaled := func(b *world.Book, scale string) {
		b.WriteAll(world.Priced, 1, 40, fmt.Sprintf(`"nominal":{"amount":500%s,"converted":{"usd":1}}`, scale))
	}
	for name, change := range map[string]func(*world.Book){
		"rescaled_amounts":  func(b *world.Book) { rescaled(b, "") },
		"mass_edits":        func(b *world.Book) { b.WriteAll(world.Priced, 1, 150, `"spread":"T+1"`) },
		"backfills":         func(b *world.Book) { b.WriteAll(world.Priced, 41, 80, `"spread":"T+95","tier":"T2"`) },
		"emptied_lists":     func(b *world.Book) { b.WriteAll(world.Priced, 1, 60, `"spread":"T+95"`) },
		"pricing_in_future": func(b *world.Book) { b.Write(world.Priced, 41, `"spread":"T+95","pricingDate":"2036-01-01"`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := world.NewBook(t)
			b.WriteAll(world.Priced, 1, 150, `"spread":"T+95"`)
			if name == "emptied_lists" {
				b.WriteAll(world.Priced, 1, 150, `"spread":"T+95","banks":[{"name":"Aspen","status":"Bookrunner"},{"name":"Birch","status":"Co-Lead"}]`)
			} else {
				rescaled(b, "000000")
			}
			w.Night(t, 0)
			change(b)
			w.Evening(1)
			result, err := w.Run(t)
			if result == nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(result.Checks, func(c lake.Check) bool { return c.Name == name })
			if i < 0 || result.Checks[i].Outcome == lake.CheckPassed || result.Checks[i].Count == 0 || (err != nil) != (result.Checks[i].Outcome == lake.CheckHeld) || (err != nil) != slices.Contains(result.Held.Checks, name) {
				t.Errorf("got %v, held %+v, checks %+v", err, result.Held, result.Checks)
			}
		})
	}
}

// TestAliases puts files of aliases into a lake.
func TestAliases(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.Write(world.Priced, 1, `"pricingDate":"2026-01-02","banks":[{"name":"Aspen Securities","status":"Bookrunner"}]`)
	put := func(key, text string) {
		t.Helper()
		if err := w.Store.Put(t.Context(), key, strings.NewReader(text), store.Replace); err != nil {
			t.Fatal(err)
		}
	}
	put(lake.BankAliasesKey, "alias,canonical,valid_from\nASPEN  securities,Aspen,\nBirch,Aspen,2020-01-01\n")
	w.Night(t, 0)
	w.Published(t, func(db *stdsql.DB) {
		if got := world.SortedRows(t, db, "SELECT alias, canonical, valid_from FROM _dealflow.bank_alias"); !slices.Equal(got, []string{"ASPEN  securities\tAspen\t", "Aspen\tAspen\t", "Birch\tAspen\t2020-01-01"}) {
			t.Errorf("aliases %q", got)
		}
		if got := world.SortedRows(t, db, "SELECT length(alias_version) FROM _dealflow.catalog"); got[0] != "16" {
			t.Errorf("alias version of length %s", got[0])
		}
	})
	aliases := func() string {
		var got []string
		w.Ask(t, func(db *stdsql.DB) { got = world.SortedRows(t, db, "SELECT alias FROM _dealflow.bank_alias") })
		return strings.Join(got, " ")
	}
	put(lake.BankAliasesKey, "alias,canonical,valid_from\nCedar,Oak,\n")
	if got := aliases(); got != "Cedar Oak" {
		t.Errorf("without a further run a query knows the aliases %s", got)
	}
	w.Night(t, 1)
	put(lake.BankAliasesKey, "alias;canonical\n")
	if result := w.Night(t, 2); len(result.Checks) != len(sql.QualityChecks()) {
		t.Errorf("with aliases that cannot be read %d checks were asked", len(result.Checks))
	}
	if got := aliases(); got != "Cedar Oak" {
		t.Errorf("aliases that cannot be read put %s in the place of those before", got)
	}
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	if err := catalog.Publish(t.Context(), l, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "banks.csv") {
		t.Errorf("publishing by hand says %v", err)
	}
}

// TestCatalogHealsWithin damages a block of a table in the published catalog that a night without changes neither reads
// nor writes, so that only the checksum detects it. The next catalog does not extend the damaged one.
func TestCatalogHealsWithin(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	noise := rand.New(rand.NewPCG(1, 2))
	for night := range 2 {
		for id := range int64(50) { // enough to fill blocks of the file
			var text strings.Builder
			for text.Len() < 20_000 {
				fmt.Fprintf(&text, "%016x", noise.Uint64())
			}
			b.Write(world.Expected, id+1, `"message":"`+text.String()+`"`)
		}
		w.Night(t, night, world.Feeds(world.Expected))
	}
	var block int64
	var changes []string
	w.Published(t, func(db *stdsql.DB) {
		changes = world.SortedRows(t, db, "FROM field_change")
		err := db.QueryRow(`SELECT block_id FROM pragma_storage_info('_dealflow.field_change') WHERE column_name = 'is' AND segment_type = 'VARCHAR' ORDER BY count DESC LIMIT 1`).Scan(&block)
		if err != nil {
			t.Fatal(err)
		}
	})
	path := filepath.Join(w.Root, lake.CatalogKey)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[3*4096+block*(256<<10)+100_000] ^= 0xff // after three headers
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	w.Night(t, 2, world.Feeds(world.Expected))
	w.Published(t, func(db *stdsql.DB) {
		if got := world.SortedRows(t, db, "FROM field_change"); len(got) != 50 || !slices.Equal(got, changes) {
			t.Errorf("%d changes, not those %d before", len(got), len(changes))
		}
	})
}

// TestSnapshotMonths writes snapshots in two months: queries see all of them, and each month's view changes only with
// its own files.
func TestSnapshotMonths(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, `"spread":"T+95"`)
	for _, day := range []int{25, 26, 27, 28} { // 30 January to 2 February
		w.Night(t, day, world.Feeds(world.Priced))
	}
	want := func(views string, days ...string) {
		t.Helper()
		w.Published(t, func(db *stdsql.DB) {
			if got := world.SortedRows(t, db, "SELECT snapshot_date || ' ' || count(*) FROM snapshots.bond_priced_deals GROUP BY snapshot_date"); !slices.Equal(got, days) {
				t.Errorf("snapshots %q, want %q", got, days)
			}
			got := world.SortedRows(t, db, "SELECT view_name[-7:] FROM duckdb_views() WHERE view_name LIKE 'snapshots_bond_priced_deals_2%'")
			if strings.Join(got, " ") != views {
				t.Errorf("months %q, want %q", got, views)
			}
		})
	}
	want("2026_01 2026_02", "2026-01-30 3", "2026-01-31 3", "2026-02-01 3", "2026-02-02 3")
	w.Later(time.Hour)
	w.MustExpire(t, maintain.Retention{Days: 2}, true)
	want("2026_02", "2026-02-01 3", "2026-02-02 3")
}

// TestCatalogThatCannotGoOn publishes catalogs with the right checksum and of this program that nevertheless cannot be
// extended: then the next catalog is built from scratch.
func TestCatalogThatCannotGoOn(t *testing.T) {
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 12, Deals: 10})
	var said bytes.Buffer
	heard := world.Hears(&said)
	w.Night(t, 0)
	w.Night(t, 1)
	for i, damage := range testkit.Sample([]string{
		"DROP TABLE _dealflow.checks",
		"DROP VIEW main.deals; DROP TABLE _dealflow.field_change CASCADE",
		"ALTER TABLE _dealflow.tranche_known DROP COLUMN figi",
	}, 1) {
		path := filepath.Join(w.Root, lake.CatalogKey)
		intoCatalog(t, w, damage)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		if err := os.WriteFile(path, fmt.Appendf(data, "\ndealflow sha256 %x", sum), 0o600); err != nil {
			t.Fatal(err)
		}
		said.Reset()
		result := w.Night(t, 2+i, heard)
		if text := said.String(); !strings.Contains(text, "built from scratch") || strings.Contains(text, "changed") {
			t.Errorf("%s: the next catalog went on, or was begun anew for another reason:\n%s", damage, text)
		}
		if len(result.Checks) != len(sql.QualityChecks()) {
			t.Errorf("%s: %+v", damage, result.Checks)
		}
		w.Published(t, func(db *stdsql.DB) {
			if len(world.SortedRows(t, db, "FROM field_change")) == 0 {
				t.Errorf("%s: nothing is derived", damage)
			}
		})
	}
}

// TestCatalogHeals damages the published catalog: the next one is built from scratch.
func TestCatalogHeals(t *testing.T) {
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 12, Deals: 10})
	w.Night(t, 0)
	w.Night(t, 1)
	path := filepath.Join(w.Root, lake.CatalogKey)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for day, damage := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func([]byte) []byte { return []byte("no catalog") },
		func(b []byte) []byte {
			b = slices.Clone(b)
			for i := 12 << 10; i < len(b); i += 997 { // after the headers, in the blocks
				b[i] ^= 0xff
			}
			return b
		},
	} {
		if err := os.WriteFile(path, damage(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if result := w.Night(t, 2+day); len(result.Checks) != len(sql.QualityChecks()) {
			t.Fatalf("damage %d: %+v", day, result.Checks)
		}
		w.Published(t, func(db *stdsql.DB) {
			if len(world.SortedRows(t, db, "FROM field_change")) == 0 {
				t.Errorf("damage %d: nothing is derived", day)
			}
		})
	}
}

// intoCatalog writes into the published catalog, as any user's DuckDB can.
func intoCatalog(t *testing.T, w *world.World, statement string) {
	t.Helper()
	db, err := stdsql.Open("duckdb", filepath.Join(w.Root, lake.CatalogKey))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCatalogWrittenInto checks that a run extends the previous catalog, except one that another program wrote into, or
// one that is older than a replay; and that `catalog` extends none.
func TestCatalogWrittenInto(t *testing.T) {
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 12, Deals: 10})
	var said bytes.Buffer
	heard := world.Hears(&said)
	w.Night(t, 0)
	w.Night(t, 1, heard)
	if strings.Contains(said.String(), "built from scratch") {
		t.Fatalf("an untouched catalog was not gone on from:\n%s", said.String())
	}
	for night, statement := range testkit.Sample([]string{
		"CREATE OR REPLACE VIEW main.deals AS SELECT 1 AS nothing",
		"DELETE FROM _dealflow.version_index WHERE deal_id % 2 = 0",
		"UPDATE _dealflow.version_index SET change = 'added'",
		"CREATE OR REPLACE MACRO main.deals_as_of(t) AS TABLE SELECT 1 AS nothing",
	}, 1) {
		intoCatalog(t, w, statement)
		said.Reset()
		w.Night(t, 2+night, heard)
		if text := said.String(); !strings.Contains(text, "built from scratch") || !strings.Contains(text, "changed") {
			t.Errorf("%s: the next catalog went on from that:\n%s", statement, said.String())
		}
	}
	w.MustReplay(t, "force")
	said.Reset()
	w.Night(t, 6, heard)
	if !strings.Contains(said.String(), "older than a replay") {
		t.Errorf("a catalog went on from one that is older than a replay:\n%s", said.String())
	}
	intoCatalog(t, w, "INSERT INTO _dealflow.field_change (was) VALUES ('mark')")
	w.Publish(t)
	w.Published(t, func(db *stdsql.DB) {
		if len(world.SortedRows(t, db, "FROM _dealflow.field_change WHERE was = 'mark'")) > 0 {
			t.Error("publishing the catalog anew took over what was there")
		}
	})
}
