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
	ordered []*deal // but for those that moved
	moved   []*deal // came, went or were updated since ordered was made
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
	s.move(d)
}

func (s *shelf) take(d *deal) {
	delete(s.byID, d.id)
	s.move(d)
}

// move notes that a deal is not where it was.
func (s *shelf) move(d *deal) {
	d.body = nil
	if !d.moved {
		d.moved = true
		s.moved = append(s.moved, d)
	}
}

// settled is the list with all deals in their places. Many moves between two looks at a list cost
// one sort.
func (s *shelf) settled() []*deal {
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

// compare orders deals as the feed's list does, turned round.
func (s *shelf) compare(a, b *deal) int { return s.place(a, b.position()) }

func (s *shelf) place(d *deal, at serve.Position) int {
	if s.feed.HasUpdatedSince() {
		if c := d.updated.Compare(at.UpdatedAt); c != 0 {
			return c
		}
	}
	return cmp.Compare(d.id, at.ID)
}

// list gives the deals that a query asks for, and whether more follow.
func (s *shelf) list(q serve.Query) (deals []*deal, more bool) {
	ordered := s.settled()
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

// since says whether a deal was updated since the query's instant. Updates are in whole seconds.
func since(d *deal, q serve.Query) bool {
	if q.UpdatedAfter {
		return d.updated.After(q.UpdatedSince)
	}
	return !d.updated.Before(q.UpdatedSince)
}

// within says whether a deal lies within the query's bounds of dates.
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
