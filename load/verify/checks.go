package verify

import "slices"

// Check names what Verify looks at. Names are for good: scripts compare them.
type Check string

// The checks, in the order of the report.
const (
	// LogNumbers: commits are numbered from 1 without gaps, and each calls itself by its number.
	LogNumbers Check = "log-numbers"
	// LogReadable: each commit is one whole JSON object.
	LogReadable Check = "log-readable"
	// LogFormat: each commit is of a format version that this program knows.
	LogFormat Check = "log-format"
	// LogChain: each commit names the SHA-256 of the one before it.
	LogChain Check = "log-chain"
	// LogKnownAt: known_at rises strictly from commit to commit.
	LogKnownAt Check = "log-known-at"
	// LogRunID: each commit is of a run of its own.
	LogRunID Check = "log-run-id"
	// LogFiles: no file is added twice, and none removed that is not part of the lake.
	LogFiles Check = "log-files"
	// Hint: latest.json names the newest commit and a checkpoint that exists.
	Hint Check = "hint"
	// Checkpoint: a checkpoint says what the commits up to it add up to.
	Checkpoint Check = "checkpoint"
	// State: the state file beside a checkpoint holds the newest version of each deal, as history has it.
	State Check = "state"

	// FilePath: a file's path, table and partition agree in its commit.
	FilePath Check = "file-path"
	// FilePresent: each file that the log names is there.
	FilePresent Check = "file-present"
	// FileSize: it has the size that its commit says.
	FileSize Check = "file-size"
	// FileHash: its bytes have the SHA-256 that its commit says.
	FileHash Check = "file-hash"
	// FileReadable: it can be read as what it is: Parquet, or packed lines of JSON.
	FileReadable Check = "file-readable"
	// FileSchema: it has the columns of its table in its schema version: names, types, numbers, order.
	FileSchema Check = "file-schema"
	// FileMetadata: it says of itself which table, schema version and format version it is of.
	FileMetadata Check = "file-metadata"
	// FileRows: it has as many rows as its commit says.
	FileRows Check = "file-rows"
	// FileRange: its least and greatest deal_id are those that its commit says.
	FileRange Check = "file-range"

	// RowPartition: service, market, kind and snapshot_date in a row are those of its file.
	RowPartition Check = "row-partition"
	// RowOrder: the rows of a file are sorted by deal_id, version and ordinals (deal_versions: within a
	// kind).
	RowOrder Check = "row-order"
	// RowKey: no key (deal_id, version, ordinals) stands twice in a table.
	RowKey Check = "row-key"
	// RowOrdinal: the ordinals of a list go 1, 2, 3 without gaps.
	RowOrdinal Check = "row-ordinal"

	// VersionNumbers: the versions of a deal go 1, 2, 3 without gaps.
	VersionNumbers Check = "version-numbers"
	// VersionIntervals: known_at rises from version to version of a deal, so that their intervals tile
	// without overlap.
	VersionIntervals Check = "version-intervals"
	// VersionKnownAt: known_at of a version is that of the commit of its run.
	VersionKnownAt Check = "version-known-at"
	// VersionChange: a deal is added first, removed only while it stands, and reappears only after that.
	VersionChange Check = "version-change"
	// VersionContent: a version that says `changed` has other content than the one before.
	VersionContent Check = "version-content"
	// VersionRemoval: a removal has a reason and neither payload nor hashes; the others have all of these
	// and no reason.
	VersionRemoval Check = "version-removal"
	// PayloadHash: the SHA-256 of a payload is its payload_hash.
	PayloadHash Check = "payload-hash"

	// HistoryRows: the deals' own history table has a row for each version with a payload, and no other.
	HistoryRows Check = "history-rows"
	// ChildParent: rows of lists belong to a version, and to a list entry, that is there.
	ChildParent Check = "child-parent"
	// SnapshotCommit: for each snapshot there is a commit that took it.
	SnapshotCommit Check = "snapshot-commit"
	// SnapshotHistory: a table's snapshot holds exactly the history rows of the versions that stood as of
	// the commit that took it.
	SnapshotHistory Check = "snapshot-history"
	// NotChecked: something could not be checked because of other damage, or by this program.
	NotChecked Check = "not-checked"
)

// Checks lists all checks in the order of the report. The caller owns the slice.
func Checks() []Check { return slices.Clone(checks) }

var checks = []Check{
	LogNumbers, LogReadable, LogFormat, LogChain, LogKnownAt, LogRunID, LogFiles, Hint, Checkpoint, State,
	FilePath, FilePresent, FileSize, FileHash, FileReadable, FileSchema, FileMetadata, FileRows, FileRange,
	RowPartition, RowOrder, RowKey, RowOrdinal,
	VersionNumbers, VersionIntervals, VersionKnownAt, VersionChange, VersionContent, VersionRemoval, PayloadHash,
	HistoryRows, ChildParent, SnapshotCommit, SnapshotHistory, NotChecked,
}

// rule says what a check's findings are worth and what to do about them.
type rule struct {
	severity Severity
	todo     string
}

// What to do, in the sentences that several checks share.
const (
	restoreCommit = "stop all runs; bring this object back from a copy of the lake or an older version in the bucket, then verify again"
	restoreFile   = "bring this file back from a copy of the lake or an older version in the bucket, under the same name; if there is no copy and it is a snapshot's, history has the same rows"
	dropDerived   = "delete this object: it is derived, readers do without it, and a later commit writes the next one"
	wrongRows     = "the file is the one that was committed, so its writer was wrong: keep the lake as it is, `dealflow replay` builds tables anew from payloads, and report the finding"
	wrongVersions = "the file is the one that was committed, so its writer was wrong: keep the lake as it is, go back to a copy from before that commit if answers depend on this deal, and report the finding"
)

var rules = map[Check]rule{
	LogNumbers:  {Damage, restoreCommit},
	LogReadable: {Damage, restoreCommit},
	LogFormat:   {Damage, "use the dealflow that wrote it, or a newer one; if none did, " + restoreCommit},
	LogChain:    {Damage, "one of the two commits was changed after it was made: " + restoreCommit},
	LogKnownAt:  {Damage, "answers as of instants between the two are not to be trusted: " + restoreCommit},
	LogRunID:    {Damage, restoreCommit},
	LogFiles:    {Damage, restoreCommit},
	Hint:        {Note, "nothing: readers do not trust it, and the next commit writes it anew"},
	Checkpoint:  {Damage, dropDerived},
	State:       {Damage, dropDerived},

	FilePath:     {Damage, "the commit or its writer was wrong: keep the lake as it is and report the finding"},
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

	HistoryRows:     {Damage, wrongRows},
	ChildParent:     {Damage, wrongRows},
	SnapshotCommit:  {Damage, "the log does not say when this snapshot was taken: keep the lake as it is and report the finding"},
	SnapshotHistory: {Damage, wrongRows},
	NotChecked:      {Note, "mend what else is found, or use a newer dealflow, then verify again"},
}
