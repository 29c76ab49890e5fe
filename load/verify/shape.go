package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// shape is the form that a data file must have.
type shape struct {
	table    *lake.Table // nil: deal_versions, or the quarantine
	snapshot bool
	day      arrow.Date32  // of a snapshot
	columns  []lake.Column // in the file's schema version
}

// errLaterTable says that a file is of a table that came after this program.
var errLaterTable = errors.New("the table came after this program")

// shapeOf returns the shape of a file of a lake of a format version. It is an error if path, table and partition do not
// agree. Of a file of a later schema version it knows the columns that this program knows: a version that changes one of
// them says so in the file's Requires, and then no reader of this version comes here.
func shapeOf(f lake.File, format int) (*shape, error) {
	if f.SchemaVersion < 1 {
		return nil, fmt.Errorf("commit names schema version %d: want 1 or more", f.SchemaVersion)
	}
	s := &shape{}
	name, snapshot := strings.CutPrefix(f.Table, lake.SnapshotTable(""))
	name, history := strings.CutPrefix(name, lake.HistoryTable(""))
	var known bool
	s.table, known = lake.TableByName(name)
	switch {
	case f.Table == lake.QuarantineTable:
	case snapshot && !history && known:
		s.snapshot, s.columns = true, lake.ColumnsAt(s.table.SnapshotColumns(), f.SchemaVersion)
	case history && !snapshot && known:
		s.columns = lake.ColumnsAt(s.table.HistoryColumns(), f.SchemaVersion)
	case history && !snapshot && name == lake.DealVersions:
		s.columns = lake.ColumnsAt(lake.DealVersionColumns(), f.SchemaVersion)
	case history != snapshot && f.SchemaVersion > lake.SchemaVersion:
		return nil, errLaterTable
	default:
		return nil, fmt.Errorf("commit names table %q: no such table exists", f.Table)
	}
	if f.Table != lake.QuarantineTable {
		markets := f.Markets()
		if len(markets) == 0 {
			return nil, fmt.Errorf("commit names no market for a file of table %s", f.Table)
		}
		for _, market := range markets {
			if !slices.Contains(marketsOf(s.table), market) {
				return nil, fmt.Errorf("commit names market %q: table %s does not have it", market, f.Table)
			}
		}
	}
	if s.snapshot {
		day, err := time.Parse(time.DateOnly, f.Day())
		if err != nil {
			return nil, fmt.Errorf("commit names snapshot_date %q: want YYYY-MM-DD", f.Day())
		}
		s.day = arrow.Date32FromTime(day)
	}
	return s, f.CheckPath(format)
}

// marketsOf lists the markets of a table; nil means deal_versions, which has all.
func marketsOf(t *lake.Table) []api.Market {
	if t != nil {
		return api.Markets(t.Service)
	}
	var all []api.Market
	for _, service := range api.Services() {
		all = append(all, api.Markets(service)...)
	}
	return all
}

// difference says how the schema of a file of a schema version differs from that of its table; "" if it does not. Columns
// of later versions than this program's are left out.
func (s *shape) difference(got *arrow.Schema, version int) string {
	want := lake.ArrowSchema(s.columns)
	if version > lake.SchemaVersion {
		got = arrow.NewSchema(slices.DeleteFunc(got.Fields(), func(f arrow.Field) bool { return !want.HasField(f.Name) }), nil)
	}
	if got.NumFields() != want.NumFields() {
		return fmt.Sprintf("got %d columns, want %d", got.NumFields(), want.NumFields())
	}
	for i, w := range want.Fields() {
		if g := got.Field(i); !g.Equal(w) {
			return fmt.Sprintf("column %d is %v, want %v", i+1, g, w)
		}
	}
	return ""
}
