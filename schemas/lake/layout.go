package lake

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"dealflow/schemas/api"
)

// The keys and prefixes of the lake, relative to its root, always with forward slashes.
const (
	CommitsPrefix     = "_dealflow/commits/"
	CheckpointsPrefix = "_dealflow/checkpoints/"
	LatestKey         = "_dealflow/latest.json"
	LeaseKey          = "_dealflow/lease.json"
	CatalogKey        = "catalog.duckdb"

	// Files of the user: which names mean the same bank, or the same borrower. No commit names them.
	BankAliasesKey     = "aliases/banks.csv"
	BorrowerAliasesKey = "aliases/borrowers.csv"
)

// DataPrefixes returns the prefixes of all data files. The caller owns the slice.
func DataPrefixes() []string { return []string{"history/", QuarantineTable + "/", "snapshots/"} }

// CommitKey returns the key of a commit's object.
func CommitKey(number int64) string { return fmt.Sprintf("%s%020d.json", CommitsPrefix, number) }

// CheckpointKey returns the key of the checkpoint: the state of the log after commit number.
func CheckpointKey(number int64) string {
	return fmt.Sprintf("%s%020d.ndjson.zst", CheckpointsPrefix, number)
}

// StateKey returns the key of the state file of a checkpoint: the heads of all deals.
func StateKey(number int64) string {
	return fmt.Sprintf("%s%020d.state.zst", CheckpointsPrefix, number)
}

// CommitNumber parses the number in a commit's or checkpoint's key.
func CommitNumber(key string) (int64, bool) {
	name, _, _ := strings.Cut(path.Base(key), ".")
	n, err := strconv.ParseInt(name, 10, 64)
	return n, err == nil && len(name) == 20 && n > 0
}

// SnapshotTable returns the name of a table's snapshots in commits.
func SnapshotTable(table string) string { return "snapshots." + table }

// HistoryTable returns the name of a table's history in commits.
func HistoryTable(table string) string { return "history." + table }

// SnapshotKey returns the key of the n-th file that a run writes for a table's snapshot of a market and day.
func SnapshotKey(table string, market api.Market, date, runID string, n int) string {
	return fmt.Sprintf("snapshots/%s/market=%s/snapshot_date=%s/%s-%d.parquet", table, market, date, runID, n)
}

// HistoryKey returns the key of the n-th file that a run writes for a table's history. year is the UTC year of the
// run's start.
func HistoryKey(table string, market api.Market, year int, runID string, n int) string {
	return fmt.Sprintf("history/%s/market=%s/year=%04d/%s-%d.parquet", table, market, year, runID, n)
}

// QuarantineTable is the name in commits for the records that could not be read.
const QuarantineTable = "quarantine"

// QuarantineKey returns the key of a feed's records that a run could not read. n is 0, except for a run that lost a
// commit to another run and wrote its files again.
func QuarantineKey(feed api.Feed, runID string, n int) string {
	if n > 0 {
		runID = fmt.Sprintf("%s-%d", runID, n)
	}
	return fmt.Sprintf("%s/%s/%s.ndjson.zst", QuarantineTable, feed, runID)
}
