package lake

import (
	"cmp"
	"slices"

	"dealflow/schemas/api"
)

// DriftKind says how a value differs from what the schema expects.
type DriftKind string

// The kinds of drift.
const (
	DriftUnknown  DriftKind = "unknown_field"    // a field that the schema does not have for this market
	DriftMismatch DriftKind = "misfit"           // a value that does not fit its column: NULL there, complete in the payload; a text's NUL or half character: U+FFFD there; an id beyond 32 bits where the API documents 32
	DriftUnlisted DriftKind = "unlisted_value"   // a value that is not in the column's list
	DriftMissing  DriftKind = "missing_required" // a member that the API documents as required is absent or null
	DriftRounded  DriftKind = "rounded"          // a number or instant with more fraction digits than its column has
	DriftFault    DriftKind = "parser_fault"     // a text on which a parser of this program failed: its helper columns are NULL
)

// DriftKinds returns the kinds of drift that this program reports. The caller owns the slice.
func DriftKinds() []DriftKind {
	return []DriftKind{DriftUnknown, DriftMismatch, DriftUnlisted, DriftRounded, DriftMissing, DriftFault}
}

// firstDriftKinds are the kinds that were reported before commits had the field drift_kinds.
var firstDriftKinds = []DriftKind{DriftUnknown, DriftMismatch, DriftUnlisted}

// KnowsDrift reports whether the program that made the commit reported a kind of drift.
func (c *Commit) KnowsDrift(kind DriftKind) bool {
	if c.DriftKinds == nil {
		return slices.Contains(firstDriftKinds, kind)
	}
	return slices.Contains(c.DriftKinds, kind)
}

// Drift is one (pointer, kind) pair of a feed in a run, with its count and an example.
type Drift struct {
	Pointer string    `json:"pointer"` // JSON pointer in the record, "*" for list and map entries; after "page:" in a list page
	Kind    DriftKind `json:"kind"`
	Count   int64     `json:"count"`
	Example string    `json:"example"` // JSON text of the first value seen, shortened; of missing_required, the object that lacks the member
}

// CompareDrift orders drift by pointer, then kind.
func CompareDrift(a, b Drift) int {
	return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Kind, b.Kind))
}

// snapshotsBefore is the most snapshots of a feed in which earlier drift is looked for.
const snapshotsBefore = 1000

// NewDrift returns those of the drift of a feed whose pointer and kind no snapshot of it before had. before is oldest first. Its
// syncs do not count: they show a few deals, and a person should still hear of the drift once the next snapshot has it. A kind
// that the program of the snapshot before did not report says nothing about the source: it is not new. The caller owns the slice.
func NewDrift(before []Commit, feed api.Feed, drift []Drift) []Drift {
	fresh := slices.Clone(drift)
	looked := 0
	for i := len(before) - 1; i >= 0 && len(fresh) > 0 && looked < snapshotsBefore; i-- {
		f := before[i].Feed(feed)
		if f == nil || before[i].SnapshotDate == "" || f.Outcome == OutcomeFailed || f.Outcome == OutcomeHeld {
			continue
		}
		fresh = slices.DeleteFunc(fresh, func(d Drift) bool {
			return looked == 0 && !before[i].KnowsDrift(d.Kind) ||
				slices.ContainsFunc(f.Drift, func(known Drift) bool { return CompareDrift(known, d) == 0 })
		})
		looked++
	}
	return fresh
}
