package maintain_test

import (
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"dealflow/internal/catalog"

	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/load/transfer"
	"dealflow/load/verify"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// oldLake is the folder of a lake that an earlier program wrote. It is never written again: this program and each later
// one must read it. v1 is of format version 1 and schema version 1, v2 of format version 1 and schema version 2, v3 of
// format version 2 and schema version 3, v4 to v8 of format version 2 and schema versions 4 to 8.
func oldLake(t testing.TB, name string) string { return testkit.Root(t) + "/testdata/lake/" + name }

// oldLakes are the names of these lakes, with the schema version of their files.
var oldLakes = map[string]int{"v1": 1, "v2": 2, "v3": 3, "v4": 4, "v5": 5, "v6": 6, "v7": 7, "v8": 8}

// What rows have after a replay, and what a lake then needs to be written.
var (
	presentParsers = strconv.Itoa(lake.ParserVersion)
	presentSchema  = fmt.Sprintf("schema-%d", lake.SchemaVersion)
)

// TestOldLakes reads each of these lakes: verify finds it sound, and every query returns what it returned then. Whatever
// writes refuses a lake of an older format before any work, with the command that makes one of the present format.
func TestOldLakes(t *testing.T) {
	t.Parallel()
	for name, schema := range oldLakes {
		t.Run(name, func(t *testing.T) { testOldLake(t, name, schema) })
	}
}

func testOldLake(t *testing.T, name string, schema int) {
	t.Parallel()
	w, b := world.NewBook(t)
	world.CopyStore(t, world.Folder(t, oldLake(t, name)), w.Store)
	world.WantSound(t, w.Store)
	var got strings.Builder
	w.Ask(t, func(db *stdsql.DB) {
		for _, query := range oldLakeQueries(w.Log(t)) {
			fmt.Fprintf(&got, "%s\n  %s\n", query, strings.Join(world.Lines(t, db, columnsOfSchema(query, schema)), "\n  "))
		}
	})
	testkit.Golden(t, oldLake(t, name+".golden"), []byte(got.String()))
	if w.Log(t).Format < lake.FormatVersion {
		wantRefused(t, w, b)
	}
}

// TestOldTextsAreCounted counts the texts of each old lake: parse_coverage has every text that is there, also those that were written
// before there was their parser.
func TestOldTextsAreCounted(t *testing.T) {
	t.Parallel()
	for name := range oldLakes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := world.NewBook(t)
			world.CopyStore(t, world.Folder(t, oldLake(t, name)), w.Store)
			w.Ask(t, func(db *stdsql.DB) {
				texts := 0
				for _, table := range lake.Tables() {
					for _, helper := range table.Helpers {
						if helper.Parse.Part != lake.PartStatus {
							continue
						}
						want := world.Lines(t, db, fmt.Sprintf("SELECT count(%q) FROM %s", helper.Parse.From, table.Name))
						got := world.Lines(t, db, fmt.Sprintf("SELECT coalesce(sum(texts), 0)::BIGINT FROM parse_coverage WHERE table_name = '%s' AND field = '%s'", table.Name, helper.Parse.From))
						if !slices.Equal(got, want) {
							t.Errorf("%s.%s: parse_coverage counts %v texts, want %v", table.Name, helper.Parse.From, got, want)
						}
						if want[0] != "0" {
							texts++
						}
					}
				}
				if texts < 3 {
					t.Errorf("%d columns have texts, want 3 or more", texts)
				}
			})
		})
	}
}

// wantRefused wants that no command writes to a lake of an older format.
func wantRefused(t *testing.T, w *world.World, b *world.Book) {
	t.Helper()
	before := world.Sums(w.Log(t))
	keys := world.Keys(t, w.Store)
	w.Clock.Set(w.Log(t).KnownAt.Add(time.Hour))
	b.WriteAll(world.Priced, 1, 3, `"message":"years later"`)
	_, run := w.Run(t, world.Feeds(world.Priced))
	_, sync := w.Sync(t, world.Feeds(world.Priced))
	_, compact := maintain.Compact(t.Context(), w.Upkeep(t))
	_, expire := w.Expire(t, maintain.Retention{Days: 1}, true)
	_, replay := w.Replay(t)
	opened, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	publish := catalog.Publish(t.Context(), opened, t.TempDir(), nil)
	_, foreseen := pull.NextRun(opened, w.Clock.Now(), "", true)
	for name, err := range map[string]error{"run": run, "next run": foreseen, "sync": sync, "compact": compact, "expire": expire, "replay": replay, "catalog": publish} {
		if err == nil || !strings.Contains(err.Error(), "`dealflow upgrade --lake "+w.Store.URL()+" --to NEW`") {
			t.Errorf("%s: got %v, want the command to run", name, err)
		}
	}
	if !slices.Equal(world.Sums(w.Log(t)), before) || !slices.Equal(world.Keys(t, w.Store), keys) {
		t.Error("a refused command changed the lake")
	}
}

// TestReplayOldLake upgrades lake v1 and replays it under the present schema. The parsers fill their columns, replay reports which,
// and no earlier answer changes. The lake is sound even while its snapshots have the old schema.
func TestReplayOldLake(t *testing.T) {
	t.Parallel()
	w, _ := world.NewBook(t)
	upgradeTo(t, "v1", w.Store)
	questions := oldLakeQueries(w.Log(t))[1:] // there will be more runs
	answers := func() (all []string) {
		w.Ask(t, func(db *stdsql.DB) {
			for _, query := range questions {
				all = append(all, columnsOfSchema(query, 1)+": "+strings.Join(world.Lines(t, db, columnsOfSchema(query, 1)), "; "))
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
		want := []string{"parser_version", "value_basis", "value_benchmark", "value_bp", "value_hi_bp", "value_lo_bp", "value_stage", "value_status"}
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

// upgradeTo makes a lake of the present format from an old lake.
func upgradeTo(t *testing.T, name string, to store.Store) {
	t.Helper()
	if _, err := transfer.Upgrade(t.Context(), transfer.Config{From: world.Folder(t, oldLake(t, name)), To: to, Memory: testkit.Allocator(t)}); err != nil {
		t.Fatal(err)
	}
}

// TestReplaySchema2 replays the lake of schema version 2, whose files have U+0000 in texts, and NULL where a share of an
// allocation has more than six digits before the point. Replay brings the values in and says so. While snapshots have
// the old schema and history the new one, verify finds the lake sound; it finds a wrong value that only the payload
// can show.
func TestReplaySchema2(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	w, _ := world.NewBook(t)
	upgradeTo(t, "v2", w.Store)
	values := func() []string {
		return linesOf(t, w,
			"SELECT replace(message, chr(0), 'NUL') FROM bond_priced_deals WHERE deal_id = 8",
			"SELECT investor_type, value FROM bond_priced_investor_types WHERE deal_id = 8 ORDER BY ordinal",
			"SELECT geography, value FROM bond_priced_geographies WHERE deal_id = 8 ORDER BY ordinal",
			"SELECT typeof(value) FROM snapshots.bond_priced_geographies LIMIT 1")
	}
	// As they were written in TestWriteOldLake, in the order of names.
	if got, want := values(), []string{"a NUL NUL in a text", "Banks 0.123457", "Fund Managers -", "Benelux 40", "Nordics -", "DECIMAL(24,6)"}; !slices.Equal(got, want) {
		t.Errorf("before replay: got %q, want %q", got, want)
	}
	result := w.MustReplay(t)
	improved := map[string][]string{}
	for _, table := range result.Tables {
		improved[table.Table] = table.Improved
	}
	if !result.Equal || result.Commit == 0 {
		t.Errorf("replay: commit %d, equal %t; want a commit of equal rows: %+v", result.Commit, result.Equal, result.Tables)
	}
	for table, want := range map[string][]string{
		"history.bond_priced_deals": {"message"}, "history.bond_priced_banks": {"name"}, "history.bond_priced_price_evolution": {},
		"history.bond_priced_investor_types": {"value"}, "history.bond_priced_geographies": {"value"}, "history.bond_expected_deals": {"message"},
	} {
		if got := documented(table, improved[table]); !slices.Equal(got, want) {
			t.Errorf("%s: replay says that %q differ by newer rules, want %q", table, got, want)
		}
	}
	if got, want := values(), []string{"a NUL \uFFFD in a text", "Banks 0.123457", "Fund Managers 10000000", "Benelux 40", "Nordics 1234567.5", "DECIMAL(24,6)"}; !slices.Equal(got, want) {
		t.Errorf("after replay: got %q, want %q", got, want)
	}
	world.WantSound(t, w.Store)
	for column, value := range map[string]string{"value": "10000001", "investor_type": "Funds"} {
		wrong := &world.Damager{TB: t, Store: world.CopyStore(t, w.Store, new(memstore.Mem))}
		for _, f := range w.Log(t).AllFiles() {
			if f.Table == "history.bond_priced_investor_types" {
				fields, columns, _ := wrong.ReadFile(f.Path)
				at := slices.IndexFunc(fields, func(f arrow.Field) bool { return f.Name == "value" })
				for row := range columns[at].Len() {
					if columns[at].ValueStr(row) == "10000000" {
						wrong.Do(fmt.Sprintf("rows %s set %d %s %s", f.Path, row+1, column, value))
					}
				}
			}
		}
		if report, err := world.Verify(t, wrong.Store); !errors.Is(err, verify.ErrDamage) || !slices.ContainsFunc(report.Findings, func(f verify.Finding) bool { return f.Check == verify.SnapshotHistory }) {
			t.Errorf("%s is wrong in history: got %v, want %s", column, err, verify.SnapshotHistory)
		}
	}
	if result := w.MustReplay(t, "snapshots"); !result.Equal {
		t.Errorf("replay of snapshots: %+v", result.Tables)
	}
	world.WantSound(t, w.Store)
}

// documented returns the columns of a table of history that are not helper columns.
func documented(history string, columns []string) []string {
	all := []string{}
	for _, table := range lake.Tables() {
		for _, name := range columns {
			if lake.HistoryTable(table.Name) == history && slices.ContainsFunc(table.Columns, func(c lake.Column) bool { return c.Name == name }) {
				all = append(all, name)
			}
		}
	}
	return all
}

// TestReplaySchema3 replays the lake of schema version 3, whose parsers were of version 1. The lake has the present format:
// a run goes on with it, and then says what only a newer program may write. Before replay the new columns are NULL and the
// old readings stay; after it all rows have the present readings, and the ratings are there.
func TestReplaySchema3(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	w, b := world.NewBook(t)
	world.CopyStore(t, world.Folder(t, oldLake(t, "v3")), w.Store)
	if needs := w.Log(t).Needs(); len(needs.Requires)+len(needs.RequiresToWrite) > 0 {
		t.Errorf("the old lake needs %v, want nothing", needs)
	}
	readings := func() []string {
		return linesOf(t, w,
			"SELECT spread_benchmark, spread_benchmark_index, spread_bp::INT, rating_moodys_grade, rating_moodys_notch, rating_standard_and_poors_outlook, rating_composite_notch, rating_composite_rule, parser_version FROM bond_priced_deals WHERE deal_id = 9",
			"SELECT value_stage, value_bp::INT, value_yield_lo_pct::DOUBLE, value_yield_hi_pct::DOUBLE, value_status FROM bond_priced_price_evolution WHERE deal_id = 9 ORDER BY ordinal",
			"SELECT margin_lo_bp::INT, margin_hi_bp::DOUBLE, margin_oid::DOUBLE, margin_status, maturity_tenor_years::DOUBLE, maturity_status FROM loan_priced_tranches WHERE deal_id = 9 ORDER BY ordinal")
	}
	before := []string{
		"SOFR - 78 - - - - - 1",
		"- - -5.25 19.75 OK_YIELD", "- - - - UNPARSED",
		"90 99.5 - RANGE 62.5 OK", "- - - UNPARSED 5 OK",
	}
	if got := readings(); !slices.Equal(got, before) {
		t.Errorf("before replay: got %q, want %q", got, before)
	}
	result := w.MustReplay(t)
	if !result.Equal || result.Commit == 0 {
		t.Errorf("replay: commit %d, equal %t; want a commit of equal rows: %+v", result.Commit, result.Equal, result.Tables)
	}
	after := []string{
		"MS SOFR 78 Baa2 9 STABLE 9 WORST " + presentParsers,
		"- - 7.125 7.375 OK_YIELD", "FINAL 95 - - OK",
		"90 90 99.5 OK - UNPARSED", "325 325 - OK 5 OK",
	}
	if got := readings(); !slices.Equal(got, after) {
		t.Errorf("after replay: got %q, want %q", got, after)
	}
	if needs := w.Log(t).Needs(); len(needs.Requires) > 0 || !slices.Equal(needs.RequiresToWrite, []string{presentSchema}) {
		t.Errorf("after replay the lake needs %v, want %s to write", needs, presentSchema)
	}
	world.WantSound(t, w.Store)
	w.Clock.Set(w.Log(t).KnownAt.Add(time.Hour))
	b.WriteAll(world.Priced, 1, 3, `"message":"years later"`)
	if _, err := w.Run(t, world.Feeds(world.Priced)); err != nil {
		t.Errorf("run: %v", err)
	}
	world.WantSound(t, w.Store)
}

// TestReplaySchema4 replays the lake of schema version 4, whose parsers read the talk of priced bonds without a currency, and
// small margins, sizes with a point or a slash, and ranges of leverage in another way. First history has the present
// readings and snapshots have the old ones, then both have the present ones: each time the lake is sound. An older
// program may read the lake, and may not write to it.
func TestReplaySchema4(t *testing.T) {
	t.Parallel()
	queries := []string{
		"SELECT value_benchmark, value_benchmark_index, value_basis, value_bp::DOUBLE, parser_version FROM bond_priced_price_evolution WHERE deal_id = 10 ORDER BY ordinal",
		"SELECT volume_amount::BIGINT, volume_status, books_lo::BIGINT, books_hi::BIGINT, books_status FROM bond_expected_tranches WHERE deal_id = 10",
		"SELECT margin_lo_bp::DOUBLE, margin_hi_bp::DOUBLE, margin_status FROM loan_priced_tranches WHERE deal_id = 10 ORDER BY ordinal",
		"SELECT borrower_leveraged_multiple_total::DOUBLE, borrower_leveraged_multiple_total_lo::DOUBLE, borrower_leveraged_multiple_total_hi::DOUBLE, borrower_leveraged_multiple_status FROM loan_priced_deals WHERE deal_id = 10",
		"SELECT first_talk_benchmark, first_talk_mid_bp, final_benchmark, final_bp, tightening_bp FROM execution_metrics WHERE deal_id = 10",
	}
	before := []string{
		"UKT - SPREAD 110 2", "- - - 95 2", "MS - SPREAD 60 2", "UST - SPREAD 62.5 2",
		"1500000 OK 3000000000 4000000000 RANGE",
		"4.25 4.25 OK", "3.25 3.5 RANGE", "12.5 12.5 OK",
		"- - - UNPARSED",
		"UKT 110 G_SPREAD 85 -",
	}
	after := []string{
		"G_SPREAD - SPREAD 110 " + presentParsers, "SOFR SOFR MARGIN 95 " + presentParsers, "MS SOFR SPREAD 60 " + presentParsers, "G_SPREAD - SPREAD 62.5 " + presentParsers,
		"- AMBIGUOUS - - AMBIGUOUS",
		"425 425 OK", "325 350 RANGE", "- - AMBIGUOUS",
		"- 5.25 5.5 RANGE",
		"G_SPREAD 110 G_SPREAD 85 25",
	}
	wantReplayed(t, "v4", queries, before, after)
}

// TestReplaySchema5 replays the lake of schema version 5, whose parsers left texts with several steps, with remarks about other
// things, with decimal commas and with German words unread. No column is new: before replay the readings are the old ones, and an
// older program may read the lake after it.
func TestReplaySchema5(t *testing.T) {
	t.Parallel()
	queries := []string{
		"SELECT spread_benchmark, spread_bp::DOUBLE, spread_status, parser_version FROM bond_priced_deals WHERE deal_id = 11",
		"SELECT value_stage, value_benchmark, value_bp::DOUBLE, value_status FROM bond_priced_price_evolution WHERE deal_id = 11 ORDER BY ordinal",
		"SELECT volume_amount::BIGINT, volume_status, structure_tenor_years::DOUBLE, structure_call_years::DOUBLE, books_amount::BIGINT, books_quality, books_status FROM bond_expected_tranches WHERE deal_id = 11",
		"SELECT margin_benchmark, margin_bp::DOUBLE, margin_status FROM loan_priced_tranches WHERE deal_id = 11 ORDER BY ordinal",
		"SELECT borrower_leveraged_multiple_total::DOUBLE, borrower_leveraged_multiple_status FROM loan_priced_deals WHERE deal_id = 11",
	}
	before := []string{
		"- - UNPARSED 3",
		"IPT - - UNPARSED", "- - - UNPARSED",
		"- UNPARSED - - - - UNPARSED",
		"- - UNPARSED", "- - UNPARSED",
		"- UNPARSED",
	}
	after := []string{
		"MS 92 OK " + presentParsers,
		"FINAL MS 90 OK", "- BUND 55.5 OK",
		"350000000 OK 7 2 1200000000 AREA OK",
		"EURIBOR 450 OK", "SOFR 325 OK",
		"4.5 OK",
	}
	wantReplayed(t, "v5", queries, before, after)
}

// TestReplaySchema6 replays the lake of schema version 6, whose parsers read some texts that have a second number, about another
// thing, in a wrong way. Rows that have been replayed have no number there.
func TestReplaySchema6(t *testing.T) {
	t.Parallel()
	queries := []string{
		"SELECT spread_lo_bp::DOUBLE, spread_hi_bp::DOUBLE, spread_status, nip_lo_bp::DOUBLE, nip_hi_bp::DOUBLE, nip_status, parser_version FROM bond_priced_deals WHERE deal_id = 12",
		"SELECT value_bp::DOUBLE, value_yield_pct::DOUBLE, value_status FROM bond_priced_price_evolution WHERE deal_id = 12 ORDER BY ordinal",
		"SELECT books_lo::BIGINT, books_hi::BIGINT, books_quality, books_includes_jlm, books_status FROM bond_expected_tranches WHERE deal_id = 12",
		"SELECT margin_lo_bp::DOUBLE, margin_hi_bp::DOUBLE, margin_status FROM loan_priced_tranches WHERE deal_id = 12",
		"SELECT borrower_leveraged_multiple_senior::DOUBLE, borrower_leveraged_multiple_total::DOUBLE, borrower_leveraged_multiple_net_senior::DOUBLE, borrower_leveraged_multiple_status FROM loan_priced_deals WHERE deal_id IN (12, 13) ORDER BY deal_id",
	}
	before := []string{
		"140 144 RANGE -3 -2 RANGE 4",
		"12.5 - OK", "3 - OK",
		"2000000000 2000000000 - false OK",
		"120 144 RANGE",
		"3.5 4 - OK", "- 5 4 OK",
	}
	after := []string{
		"- - AMBIGUOUS - - AMBIGUOUS " + presentParsers,
		"- - UNPARSED", "- - AMBIGUOUS",
		"2000000000 - MIN true OK",
		"- - AMBIGUOUS",
		"- - - AMBIGUOUS", "- - - AMBIGUOUS",
	}
	wantReplayed(t, "v6", queries, before, after)
}

// TestReplaySchema7 replays the lake of schema version 7, whose parsers read some texts with two numbers that may be of two things, and a
// margin of six. Rows that have been replayed have no number there.
func TestReplaySchema7(t *testing.T) {
	t.Parallel()
	queries := []string{
		"SELECT spread_lo_bp::DOUBLE, spread_hi_bp::DOUBLE, spread_status, yield_lo_pct::DOUBLE, yield_hi_pct::DOUBLE, yield_status, nip_lo_bp::DOUBLE, nip_status, parser_version FROM bond_priced_deals WHERE deal_id = 14",
		"SELECT value_lo_bp::DOUBLE, value_hi_bp::DOUBLE, value_status FROM bond_priced_price_evolution WHERE deal_id = 14",
		"SELECT volume_lo::BIGINT, volume_quality, volume_status FROM bond_expected_tranches WHERE deal_id = 14",
		"SELECT margin_bp::DOUBLE, margin_status FROM loan_priced_tranches WHERE deal_id = 14",
		"SELECT borrower_leveraged_multiple_total_lo::DOUBLE, borrower_leveraged_multiple_status FROM loan_priced_deals WHERE deal_id = 14",
	}
	before := []string{"98 99.5 RANGE 4.375 4.412 RANGE -2 RANGE 5", "95 115 RANGE", "500000000 MIN OK", "6 OK", "3.5 RANGE"}
	after := []string{"- - AMBIGUOUS - - AMBIGUOUS - AMBIGUOUS " + presentParsers, "- - AMBIGUOUS", "- - UNPARSED", "- AMBIGUOUS", "- AMBIGUOUS"}
	wantReplayed(t, "v7", queries, before, after)
}

// TestReplaySchema8 replays the lake of schema version 8, whose parsers took the stages of a loan for those of a bond, and numbers of other
// things for steps.
func TestReplaySchema8(t *testing.T) {
	t.Parallel()
	queries := []string{
		"SELECT spread_bp::DOUBLE, spread_status, parser_version FROM bond_priced_deals WHERE deal_id = 15",
		"SELECT value_stage, value_lo_bp::DOUBLE, value_yield_lo_pct::DOUBLE, value_status FROM bond_priced_price_evolution WHERE deal_id = 15 ORDER BY ordinal",
		"SELECT books_lo::BIGINT, books_status FROM bond_expected_tranches WHERE deal_id = 15",
		"SELECT margin_bp::DOUBLE, margin_status, oid_lo::DOUBLE, oid_status FROM loan_priced_tranches WHERE deal_id = 15 ORDER BY tranche_id",
		"SELECT borrower_leveraged_multiple_total_lo::DOUBLE, borrower_leveraged_multiple_status FROM loan_priced_deals WHERE deal_id = 15",
	}
	before := []string{"99 OK 6", "REVISED 125 - OK", "TALK - 7.25 OK_YIELD", "500000000 OK", "350 OK 99 RANGE", "500 OK - -", "350 OK - -", "4.5 OK"}
	after := []string{"110 OK " + presentParsers, "GUIDANCE 115 - OK", "- - - UNPARSED", "- UNPARSED", "325 OK - UNPARSED", "- UNPARSED - -", "- UNPARSED - -", "- UNPARSED"}
	wantReplayed(t, "v8", queries, before, after)
}

// wantReplayed checks the answers of queries about an old lake before and after a replay of history, that the lake needs its own schema to write
// before it and the present one after it, and no more to read, and that it is sound, also after a replay of its snapshots.
func wantReplayed(t *testing.T, name string, queries, before, after []string) {
	t.Helper()
	w, _ := world.NewBook(t)
	world.CopyStore(t, world.Folder(t, oldLake(t, name)), w.Store)
	own := fmt.Sprintf("schema-%d", oldLakes[name])
	if needs := w.Log(t).Needs(); !slices.Equal(needs.Requires, []string{lake.NeedMultiPartition}) || !slices.Equal(needs.RequiresToWrite, []string{own}) {
		t.Errorf("the old lake needs %v, want %s to write, and to read only what shared files need", needs, own)
	}
	if got := linesOf(t, w, queries...); !slices.Equal(got, before) {
		t.Errorf("before replay: got %q, want %q", got, before)
	}
	if result := w.MustReplay(t); !result.Equal || result.Commit == 0 {
		t.Errorf("replay: commit %d, equal %t; want a commit of equal rows: %+v", result.Commit, result.Equal, result.Tables)
	}
	if got := linesOf(t, w, queries...); !slices.Equal(got, after) {
		t.Errorf("after replay: got %q, want %q", got, after)
	}
	if needs := w.Log(t).Needs(); !slices.Equal(needs.Requires, []string{lake.NeedMultiPartition}) || !slices.Contains(needs.RequiresToWrite, presentSchema) {
		t.Errorf("after replay the lake needs %v, want %s to write, and to read what it needed before", needs, presentSchema)
	}
	world.WantSound(t, w.Store)
	if result := w.MustReplay(t, "snapshots"); !result.Equal {
		t.Errorf("replay of snapshots: %+v", result.Tables)
	}
	world.WantSound(t, w.Store)
}

// linesOf returns the lines of the queries' results in the present catalog.
func linesOf(t *testing.T, w *world.World, queries ...string) (all []string) {
	t.Helper()
	w.Ask(t, func(db *stdsql.DB) {
		for _, query := range queries {
			all = append(all, world.Lines(t, db, query)...)
		}
	})
	return all
}

// oldLakeQueries are queries of a lake: its runs, its deals and versions, and each of its tables now, in snapshots, and as
// of two instants.
func oldLakeQueries(log *load.Log) []string {
	questions := []string{
		`SELECT "commit", command, known_at, snapshot_date, outcome, added, changed, removed, reappeared, quarantined, drift FROM runs WHERE command <> 'sync' ORDER BY ALL`,
		"SELECT service, market, kind, deal_id, version, valid_from FROM deals ORDER BY ALL",
		"SELECT service, kind, deal_id, version, change, reason, known_at, content_hash, payload_hash FROM history.deal_versions WHERE deal_id <> 1 ORDER BY ALL",
	}
	taken := map[string]bool{}
	for _, f := range log.AllFiles() {
		taken[f.Table] = true
	}
	for _, table := range lake.Tables() {
		if taken[lake.HistoryTable(table.Name)] {
			for _, from := range []string{table.Name, "snapshots." + table.Name, world.AsOf(log.Commits[0].KnownAt)(table.Name), world.AsOf(log.Commits[len(log.Commits)/2].KnownAt)(table.Name)} {
				questions = append(questions, "SELECT count(*), md5(string_agg(t::VARCHAR, chr(10) ORDER BY t::VARCHAR)) FROM "+from+" t")
			}
		}
	}
	return questions
}

// columnsOfSchema returns the query with only the columns that a table had in a schema version.
func columnsOfSchema(query string, schema int) string {
	selected, from, ok := strings.Cut(query, " FROM ")
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(from, " t"), "snapshots."), "_as_of(")
	table, known := lake.TableByName(name)
	if !ok || !known {
		return query
	}
	var later []string
	for _, c := range table.HistoryColumns() {
		if c.Since > schema {
			later = append(later, c.Name)
		}
	}
	if len(later) == 0 {
		return query
	}
	return selected + " FROM (SELECT * EXCLUDE (" + strings.Join(later, ", ") + ") FROM " + strings.TrimSuffix(from, " t") + ") t"
}

var writeOldLake = flag.String("write-old-lake", "", "write testdata/lake/NAME, which must be absent; for a new format or schema version only")

// TestWriteOldLake wrote lake v8 (v7 without deal 15, v6 without deal 14, either, v5 without deals 12 and 13, either, v4 without deal 11, either, v3 without deal 10, either, v2 without
// deal 9, either, v1 without the LL and NUL deals, either).
// A program writes a lake with it as its last act before the format or the schema version rises.
func TestWriteOldLake(t *testing.T) {
	if *writeOldLake == "" {
		t.Skip("a written lake is never written again")
	}
	folder := oldLake(t, *writeOldLake)
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%s exists: a written lake is never written again", folder)
	}
	w, b := world.NewBook(t)
	w.Store = new(memstore.Mem)
	feeds := []api.Feed{world.Priced, world.Expected, world.LoanPriced, world.LoanExpected}
	all := world.Feeds(feeds...)
	samples := map[api.Feed][]string{}
	for _, feed := range feeds {
		samples[feed] = sampleMembers(t, feed)
	}
	write := func(feed api.Feed, id int64, more string) {
		members := samples[feed][id%int64(len(samples[feed]))]
		b.Write(feed, id, strings.TrimPrefix(members+more, ","))
	}
	for _, feed := range feeds {
		for id := range int64(7) {
			write(feed, id+1, "")
		}
	}
	// Values that a later schema reads in another way: U+0000 in texts, shares without a bound.
	b.Write(world.Priced, 8, `"message":"a NUL \u0000 in a text","banks":[{"name":"Bank\u0000A","status":"Bookrunner"}],`+
		`"stats":{"finalBooks":1.25,"investorType":{"Fund Managers":10000000,"Banks":0.1234567},"geography":{"Nordics":1234567.5,"Benelux":40}}`)
	// Texts that later parsers read in another way.
	b.Write(world.Priced, 9, `"currency":"USD","spread":"SOFR MS+78","rating":{"moodys":"(P)Baa2","standardAndPoors":"BBB+ (stable)"},`+
		`"priceEvolution":[{"date":"2026-01-05T09:00:00Z","value":"7.25% (+/- 12.5)"},{"date":"2026-01-05T10:00:00Z","value":"Launch T+95"}]`)
	b.Write(world.LoanPriced, 9, `"tranches":[{"id":91,"currency":"USD","margin":"S+90/99.5","maturity":"750m"},{"id":92,"currency":"USD","margin":"Term SOFR+325","maturity":"60m"}]`)
	b.Write(world.Priced, 10, `"currency":"USD","spread":"G+85","priceEvolution":[{"date":"2026-01-05T09:00:00Z","value":"IPTs G+110 area"},`+
		`{"date":"2026-01-05T10:00:00Z","value":"Guidance S+95"},{"date":"2026-01-05T11:00:00Z","value":"SMS+60"},{"date":"2026-01-05T12:00:00Z","value":"G+T+62.5"}]`)
	b.Write(world.Expected, 10, `"_embedded":{"tranches":[{"name":"A","status":"EXPECTED","currency":"EUR","volume":"EUR1.500m","structure":"5yr","books":"EUR3/4bn"}]}`)
	b.Write(world.LoanPriced, 10, `"borrower":{"name":"Tenth","leveragedMultiple":"5.25x-5.5x"},`+
		`"tranches":[{"id":101,"currency":"EUR","margin":"E+4.25"},{"id":102,"currency":"USD","margin":"S+3.25-3.50"},{"id":103,"currency":"EUR","margin":"E+12.5"}]`)
	b.Write(world.Priced, 11, `"currency":"EUR","spread":"MS+110 -> MS+92","priceEvolution":[{"date":"2026-01-05T09:00:00Z","value":"IPTs MS+115a > guidance MS+95a > launched MS+90"},`+
		`{"date":"2026-01-05T10:00:00Z","value":"OBL 191 + 55,5bp"}]`)
	b.Write(world.Expected, 11, `"_embedded":{"tranches":[{"name":"A","status":"EXPECTED","currency":"EUR","volume":"350 Mio. EUR","structure":"7 n.c. 2","books":"Buch ca. EUR 1,2 Mrd"}]}`)
	b.Write(world.LoanPriced, 11, `"borrower":{"name":"Eleventh","leveragedMultiple":"4,5x brutto"},`+
		`"tranches":[{"id":111,"currency":"EUR","margin":"E+450, util fee 15/30"},{"id":112,"currency":"USD","margin":"flexed to S+325 from S+350"}]`)
	b.Write(world.Priced, 12, `"currency":"USD","spread":"T+140 / 144A","nip":"neg 2/3","priceEvolution":[{"date":"2026-01-05T09:00:00Z","value":"7.625% (+12.5bp)"},`+
		`{"date":"2026-01-05T10:00:00Z","value":"SOFR+3/4%"}]`)
	b.Write(world.Expected, 12, `"_embedded":{"tranches":[{"name":"A","status":"EXPECTED","currency":"EUR","books":"EUR2bn+ incl EUR150m JLM"}]}`)
	b.Write(world.LoanPriced, 12, `"borrower":{"name":"Twelfth","leveragedMultiple":"3.5x / 4.0x incl. leases"},"tranches":[{"id":121,"currency":"USD","margin":"S+120-144A"}]`)
	b.Write(world.LoanPriced, 13, `"borrower":{"name":"Thirteenth","leveragedMultiple":"net 4x senior, 5x total"},"tranches":[{"id":131,"currency":"USD","margin":"S+325"}]`)
	b.Write(world.Priced, 14, `"currency":"USD","spread":"T+98 - 99.5","yield":"4.375% - 4.412%","nip":"+3/-2","priceEvolution":[{"date":"2026-01-05T09:00:00Z","value":"T+95/+115"}]`)
	b.Write(world.Expected, 14, `"_embedded":{"tranches":[{"name":"A","status":"EXPECTED","currency":"EUR","volume":"EUR500m + FRN"}]}`)
	b.Write(world.LoanPriced, 14, `"borrower":{"name":"Fourteenth","leveragedMultiple":"3.5x - 4.2x incl. leases"},"tranches":[{"id":141,"currency":"USD","margin":"S+6"}]`)
	b.Write(world.Priced, 15, `"currency":"USD","spread":"T+110, final price 99","nip":"2bp","priceEvolution":[{"date":"2026-01-05T09:00:00Z","value":"IPG T+145a, revised guidance T+125, FPG T+115"},{"date":"2026-01-05T10:00:00Z","value":"7%, talk 7.25-7.5%"}]`)
	b.Write(world.Expected, 15, `"_embedded":{"tranches":[{"name":"A","status":"EXPECTED","currency":"EUR","books":"EUR5bn, final EUR500m"}]}`)
	b.Write(world.LoanPriced, 15, `"borrower":{"name":"Fifteenth","leveragedMultiple":"5.5x opening, down to 4.5x"},"tranches":[{"id":151,"currency":"USD","margin":"launched at S+350, flexed to S+325","oid":"99.75, talk 99-99.5"},{"id":152,"currency":"EUR","margin":"E+475, upsized to 500"},{"id":153,"currency":"EUR","margin":"E+400 down to E+350 margin ratchet"}]`)
	w.Night(t, 0, all, world.Quiet)
	for n := range 46 {
		w.Later(5 * time.Minute)
		b.Write(world.Priced, 1, fmt.Sprintf(`"message":"edit %d"`, n))
		w.MustSync(t, all, world.Quiet)
	}
	b.Strike(world.Priced, 2)
	b.Strike(world.LoanPriced, 4)
	b.Strike(world.LoanExpected, 3)
	b.WriteBody(world.Priced, 4, `{"dealId":4,"dealId":4}`)
	w.Night(t, 1, all, world.Quiet)
	write(world.Priced, 2, `,"additionalInfo":"back again"`)
	b.Forbid(world.Priced, 5)
	write(world.Priced, 4, `,"additionalInfo":"readable again"`)
	b.Write(world.Expected, 6, `"message":"talk\u0000","regions":["Americas",null]`)
	w.Night(t, 2, all, world.Quiet)
	w.MustCompact(t)
	w.Night(t, 3, all, world.Quiet)
	w.Night(t, 4, all, world.Quiet)
	w.MustExpire(t, maintain.Retention{Days: 3}, true)
	b.WriteBody(world.LoanExpected, 2, `{"dealId":2,"stage":"x","stage":"y"}`)
	w.Night(t, 5, all, world.Quiet)

	to := world.Folder(t, folder)
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
	if err := os.Remove(filepath.Join(folder, ".tmp-lock")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

// sampleMembers returns the JSON members of a feed's sample records, without those that a Book adds.
func sampleMembers(t testing.TB, feed api.Feed) []string {
	page, err := os.ReadFile(filepath.Join(testkit.Root(t), "testdata/samples", feed.String()+".json"))
	if err != nil {
		t.Fatal(err)
	}
	split, err := api.SplitPage(page, feed)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, record := range split.Records {
		var members map[string]json.RawMessage
		if json.Unmarshal(record, &members) != nil {
			continue // a sample of a damaged record
		}
		for _, name := range []string{feed.IDKey(), "market", "_links"} {
			delete(members, name)
		}
		text, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.TrimSuffix(strings.TrimPrefix(string(text), "{"), "}"))
	}
	return all
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
