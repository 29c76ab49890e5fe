package transform

import (
	"fmt"
	"slices"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Payloads is what was observed of a feed: a proven snapshot or a delta. It is declared here by its
// consumer; extract's spool satisfies it.
type Payloads interface {
	// IDs returns the deals observed, ascending.
	IDs() []int64
	// PayloadHash returns the SHA-256 of a deal's bytes.
	PayloadHash(id int64) lake.Digest
	// Payload returns a deal's bytes; it may use buf, and gets what it returned as the next buf.
	Payload(id int64, buf []byte) ([]byte, error)
}

// Removal is a deal that the source has removed, as it answered by id.
type Removal struct {
	ID         int64
	Reason     string // lake.ReasonGone, ReasonPriced or ReasonOutOfEntitlement
	ObservedAt time.Time
}

// Decision says what a deal is that was observed or removed, compared with what was known of it.
type Decision struct {
	ID      int64
	Version int32  // the version that the deal has now
	Change  string // lake.Added, Changed, Reappeared or Removed; "" if the content is unchanged
	Head    lake.Head
	Reject  *api.Reject // the payload cannot be read: quarantine it
	Kept    bool        // rejected, and known: the deal keeps its last version
	Removal *Removal    // of a deal that is removed
}

// Decide compares what was observed of a feed with what was known: it is the one place where a
// version is decided. Equal bytes are equal content; others are compared by canonical form. removals are sorted by id
// and of deals that were not observed. The result is in deal_id order and contains every deal that was observed or
// removed. An error is one of reading payloads.
//
// sameBase says that the base URL is the one under which the known versions were last seen. If it
// is not, equal bytes may differ in content (a link that was relative now points elsewhere), and all
// are compared by canonical form.
func Decide(known lake.Heads, observed Payloads, removals []Removal, canonical *Canonicalizer, sameBase bool) ([]Decision, error) {
	ids := observed.IDs()
	decisions := make([]Decision, 0, len(ids)+len(removals))
	var buf []byte
	for _, id := range ids {
		for len(removals) > 0 && removals[0].ID < id {
			decisions = append(decisions, remove(&removals[0], known))
			removals = removals[1:]
		}
		head, seen := known[id]
		hash := observed.PayloadHash(id)
		if seen && sameBase && hash == head.PayloadHash {
			decisions = append(decisions, decide(id, head, seen, hash, head.ContentHash))
			continue
		}
		payload, err := observed.Payload(id, buf)
		if err != nil {
			return nil, fmt.Errorf("deal %d: %w", id, err)
		}
		buf = payload
		content, err := canonical.Hash(payload)
		if err != nil {
			live := seen && !head.Removed
			decisions = append(decisions, Decision{ID: id, Version: head.Version, Head: head, Reject: rejection(err), Kept: live})
			continue
		}
		decisions = append(decisions, decide(id, head, seen, hash, content))
	}
	for i := range removals {
		decisions = append(decisions, remove(&removals[i], known))
	}
	return decisions, nil
}

// remove numbers the version that ends a deal. Its hashes stay those of the last content.
func remove(r *Removal, known lake.Heads) Decision {
	head := known[r.ID]
	head.Version++
	head.Removed = true
	return Decision{ID: r.ID, Version: head.Version, Change: lake.Removed, Head: head, Removal: r}
}

// decide numbers one deal's version.
func decide(id int64, head lake.Head, seen bool, payload, content lake.Digest) Decision {
	d := Decision{ID: id}
	switch {
	case !seen:
		d.Change = lake.Added
	case head.Removed:
		d.Change = lake.Reappeared
	case head.ContentHash != content:
		d.Change = lake.Changed
	default:
		d.Version, d.Head = head.Version, head
		return d
	}
	d.Version = head.Version + 1
	d.Head = lake.Head{Version: d.Version, ContentHash: content, PayloadHash: payload}
	return d
}

// Absent returns the deals that are known to stand and were not observed, ascending. Absence is not
// removal: each must be asked for by id.
func Absent(known lake.Heads, observed Payloads) []int64 {
	var absent []int64
	ids := observed.IDs()
	for id, head := range known {
		if head.Removed {
			continue
		}
		if _, found := slices.BinarySearch(ids, id); !found {
			absent = append(absent, id)
		}
	}
	slices.Sort(absent)
	return absent
}
