package known

import (
	"cmp"
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

// Event is a row of a data file, and the commit at which it became known, or stopped being current.
type Event struct {
	Commit int32
	Row    int32 // number in the file, from 0
}

// CompareEvents orders events by commit, then by row.
func CompareEvents(a, b Event) int {
	return cmp.Or(cmp.Compare(a.Commit, b.Commit), cmp.Compare(a.Row, b.Row))
}

// History is what the rows of a data file say about when they were current.
type History struct {
	First  int64   // the commit at which its first row became known
	Closed []Event // rows that were replaced or removed, sorted
	Later  []Event // rows that became known after first, sorted
}

// keyColumns identify the version that a row belongs to, together with the file's feed.
func keyColumns() []string { return []string{"deal_id", "version"} }

// feedOf returns the feed whose rows of a market a flattened table has.
func feedOf(table string, market api.Market) feedKey {
	t, _ := lake.TableByName(table)
	return feedKey{string(market), string(t.Kind)}
}

// ReadHistory reads the keys of all rows of a file of a table's history.
func (r *Reader) ReadHistory(ctx context.Context, table string, file *lake.File, known Versions) (*History, error) {
	h := &History{}
	open, err := parquet.Open(ctx, r.lake.Store(), file.Path)
	if err != nil {
		return nil, err
	}
	defer open.Close()
	for _, market := range file.Markets() {
		if err := r.readMarket(ctx, open, file, market, known[feedOf(table, market)], h); err != nil {
			return nil, err
		}
	}
	h.Later = slices.DeleteFunc(h.Later, func(e Event) bool { return int64(e.Commit) <= h.First })
	slices.SortFunc(h.Closed, CompareEvents)
	slices.SortFunc(h.Later, CompareEvents)
	return h, nil
}

// readMarket adds the rows of a market.
func (r *Reader) readMarket(ctx context.Context, open *parquet.File, file *lake.File, market api.Market, versions []knownVersion, h *History) error {
	versionOf := finder{versions: versions}
	single := r.IsPull(r.adders[file.RunID()]) // all rows became known at one commit
	return open.ScanAt(ctx, r.mem, file, market, keyColumns(), nil, func(rec arrow.Record, first int64) error {
		ids, numbers := rec.Column(0).(*array.Int64), rec.Column(1).(*array.Int32)
		for row := range int(rec.NumRows()) {
			v, ok := versionOf.find(ids.Value(row), numbers.Value(row))
			if !ok {
				return fmt.Errorf("row %d of %s: deal %d version %d is not in deal_versions; run `dealflow verify`", first+int64(row), file.Path, ids.Value(row), numbers.Value(row))
			}
			if h.First == 0 || int64(v.from) < h.First {
				h.First = int64(v.from)
			}
			at := int32(first) + int32(row)
			if v.to > 0 {
				h.Closed = append(h.Closed, Event{v.to, at})
			}
			if !single {
				h.Later = append(h.Later, Event{v.from, at})
			}
		}
		return nil
	})
}

// IsPull says whether a commit pulled feeds: then all versions in its files became known at it.
func (r *Reader) IsPull(commit int64) bool {
	return commit > 0 && r.names[commit-1].Pulled
}

// ReadClosed finds the rows of closed versions in a file of a table's history. first is as in mayHave.
func (r *Reader) ReadClosed(ctx context.Context, table string, file *lake.File, versions Versions, first int64) (closed []Event, err error) {
	var open parquet.Once
	defer open.Close()
	for _, market := range file.Markets() {
		found := r.mayHave(versions[feedOf(table, market)], file, first)
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
	slices.SortFunc(closed, CompareEvents)
	return closed, nil
}

// readClosedOf finds the rows of a market's versions in a file. The versions are sorted, and their to is set.
func (r *Reader) readClosedOf(ctx context.Context, open *parquet.File, file *lake.File, market api.Market, versions []knownVersion) (closed []Event, err error) {
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
					closed = append(closed, Event{versions[i].to, int32(first) + int32(row)})
				}
			}
		}
		return nil
	})
	return closed, err
}
