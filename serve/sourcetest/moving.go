package sourcetest

import (
	"errors"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// walkMoving walks all lists at the same time, in pages of several sizes. Time passes after the first pages and once
// more during the first walk. It returns the number of deals that changed.
func walkMoving(t *testing.T, w World, keepsStates bool) (moved int) {
	feeds := api.Feeds()
	size := func(i int) int { return 1 + i*5%12 }
	before := map[api.Feed][]serve.Record{}
	first := map[api.Feed]serve.Page{}
	for i, feed := range feeds {
		before[feed] = list(t, w.Source, serve.Query{Feed: feed, Limit: everything})
		page, err := w.Source.List(t.Context(), serve.Query{Feed: feed, Limit: size(i)})
		if err != nil {
			t.Fatalf("%s: %v", feed, err)
		}
		first[feed] = page
	}
	w.Advance(t)
	for i, feed := range feeds {
		seen := finish(t, w, feed, size(i), first[feed], i == 0)
		after := list(t, w.Source, serve.Query{Feed: feed, Limit: everything})
		if keepsStates {
			same(t, feed.String()+": a walk on its state", seen, before[feed])
		}
		moved += checkSeenOnce(t, feed, before[feed], after, seen)
	}
	return moved
}

// finish walks from a first page to the end and returns all deals of the walk. If once is true, time passes once on the
// way.
func finish(t *testing.T, w World, feed api.Feed, size int, first serve.Page, once bool) []serve.Record {
	seen := first.Records
	if !first.More {
		return seen
	}
	last := position(first.Records[len(first.Records)-1])
	rest := walk(t, w.Source, serve.Query{Feed: feed, Limit: size, After: &last, State: first.State}, func() {
		if once {
			once = false
			w.Advance(t)
		}
	})
	return append(seen[:len(seen):len(seen)], rest...)
}

// checkSeenOnce checks that a walk showed each unchanged deal exactly once. It returns the number of deals that
// changed.
func checkSeenOnce(t *testing.T, feed api.Feed, before, after, seen []serve.Record) (moved int) {
	then := map[int64]serve.Record{}
	for _, r := range after {
		then[r.ID] = r
	}
	times := map[int64]int{}
	for _, r := range seen {
		times[r.ID]++
	}
	for _, r := range before {
		if still, ok := then[r.ID]; !ok || !equal(still, r) {
			moved++
		} else if times[r.ID] != 1 {
			t.Errorf("%s %d did not change during the walk, which showed it %d times", feed, r.ID, times[r.ID])
		}
	}
	return moved
}

// updates keeps a copy of each list by updatedSince: first by one walk, then each time by the updatedSince of the
// newest entry. The copy must always equal the list.
func updates(t *testing.T, w World) {
	copied := map[api.Feed]map[int64]serve.Record{}
	since := map[api.Feed]time.Time{}
	for round := range 3 {
		if round > 0 {
			w.Advance(t)
		}
		for _, feed := range api.Feeds() {
			if !feed.HasUpdatedSince() {
				continue
			}
			if copied[feed] == nil {
				copied[feed] = map[int64]serve.Record{}
			}
			for _, r := range list(t, w.Source, serve.Query{Feed: feed, Limit: everything, UpdatedSince: since[feed]}) {
				copied[feed][r.ID] = r
			}
			all := list(t, w.Source, serve.Query{Feed: feed, Limit: everything})
			for _, r := range all {
				if !equal(copied[feed][r.ID], r) {
					t.Errorf("%s %d: the copy has\n%s\nthe market has\n%s", feed, r.ID, copied[feed][r.ID].Body, r.Body)
				}
			}
			if len(all) > 0 {
				since[feed] = all[0].UpdatedAt.Truncate(time.Second)
			}
		}
	}
}

// keepsPast checks that a serve.TimeTraveler returns its past unchanged.
func keepsPast(t *testing.T, w World) {
	traveler, ok := w.Source.(serve.TimeTraveler)
	if !ok {
		t.Skip("it keeps no past")
	}
	type state struct {
		at    time.Time
		lists map[api.Feed][]serve.Record
	}
	var past []state
	for range 3 {
		now := state{traveler.Now(), map[api.Feed][]serve.Record{}}
		for _, feed := range api.Feeds() {
			now.lists[feed] = list(t, traveler, serve.Query{Feed: feed, Limit: everything})
		}
		past = append(past, now)
		w.Advance(t)
	}
	for i, then := range past {
		source, err := traveler.AsOf(t.Context(), then.at)
		if err != nil {
			t.Fatal(err)
		}
		if !source.Now().Equal(then.at) {
			t.Errorf("as of %s it is %s", then.at, source.Now())
		}
		for _, feed := range api.Feeds() {
			same(t, feed.String()+" as of then", walk(t, source, serve.Query{Feed: feed, Limit: 10}, func() {}), then.lists[feed])
			for _, r := range then.lists[feed][:min(3, len(then.lists[feed]))] {
				if got, err := source.Get(t.Context(), feed, r.ID); err != nil || !equal(got, r) {
					t.Errorf("%s %d at moment %d: %v", feed, r.ID, i, err)
				}
			}
		}
	}
	before(t, traveler, past[0].at.AddDate(-1, 0, 0))
}

// before asks for an instant before all deals. The source must answer serve.ErrNotFound or show no deals.
func before(t *testing.T, traveler serve.TimeTraveler, at time.Time) {
	source, err := traveler.AsOf(t.Context(), at)
	if errors.Is(err, serve.ErrNotFound) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, feed := range api.Feeds() {
		if records := list(t, source, serve.Query{Feed: feed, Limit: everything}); len(records) > 0 {
			t.Errorf("%s: %d deals before anything was known", feed, len(records))
		}
	}
}
