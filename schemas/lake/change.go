package lake

import "dealflow/schemas/api"

// VersionPair is two neighbouring contents of a deal: what became known with After is measured against
// Before. Removals have no content and stand in no pair.
type VersionPair struct {
	Feed    api.Feed
	DealID  int64
	Before  int32
	After   int32
	KnownAt Instant // of After

	Reappeared bool // After followed upon a removal: it may say what Before said

	// BeforeRun and AfterRun are the runs that brought the versions.
	BeforeRun, AfterRun string
	// BeforeTranches and AfterTranches say, for the tranches of an expected deal in their order, which is
	// which: equal numbers are one tranche. nil for priced deals.
	BeforeTranches, AfterTranches []int32
}

// FieldChange is one difference between two versions, in a documented column or a whole child row.
type FieldChange struct {
	Table  string // flattened table
	RowKey string // what makes the row of one version that of the next; "" for the deal's own row
	Field  string // column; "" for a whole row
	Change string
	Was    string // cut after ChangeText bytes; "" where there was nothing
	Is     string // likewise
}

// ChangeText is how much of a value, in bytes of UTF-8, a FieldChange holds; the whole stands in history.
const ChangeText = 200

// What a FieldChange can be.
const (
	FieldSet     = "set"         // had no value
	FieldCleared = "cleared"     // has no value any more
	FieldEdited  = "edited"      // another value
	RowAdded     = "row added"   // the row is new
	RowRemoved   = "row removed" // the row is gone

	// ChangedElsewhere and ChangeUnreadable stand alone, without a table: what changed lies outside all
	// columns; or one of the payloads can no longer be read, and verify tells of it.
	ChangedElsewhere = "other"
	ChangeUnreadable = "unreadable"
)
