package lake

import "dealflow/schemas/api"

// VersionPair is two successive versions of a deal that have content. What changed with After is the difference from
// Before. Removals have no content and are in no pair.
type VersionPair struct {
	Feed    api.Feed
	DealID  int64
	Before  int32
	After   int32
	KnownAt Instant // known_at of After

	Reappeared bool // After follows a removal: its content may be equal to that of Before

	// BeforeRun and AfterRun are the ids of the runs that added the versions.
	BeforeRun, AfterRun string
	// BeforeTranches and AfterTranches identify the tranches of an expected deal, in their order: equal numbers are the
	// same tranche. They are nil for priced deals.
	BeforeTranches, AfterTranches []int32
}

// FieldChange is one difference between two versions: in a documented column, or a complete child row.
type FieldChange struct {
	Table  string // flattened table
	RowKey string // identifies a row across versions; "" for the deal's own row
	Field  string // column; "" for a complete row
	Change string
	Was    string // value before, cut after ChangeText bytes; "" for none
	Is     string // value after, cut after ChangeText bytes; "" for none
}

// ChangeText is the most bytes of UTF-8 of a value in a FieldChange. History contains the complete value.
const ChangeText = 200

// The kinds of a FieldChange.
const (
	FieldSet     = "set"         // the field had no value before
	FieldCleared = "cleared"     // the field has no value any more
	FieldEdited  = "edited"      // the field has another value
	RowAdded     = "row added"   // the row is new
	RowRemoved   = "row removed" // the row is no longer there

	// ChangedElsewhere and ChangeUnreadable are the only change of their pair, and have no table. Either the change is
	// outside all columns, or one of the payloads can no longer be read, which verify reports.
	ChangedElsewhere = "other"
	ChangeUnreadable = "unreadable"
)
