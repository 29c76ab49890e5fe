package api

import "fmt"

// RejectReason is why a record cannot be read as a deal. The values are stored in quarantine files and reports and
// never change.
type RejectReason string

// The reasons for quarantine.
const (
	RejectNotObject       RejectReason = "not_an_object"
	RejectNoID            RejectReason = "no_usable_id"
	RejectDuplicateMember RejectReason = "duplicate_member"
	RejectInvalidUTF8     RejectReason = "invalid_utf8"
	RejectInvalidJSON     RejectReason = "invalid_json"
)

// Reject is the error for a record that must be quarantined. It does not contain the record's feed or page: the caller
// knows them.
type Reject struct {
	Reason RejectReason
	Detail string // readable description; may be empty
}

func (r *Reject) Error() string {
	if r.Detail == "" {
		return string(r.Reason)
	}
	return fmt.Sprintf("%s: %s", r.Reason, r.Detail)
}

// MayBeDamage says whether the record may have been damaged on its way, so that another request may return it whole.
func (r *Reject) MayBeDamage() bool {
	return r.Reason == RejectInvalidJSON || r.Reason == RejectInvalidUTF8
}
