package lake

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"dealflow/schemas/api"
)

// The keys and prefixes of the lake, relative to its root, always with forward slashes.
const (
	CommitsPrefix     = "_dealflow/commits/"
	CheckpointsPrefix = "_dealflow/checkpoints/"
	SegmentsPrefix    = "_dealflow/runs/"
	LatestKey         = "_dealflow/latest.json"
	LeaseKey          = "_dealflow/lease.json"
	WatchKey          = "_dealflow/watch.json" // of internal/watch; no answer depends on it
	BegunKey          = "_dealflow/begun.json" // in a lake that was made from another one, by a copy or an upgrade
	HeldPrefix        = "_dealflow/held/"
	AttemptsPrefix    = "_dealflow/attempts/"           // of internal/attempts; no answer depends on these objects
	IcebergPrefix     = "_dealflow/iceberg/"            // of load/iceberg: tables for other engines, made from the commits
	IcebergSettings   = IcebergPrefix + "settings.json" // whether and how they are published
	CatalogKey        = "catalog.duckdb"
	PackedCatalogKey  = CatalogKey + ".zst" // a copy of it for this program's own commands, in a lake that is no local folder
	CatalogWALKey     = CatalogKey + ".wal" // DuckDB's name for the changes of a program that writes into a catalog

	// Files of the user: which names mean the same bank, or the same borrower, and which roles of banks are a lead's. No
	// commit names them.
	BankAliasesKey     = "aliases/banks.csv"
	BorrowerAliasesKey = "aliases/borrowers.csv"
	RolesKey           = "aliases/roles.csv"
)

// UserFiles returns the keys of the user's files: banks, borrowers, roles. The caller owns the slice.
func UserFiles() []string { return []string{BankAliasesKey, BorrowerAliasesKey, RolesKey} }

// DataPrefixes returns the prefixes of all data files. The caller owns the slice.
func DataPrefixes() []string { return []string{"history/", QuarantineTable + "/", "snapshots/"} }

// CommitKey returns the key of a commit's object.
func CommitKey(number int64) string { return fmt.Sprintf("%s%020d.json", CommitsPrefix, number) }

// CheckpointKey returns the key of the checkpoint: the state of the log after commit number.
func CheckpointKey(number int64) string {
	return fmt.Sprintf("%s%020d.ndjson.zst", CheckpointsPrefix, number)
}

// SegmentKey returns the key of the segment of runs that ends with commit last.
func SegmentKey(last int64) string { return fmt.Sprintf("%s%020d.ndjson.zst", SegmentsPrefix, last) }

// StateKey returns the key of the state file of a checkpoint: the latest version of every deal.
func StateKey(number int64) string {
	return fmt.Sprintf("%s%020d.state.zst", CheckpointsPrefix, number)
}

// HeldKey returns the key of the hold of a feed that no commit remembers.
func HeldKey(feed api.Feed) string {
	return HeldPrefix + strings.ReplaceAll(feed.String(), "/", "-") + ".json"
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
	return fmt.Sprintf("%s/%s-%d.parquet", SnapshotFolder(FormatVersion, table, market, date), runID, n)
}

// SnapshotFolder returns the folder of a table's snapshot of a market and day in a lake of a format version. The keys in
// paths of version 2 are not names of columns: programs that infer partitions from paths fail if a column is in the path
// and in the file. (Version 1 named the columns market and snapshot_date.)
func SnapshotFolder(format int, table string, market api.Market, date string) string {
	if format == 1 {
		return "snapshots/" + table + "/market=" + string(market) + "/snapshot_date=" + date
	}
	return "snapshots/" + table + "/mkt=" + string(market) + "/day=" + date
}

// HistoryKey returns the key of the n-th file that a run writes for a table's history. year is the UTC year of the
// run's start.
func HistoryKey(table string, market api.Market, year int, runID string, n int) string {
	return fmt.Sprintf("%s/%s-%d.parquet", HistoryFolder(FormatVersion, table, market, year), runID, n)
}

// HistoryFolder returns the folder of a table's history of a market and year in a lake of a format version.
func HistoryFolder(format int, table string, market api.Market, year int) string {
	key := "mkt"
	if format == 1 {
		key = "market"
	}
	return fmt.Sprintf("history/%s/%s=%s/year=%04d", table, key, market, year)
}

// Folder returns the folder in which the file must be in a lake of a format version, by its table and partition.
func (f *File) Folder(format int) (string, error) {
	if f.Table == QuarantineTable {
		feed, err := api.ParseFeed(f.Partition["feed"])
		return path.Dir(QuarantineKey(feed, "run", 0)), err
	}
	market, err := f.folderMarket()
	if err != nil {
		return "", err
	}
	if table, snapshot := strings.CutPrefix(f.Table, SnapshotTable("")); snapshot {
		if _, err := time.Parse(time.DateOnly, f.Day()); err != nil {
			return "", fmt.Errorf("snapshot_date %q, want YYYY-MM-DD", f.Day())
		}
		return SnapshotFolder(format, table, market, f.Day()), nil
	}
	table, history := strings.CutPrefix(f.Table, HistoryTable(""))
	if !history || table == "" {
		return "", fmt.Errorf("table %q is not one of a lake", f.Table)
	}
	year, err := strconv.Atoi(f.Year())
	if err != nil {
		return "", fmt.Errorf("year %q, want a number", f.Year())
	}
	return HistoryFolder(format, table, market, year), nil
}

// QuarantineTable is the name in commits for the records that could not be read.
const QuarantineTable = "quarantine"

// QuarantineKey returns the key of a feed's records that a run could not read. n is 0, except for a run that lost a
// commit to another run and wrote its files again.
func QuarantineKey(feed api.Feed, runID string, n int) string {
	if n > 0 {
		runID = fmt.Sprintf("%s-%d", runID, n)
	}
	return fmt.Sprintf("%s/%s/%s%s", QuarantineTable, feed, runID, quarantineEnding)
}

const quarantineEnding = ".ndjson.zst"

// runIDLength is the length of a UUID as text.
const runIDLength = 36

// RunIDOf returns the id of the run that wrote a data file, read from the start of the file's name; "" if the name has none. Of a Parquet file it is
// followed by a number, of records in quarantine by one at most (QuarantineKey).
func RunIDOf(key string) string {
	name := path.Base(key)
	if strings.HasPrefix(key, QuarantineTable+"/") {
		name = strings.TrimSuffix(name, quarantineEnding)
		return name[:min(len(name), runIDLength)]
	}
	return name[:max(strings.LastIndexByte(name, '-'), 0)]
}

// IsQuarantineOf reports whether a QuarantineKey of a feed is of one of some runs, by their ids.
func IsQuarantineOf(key string, feed api.Feed, runs map[string]bool) bool {
	for run := range runs {
		if strings.HasPrefix(key, strings.TrimSuffix(QuarantineKey(feed, run, 0), quarantineEnding)) {
			return true
		}
	}
	return false
}
