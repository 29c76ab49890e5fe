package transform

import (
	"fmt"
	"slices"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Payloads is what was observed of a feed: a complete snapshot or a delta. The interface is declared here, by its
// consumer; extract.Spool satisfies it.
type Payloads interface {
	// IDs returns the deals observed, ascending.
	IDs() []int64
	// PayloadHash returns the SHA-256 of a deal's bytes.
	PayloadHash(id int64) lake.Digest
	// Payload returns a deal's bytes. It may write them into buf; the caller passes the result as the next buf.
	Payload(id int64, buf []byte) ([]byte, error)
}

// Removal is a deal that the source has removed, according to its answer to a request by id.
type Removal struct {
	ID         int64
	Reason     string // lake.ReasonGone, ReasonPriced or ReasonOutOfEntitlement
	ObservedAt time.Time
}

// Decision is the result for one deal that was observed or removed, compared with its latest known version.
type Decision struct {
	ID      int64
	Version int32  // the deal's version after this run
	Change  string // lake.Added, Changed, Reappeared or Removed; "" if the content is unchanged
	Latest  lake.LatestVersion
	Reject  *api.Reject // set if the payload cannot be read: it goes to quarantine
	Kept    bool        // rejected, but known and not removed: the deal keeps its latest version
	Removal *Removal    // set if the deal is removed
}

// Decide compares what was observed of a feed with what was known. It is the only place where a version is decided.
// Equal bytes are equal content; other payloads are compared by canonical form. removals are sorted by id and are not
// among the observed deals. The result is in deal_id order and contains every deal that was observed or removed. An
// error is an error from reading payloads.
//
// sameBase reports that all known versions were seen with the present base URL. If they were not, equal bytes may have
// different content, because a relative link then leads to another address; all payloads are compared by canonical form.
func Decide(known lake.Latest, observed Payloads, removals []Removal, canonical *Canonicalizer, sameBase bool) ([]Decision, error) {
	ids := observed.IDs()
	decisions := make([]Decision, 0, len(ids)+len(removals))
	var buf []byte
	for _, id := range ids {
		for len(removals) > 0 && removals[0].ID < id {
			decisions = append(decisions, remove(&removals[0], known))
			removals = removals[1:]
		}
		latest, seen := known[id]
		hash := observed.PayloadHash(id)
		if seen && sameBase && hash == latest.PayloadHash {
			decisions = append(decisions, decide(id, latest, seen, hash, latest.ContentHash))
			continue
		}
		payload, err := observed.Payload(id, buf)
		if err != nil {
			return nil, fmt.Errorf("deal %d: %w", id, err)
		}
		buf = payload
		content, err := canonical.Hash(payload)
		if err != nil {
			live := seen && !latest.Removed
			decisions = append(decisions, Decision{ID: id, Version: latest.Version, Latest: latest, Reject: rejection(err), Kept: live})
			continue
		}
		decisions = append(decisions, decide(id, latest, seen, hash, content))
	}
	for i := range removals {
		decisions = append(decisions, remove(&removals[i], known))
	}
	return decisions, nil
}

// remove returns the decision for a removed deal. Its hashes remain those of the last content.
func remove(r *Removal, known lake.Latest) Decision {
	latest := known[r.ID]
	latest.Version++
	latest.Removed = true
	return Decision{ID: r.ID, Version: latest.Version, Change: lake.Removed, Latest: latest, Removal: r}
}

// decide returns the decision for an observed deal.
func decide(id int64, latest lake.LatestVersion, seen bool, payload, content lake.Digest) Decision {
	d := Decision{ID: id}
	switch {
	case !seen:
		d.Change = lake.Added
	case latest.Removed:
		d.Change = lake.Reappeared
	case latest.ContentHash != content:
		d.Change = lake.Changed
	default:
		d.Version, d.Latest = latest.Version, latest
		return d
	}
	d.Version = latest.Version + 1
	d.Latest = lake.LatestVersion{Version: d.Version, ContentHash: content, PayloadHash: payload}
	return d
}

// Absent returns the deals that are known, not removed and not observed, in ascending order. Absence is not removal:
// the caller must request each one by id.
func Absent(known lake.Latest, observed Payloads) []int64 {
	var absent []int64
	ids := observed.IDs()
	for id, latest := range known {
		if latest.Removed {
			continue
		}
		if _, found := slices.BinarySearch(ids, id); !found {
			absent = append(absent, id)
		}
	}
	slices.Sort(absent)
	return absent
}
