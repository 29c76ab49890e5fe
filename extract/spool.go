package extract

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"dealflow/schemas/api"
)

// Rejected records are held in memory; a list with more of them than this is not the API that we know.
const (
	maxRejects     = 10_000
	maxRejectBytes = 64 << 20
)

// Spool keeps the payloads of one feed in a work file on disk, and in memory where each deal's payload
// lies (about 100 bytes a deal). A later payload of a deal replaces the earlier; its bytes stay in the
// file until Close. It also collects the records that cannot be read as deals.
//
// All methods are safe for concurrent use. The owner calls Close, which removes the file.
type Spool struct {
	feed api.Feed
	file *os.File

	mu          sync.Mutex
	out         *bufio.Writer
	size        int64 // bytes put, written or still buffered
	flushed     int64 // bytes that are in the file
	deals       map[int64]place
	hrefs       hrefs
	rejects     []Rejected
	rejectKeys  map[[sha256.Size]byte]bool
	rejectBytes int
}

// place is where a deal's payload lies, kept small: there is one for each deal.
type place struct {
	offset   int64
	observed int64 // µs since 1970
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
	ObservedAt   time.Time         // when the answer that carried it arrived, UTC, whole µs
	UpdatedSince string            // the record's updatedSince link as it stood there, "" if none
}

// Rejected is a record that cannot be read as a deal and goes to quarantine.
type Rejected struct {
	Raw        []byte      // the record as it stood in the page; owned by the receiver
	Reject     *api.Reject // why
	ID         int64       // the deal's id, if HasID
	HasID      bool        // the id could be read: the deal still stands
	ObservedAt time.Time   // UTC
	URL        string      // of the page that held it
}

// NewSpool creates an empty spool with a work file in dir, which must exist.
func NewSpool(dir string, feed api.Feed) (*Spool, error) {
	file, err := os.CreateTemp(dir, strings.ReplaceAll(feed.String(), "/", "-")+"-*.spool")
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	return &Spool{
		feed: feed, file: file, out: bufio.NewWriterSize(file, 256<<10),
		deals: map[int64]place{}, rejectKeys: map[[sha256.Size]byte]bool{},
	}, nil
}

// Put keeps a deal's payload, of which head was read, as of observedAt. fresh says that the spool did
// not hold these very bytes for the deal: the deal is new or changed. The payload is copied. A payload
// that was already there keeps its first instant of observation.
func (s *Spool) Put(head api.Head, payload []byte, observedAt time.Time) (fresh bool, err error) {
	hash := sha256.Sum256(payload)
	s.mu.Lock()
	defer s.mu.Unlock()
	if held, ok := s.deals[head.ID]; ok && held.hash == hash {
		return false, nil
	}
	if len(payload) > math.MaxUint32 {
		return false, fmt.Errorf("spool %s: deal %d: %d bytes are too many", s.file.Name(), head.ID, len(payload))
	}
	if _, err := s.out.Write(payload); err != nil {
		return false, fmt.Errorf("spool: %w", err) // an *fs.PathError, which names the file
	}
	template, since := s.hrefs.put(head.UpdatedSince)
	s.deals[head.ID] = place{
		offset: s.size, observed: observedAt.UnixMicro(), since: since,
		length: uint32(len(payload)), template: template, hash: hash,
	}
	s.size += int64(len(payload))
	return true, nil
}

// PutReject keeps a record that cannot be read as a deal, once however often it is met. The bytes are
// copied.
func (s *Spool) PutReject(r Rejected) (fresh bool, err error) {
	key := sha256.Sum256(r.Raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rejectKeys[key] {
		return false, nil
	}
	if len(s.rejects) >= maxRejects || s.rejectBytes+len(r.Raw) > maxRejectBytes {
		return false, fmt.Errorf("%d records (%d bytes) cannot be read as deals, the last because of: %w", len(s.rejects)+1, s.rejectBytes+len(r.Raw), r.Reject)
	}
	r.Raw = slices.Clone(r.Raw)
	s.rejects = append(s.rejects, r)
	s.rejectKeys[key] = true
	s.rejectBytes += len(r.Raw)
	return true, nil
}

// Feed is the feed whose payloads the spool holds.
func (s *Spool) Feed() api.Feed { return s.feed }

// Len is the number of deals in the spool.
func (s *Spool) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.deals)
}

// IDs returns the ids of all deals, ascending. The caller owns the slice.
func (s *Spool) IDs() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.deals))
}

// Entry describes a deal's payload; false if the spool does not hold the deal.
func (s *Spool) Entry(id int64) (Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.deals[id]
	if !ok {
		return Entry{}, false
	}
	return Entry{
		Offset: p.offset, Length: int(p.length), PayloadHash: p.hash,
		ObservedAt: time.UnixMicro(p.observed).UTC(), UpdatedSince: s.hrefs.get(p.template, p.since),
	}, true
}

// Payload reads a deal's payload into buf, which grows if it is too small, and returns it: the caller
// owns it. It is an error to ask for a deal that the spool does not hold.
func (s *Spool) Payload(id int64, buf []byte) ([]byte, error) {
	p, err := s.locate(id)
	if err != nil {
		return nil, err
	}
	buf = slices.Grow(buf[:0], int(p.length))[:p.length]
	if _, err := s.file.ReadAt(buf, p.offset); err != nil {
		return nil, fmt.Errorf("spool %s: deal %d: %w", s.file.Name(), id, err)
	}
	return buf, nil
}

// locate finds a deal's payload and sees to it that it is in the file.
func (s *Spool) locate(id int64) (place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.deals[id]
	if !ok {
		return place{}, fmt.Errorf("spool %s: holds no deal %d", s.file.Name(), id)
	}
	if p.offset+int64(p.length) > s.flushed {
		if err := s.out.Flush(); err != nil {
			return place{}, fmt.Errorf("spool: %w", err)
		}
		s.flushed = s.size
	}
	return p, nil
}

// Rejects returns the records that cannot be read as deals, by id and bytes, those without an id
// first. The caller must not change their bytes.
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
