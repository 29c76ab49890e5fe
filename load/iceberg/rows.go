package iceberg

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

func microTime(us int64) time.Time { return time.UnixMicro(us).UTC() }

// history is what the rows of a data file say about when they were current.
type history struct {
	first  int64   // the commit at which its first row became known
	closed []event // rows that were replaced or removed, sorted
	later  []event // rows that became known after first, sorted
}

// keyColumns identify the version that a row belongs to, together with the file's feed.
func keyColumns() []string { return []string{"deal_id", "version"} }

// feedOf returns the feed whose rows of a market a flattened table has.
func feedOf(t Table, market api.Market) feedKey {
	table, _ := lake.TableByName(t.Name)
	return feedKey{string(market), string(table.Kind)}
}

// readHistory reads the keys of all rows of a file of a table's history.
func (r *versionReader) readHistory(ctx context.Context, t Table, file *lake.File, known knowledge) (*history, error) {
	h := &history{}
	open, err := parquet.Open(ctx, r.lake.Store(), file.Path)
	if err != nil {
		return nil, err
	}
	defer open.Close()
	for _, market := range file.Markets() {
		if err := r.readMarket(ctx, open, file, market, known[feedOf(t, market)], h); err != nil {
			return nil, err
		}
	}
	h.later = slices.DeleteFunc(h.later, func(e event) bool { return int64(e.commit) <= h.first })
	slices.SortFunc(h.closed, compareEvents)
	slices.SortFunc(h.later, compareEvents)
	return h, nil
}

// readMarket adds the rows of a market.
func (r *versionReader) readMarket(ctx context.Context, open *parquet.File, file *lake.File, market api.Market, versions []knownVersion, h *history) error {
	versionOf := finder{versions: versions}
	single := r.isPull(r.adders[file.RunID()]) // all rows became known at one commit
	return open.ScanAt(ctx, r.mem, file, market, keyColumns(), nil, func(rec arrow.Record, first int64) error {
		ids, numbers := rec.Column(0).(*array.Int64), rec.Column(1).(*array.Int32)
		for row := range int(rec.NumRows()) {
			v, ok := versionOf.find(ids.Value(row), numbers.Value(row))
			if !ok {
				return fmt.Errorf("row %d of %s: deal %d version %d is not in deal_versions; run `dealflow verify`", first+int64(row), file.Path, ids.Value(row), numbers.Value(row))
			}
			if h.first == 0 || int64(v.from) < h.first {
				h.first = int64(v.from)
			}
			at := int32(first) + int32(row)
			if v.to > 0 {
				h.closed = append(h.closed, event{v.to, at})
			}
			if !single {
				h.later = append(h.later, event{v.from, at})
			}
		}
		return nil
	})
}

// isPull says whether a commit pulled feeds: then all versions in its files became known at it.
func (r *versionReader) isPull(commit int64) bool {
	return commit > 0 && r.names[commit-1].Pulled
}

// readClosed finds the rows of closed versions in a file of a table's history. first is as in mayHave.
func (r *versionReader) readClosed(ctx context.Context, t Table, file *lake.File, versions knowledge, first int64) (closed []event, err error) {
	var open parquet.Once
	defer open.Close()
	for _, market := range file.Markets() {
		found := r.mayHave(versions[feedOf(t, market)], file, first)
		if len(found) == 0 {
			continue
		}
		f, err := open.Get(ctx, r.lake.Store(), file.Path)
		if err != nil {
			return nil, err
		}
		rows, err := r.readClosedOf(ctx, f, file, market, found)
		if err != nil {
			return nil, err
		}
		closed = append(closed, rows...)
	}
	slices.SortFunc(closed, compareEvents)
	return closed, nil
}

// readClosedOf finds the rows of a market's versions in a file. The versions are sorted, and their to is set.
func (r *versionReader) readClosedOf(ctx context.Context, open *parquet.File, file *lake.File, market api.Market, versions []knownVersion) (closed []event, err error) {
	err = open.ScanAt(ctx, r.mem, file, market, keyColumns(), dealsOf(versions), func(rec arrow.Record, first int64) error {
		ids, numbers := rec.Column(0).(*array.Int64), rec.Column(1).(*array.Int32)
		next := 0
		for row := range int(rec.NumRows()) {
			id := ids.Value(row)
			if next == len(versions) || versions[next].deal != id {
				next, _ = slices.BinarySearchFunc(versions, knownVersion{deal: id}, compareVersions)
			}
			for i := next; i < len(versions) && versions[i].deal == id; i++ {
				if versions[i].version == numbers.Value(row) {
					closed = append(closed, event{versions[i].to, int32(first) + int32(row)})
				}
			}
		}
		return nil
	})
	return closed, err
}

// readDeletes reads the rows that a file of position deletes names.
func (r *versionReader) readDeletes(ctx context.Context, deletes object) (rows []int64, err error) {
	err = parquet.Scan(ctx, r.lake.Store(), r.mem, deletes.Key, []string{parquet.DeletePosition}, nil, func(rec arrow.Record) error {
		rows = append(rows, rec.Column(0).(*array.Int64).Int64Values()...)
		return nil
	})
	return rows, err
}
