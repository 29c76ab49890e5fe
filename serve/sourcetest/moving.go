package sourcetest

import (
	"errors"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// walkMoving walks all lists side by side, in pages of several sizes, while time passes after the first
// page and once more on the way. It gives the number of deals that moved.
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
		moved += judge(t, feed, before[feed], after, seen)
	}
	return moved
}

// finish walks on from a first page; once says that time passes once more on the way.
func finish(t *testing.T, w World, feed api.Feed, size int, first serve.Page, once bool) []serve.Record {
	seen := first.Records
	if !first.More {
		return seen
	}
	at := position(first.Records[len(first.Records)-1])
	rest := walk(t, w.Source, serve.Query{Feed: feed, Limit: size, After: &at, State: first.State}, func() {
		if once {
			once = false
			w.Advance(t)
		}
	})
	return append(seen[:len(seen):len(seen)], rest...)
}

// judge checks that the walk showed every deal that did not change exactly once, and counts those that
// did.
func judge(t *testing.T, feed api.Feed, before, after, seen []serve.Record) (moved int) {
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

// updates keeps a copy of each list by the way that the API document recommends: one walk, then the
// newest entry's updatedSince, again and again.
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

// travel checks that a source that keeps its past gives it unchanged.
func travel(t *testing.T, w World) {
	traveler, ok := w.Source.(serve.TimeTraveler)
	if !ok {
		t.Skip("it keeps no past")
	}
	type moment struct {
		at    time.Time
		lists map[api.Feed][]serve.Record
	}
	var past []moment
	for range 3 {
		now := moment{traveler.Now(), map[api.Feed][]serve.Record{}}
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

// before asks for a time of which nothing is known: a source says so, or shows nothing.
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
