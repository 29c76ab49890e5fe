package verify

import (
	"slices"
	"strings"

	"dealflow/schemas/lake"
)

// Check is the name of one check. Names never change: scripts compare them.
type Check string

// The checks, in the order of the report.
const (
	// LogNumbers: commits are numbered from 1 without gaps, and each calls itself by its number.
	LogNumbers Check = "log-numbers"
	// LogReadable: each commit is one complete JSON object.
	LogReadable Check = "log-readable"
	// LogFormat: each commit is of a format version that this program knows.
	LogFormat Check = "log-format"
	// LogChain: each commit names the SHA-256 of the one before it.
	LogChain Check = "log-chain"
	// LogKnownAt: known_at rises strictly from commit to commit.
	LogKnownAt Check = "log-known-at"
	// LogRunID: no two commits have the same run id.
	LogRunID Check = "log-run-id"
	// LogFiles: no file is added twice, and each removed file was part of the lake.
	LogFiles Check = "log-files"
	// LostCommit: each commit that the hint or the published catalog names is in the log, or recorded as lost.
	LostCommit Check = "lost-commit"
	// Hint: latest.json names the newest commit and a checkpoint that exists.
	Hint Check = "hint"
	// Checkpoint: a checkpoint equals the sum of the commits up to it.
	Checkpoint Check = "checkpoint"
	// Catalog: the published catalog is as it was made, no other program's changes are next to it, and its version
	// index has the versions of history.
	Catalog Check = "catalog"
	// State: the state file of a checkpoint has the newest version of each deal, as history has it.
	State Check = "state"

	// FilePath: a file's path, table and partition agree in its commit.
	FilePath Check = "file-path"
	// FilePresent: each file that the log names exists.
	FilePresent Check = "file-present"
	// FileSize: a file has the size that its commit says.
	FileSize Check = "file-size"
	// FileHash: a file's bytes have the SHA-256 that its commit says.
	FileHash Check = "file-hash"
	// FileReadable: a file can be read in its format: Parquet, or for the quarantine compressed lines of JSON.
	FileReadable Check = "file-readable"
	// FileSchema: a file has the columns of its table in its schema version: names, types, numbers, order.
	FileSchema Check = "file-schema"
	// FileMetadata: a file's metadata names its table, schema version and format version.
	FileMetadata Check = "file-metadata"
	// FileRows: a file has as many rows as its commit says.
	FileRows Check = "file-rows"
	// FileRange: a file's least and greatest deal_id are those that its commit says.
	FileRange Check = "file-range"

	// RowPartition: service, market, kind and snapshot_date in a row are those of its file, and the year of a file of history is
	// that in which the runs of its versions began.
	RowPartition Check = "row-partition"
	// RowOrder: the rows of a file are sorted by deal_id, version and ordinals; those of deal_versions within each
	// kind.
	RowOrder Check = "row-order"
	// RowKey: no two rows of a table have the same key (deal_id, version, ordinals).
	RowKey Check = "row-key"
	// RowOrdinal: the ordinals of a list are 1, 2, 3 without gaps.
	RowOrdinal Check = "row-ordinal"

	// VersionNumbers: the versions of a deal are 1, 2, 3 without gaps.
	VersionNumbers Check = "version-numbers"
	// VersionIntervals: known_at rises from version to version of a deal, so that their intervals do not overlap.
	VersionIntervals Check = "version-intervals"
	// VersionKnownAt: known_at of a version is that of the commit of the version's run.
	VersionKnownAt Check = "version-known-at"
	// VersionChange: a deal's first version is `added`; it is `removed` only while it is current, and `reappeared` only
	// after a removal.
	VersionChange Check = "version-change"
	// VersionContent: a `changed` version has other content than the version before it.
	VersionContent Check = "version-content"
	// VersionRemoval: a removal has a reason, and neither payload nor hashes. Every other version has payload and
	// hashes, and no reason.
	VersionRemoval Check = "version-removal"
	// PayloadHash: payload_hash is the SHA-256 of the payload.
	PayloadHash Check = "payload-hash"
	// ContentHash: content_hash is the SHA-256 of the payload's canonical form.
	ContentHash Check = "content-hash"

	// HistoryRows: the deals' own history table has a row for each version with a payload, and no other.
	HistoryRows Check = "history-rows"
	// ChildParent: each row of a list belongs to a version, and to a list entry, that exists.
	ChildParent Check = "child-parent"
	// SnapshotCommit: each snapshot has a commit that wrote it.
	SnapshotCommit Check = "snapshot-commit"
	// SnapshotHistory: a table's snapshot has exactly the history rows of the versions that were current as of its
	// commit.
	SnapshotHistory Check = "snapshot-history"
	// Tables: all that the published Iceberg tables name exists, and they are those of their commit. If all data is read,
	// and they show the newest commit, they have the rows of history as of each commit that they can be read as of.
	Tables Check = "iceberg-tables"
	// TablesMoved: the published Iceberg tables name files at the place where the lake is.
	TablesMoved Check = "iceberg-moved"
	// NotChecked: something could not be checked because of other damage, because a newer program wrote it, or because the
	// Iceberg tables lack the newest commit.
	NotChecked Check = "not-checked"
)

// Checks lists all checks in the order of the report. The caller owns the slice.
func Checks() []Check { return slices.Clone(checks) }

var checks = []Check{
	LogNumbers, LogReadable, LogFormat, LogChain, LogKnownAt, LogRunID, LogFiles, LostCommit, Hint, Checkpoint, State, Catalog,
	FilePath, FilePresent, FileSize, FileHash, FileReadable, FileSchema, FileMetadata, FileRows, FileRange,
	RowPartition, RowOrder, RowKey, RowOrdinal,
	VersionNumbers, VersionIntervals, VersionKnownAt, VersionChange, VersionContent, VersionRemoval, PayloadHash, ContentHash,
	HistoryRows, ChildParent, SnapshotCommit, SnapshotHistory, Tables, TablesMoved, NotChecked,
}

// rule is the severity of a check's findings, and what to do about them.
type rule struct {
	severity Severity
	todo     string
}

// Advice that several checks share.
const (
	restoreCommit = "stop all runs; restore this object from a copy of the lake or an older version in the bucket, then run `dealflow verify` again"
	restoreFile   = "restore this file under the same name from a copy of the lake or an older version in the bucket" // see restoreTodo
	dropDerived   = "delete this object: it is derived, readers do not need it, and a later commit writes the next one"
	wrongRows     = "the file has the committed bytes, so the program that wrote it was wrong: keep a copy of the lake as it is, run `dealflow replay` to build the tables again from the payloads, and report the finding"
	wrongVersions = "the file has the committed bytes, so the program that wrote it was wrong: keep the lake as it is, use a copy from before that commit if answers depend on this deal, and report the finding"
)

// restoreTodo is restoreFile, and how to do without a copy if the file can be built again from others of the lake.
func restoreTodo(path string) string {
	switch {
	case strings.HasPrefix(path, "snapshots/"):
		return restoreFile + "; without a copy, `dealflow replay --snapshots` builds it again from history"
	case strings.HasPrefix(path, "history/") && !strings.HasPrefix(path, "history/"+lake.DealVersions+"/"):
		return restoreFile + "; without a copy, `dealflow replay` builds it again from the payloads"
	}
	return restoreFile + "; nothing else in the lake has what is in it"
}

var rules = map[Check]rule{
	LogNumbers:  {Damage, restoreCommit},
	LogReadable: {Damage, restoreCommit},
	LogFormat:   {Damage, "use the dealflow version that wrote it, or a newer one; if no dealflow wrote it, " + restoreCommit},
	LogChain:    {Damage, "one of the two commits was changed after it was written: " + restoreCommit},
	LogKnownAt:  {Damage, "do not trust answers as of instants between the two commits: " + restoreCommit},
	LogRunID:    {Damage, restoreCommit},
	LogFiles:    {Damage, restoreCommit},
	LostCommit:  {Damage, restoreCommit + "; if there is no copy, `dealflow run --accept-lost-commit` continues without it, and its commit records the loss"},
	Hint:        {Note, "nothing: readers do not trust it, and the next commit writes it again"},
	Checkpoint:  {Damage, dropDerived},
	State:       {Damage, dropDerived},
	Catalog:     {Damage, "run `dealflow catalog`, which builds it from history; our own readers use a private one until then, other programs do not: repeat what they have answered"},

	FilePath:     {Damage, "the commit, or the program that wrote it, was wrong: keep the lake as it is and report the finding"},
	FilePresent:  {Damage, restoreFile},
	FileSize:     {Damage, restoreFile},
	FileHash:     {Damage, restoreFile},
	FileReadable: {Damage, restoreFile},
	FileSchema:   {Damage, restoreFile},
	FileMetadata: {Damage, restoreFile},
	FileRows:     {Damage, restoreFile},
	FileRange:    {Damage, wrongRows},

	RowPartition: {Damage, wrongRows},
	RowOrder:     {Damage, wrongRows},
	RowKey:       {Damage, wrongRows},
	RowOrdinal:   {Damage, wrongRows},

	VersionNumbers:   {Damage, wrongVersions},
	VersionIntervals: {Damage, wrongVersions},
	VersionKnownAt:   {Damage, wrongVersions},
	VersionChange:    {Damage, wrongVersions},
	VersionContent:   {Damage, wrongVersions},
	VersionRemoval:   {Damage, wrongVersions},
	PayloadHash:      {Damage, wrongVersions},
	ContentHash:      {Damage, wrongVersions},

	HistoryRows:     {Damage, wrongRows},
	ChildParent:     {Damage, wrongRows},
	SnapshotCommit:  {Damage, "the log does not name the instant of this snapshot: keep the lake as it is and report the finding"},
	SnapshotHistory: {Damage, wrongRows},
	Tables:          {Damage, "run `dealflow iceberg off`, delete this object unless it is a file of history or snapshots, and run `dealflow iceberg on`, which publishes all tables from the commits; what other engines have answered since the last publication may be wrong"},
	TablesMoved:     {Note, "run `dealflow iceberg publish` before other engines read the lake here; this program's answers do not depend on it"},
	NotChecked:      {Note, "correct the other findings, or use a newer dealflow, then run `dealflow verify` again"},
}
