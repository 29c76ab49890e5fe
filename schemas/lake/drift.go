package lake

import "cmp"

// DriftKind says how a value differs from what the schema expects.
type DriftKind string

// The kinds of drift.
const (
	DriftUnknown  DriftKind = "unknown_field"  // a field that the schema does not have for this market
	DriftMisfit   DriftKind = "misfit"         // a value that does not fit its column: NULL there, complete in the payload
	DriftUnlisted DriftKind = "unlisted_value" // a value that is not in the column's list
)

// Drift is one (pointer, kind) pair of a feed in a run, with its count and an example.
type Drift struct {
	Pointer string    `json:"pointer"` // JSON pointer in the record, "*" for list and map entries
	Kind    DriftKind `json:"kind"`
	Count   int64     `json:"count"`
	Example string    `json:"example"` // JSON text of the first value seen, shortened
}

// CompareDrift orders drift by pointer, then kind.
func CompareDrift(a, b Drift) int {
	return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Kind, b.Kind))
}
