package api

import "fmt"

// RejectReason says why a record cannot be read as a deal. The values are stored in quarantine
// files and reports and never change.
type RejectReason string

// The reasons for quarantine (design: Quarantine).
const (
	RejectNotObject       RejectReason = "not_an_object"
	RejectNoID            RejectReason = "no_usable_id"
	RejectDuplicateMember RejectReason = "duplicate_member"
	RejectInvalidUTF8     RejectReason = "invalid_utf8"
	RejectInvalidJSON     RejectReason = "invalid_json"
)

// Reject is the error of a record that must be quarantined. It says nothing about where the record
// came from: the caller knows the feed and page.
type Reject struct {
	Reason RejectReason
	Detail string // for people; may be empty
}

func (r *Reject) Error() string {
	if r.Detail == "" {
		return string(r.Reason)
	}
	return fmt.Sprintf("%s: %s", r.Reason, r.Detail)
}
