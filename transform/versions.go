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

// Decisions are the results for the deals of a feed that were observed or removed, compared with their latest known versions.
type Decisions struct {
	Deals    []Decision            // by deal_id
	Rejects  map[int64]*api.Reject // why payloads cannot be read, by deal_id: they go to quarantine
	Removals map[int64]Removal     // by deal_id
}

// Decision is the result for one deal. A run has one for each deal in memory: it has no pointers, and what few deals have is in
// Decisions.
type Decision struct {
	ID       int64
	Latest   lake.LatestVersion // after this run
	Rejected bool               // the payload cannot be read
	change   change
}

// change is a kind of change in a byte.
type change uint8

const (
	unchanged change = iota
	added
	changed
	reappeared
	removed
)

// Change returns lake.Added, Changed, Reappeared or Removed; "" if the content is unchanged.
func (d *Decision) Change() string {
	return [...]string{unchanged: "", added: lake.Added, changed: lake.Changed, reappeared: lake.Reappeared, removed: lake.Removed}[d.change]
}

// Kept says that the payload is rejected, but the deal is known and not removed: it keeps its latest version.
func (d *Decision) Kept() bool { return d.Rejected && d.Latest.Version > 0 && !d.Latest.Removed }

// Decide compares what was observed of a feed with what was known. It is the only place where a version is decided.
// Equal bytes are equal content; other payloads are compared by canonical form. removals are sorted by id and are not
// among the observed deals. The result contains every deal that was observed or removed. An error is an error from
// reading payloads.
//
// sameBase reports that all known versions were seen with the present base URL. If they were not, equal bytes may have
// different content, because a relative link then leads to another address; all payloads are compared by canonical form.
func Decide(known lake.Latest, observed Payloads, removals []Removal, canonical *Canonicalizer, sameBase bool) (Decisions, error) {
	ids := observed.IDs()
	all := Decisions{Deals: make([]Decision, 0, len(ids)+len(removals)), Rejects: map[int64]*api.Reject{}, Removals: map[int64]Removal{}}
	var buf []byte
	for _, id := range ids {
		for len(removals) > 0 && removals[0].ID < id {
			all.remove(removals[0], known)
			removals = removals[1:]
		}
		latest, seen := known[id]
		hash := observed.PayloadHash(id)
		if seen && sameBase && hash == latest.PayloadHash {
			all.Deals = append(all.Deals, decide(id, latest, seen, hash, latest.ContentHash))
			continue
		}
		payload, err := observed.Payload(id, buf)
		if err != nil {
			return Decisions{}, fmt.Errorf("deal %d: %w", id, err)
		}
		buf = payload
		content, err := canonical.Hash(payload)
		if err != nil {
			all.Deals = append(all.Deals, Decision{ID: id, Latest: latest, Rejected: true})
			all.Rejects[id] = rejection(err)
			continue
		}
		all.Deals = append(all.Deals, decide(id, latest, seen, hash, content))
	}
	for _, r := range removals {
		all.remove(r, known)
	}
	return all, nil
}

// remove adds the decision for a removed deal. Its hashes remain those of the last content.
func (all *Decisions) remove(r Removal, known lake.Latest) {
	latest := known[r.ID]
	latest.Version++
	latest.Removed = true
	all.Deals = append(all.Deals, Decision{ID: r.ID, Latest: latest, change: removed})
	all.Removals[r.ID] = r
}

// decide returns the decision for an observed deal.
func decide(id int64, latest lake.LatestVersion, seen bool, payload, content lake.Digest) Decision {
	d := Decision{ID: id}
	switch {
	case !seen:
		d.change = added
	case latest.Removed:
		d.change = reappeared
	case latest.ContentHash != content:
		d.change = changed
	default:
		d.Latest = latest
		return d
	}
	d.Latest = lake.LatestVersion{Version: latest.Version + 1, ContentHash: content, PayloadHash: payload}
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
