package parquet

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/metadata"

	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// ScanDeals is Scan of the rows of one market, without row groups that cannot contain one of the deals. entry is what the
// commit says of the file. dealIDs are sorted. Of a file that cannot contain one of them it reads nothing.
func ScanDeals(ctx context.Context, s store.Store, mem memory.Allocator, entry *lake.File, market api.Market, columns []string, dealIDs []int64, yield func(arrow.Record) error) error {
	here := entry.Within(dealIDs)
	if !entry.HasMarket(market) || len(here) == 0 {
		return nil
	}
	return Scan(ctx, s, mem, entry.Path, columns, GroupsOf(entry, market, GroupsWith(here, new(int))), yield)
}

// GroupsOf chooses, of the row groups that groups chooses, those with rows of a market. Only a shared file has rows of
// several markets. Its row groups are of one market each; one of several is an error.
func GroupsOf(f *lake.File, market api.Market, groups Groups) Groups {
	if !f.IsShared() {
		return groups
	}
	if groups == nil {
		groups = AllGroups(new(int))
	}
	return func(meta *metadata.FileMetaData, read func(int) error) error {
		column := meta.Schema.ColumnIndexByName("market")
		return groups(meta, func(g int) error {
			found, err := groupMarket(meta.RowGroup(g), column)
			if err != nil {
				return fmt.Errorf("row group %d: %w", g, err)
			}
			if found != market {
				return nil
			}
			return read(g)
		})
	}
}

// groupMarket returns the market of a row group, by the statistics of its column.
func groupMarket(group *metadata.RowGroupMetaData, column int) (api.Market, error) {
	if column < 0 {
		return "", fmt.Errorf("no column market")
	}
	chunk, err := group.ColumnChunk(column)
	if err != nil {
		return "", err
	}
	statistics, err := chunk.Statistics()
	if err != nil {
		return "", err
	}
	texts, ok := statistics.(*metadata.ByteArrayStatistics)
	if !ok || !texts.HasMinMax() {
		return "", fmt.Errorf("no statistics of the column market, want those of one market; run `dealflow verify`")
	}
	least, greatest := api.Market(texts.Min()), api.Market(texts.Max())
	if least != greatest {
		return "", fmt.Errorf("rows of the markets %s to %s, want one market; run `dealflow verify`", least, greatest)
	}
	return least, nil
}
