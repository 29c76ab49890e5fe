package extract

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Rejected records are kept in memory. A list with more of them than this is not the documented API.
const (
	maxRejects     = 10_000
	maxRejectBytes = 64 << 20
)

// spoolBuffer is the size of the buffer of a work file, in bytes.
const spoolBuffer = 256 << 10

// Spool stores the payloads of one feed in a work file on disk. In memory it keeps about 100 bytes per deal, until Rest. A later
// payload of a deal replaces the earlier one, whose bytes stay in the file until Close. The spool also collects the
// records that cannot be read as deals.
//
// All methods are safe for concurrent use. The owner calls Close, which removes the file.
type Spool struct {
	feed api.Feed
	file *os.File
	sum  func(payload []byte) (lake.Digest, error) // nil: equal bytes only

	mu          sync.Mutex
	out         *bufio.Writer        // nil while the spool rests
	size        int64                // bytes of payloads, written or still buffered
	flushed     int64                // bytes of payloads in the file
	deals       map[int64]spoolEntry // use index; nil while the spool rests: then they are in the file, after the payloads
	rested      int                  // number of deals there
	hrefs       hrefs
	older       []byte // buffer for payloads that are read back
	rejects     []Rejected
	rejectAt    map[rejectKey]int // index in rejects
	rejectBytes int
	pages       map[string]lake.Drift // drift of list pages, by pointer and kind
}

// rejectKey identifies a rejected record: by id and reason, or without an id by its bytes.
type rejectKey struct {
	id     int64
	hasID  bool
	reason api.RejectReason
	sum    [sha256.Size]byte // SHA-256 of the record; zero if there is an id
}

// spoolEntry locates and describes a deal's payload. It is small because there is one per deal.
type spoolEntry struct {
	offset   int64
	observed int64 // µs since 1970, UTC
	since    int64
	length   uint32
	template uint32
	hash     [sha256.Size]byte
}

// Entry describes a spooled payload.
type Entry struct {
	Offset       int64             // in the work file, bytes
	Length       int               // of the payload, bytes
	PayloadHash  [sha256.Size]byte // SHA-256 of the payload
	ObservedAt   time.Time         // when the payload was observed, UTC, whole µs
	UpdatedSince string            // the record's updatedSince link unchanged, "" if none
}

// Rejected is a record that cannot be read as a deal and goes to quarantine.
type Rejected struct {
	Raw        []byte      // the record's bytes as in the page; owned by the receiver
	Reject     *api.Reject // why
	ID         int64       // the deal's id, if HasID
	HasID      bool        // the id could be read: the deal still exists
	ObservedAt time.Time   // UTC
	URL        string      // URL of the page that contained it; "" if the record's fault was found only after its page
}

// NewSpool creates an empty spool with a work file in dir, which must exist. sum returns the hash of a payload's content:
// two payloads of a deal have equal content if their hashes are equal, although their bytes may differ. Its error is an
// *api.Reject, for a payload that cannot be read as a deal. If sum is nil, only equal bytes are equal content. sum is
// called by one goroutine at a time, under the spool's lock, and must not keep the slice.
func NewSpool(dir string, feed api.Feed, sum func(payload []byte) (lake.Digest, error)) (*Spool, error) {
	file, err := os.CreateTemp(dir, strings.ReplaceAll(feed.String(), "/", "-")+"-*.spool")
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	return &Spool{
		feed: feed, file: file, sum: sum, out: bufio.NewWriterSize(file, spoolBuffer),
		deals: map[int64]spoolEntry{}, rejectAt: map[rejectKey]int{}, pages: map[string]lake.Drift{},
	}, nil
}

// Put stores a deal's payload, from which head was read, as observed at observedAt. fresh reports that the spool did
// not contain this content for the deal: the deal is new or changed. The payload is copied.
//
// Of payloads with equal content the first one is kept, with its instant of observation. A server that spells its links
// differently in each answer then fills no disk, and the spool's content does not depend on the number of sweeps.
//
// A payload whose updatedSince link has an earlier instant than that of the stored one, by more than the overlap, is an
// earlier state of the deal, from a server that lags: it replaces nothing. Of a payload that can be read and one that
// cannot, whichever comes first, the one that can is stored, and the other is put among the rejected records. What may be
// damage on the way is treated as any other payload, because it may be a change: the caller requests the deal again.
func (s *Spool) Put(head api.RecordID, payload []byte, observedAt time.Time) (fresh bool, err error) {
	if len(payload) > math.MaxUint32 {
		return false, fmt.Errorf("spool %s: deal %d: got a payload of %d bytes, want 4 GiB at most", s.file.Name(), head.ID, len(payload))
	}
	p := spoolEntry{observed: observedAt.UnixMicro(), length: uint32(len(payload)), hash: sha256.Sum256(payload)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if held, ok := s.index()[head.ID]; ok {
		_, p.since = cutInstant(head.UpdatedSince)
		if replaces, fresh, err := s.replaces(head.ID, held, p, payload); !replaces || err != nil {
			return fresh, err
		}
	}
	if _, err := s.out.Write(payload); err != nil {
		return false, fmt.Errorf("spool: %w", err) // an *fs.PathError, which names the file
	}
	p.offset = s.size
	p.template, p.since = s.hrefs.put(head.UpdatedSince)
	s.deals[head.ID] = p
	s.size += int64(len(payload))
	return true, nil
}

// replaces says whether a payload of a deal, described by p, replaces the stored one. If it does not, fresh says whether
// it is a new rejected record. The stored payload is read only if the hashes differ. The caller holds the lock.
func (s *Spool) replaces(id int64, held, p spoolEntry, payload []byte) (replaces, fresh bool, err error) {
	earlier := p.since != 0 && p.since < held.since-int64(overlap/time.Second)
	if held.hash == p.hash || s.sum == nil {
		return held.hash != p.hash && !earlier, false, nil
	}
	if err := s.flush(held); err != nil {
		return false, false, err
	}
	if s.older, err = s.read(held, s.older); err != nil {
		return false, false, err
	}
	before, errBefore := s.sum(s.older)
	now, errNow := s.sum(payload)
	switch {
	case before == now && (errBefore == nil) == (errNow == nil): // two payloads that cannot be read are equal: both would be rejected
		return false, false, nil
	case errBefore == nil && ownFault(errNow) != nil:
		fresh, err = s.putReject(p.rejected(id, payload, ownFault(errNow)))
		return false, fresh, err
	case ownFault(errBefore) != nil && errNow == nil:
		_, err = s.putReject(held.rejected(id, s.older, ownFault(errBefore)))
		return true, false, err
	case errBefore == nil && earlier:
		return false, false, nil
	default:
		return true, false, nil
	}
}

// ownFault returns the fault of a record that the API itself wrote so; nil for none, and for what may be damage on the way.
func ownFault(err error) *api.Reject {
	var reject *api.Reject
	if errors.As(err, &reject) && !reject.MayBeDamage() {
		return reject
	}
	return nil
}

// rejected returns a deal's payload as a rejected record.
func (p spoolEntry) rejected(id int64, payload []byte, why *api.Reject) Rejected {
	return Rejected{Raw: payload, Reject: why, ID: id, HasID: true, ObservedAt: time.UnixMicro(p.observed).UTC()}
}

// PutReject stores a record that cannot be read as a deal. Of records with the same id and reason the latest is kept,
// as for a deal's payloads, but only the first is fresh. Reason: we cannot tell whether an unreadable record has the
// same content as before, and a record whose links are spelled differently each time must not keep a list from becoming
// stable. Records without an id are identified by their bytes. The bytes are copied.
func (s *Spool) PutReject(r Rejected) (fresh bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.putReject(r)
}

// putReject is PutReject for a caller that holds the lock.
func (s *Spool) putReject(r Rejected) (fresh bool, err error) {
	key := rejectKey{id: r.ID, hasID: r.HasID, reason: r.Reject.Reason}
	if !r.HasID {
		key.sum = sha256.Sum256(r.Raw)
	}
	index, known := s.rejectAt[key]
	if known && bytes.Equal(s.rejects[index].Raw, r.Raw) {
		return false, nil
	}
	size := s.rejectBytes + len(r.Raw)
	if known {
		size -= len(s.rejects[index].Raw)
	}
	if !known && len(s.rejects) >= maxRejects || size > maxRejectBytes {
		return false, fmt.Errorf("too many records cannot be read as deals: %d (%d bytes); the last one: %w", len(s.rejects)+1, size, r.Reject)
	}
	r.Raw = slices.Clone(r.Raw)
	s.rejectBytes = size
	if known {
		s.rejects[index] = r
		return false, nil
	}
	s.rejectAt[key] = len(s.rejects)
	s.rejects = append(s.rejects, r)
	return true, nil
}

// Members of pages have any names. Later names than this are counted under one pointer.
const (
	maxPageDrift   = 100
	maxPageExample = 120 // bytes
)

// putPageDrift counts drift of a list page.
func (s *Spool) putPageDrift(found []api.PageDrift) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range found {
		drift := lake.Drift{Pointer: f.Pointer, Kind: lake.DriftUnknown}
		if f.Missing {
			drift.Kind = lake.DriftMissing
		}
		key := drift.Pointer + " " + string(drift.Kind)
		if _, known := s.pages[key]; !known && len(s.pages) >= maxPageDrift {
			drift.Pointer = path.Dir(drift.Pointer) + "/*"
			key = drift.Pointer + " " + string(drift.Kind)
		}
		if known, ok := s.pages[key]; ok {
			drift = known
		} else {
			drift.Example = strings.ToValidUTF8(string(f.Example[:min(len(f.Example), maxPageExample)]), "")
		}
		drift.Count++
		s.pages[key] = drift
	}
}

// PageDrift returns the drift of the list pages outside their records, by pointer and kind. Each page that was read
// counts, also a page that was read again. The caller owns the slice.
func (s *Spool) PageDrift() []lake.Drift {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.pages), lake.CompareDrift)
}

// Feed returns the feed whose payloads the spool contains.
func (s *Spool) Feed() api.Feed { return s.feed }

// Len returns the number of deals in the spool.
func (s *Spool) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.index())
}

// isEmpty says whether nothing was put into the spool.
func (s *Spool) isEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.index())+len(s.rejects) == 0
}

// IDs returns the ids of all deals, ascending. The caller owns the slice.
func (s *Spool) IDs() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.index()))
}

// Entry returns the description of a deal's payload; false if the spool does not contain the deal.
func (s *Spool) Entry(id int64) (Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.index()[id]
	if !ok {
		return Entry{}, false
	}
	return Entry{
		Offset: p.offset, Length: int(p.length), PayloadHash: p.hash,
		ObservedAt: time.UnixMicro(p.observed).UTC(), UpdatedSince: s.hrefs.get(p.template, p.since),
	}, true
}

// Payload reads a deal's payload into buf, which grows if it is too small, and returns it. The caller owns the result.
// A deal that the spool does not contain is an error.
func (s *Spool) Payload(id int64, buf []byte) ([]byte, error) {
	p, err := s.locate(id)
	if err != nil {
		return nil, err
	}
	return s.read(p, buf)
}

// read reads a payload that has been flushed.
func (s *Spool) read(p spoolEntry, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], int(p.length))[:p.length]
	if _, err := s.file.ReadAt(buf, p.offset); err != nil {
		return nil, fmt.Errorf("spool %s: %w", s.file.Name(), err)
	}
	return buf, nil
}

// locate returns a deal's entry after flushing its payload.
func (s *Spool) locate(id int64) (spoolEntry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.index()[id]
	if !ok {
		return spoolEntry{}, fmt.Errorf("spool %s: it does not contain deal %d", s.file.Name(), id)
	}
	return p, s.flush(p)
}

// flush writes buffered bytes to the file, if the payload is among them. The caller holds the lock.
func (s *Spool) flush(p spoolEntry) error {
	if p.offset+int64(p.length) <= s.flushed {
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.flushed = s.size
	return nil
}

// Rejects returns the records that cannot be read as deals, sorted by id and bytes, those without an id first. The
// caller must not modify their bytes.
func (s *Spool) Rejects() []Rejected {
	s.mu.Lock()
	defer s.mu.Unlock()
	rejects := slices.Clone(s.rejects)
	slices.SortFunc(rejects, func(a, b Rejected) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), slices.Compare(a.Raw, b.Raw))
	})
	return rejects
}

// Close closes the work file and removes it.
func (s *Spool) Close() error {
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}
