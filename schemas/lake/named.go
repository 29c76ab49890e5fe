package lake

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// NamedCommit is a commit as an object outside the log names it: the hint, and the end of a published catalog. The
// number alone does not identify a commit: after the newest commit was lost, a later run may have made another with its
// number.
type NamedCommit struct {
	Number  int64   `json:"commit"`
	SHA256  string  `json:"sha256,omitempty"`  // of the commit's bytes; "" if the object does not say it
	KnownAt Instant `json:"known_at,omitzero"` // zero if the object does not say it
}

// String describes the commit for people.
func (n NamedCommit) String() string {
	text := fmt.Sprintf("commit %d", n.Number)
	if n.SHA256 != "" {
		text += fmt.Sprintf(" (SHA-256 %.12s)", n.SHA256)
	}
	return text
}

// commitLine begins the line that names a commit at the end of a catalog file.
const commitLine = "\ndealflow commit "

// CommitLineSize is the size in bytes of every commit line.
const CommitLineSize = len(commitLine) + 20 + 1 + 64 + 1 + len(instantLayout)

// Line returns the commit as a line of fixed size. Number, SHA256 and KnownAt must be set.
func (n NamedCommit) Line() string {
	return fmt.Sprintf("%s%020d %64s %s", commitLine, n.Number, n.SHA256, n.KnownAt)
}

// ParseCommitLine parses what Line returns; false if text has another form.
func ParseCommitLine(text string) (n NamedCommit, ok bool) {
	rest, ok := strings.CutPrefix(text, commitLine)
	words := strings.Split(rest, " ")
	if !ok || len(text) != CommitLineSize || len(words) != 3 || !IsSHA256(words[1]) {
		return NamedCommit{}, false
	}
	number, err1 := strconv.ParseInt(words[0], 10, 64)
	known, err2 := time.Parse(instantLayout, words[2])
	if err1 != nil || err2 != nil || number < 1 {
		return NamedCommit{}, false
	}
	return NamedCommit{Number: number, SHA256: words[1], KnownAt: At(known)}, true
}

// A published catalog ends, after DuckDB's last block, which DuckDB ignores, with the line that names the commit, and
// with this prefix and the SHA-256 of all bytes before it.
const (
	ChecksumPrefix = "\ndealflow sha256 "
	ChecksumSize   = len(ChecksumPrefix) + 64
)

// CatalogEnd is what the end of a published catalog says: its commit, and the SHA-256 of all bytes before the checksum, by
// which a copy of the catalog is recognized.
type CatalogEnd struct {
	NamedCommit
	Checksum string // 64 hexadecimal digits
}

// CatalogEndSize is the size in bytes of the end of a published catalog.
const CatalogEndSize = CommitLineSize + ChecksumSize

// ParseCatalogEnd parses the last CatalogEndSize bytes of a catalog; false if they have another form.
func ParseCatalogEnd(text string) (end CatalogEnd, ok bool) {
	if len(text) != CatalogEndSize {
		return end, false
	}
	if end.NamedCommit, ok = ParseCommitLine(text[:CommitLineSize]); !ok {
		return end, false
	}
	end.Checksum, ok = strings.CutPrefix(text[CommitLineSize:], ChecksumPrefix)
	return end, ok && IsSHA256(end.Checksum)
}

// LostCommit is a commit that an object names and that the log does not have: its object was lost. A later commit
// records it, because a person has accepted the loss.
type LostCommit struct {
	NamedCommit
	NamedBy []string `json:"named_by"` // keys of the objects that name it, sorted
}

// Naming says for people which objects name the commit: "catalog.duckdb names", or "catalog.duckdb and latest.json name".
func (l *LostCommit) Naming() string {
	if len(l.NamedBy) == 1 {
		return l.NamedBy[0] + " names"
	}
	return strings.Join(l.NamedBy, " and ") + " name"
}

// Warning says for people that the commit was lost, when a commit records it.
func (l *LostCommit) Warning() string {
	return fmt.Sprintf("%s was lost (%s named it): what it said is gone, and this commit records that", l.NamedCommit, strings.Join(l.NamedBy, " and "))
}

// IndexedVersion is a version of a deal in the version index of a catalog.
type IndexedVersion struct {
	DealID    int64
	Version   int32
	Change    string
	ValidFrom Instant // known_at of its commit
	ValidTo   Instant // that of the deal's next version; zero for none
}
