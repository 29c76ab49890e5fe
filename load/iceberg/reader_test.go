package iceberg_test

import (
	"bytes"
	stdsql "database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hamba/avro/v2/ocf"

	"dealflow/internal/testkit/world"
	"dealflow/load/iceberg"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

func TestMain(m *testing.M) { world.Main(m) }

// A reader of Iceberg tables for tests, which knows of the format only what its specification says.
type (
	readTable struct {
		Current   int64          `json:"current-snapshot-id"`
		Snapshots []readSnapshot `json:"snapshots"`
	}
	readSnapshot struct {
		ID      int64             `json:"snapshot-id"`
		Time    int64             `json:"timestamp-ms"`
		List    string            `json:"manifest-list"`
		Summary map[string]string `json:"summary"`
	}
	// readFiles are the files of a snapshot, as keys.
	readFiles struct{ data, deletes []string }
)

// read is a reader of the tables in a store.
type read struct {
	t    testing.TB
	s    store.Store
	avro map[string][]map[string]any // by key: these objects never change
}

func newRead(t testing.TB, s store.Store) read { return read{t, s, map[string][]map[string]any{}} }

// someTables are those that tests compare: parents and children with rows, and a table without any.
func someTables() []iceberg.Table {
	return slices.DeleteFunc(iceberg.Tables(), func(t iceberg.Table) bool {
		return !slices.Contains([]string{"bond_expected_deals", "bond_priced_banks", "loan_priced_sponsors", lake.DealVersions}, t.Name)
	})
}

func (r read) object(key string) []byte {
	r.t.Helper()
	data, err := store.Read(r.t.Context(), r.s, key)
	if err != nil {
		r.t.Fatal(err)
	}
	return data
}

// key returns the key of a location.
func (r read) key(location string) string {
	r.t.Helper()
	key, ok := strings.CutPrefix(strings.TrimPrefix(location, "file://"), r.s.URL()+"/")
	if !ok {
		r.t.Fatalf("location %s is not in %s", location, r.s.URL())
	}
	return key
}

// table reads the metadata that the hint names.
func (r read) table(table iceberg.Table) (m readTable) {
	r.t.Helper()
	folder := lake.IcebergPrefix + table.Namespace + "/" + table.Name + "/metadata/"
	version := r.object(folder + "version-hint.text")
	if err := json.Unmarshal(r.object(folder+"v"+string(version)+".metadata.json"), &m); err != nil {
		r.t.Fatal(err)
	}
	return m
}

// records reads an Avro file.
func (r read) records(key string) (all []map[string]any) {
	r.t.Helper()
	if known, ok := r.avro[key]; ok {
		return known
	}
	defer func() { r.avro[key] = all }()
	dec, err := ocf.NewDecoder(bytes.NewReader(r.object(key)))
	if err != nil {
		r.t.Fatal(err)
	}
	for dec.HasNext() {
		var record map[string]any
		if err := dec.Decode(&record); err != nil {
			r.t.Fatal(err)
		}
		all = append(all, record)
	}
	if dec.Error() != nil {
		r.t.Fatal(dec.Error())
	}
	return all
}

// files reads the files of a snapshot from its manifests.
func (r read) files(s readSnapshot) (f readFiles) {
	r.t.Helper()
	for _, manifest := range r.records(r.key(s.List)) {
		key := r.key(manifest["manifest_path"].(string))
		for _, entry := range r.records(key) {
			file := entry["data_file"].(map[string]any)
			key := r.key(file["file_path"].(string))
			if file["content"].(int) == 0 {
				f.data = append(f.data, key)
			} else {
				f.deletes = append(f.deletes, key)
			}
		}
	}
	return f
}

// wantComplete checks that all that the tables name exists.
func (r read) wantComplete() {
	r.t.Helper()
	keys := world.Keys(r.t, r.s)
	for _, table := range iceberg.Tables() {
		for _, s := range r.table(table).Snapshots {
			f := r.files(s)
			for _, key := range slices.Concat(f.data, f.deletes) {
				if _, ok := slices.BinarySearch(keys, key); !ok {
					r.t.Errorf("%s as of %d names %s, which does not exist", table, s.ID, key)
				}
			}
		}
	}
}

// wantEqual compares the rows of some tables with those of the catalog, as of each commit that can be read. It returns
// the number of comparisons.
func (r read) wantEqual(w *world.World) (compared int) {
	r.t.Helper()
	log := w.Log(r.t)
	w.Ask(r.t, func(db *stdsql.DB) {
		for _, table := range someTables() {
			m := r.table(table)
			if m.Current != log.Number {
				r.t.Errorf("%s: the newest snapshot is %d, want %d", table, m.Current, log.Number)
			}
			for _, s := range m.Snapshots {
				known := log.Commits[s.ID-1].KnownAt
				if got := s.Summary["dealflow.known_at_us"]; got != strconv.FormatInt(known.UnixMicro(), 10) || s.Time*1000 < known.UnixMicro() || s.Time*1000 >= known.UnixMicro()+1000 {
					r.t.Errorf("%s: snapshot %d is known at %s µs, and has the time %d ms; want %s", table, s.ID, got, s.Time, known)
				}
				if got, want := s.Summary["dealflow.sha256"], lake.SHA256(r.object(lake.CommitKey(s.ID))); len(got) < 12 || !strings.HasPrefix(want, got) {
					r.t.Errorf("%s: snapshot %d names the commit %q, want the first digits of %s", table, s.ID, got, want)
				}
				want := table.Namespace + "." + table.Name
				switch table.Namespace {
				case iceberg.Current:
					want = world.AsOf(known)(table.Name)
				case iceberg.Snapshots:
					want = "snapshots." + table.Name
				}
				columns := `"` + strings.Join(lake.ColumnNames(columnsOf(table)), `", "`) + `"`
				difference := fmt.Sprintf("WITH got AS (%s), want AS (SELECT %s FROM %s) SELECT (SELECT count(*) FROM (FROM got EXCEPT ALL FROM want)), (SELECT count(*) FROM (FROM want EXCEPT ALL FROM got))",
					r.query(s, columns, want), columns, want)
				if lines := world.Lines(r.t, db, difference); !slices.Equal(lines, []string{"0 0"}) {
					r.t.Errorf("%s as of %d: rows that only the Iceberg table has, and only the catalog: %q", table, s.ID, lines)
				}
				compared++
			}
		}
	})
	return compared
}

func columnsOf(table iceberg.Table) []lake.Column {
	if table.Namespace == iceberg.Snapshots {
		return lake.TableColumns(lake.SnapshotTable(table.Name))
	}
	return lake.TableColumns(lake.HistoryTable(table.Name))
}

// query returns a statement for the rows of a snapshot. empty is a table with the same columns.
func (r read) query(s readSnapshot, columns, empty string) string {
	r.t.Helper()
	f := r.files(s)
	if len(f.data) == 0 {
		return "SELECT " + columns + " FROM " + empty + " LIMIT 0"
	}
	paths := func(keys []string) string {
		return "['" + r.s.URL() + "/" + strings.Join(keys, "', '"+r.s.URL()+"/") + "']"
	}
	query := fmt.Sprintf("SELECT %s FROM read_parquet(%s, filename = true, file_row_number = true, union_by_name = true, hive_partitioning = false) d", columns, paths(f.data))
	if len(f.deletes) > 0 {
		query += fmt.Sprintf(" WHERE NOT EXISTS (SELECT 1 FROM read_parquet(%s) x WHERE x.file_path = 'file://' || d.filename AND x.pos = d.file_row_number)", paths(f.deletes))
	}
	return query
}
