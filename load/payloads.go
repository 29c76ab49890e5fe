package load

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Payload is the payload of a version in history: its bytes, and the id of the run that pulled it.
type Payload struct {
	Bytes []byte
	RunID string
}

// VersionKey identifies a version of a deal within one feed.
type VersionKey struct {
	DealID  int64
	Version int32
}

func (k VersionKey) compare(o VersionKey) int {
	return cmp.Or(cmp.Compare(k.DealID, o.DealID), cmp.Compare(k.Version, o.Version))
}

// Contents finds payloads of a feed's versions in files of deal_versions. It keeps the location of each version in
// memory, 32 bytes per version. It is not safe for concurrent use.
type Contents struct {
	lake  *Lake
	files []lake.File
	index []location // sorted by key
}

// location is the row that contains a version.
type location struct {
	key  VersionKey
	row  int64 // number in its file
	file int32 // index in Contents.files
}

// Contents finds the location of each version of some deals of a feed in files, which are of deal_versions; deals are sorted. It
// skips the files of other markets. It reads keys only, of the row groups that may have one of the deals.
func (l *Lake) Contents(ctx context.Context, mem memory.Allocator, files []lake.File, feed api.Feed, deals []int64) (*Contents, error) {
	c := &Contents{lake: l, files: files}
	for i := range files {
		here := files[i].Within(deals)
		if !files[i].HasMarket(feed.Market) || len(here) == 0 {
			continue
		}
		file, err := parquet.Open(ctx, l.store, files[i].Path)
		if err != nil {
			return nil, err
		}
		err = locate(ctx, mem, file, &files[i], feed, here, func(key VersionKey, row int64) {
			c.index = append(c.index, location{key, row, int32(i)})
		})
		file.Close()
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(c.index, func(a, b location) int { return a.key.compare(b.key) })
	return c, nil
}

// Read reads the payloads of versions. A version that the files lack, or contain without a payload, is absent from the
// result.
func (c *Contents) Read(ctx context.Context, keys []VersionKey) (map[VersionKey]Payload, error) {
	wanted := make([][]location, len(c.files))
	for _, key := range keys {
		i, ok := slices.BinarySearchFunc(c.index, key, func(l location, k VersionKey) int { return l.key.compare(k) })
		if ok {
			wanted[c.index[i].file] = append(wanted[c.index[i].file], c.index[i])
		}
	}
	found := make(map[VersionKey]Payload, len(keys))
	for i, here := range wanted {
		if len(here) == 0 {
			continue
		}
		slices.SortFunc(here, func(a, b location) int { return cmp.Compare(a.row, b.row) })
		here = slices.Compact(here) // a version may be the later one of a pair, and the earlier one of another
		file, err := parquet.Open(ctx, c.lake.store, c.files[i].Path)
		if err != nil {
			return nil, err
		}
		err = readAt(ctx, file, here, func(key VersionKey, p Payload) { found[key] = p })
		file.Close()
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Payloads reads the payloads of given versions of a feed's deals; versions maps deal_id to version. A version that
// history lacks is an error.
func (l *Lake) Payloads(ctx context.Context, mem memory.Allocator, feed api.Feed, versions map[int64]int32) (map[int64]Payload, error) {
	found := make(map[int64]Payload, len(versions))
	if len(versions) == 0 {
		return found, nil
	}
	files := slices.DeleteFunc(l.log.Files(lake.HistoryTable(lake.DealVersions)), func(f lake.File) bool { return !f.HasMarket(feed.Market) })
	slices.Reverse(files) // the newest first: most callers ask for each deal's last version
	missing := slices.Sorted(maps.Keys(versions))
	for some := range slices.Chunk(files, payloadFiles) {
		if len(missing) == 0 {
			break
		}
		parts := make([]map[int64]Payload, len(some))
		reading, readCtx := errgroup.WithContext(ctx)
		for i := range some {
			reading.Go(func() (err error) {
				parts[i], err = l.payloadsIn(readCtx, mem, &some[i], feed, versions, some[i].Within(missing))
				return err
			})
		}
		if err := reading.Wait(); err != nil {
			return nil, err
		}
		for _, part := range parts {
			maps.Copy(found, part)
		}
		missing = slices.DeleteFunc(missing, func(id int64) bool {
			_, have := found[id]
			return have
		})
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("history lacks the payload of %s deal %d version %d; run `dealflow verify`", feed, missing[0], versions[missing[0]])
	}
	return found, nil
}

// payloadFiles is the number of files whose payloads are read side by side.
const payloadFiles = 8

// payloadsIn returns the payloads of the versions of some deals that one file contains. deals are sorted.
func (l *Lake) payloadsIn(ctx context.Context, mem memory.Allocator, f *lake.File, feed api.Feed, versions map[int64]int32, deals []int64) (map[int64]Payload, error) {
	if len(deals) == 0 {
		return nil, nil
	}
	file, err := parquet.Open(ctx, l.store, f.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var wanted []location
	err = locate(ctx, mem, file, f, feed, deals, func(key VersionKey, row int64) {
		if versions[key.DealID] == key.Version {
			wanted = append(wanted, location{key: key, row: row})
		}
	})
	if err != nil {
		return nil, err
	}
	here := make(map[int64]Payload, len(wanted))
	return here, readAt(ctx, file, wanted, func(key VersionKey, p Payload) { here[key.DealID] = p })
}

// locate calls found for each version of some deals that a file of deal_versions has, in the order of its rows. entry is what
// the commit says of the file; deals are sorted. It reads keys only, of the row groups that may have one of the deals.
func locate(ctx context.Context, mem memory.Allocator, file *parquet.File, entry *lake.File, feed api.Feed, deals []int64, found func(key VersionKey, row int64)) error {
	keys := []string{"kind", "deal_id", "version"}
	return file.ScanAt(ctx, mem, entry, feed.Market, keys, deals, func(rec arrow.Record, first int64) error {
		kinds, ids, versions := rec.Column(0).(*array.String), rec.Column(1).(*array.Int64), rec.Column(2).(*array.Int32)
		for row := range int(rec.NumRows()) {
			if _, wanted := slices.BinarySearch(deals, ids.Value(row)); wanted && kinds.Value(row) == string(feed.Kind) {
				found(VersionKey{ids.Value(row), versions.Value(row)}, first+int64(row))
			}
		}
		return nil
	})
}

// readAt reads the payloads at some locations of one file, in the order of its rows. found is not called for a version without a payload.
func readAt(ctx context.Context, file *parquet.File, here []location, found func(VersionKey, Payload)) error {
	rows := make([]int64, len(here))
	for i := range here {
		rows[i] = here[i].row
	}
	return file.TextsAt(ctx, []string{"payload", "run_id"}, rows, func(i int, texts [][]byte) error {
		if payload, run := texts[0], texts[1]; payload != nil {
			found(here[i].key, Payload{Bytes: bytes.Clone(payload), RunID: string(run)})
		}
		return nil
	})
}
