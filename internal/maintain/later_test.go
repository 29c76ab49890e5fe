package maintain_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/testkit/world"
	"dealflow/load/store/memstore"
	"dealflow/load/verify"
	"dealflow/schemas/lake"
)

// TestLaterTables lets tables and a link come with the present schema version, in a lake whose first night an older program
// wrote. The lake is sound before replay, between replay of history and of snapshots, and after it; what a later file says
// of an older deal is still compared with the payload. Replay adds the rows, and calls them improved. It changes the
// declarations of tables, so no other test may run at the same time: it is not parallel.
func TestLaterTables(t *testing.T) {
	w := world.ShortLake(t)
	want := historyRows(t, w)
	names := []string{"bond_priced_banks", "loan_priced_tranches", "loan_priced_tranche_banks"}
	for _, name := range names {
		table, _ := lake.TableByName(name)
		setSince(t, &table.Since)
	}
	deals, _ := lake.TableByName("bond_priced_deals")
	link := slices.IndexFunc(deals.Columns, func(c lake.Column) bool { return c.Name == "self_href" })
	setSince(t, &deals.Columns[link].Since)

	d := &world.Damager{TB: t, Store: w.Store}
	for _, f := range d.ReadCommit(1).Add {
		_, name, _ := strings.Cut(f.Table, ".")
		if f.SchemaVersion == 0 || slices.Contains(names, name) {
			d.Do(fmt.Sprintf("commit commit@1 forget %s", f.Path))
			d.Check(w.Store.Delete(t.Context(), f.Path))
			continue
		}
		d.Do(fmt.Sprintf("commit commit@1 schema %s %d", f.Path, lake.SchemaVersion-1))
		d.Do(fmt.Sprintf("rows %s meta dealflow.schema_version %d", f.Path, lake.SchemaVersion-1))
		switch name {
		case deals.Name:
			d.Do("rows " + f.Path + " column self_href")
		case lake.DealVersions:
			_, columns, _ := d.ReadFile(f.Path)
			for row := range columns[0].Len() {
				d.Do(fmt.Sprintf("rows %s set %d schema_version %d", f.Path, row+1, lake.SchemaVersion-1))
			}
		}
	}
	world.WantSound(t, w.Store)
	for _, damage := range []string{
		"rows snapshots.bond_priced_banks/IG@2 set 2 name three",
		"rows snapshots.bond_priced_banks/IG@2 drop 3",
		"rows snapshots.loan_priced_tranche_banks/LL@3 set 1 name three",
		"rows snapshots.bond_priced_deals/IG@2 set 2 self_href /elsewhere",
	} {
		wantSnapshotDamage(t, w, damage)
	}

	w.Later(time.Hour)
	for _, how := range [][]string{nil, {"snapshots"}} {
		result := w.MustReplay(t, how...)
		if !result.Equal || result.Commit == 0 {
			t.Fatalf("replay %v: want a commit of equal rows, got %+v", how, result)
		}
		kind := lake.HistoryTable
		if how != nil {
			kind = lake.SnapshotTable
		}
		improved := map[string][]string{}
		for _, table := range result.Tables {
			improved[table.Table] = table.Improved
		}
		for name, column := range map[string]string{deals.Name: "self_href", names[0]: "status", names[1]: "name", names[2]: "name"} {
			if !slices.Contains(improved[kind(name)], column) {
				t.Errorf("replay %v: improved columns of %s: got %q, want %s among them", how, name, improved[kind(name)], column)
			}
		}
		if got := historyRows(t, w); got != want {
			t.Errorf("replay %v: got rows %s, want %s", how, got, want)
		}
		world.WantSound(t, w.Store)
		if how == nil { // history has the rows, the first day's snapshots do not
			wantSnapshotDamage(t, w, "rows history.bond_priced_banks/IG@4 set 1 name three")
		}
	}
	if again := w.MustReplay(t, "snapshots"); again.Outcome != lake.OutcomeUnchanged {
		t.Errorf("once more: got %+v, want nothing to do", again)
	}
}

// setSince sets the schema version of a table or column to the present one until the test ends.
func setSince(t *testing.T, since *int) {
	t.Helper()
	before := *since
	*since = lake.SchemaVersion
	t.Cleanup(func() { *since = before })
}

// historyRows lists the numbers of rows of history.
func historyRows(t *testing.T, w *world.World) string {
	t.Helper()
	rows := map[string]int64{}
	for _, f := range w.Log(t).AllFiles() {
		if strings.HasPrefix(f.Table, lake.HistoryTable("")) {
			rows[f.Table] += f.Rows
		}
	}
	return fmt.Sprint(rows)
}

// wantSnapshotDamage does damage to a copy of the lake, and wants that verify finds snapshots that differ from history.
func wantSnapshotDamage(t *testing.T, w *world.World, damage string) {
	t.Helper()
	wrong := &world.Damager{TB: t, Store: world.CopyStore(t, w.Store, new(memstore.Mem))}
	wrong.Do(damage)
	report, err := world.Verify(t, wrong.Store)
	if !errors.Is(err, verify.ErrDamage) || !slices.ContainsFunc(report.Findings, func(f verify.Finding) bool { return f.Check == verify.SnapshotHistory }) {
		t.Errorf("%s: got %v, want %s", damage, err, verify.SnapshotHistory)
	}
}
