package sim

import (
	"cmp"
	"slices"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// shelf is one feed: the deals that answer by id, in the feed's order from the last to the first,
// so that what is updated goes to the end.
type shelf struct {
	feed    api.Feed
	lastID  int64
	byID    map[int64]*deal
	ordered []*deal
}

// newShelf gives every feed ids of its own from nearly one start, so that one number means
// different deals in different feeds. Those of asset finance do not fit an int32.
func newShelf(feed api.Feed) *shelf {
	first := int64(100_000)
	if feed.Market == api.AF {
		first = 5_000_000_000
	}
	return &shelf{feed: feed, lastID: first, byID: map[int64]*deal{}}
}

// nextID is a new id; ids are sparse and rise.
func (s *shelf) nextID(seed uint64) int64 {
	s.lastID += 1 + int64(splitmix(seed)%3)
	return s.lastID
}

func (s *shelf) put(d *deal) {
	s.byID[d.id] = d
	i, _ := slices.BinarySearchFunc(s.ordered, d.position(), s.compare)
	s.ordered = slices.Insert(s.ordered, i, d)
}

func (s *shelf) take(d *deal) {
	delete(s.byID, d.id)
	if i, found := slices.BinarySearchFunc(s.ordered, d.position(), s.compare); found {
		s.ordered = slices.Delete(s.ordered, i, i+1)
	}
}

// compare orders deals as the feed's list does, turned round.
func (s *shelf) compare(d *deal, at serve.Position) int {
	if s.feed.HasUpdatedSince() {
		if c := d.updated.Compare(at.UpdatedAt); c != 0 {
			return c
		}
	}
	return cmp.Compare(d.id, at.ID)
}

// list gives the deals that a query asks for, and whether more follow.
func (s *shelf) list(q serve.Query) (deals []*deal, more bool) {
	end := len(s.ordered)
	if q.After != nil {
		end, _ = slices.BinarySearchFunc(s.ordered, *q.After, s.compare)
	}
	for i := end - 1; i >= 0; i-- {
		d := s.ordered[i]
		if s.feed.HasUpdatedSince() && d.updated.Before(q.UpdatedSince) {
			break
		}
		if d.omitted {
			continue
		}
		if len(deals) == q.Limit {
			return deals, true
		}
		deals = append(deals, d)
	}
	return deals, false
}
