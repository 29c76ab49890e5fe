package lake

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"dealflow/schemas/api"
)

// A file of a run has rows of one market. Maintenance merges such files across markets: a shared file has rows of the
// markets that its partition lists, sorted by market first, and each of its row groups is of one market
// (docs/reference/lake-format.md#shared-files).

// The keys of a file's partition.
const (
	partitionMarket  = "market"
	partitionMarkets = "markets" // of a shared file: its markets, sorted, with commas between
	partitionDay     = "snapshot_date"
	partitionYear    = "year"
)

// sharedFolder is the value of mkt in the paths of shared files.
const sharedFolder api.Market = "all"

// NeedMultiPartition is the name of the ability to read shared files. A program without it would take all rows of such a
// file for rows of one market, or of none.
const NeedMultiPartition = "multi-partition"

// IsShared says whether the file may have rows of several markets.
func (f *File) IsShared() bool { return f.Partition[partitionMarkets] != "" }

// IsSharedPath says whether a path is that of a shared file.
func IsSharedPath(name string) bool { return strings.Contains(name, "/mkt="+string(sharedFolder)+"/") }

// Markets returns the markets whose rows the file has; none for a file of the quarantine. The caller owns the slice.
func (f *File) Markets() []api.Market {
	var markets []api.Market
	for _, market := range strings.Split(f.Partition[partitionMarkets], ",") {
		if market != "" {
			markets = append(markets, api.Market(market))
		}
	}
	if market := f.Partition[partitionMarket]; market != "" {
		markets = append(markets, api.Market(market))
	}
	return markets
}

// HasMarket says whether the file has rows of a market.
func (f *File) HasMarket(market api.Market) bool {
	if !f.IsShared() {
		return market != "" && f.Partition[partitionMarket] == string(market)
	}
	return slices.Contains(f.Markets(), market)
}

// Within returns those of some deals that the file may have, by its least and its greatest deal_id. deals are sorted; the result is a part
// of them.
func (f *File) Within(deals []int64) []int64 {
	first, _ := slices.BinarySearch(deals, f.MinDealID)
	end, last := slices.BinarySearch(deals, f.MaxDealID)
	if last {
		end++
	}
	return deals[first:max(first, end)]
}

// Day returns the day of a snapshot's file, YYYY-MM-DD; "" for other files.
func (f *File) Day() string { return f.Partition[partitionDay] }

// Year returns the year of a history file, as its partition names it; "" for other files.
func (f *File) Year() string { return f.Partition[partitionYear] }

// FileLike returns the entry of a new file of the same table, schema version, and day or year as an existing file of a
// Parquet table, under the name that a run gives its n-th file. It is a shared file of the markets, or without markets a
// file of the same market. Rows, bytes and hash are not set. It is an error if the existing entry's partition is damaged.
func FileLike(existing *File, markets []api.Market, runID string, n int) (File, error) {
	f := File{Table: existing.Table, Partition: maps.Clone(existing.Partition), SchemaVersion: existing.SchemaVersion, Needs: SchemaNeeds(existing.SchemaVersion)}
	if len(markets) > 0 {
		names := make([]string, len(markets))
		for i, market := range markets {
			names[i] = string(market)
		}
		slices.Sort(names)
		delete(f.Partition, partitionMarket)
		f.Partition[partitionMarkets] = strings.Join(slices.Compact(names), ",")
	}
	if f.IsShared() {
		f.Merge(Needs{Requires: []string{NeedMultiPartition}})
	}
	folder, err := f.Folder(FormatVersion)
	if err != nil {
		return f, fmt.Errorf("merge %s: %w; run `dealflow verify`", existing.Path, err)
	}
	f.Path = path.Join(folder, fmt.Sprintf("%s-%d.parquet", runID, n))
	return f, nil
}

// folderMarket returns the market in the path of a file.
func (f *File) folderMarket() (api.Market, error) {
	if !f.IsShared() {
		market := f.Partition[partitionMarket]
		if market == "" || market == string(sharedFolder) {
			return "", fmt.Errorf("market %q in its partition, want its code", market)
		}
		return api.Market(market), nil
	}
	list := f.Partition[partitionMarkets]
	markets := strings.Split(list, ",")
	if _, both := f.Partition[partitionMarket]; both || slices.Contains(markets, "") || !slices.IsSorted(markets) || len(slices.Compact(slices.Clone(markets))) < len(markets) {
		return "", fmt.Errorf("markets %q in its partition, want codes, sorted, each once, and no market besides", list)
	}
	return sharedFolder, nil
}
