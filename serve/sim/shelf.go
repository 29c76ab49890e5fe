package sim

import (
	"cmp"
	"slices"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// shelf has the deals of a feed that answer by id. They are in the reverse order of the list, so that an updated deal
// goes to the end.
type shelf struct {
	feed    api.Feed
	lastID  int64
	byID    map[int64]*deal
	ordered []*deal // except those in moved
	moved   []*deal // added, removed or updated since ordered was made
}

// newShelf returns an empty shelf. The ids of most feeds begin at one number, so that equal ids mean different deals in
// different feeds. Ids of asset finance do not fit an int32.
func newShelf(feed api.Feed) *shelf {
	first := int64(100_000)
	if feed.Market == api.AF {
		first = 5_000_000_000
	}
	return &shelf{feed: feed, lastID: first, byID: map[int64]*deal{}}
}

// nextID returns a new id. Ids rise, with gaps.
func (s *shelf) nextID(seed uint64) int64 {
	s.lastID += 1 + int64(splitmix(seed)%3)
	return s.lastID
}

func (s *shelf) put(d *deal) {
	s.byID[d.id] = d
	s.move(d)
}

func (s *shelf) remove(d *deal) {
	delete(s.byID, d.id)
	s.move(d)
}

// move records that a deal was added, removed or updated, and drops its body.
func (s *shelf) move(d *deal) {
	d.body = nil
	if !d.moved {
		d.moved = true
		s.moved = append(s.moved, d)
	}
}

// sorted returns all deals in order. All moves between two calls cost one sort. The caller must not change the result.
func (s *shelf) sorted() []*deal {
	if len(s.moved) == 0 {
		return s.ordered
	}
	rest := slices.DeleteFunc(s.ordered, func(d *deal) bool { return d.moved })
	slices.SortFunc(s.moved, s.compare)
	merged := make([]*deal, 0, len(rest)+len(s.moved))
	for _, d := range s.moved {
		d.moved = false
		if s.byID[d.id] != d {
			continue
		}
		before, _ := slices.BinarySearchFunc(rest, d, s.compare)
		merged = append(merged, rest[:before]...)
		merged = append(merged, d)
		rest = rest[before:]
	}
	merged = append(merged, rest...)
	s.ordered, s.moved = merged, nil
	return s.ordered
}

// compare orders deals in the reverse order of the list.
func (s *shelf) compare(a, b *deal) int { return s.place(a, b.position()) }

func (s *shelf) place(d *deal, at serve.Position) int {
	if s.feed.HasUpdatedSince() {
		if c := d.updated.Compare(at.UpdatedAt); c != 0 {
			return c
		}
	}
	return cmp.Compare(d.id, at.ID)
}

// list returns the deals that a query selects, and whether more follow.
func (s *shelf) list(q serve.Query) (deals []*deal, more bool) {
	ordered := s.sorted()
	end := len(ordered)
	if q.After != nil {
		end, _ = slices.BinarySearchFunc(ordered, *q.After, s.place)
	}
	for i := end - 1; i >= 0; i-- {
		d := ordered[i]
		if s.feed.HasUpdatedSince() && !since(d, q) {
			break
		}
		if d.omitted || !within(d, q) {
			continue
		}
		if len(deals) == q.Limit {
			return deals, true
		}
		deals = append(deals, d)
	}
	return deals, false
}

// since says whether a deal passes the query's UpdatedSince. Updates are in whole seconds.
func since(d *deal, q serve.Query) bool {
	if q.UpdatedAfter {
		return d.updated.After(q.UpdatedSince)
	}
	return !d.updated.Before(q.UpdatedSince)
}

// within says whether a deal passes the query's limits on dates.
func within(d *deal, q serve.Query) bool {
	if q.PricingDateFrom != "" || q.PricingDateTo != "" {
		date := d.pricingDate()
		if date == "" || date < q.PricingDateFrom || q.PricingDateTo != "" && date > q.PricingDateTo {
			return false
		}
	}
	if q.ChangedFrom.IsZero() && q.ChangedTo.IsZero() {
		return true
	}
	if d.changed.IsZero() || d.changed.Before(q.ChangedFrom) {
		return false
	}
	return q.ChangedTo.IsZero() || !d.changed.After(q.ChangedTo)
}
