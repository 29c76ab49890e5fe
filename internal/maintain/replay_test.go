package maintain_test

import (
	stdsql "database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store/memstore"
	"dealflow/load/store/tracestore"
	"dealflow/load/verify"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// movedNights is a market that moves to another base URL between its nights.
func movedNights(t testing.TB) *world.World {
	t.Helper()
	w := world.New(t, sim.Config{Seed: 31, Deals: 20})
	w.Night(t, 0, world.Quiet)
	w.ServeAgain(t, serve.Config{Source: w.Market})
	w.Night(t, 3, world.Quiet)
	return w
}

// TestReplayProvesEqual rebuilds lakes of all kinds: all rows are what the payloads say, and nothing is written. With
// Force all files are replaced, and no answer changes.
func TestReplayProvesEqual(t *testing.T) {
	t.Parallel()
	for name, fill := range testkit.SampleOf(map[string]func(testing.TB) *world.World{
		"nights of a market": world.NightsOfAMarket, "an API that stumbles": world.StumblingNights, "removals, quarantine, two a day": world.EventfulNights,
		"syncs between nights": world.SyncedNights, "kinds in the other order": otherOrder,
	}, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fill(t)
			files, number := world.Sums(w.Log(t)), w.Log(t).Number
			var before map[string]string
			if w.Market == nil { // of a small lake
				before = w.Answers(t)
			}
			w.Later(time.Hour)
			trace := &tracestore.Store{Store: w.Store}
			cfg := w.Upkeep(t)
			cfg.Store = trace
			result, err := maintain.Replay(t.Context(), maintain.ReplayConfig{Config: cfg, Snapshots: true})
			if err != nil || !result.Equal || result.Outcome != lake.OutcomeUnchanged || result.Commit != 0 || w.Log(t).Number != number {
				t.Errorf("got %+v, %v; want all equal and nothing done", result, err)
			}
			for _, line := range trace.Lines() {
				if !strings.HasSuffix(line, lake.LeaseKey) {
					t.Errorf("it wrote: %s", line)
				}
			}
			wantCounted(t, w.Log(t), result)

			forced := w.MustReplay(t, "snapshots", "force")
			if !forced.Equal || forced.Commit != number+1 || forced.FilesRemoved != len(files) {
				t.Errorf("with force: got %+v; want commit %d in place of %d files", forced, number+1, len(files))
			}
			if before != nil {
				world.WantAnswers(t, w.Answers(t), before)
			}
			world.WantSound(t, w.Store)
		})
	}
}

// wantCounted checks that the report has every table that has files, with all their rows.
func wantCounted(t *testing.T, log *load.Log, result *maintain.ReplayResult) {
	t.Helper()
	files, rows := map[string]int{}, map[string]int64{}
	for _, f := range log.AllFiles() {
		if f.Table != lake.HistoryTable(lake.DealVersions) && f.Table != lake.QuarantineTable {
			files[f.Table]++
			rows[f.Table] += f.Rows
		}
	}
	for _, table := range result.Tables {
		if table.FilesBefore != files[table.Table] || table.Rows != rows[table.Table] || table.RowsBefore != table.Rows {
			t.Errorf("%+v: want %d files, %d rows", table, files[table.Table], rows[table.Table])
		}
		delete(files, table.Table)
	}
	if len(files) > 0 {
		t.Errorf("not in the report: %v", files)
	}
}

// TestReplaySameBytes rebuilds the files of a first night: the same payloads give the same bytes.
func TestReplaySameBytes(t *testing.T) {
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 33, Deals: 20})
	w.Night(t, 0, world.Quiet, func(c *pull.Config) { c.Stretch = 0 }) // as replay has it
	before := world.Sums(w.Log(t))
	w.Later(time.Hour)
	w.MustReplay(t, "snapshots", "force")
	if after := world.Sums(w.Log(t)); !slices.Equal(before, after) {
		t.Errorf("files differ:\n got %q\nwant %q", after, before)
	}
}

// TestReplayLinks checks that links are relative to the base URL of each version's run.
func TestReplayLinks(t *testing.T) {
	t.Parallel()
	w := movedNights(t)
	w.Later(time.Hour)
	if result := w.MustReplay(t, "snapshots"); !result.Equal || result.Commit != 0 {
		t.Errorf("got %+v, want all equal", result)
	}
}

// TestReplayMends damages a lake where its payloads still have the truth, and replays it.
func TestReplayMends(t *testing.T) {
	t.Parallel()
	sound := world.ShortLake(t)
	sound.Later(time.Hour)
	for _, c := range []struct {
		name, damage string
		table        string
		different    int64
		damaged      int
		replaced     int
	}{
		{"a cell", "rows history.bond_priced_banks/IG@1 set 2 name damaged", "history.bond_priced_banks", 1, 0, 2},
		{"a cell that should be empty", "rows history.bond_expected_deals/IG@1 set 1 borrower_name damaged", "history.bond_expected_deals", 1, 0, 1},
		{"a missing row", "rows history.loan_priced_tranche_banks/LL@1 drop 1", "history.loan_priced_tranche_banks", 1, 0, 1},
		{"a row twice", "rows history.bond_priced_deals/IG@1 repeat 1", "history.bond_priced_deals", 1, 0, 3},
		{"another deal's row", "rows history.bond_priced_deals/IG@1 set 1 deal_id 77", "history.bond_priced_deals", 1, 0, 3},
		{"flipped bit", "flip history.bond_priced_deals/IG@2 data", "history.bond_priced_deals", 1, 1, 3},
		{"missing file", "delete history.bond_priced_banks/IG@1", "history.bond_priced_banks", 8, 1, 2},
		{"a cell of a snapshot", "rows snapshots.bond_priced_deals/IG@2 set 1 message damaged", "snapshots.bond_priced_deals", 1, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := sound.WithStore(world.CopyStore(t, sound.Store, new(memstore.Mem)))
			(&world.Damager{TB: t, Store: w.Store}).Do(c.damage)
			if _, err := world.Verify(t, w.Store); !errors.Is(err, verify.ErrDamage) {
				t.Fatalf("the damage is none: %v", err)
			}
			result := w.MustReplay(t, "snapshots")
			if result.Equal || result.Commit != 4 || result.FilesRemoved != c.replaced {
				t.Errorf("got %+v; want commit 4 in place of %d files", result, c.replaced)
			}
			for _, table := range result.Tables {
				hit := table.Table == c.table
				switch {
				case hit && (table.Different != c.different || table.Damaged != c.damaged || len(table.Where) != 1 || table.Replaced != c.replaced):
					t.Errorf("got %+v, want %d rows different, %d files damaged", table, c.different, c.damaged)
				case !hit && (table.Different != 0 || table.Damaged != 0 || table.Replaced != 0 || len(table.Where) != 0):
					t.Errorf("got %+v, want it equal", table)
				}
			}
			world.WantSound(t, w.Store)
			if again := w.MustReplay(t, "snapshots"); !again.Equal || again.Outcome != lake.OutcomeUnchanged {
				t.Errorf("once more: got %+v, want nothing to do", again)
			}
		})
	}
}

// TestReplayLeavesSnapshots checks that snapshots are only rebuilt if the configuration says so.
func TestReplayLeavesSnapshots(t *testing.T) {
	t.Parallel()
	w := world.ShortLake(t)
	(&world.Damager{TB: t, Store: w.Store}).Do("rows snapshots.bond_priced_deals/IG@2 set 1 message damaged")
	w.Later(time.Hour)
	if result := w.MustReplay(t); !result.Equal || result.Commit != 0 {
		t.Errorf("got %+v, want history to be equal", result)
	}
}

// TestReplayNeedsPayloads checks that replay ends at a payload that cannot be read any more, and says which.
func TestReplayNeedsPayloads(t *testing.T) {
	t.Parallel()
	sound := world.ShortLake(t)
	sound.Later(time.Hour)
	for _, c := range []struct {
		name    string
		damages []string
		says    string
	}{
		{"a flipped bit", []string{"flip history.deal_versions/IG@1 data"}, "history/deal_versions/mkt=IG"},
		{"another payload than its hash", []string{"rows history.deal_versions/IG@1 set 2 payload {}"}, "bond/ig/priced deal 2 version 1: the payload's SHA-256 differs from payload_hash"},
		{"the payload of another deal", []string{
			"rows history.deal_versions/IG@1 like 2 history.deal_versions/IG@1 3 payload",
			"rows history.deal_versions/IG@1 like 2 history.deal_versions/IG@1 3 payload_hash",
		}, "bond/ig/priced deal 2 version 1: the payload can no longer be read: got the payload of deal 3, want deal 2; run `dealflow verify --read-data`"},
		{"no payload of a deal", []string{
			"rows history.deal_versions/IG@1 set 2 payload []",
			"rows history.deal_versions/IG@1 set 2 payload_hash T1PNoYwrqgwDVLtfmj7L5e0Sq02OEbqHPC8RFhICuUU=", // of []
		}, "bond/ig/priced deal 2 version 1: the payload can no longer be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := sound.WithStore(world.CopyStore(t, sound.Store, new(memstore.Mem)))
			for _, damage := range c.damages {
				(&world.Damager{TB: t, Store: w.Store}).Do(damage)
			}
			result, err := w.Replay(t, "force")
			if err == nil || !strings.Contains(err.Error(), c.says) || result.Commit != 0 || result.Outcome != lake.OutcomeFailed || w.Log(t).Number != 3 {
				t.Errorf("got %+v, %v; want nothing committed, and an error that says %q", result, err, c.says)
			}
		})
	}
}

// TestReplayOfOlderSchema checks that all files of an older schema version are rewritten under the current one, and no
// other file.
func TestReplayOfOlderSchema(t *testing.T) {
	t.Parallel()
	w := world.ShortLake(t)
	d := &world.Damager{TB: t, Store: w.Store}
	older := 0
	for _, f := range d.ReadCommit(1).Add {
		if strings.HasPrefix(f.Path, "history/") {
			older++
			d.Do(fmt.Sprintf("commit commit@1 schema %s %d", f.Path, lake.SchemaVersion-1))
		}
		if f.Table == "history.deal_versions" {
			_, columns, _ := d.ReadFile(f.Path)
			for row := range columns[0].Len() {
				d.Do(fmt.Sprintf("rows %s set %d schema_version %d", f.Path, row+1, lake.SchemaVersion-1))
			}
			// A column that came with the current schema.
			d.Do("rows " + f.Path + " column updated_since_href")
		}
	}
	w.Later(time.Hour)
	result := w.MustReplay(t)
	if !result.Equal || result.Commit != 4 || result.FilesRemoved < older {
		t.Errorf("got %+v, want commit 4 in place of %d files and those beside them", result, older)
	}
	for _, f := range w.Log(t).AllFiles() {
		if f.SchemaVersion != lake.SchemaVersion {
			t.Errorf("%s is of schema version %d", f.Path, f.SchemaVersion)
		}
		if f.Table == "history.deal_versions" {
			wantCurrent(t, d, f)
		}
	}
	world.WantSound(t, w.Store)
	if again := w.MustReplay(t, "snapshots"); again.Outcome != lake.OutcomeUnchanged {
		t.Errorf("once more: got %+v, want nothing to do", again)
	}
}

func wantCurrent(t testing.TB, d *world.Damager, f lake.File) {
	t.Helper()
	fields, columns, _ := d.ReadFile(f.Path)
	for i, field := range fields {
		if field.Name != "schema_version" {
			continue
		}
		for _, version := range columns[i].(*array.Int32).Int32Values() {
			if version != lake.SchemaVersion {
				t.Errorf("%s: a row says schema version %d", f.Path, version)
			}
		}
	}
}

// TestReplayBehindOthers lets runs commit during a replay: the replay commits after them and removes nothing of theirs.
func TestReplayBehindOthers(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 5, `"message":"A"`)
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	w.Evening(1)
	cfg := w.Upkeep(t)
	ran := false
	cfg.Store = &world.Overtaken{Store: w.Store, Before: func() {
		if !ran {
			ran = true
			b.Write(world.Priced, 1, `"message":"B"`)
			w.MustRun(t, world.Feeds(world.Priced), world.Quiet)
		}
	}}
	result, err := maintain.Replay(t.Context(), maintain.ReplayConfig{Config: cfg, Force: true})
	if err != nil || result.Commit != 3 {
		t.Fatalf("got %+v, %v; want commit 3", result, err)
	}
	world.WantSound(t, w.Store)
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, world.Versions(world.Priced, 1, 2), "1 1 added -", "1 2 changed -", "2 1 added -")
		world.WantAgreement(t, db, world.Priced)
	})
}

// TestMaintenanceKeepsAnswers runs all commands one after another between the nights of a market.
func TestMaintenanceKeepsAnswers(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 35, Deals: 8})
	all := api.Feeds()
	for n := range 2 {
		w.Evening(2 * n)
		if _, err := w.Run(t, world.Quiet); err != nil {
			t.Fatal(err)
		}
		w.Later(6 * time.Hour)
		w.MustSync(t, world.Quiet)
		before := w.Answers(t)
		w.MustCompact(t)
		w.MustReplay(t, "force", "snapshots")
		w.MustReplay(t)
		w.MustExpire(t, maintain.Retention{Days: 35}, true)
		world.WantAnswers(t, w.Answers(t), before)
	}
	world.WantSound(t, w.Store)
	w.Ask(t, func(db *stdsql.DB) {
		world.WantAgreement(t, db, all...)
		world.WantInstants(t, db)
	})
}
