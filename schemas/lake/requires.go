package lake

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Needs are names of abilities that a program must have. They are written into commits and files, and their union over
// the live lake into each checkpoint, state file and hint (docs/reference/lake-format.md#needs). A program that does not
// know a name stops: it would otherwise leave out or misread what that name says.
type Needs struct {
	Requires        []string `json:"requires,omitempty"`          // of readers
	RequiresToWrite []string `json:"requires_to_write,omitempty"` // of writers and of maintenance, besides Requires
}

// firstSchema is the schema version that every program for format version 2 knows.
const firstSchema = 3

// readersNeed lists the schema versions whose files an older reader would misread, because a column changed its meaning,
// name or type. A version that only added columns is not in it: an older reader leaves those columns out, and all that
// it does read is right.
var readersNeed = map[int]bool{}

// SchemaNeeds returns what a file of a schema version needs. An older writer must not work on a lake with such a file: it
// would write rows without the later columns, and compaction or replay would lose them.
func SchemaNeeds(version int) Needs {
	if version <= firstSchema {
		return Needs{}
	}
	name := []string{fmt.Sprintf("schema-%d", version)}
	if readersNeed[version] {
		return Needs{Requires: name, RequiresToWrite: name}
	}
	return Needs{RequiresToWrite: name}
}

// NeedIceberg is the name of the ability to keep the lake's Iceberg tables (docs/reference/iceberg.md). A program without
// it would delete files that the published tables still name. It is only needed to write.
const NeedIceberg = "iceberg"

// NeedRunSegments is the name of the ability to read the runs of a long log from its segments (docs/reference/lake-format.md).
// A program without it would take a checkpoint for incomplete. No commit has this name: it is what the derived objects need
// that begin with such a checkpoint.
const NeedRunSegments = "run-segments"

// abilities returns the names that this program knows.
func abilities() []string {
	known := []string{NeedIceberg, NeedMultiPartition, NeedRunSegments}
	for version := firstSchema + 1; version <= SchemaVersion; version++ {
		known = append(known, SchemaNeeds(version).RequiresToWrite...)
	}
	return known
}

// Merge adds the names of other. The lists stay sorted, and each name occurs once.
func (n *Needs) Merge(other Needs) {
	n.Requires = union(n.Requires, other.Requires)
	n.RequiresToWrite = union(n.RequiresToWrite, other.RequiresToWrite)
}

func union(a, b []string) []string {
	if !slices.ContainsFunc(b, func(name string) bool { return !slices.Contains(a, name) }) {
		return a // as for most files of a log
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// CheckRead returns a *NeedsError if a reader must know a name that this program does not know. writer is the version of
// the program that wrote the names: it knows them.
func (n Needs) CheckRead(writer string) error { return checkNeeds(n.Requires, false, writer) }

// CheckWrite is CheckRead for a program that writes.
func (n Needs) CheckWrite(writer string) error {
	return checkNeeds(union(n.Requires, n.RequiresToWrite), true, writer)
}

func checkNeeds(names []string, writing bool, writer string) error {
	known := abilities()
	unknown := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(known, name) })
	if len(unknown) == 0 {
		return nil
	}
	return &NeedsError{Unknown: unknown, Writing: writing, Writer: writer}
}

// NeedsError is the error for a lake that needs a newer program.
type NeedsError struct {
	Unknown []string // the names that this program does not know
	Writing bool     // the lake can be read, but not written
	Writer  string   // version of a program that knows them; "" if unknown
}

func (e *NeedsError) Error() string {
	verb := "reading"
	if e.Writing {
		verb = "writing"
	}
	return fmt.Sprintf("%s this lake needs %s, which this program does not know: %s", verb, strings.Join(e.Unknown, ", "), e.Todo())
}

// Todo returns the program to use. The error's text ends with it.
func (e *NeedsError) Todo() string {
	writer := "the dealflow that wrote it last"
	if e.Writer != "" {
		writer = "dealflow " + e.Writer
	}
	return fmt.Sprintf("use %s, or a later version", writer)
}

// OldFormatError is the error for writing to a lake of an older format, which this program only reads.
type OldFormatError struct {
	Lake  string // its address
	Found int    // its format version
}

func (e *OldFormatError) Error() string {
	return fmt.Sprintf("%s is a lake of format version %d, which this program only reads: %s", e.Lake, e.Found, e.Todo())
}

// Todo returns the command that makes a lake of the present format from this one. The error's text ends with it.
func (e *OldFormatError) Todo() string {
	return fmt.Sprintf("stop its schedules, then run `dealflow upgrade --lake %s --to NEW` (docs/how-to/upgrade.md)", e.Lake)
}

// preface is the part of a commit, checkpoint, state file or hint that a program of any version can read.
type preface struct {
	FormatVersion   int    `json:"format_version"`
	DealflowVersion string `json:"dealflow_version"`
	Needs
	Add []struct{ Needs } `json:"add"`
}

// CheckPreface reads only the format version and the needs in an object's JSON, before anything else in it is decoded.
// It returns a *FormatError or a *NeedsError if this program must not read the rest. An object without a format version
// is of version 1.
func CheckPreface(data []byte) error {
	var p preface
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	if p.FormatVersion < 0 || p.FormatVersion > FormatVersion {
		return &FormatError{Found: p.FormatVersion}
	}
	needs := p.Needs
	for _, file := range p.Add {
		needs.Merge(file.Needs)
	}
	return needs.CheckRead(p.DealflowVersion)
}

// IsLater says whether an error means that a later program wrote an object, so that its damage proves nothing.
func IsLater(err error) bool {
	var format *FormatError
	var needs *NeedsError
	return errors.As(err, &format) || errors.As(err, &needs)
}
