package verify

import (
	"fmt"
	"path"
	"slices"
	"strconv"
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

// shapeOf returns a file's shape. It is an error if path, table and partition do not agree.
func shapeOf(f lake.File) (*shape, error) {
	if f.SchemaVersion < 1 {
		return nil, fmt.Errorf("its commit says schema version %d, which there is not", f.SchemaVersion)
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
	default:
		return nil, fmt.Errorf("its commit says that it is of table %q, which there is not", f.Table)
	}
	market := api.Market(f.Partition["market"])
	if f.Table != lake.QuarantineTable && !slices.Contains(marketsOf(s.table), market) {
		return nil, fmt.Errorf("its commit says market %q, which %s has not", market, f.Table)
	}
	if s.snapshot {
		day, err := time.Parse(time.DateOnly, f.Partition["snapshot_date"])
		if err != nil {
			return nil, fmt.Errorf("its commit says snapshot_date %q", f.Partition["snapshot_date"])
		}
		s.day = arrow.Date32FromTime(day)
	}
	folder, err := folderOf(f, name, s.snapshot)
	if err == nil && path.Dir(f.Path) != folder {
		err = fmt.Errorf("by its table and partition it belongs into %s", folder)
	}
	return s, err
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

// folderOf returns the folder in which a file must be, by what its commit says.
func folderOf(f lake.File, table string, snapshot bool) (string, error) {
	market := api.Market(f.Partition["market"])
	switch {
	case f.Table == lake.QuarantineTable:
		feed, err := api.ParseFeed(f.Partition["feed"])
		return path.Dir(lake.QuarantineKey(feed, "run", 0)), err
	case snapshot:
		return path.Dir(lake.SnapshotKey(table, market, f.Partition["snapshot_date"], "run", 0)), nil
	}
	year, err := strconv.Atoi(f.Partition["year"])
	if err != nil {
		return "", fmt.Errorf("its commit says year %q", f.Partition["year"])
	}
	return path.Dir(lake.HistoryKey(table, market, year, "run", 0)), nil
}

// difference says how a file's schema differs from that of its table; "" if it does not.
func (s *shape) difference(got *arrow.Schema) string {
	want := lake.ArrowSchema(s.columns)
	if got.NumFields() != want.NumFields() {
		return fmt.Sprintf("it has %d columns, want %d", got.NumFields(), want.NumFields())
	}
	for i, w := range want.Fields() {
		if g := got.Field(i); !g.Equal(w) {
			return fmt.Sprintf("its column %d is %v, want %v", i+1, g, w)
		}
	}
	return ""
}
