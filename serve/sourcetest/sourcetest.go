package sourcetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// World is a market and a way to let time pass in it.
type World struct {
	Source serve.Source
	// Advance lets about a day pass, in which some deals of every service are added, changed or removed.
	Advance func(t testing.TB)
}

// Config says what to test.
type Config struct {
	// New returns a market that only one test uses, and cleans up when that test ends. The market should have from
	// 15 to a few hundred deals in each feed. Required.
	New func(t testing.TB) World
	// KeepsStates says that a walk must show the state on which it began.
	KeepsStates bool
}

// Run tests a source. Its subtests run in parallel, each with its own market.
func Run(t *testing.T, config Config) {
	t.Run("Standing", func(t *testing.T) {
		t.Parallel()
		w := config.New(t)
		w.Advance(t)
		for _, feed := range api.Feeds() {
			t.Run(feed.String(), func(t *testing.T) {
				t.Parallel()
				unchanging(t, w.Source, feed)
			})
		}
	})
	t.Run("Moving", func(t *testing.T) {
		t.Parallel()
		w := config.New(t)
		if walkMoving(t, w, config.KeepsStates) == 0 {
			t.Error("nothing moved, so this proves nothing")
		}
	})
	t.Run("Updates", func(t *testing.T) {
		t.Parallel()
		updates(t, config.New(t))
	})
	t.Run("Past", func(t *testing.T) {
		t.Parallel()
		keepsPast(t, config.New(t))
	})
}

// everything is a limit above the number of deals of any tested market.
const everything = 1 << 20

// unchanging tests a feed of a market while no time passes.
func unchanging(t *testing.T, s serve.Source, feed api.Feed) {
	all := list(t, s, serve.Query{Feed: feed, Limit: everything})
	if len(all) < 3 {
		t.Fatalf("%d deals: too few to test anything", len(all))
	}
	t.Run("Order", func(t *testing.T) { order(t, feed, all) })
	t.Run("Bodies", func(t *testing.T) { bodies(t, feed, all) })
	t.Run("Pages", func(t *testing.T) { pages(t, s, feed, all) })
	t.Run("Positions", func(t *testing.T) { positions(t, s, feed, all) })
	t.Run("ByID", func(t *testing.T) { byID(t, s, feed, all) })
	t.Run("UpdatedSince", func(t *testing.T) { updatedSince(t, s, feed, all) })
	t.Run("PricingDate", func(t *testing.T) { pricingDate(t, s, feed, all) })
	t.Run("Changed", func(t *testing.T) { changed(t, s, feed, all) })
}

// list returns the deals of one page.
func list(t testing.TB, s serve.Source, q serve.Query) []serve.Record {
	t.Helper()
	page, err := s.List(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	if len(page.Records) > q.Limit {
		t.Fatalf("%+v: %d deals", q, len(page.Records))
	}
	return page.Records
}

// walk reads a list page by page as the server does. It calls between after every page except the last.
func walk(t testing.TB, s serve.Source, q serve.Query, between func()) []serve.Record {
	t.Helper()
	var all []serve.Record
	for {
		page, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		all = append(all, page.Records...)
		if !page.More {
			return all
		}
		if len(page.Records) != q.Limit {
			t.Fatalf("%+v: a page of %d, and more to come", q, len(page.Records))
		}
		last := position(page.Records[len(page.Records)-1])
		if q.After != nil && compare(q.Feed, last, *q.After) <= 0 {
			t.Fatalf("%+v: the page ends at %v", q, last)
		}
		q.After, q.State = &last, page.State
		between()
	}
}

func position(r serve.Record) serve.Position { return serve.Position{UpdatedAt: r.UpdatedAt, ID: r.ID} }

// compare orders positions as serve.Source.List documents it.
func compare(feed api.Feed, a, b serve.Position) int {
	if feed.HasUpdatedSince() {
		if c := b.UpdatedAt.Compare(a.UpdatedAt); c != 0 {
			return c
		}
	}
	return cmp.Compare(b.ID, a.ID)
}

// same compares lists, with their bodies.
func same(t testing.TB, what string, got, want []serve.Record) {
	t.Helper()
	if g, w := ids(got), ids(want); !slices.Equal(g, w) {
		t.Errorf("%s: got %v, want %v", what, g, w)
		return
	}
	for i := range got {
		if !equal(got[i], want[i]) {
			t.Errorf("%s: got %+v\n%s\nwant %+v\n%s", what, got[i], got[i].Body, want[i], want[i].Body)
		}
	}
}

func equal(a, b serve.Record) bool {
	return a.ID == b.ID && a.UpdatedAt.Equal(b.UpdatedAt) && a.PricingDate == b.PricingDate && bytes.Equal(a.Body, b.Body)
}

func ids(records []serve.Record) []int64 {
	ids := make([]int64, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	return ids
}

func order(t *testing.T, feed api.Feed, all []serve.Record) {
	seen := map[int64]bool{}
	for i, r := range all {
		if seen[r.ID] {
			t.Errorf("deal %d stands twice", r.ID)
		}
		seen[r.ID] = true
		if i > 0 && compare(feed, position(all[i-1]), position(r)) >= 0 {
			t.Errorf("deal %d (%s) stands before %d (%s)", all[i-1].ID, all[i-1].UpdatedAt, r.ID, r.UpdatedAt)
		}
	}
}

func bodies(t *testing.T, feed api.Feed, all []serve.Record) {
	for _, r := range all {
		head, err := api.ReadRecordID(r.Body, feed)
		if err != nil || head.ID != r.ID {
			t.Errorf("deal %d: the body says %d, %v", r.ID, head.ID, err)
			continue
		}
		var body map[string]any
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Errorf("deal %d: %v", r.ID, err)
		}
		hrefs(body, false, func(href string) {
			if !strings.HasPrefix(href, "/v3/") {
				t.Errorf("deal %d: href %q", r.ID, href)
			}
		})
		if at, ok := api.UpdatedSinceTime(head.UpdatedSince); ok && !at.Equal(r.UpdatedAt) && !at.Equal(r.UpdatedAt.Truncate(time.Second)) {
			t.Errorf("deal %d, updated at %s, links to %s", r.ID, r.UpdatedAt, head.UpdatedSince)
		}
	}
}

// hrefs visits the hrefs of links. All links of a tested market are under its API.
func hrefs(value any, links bool, visit func(string)) {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if link, ok := inner.(map[string]any); ok && links {
				if href, ok := link["href"].(string); ok {
					visit(href)
				}
			}
			hrefs(inner, name == "_links", visit)
		}
	case []any:
		for _, inner := range value {
			hrefs(inner, false, visit)
		}
	}
}

func pages(t *testing.T, s serve.Source, feed api.Feed, all []serve.Record) {
	for _, size := range []int{1, 2, 7, len(all) - 1, len(all), len(all) + 1} {
		got := walk(t, s, serve.Query{Feed: feed, Limit: size}, func() {})
		same(t, fmt.Sprintf("pages of %d", size), got, all)
	}
}

// positions starts at positions that no deal has.
func positions(t *testing.T, s serve.Source, feed api.Feed, all []serve.Record) {
	for _, i := range []int{0, len(all) / 2, len(all) - 1} {
		between := position(all[i])
		between.ID-- // the id before may be that of another deal, which then is left out
		rest := slices.DeleteFunc(slices.Clone(all), func(r serve.Record) bool { return compare(feed, position(r), between) <= 0 })
		same(t, fmt.Sprintf("after %v", between), list(t, s, serve.Query{Feed: feed, Limit: everything, After: &between}), rest)
	}
}

func byID(t *testing.T, s serve.Source, feed api.Feed, all []serve.Record) {
	known := map[int64]bool{}
	for _, r := range all {
		known[r.ID] = true
		got, err := s.Get(t.Context(), feed, r.ID)
		if err != nil || !equal(got, r) {
			t.Errorf("deal %d: %v\n%s\nin the list\n%s", r.ID, err, got.Body, r.Body)
		}
	}
	for _, id := range []int64{0, -1, 1, 1 << 40} {
		if _, err := s.Get(t.Context(), feed, id); !known[id] && !errors.Is(err, serve.ErrNotFound) {
			t.Errorf("deal %d, which nobody knows: %v", id, err)
		}
	}
}

// keep returns the records that a filter lets pass.
func keep(all []serve.Record, hold func(serve.Record) bool) []serve.Record {
	return slices.DeleteFunc(slices.Clone(all), func(r serve.Record) bool { return !hold(r) })
}

// updatedSince tests both forms of the bound: before, at and after instants of updates.
func updatedSince(t *testing.T, s serve.Source, feed api.Feed, all []serve.Record) {
	if !feed.HasUpdatedSince() {
		return
	}
	for _, i := range []int{0, len(all) / 2, len(all) - 1} {
		for _, off := range []time.Duration{-time.Second, 0, time.Second} {
			second := all[i].UpdatedAt.Truncate(time.Second).Add(off)
			want := keep(all, func(r serve.Record) bool { return !r.UpdatedAt.Truncate(time.Second).Before(second) })
			got := list(t, s, serve.Query{Feed: feed, Limit: everything, UpdatedSince: second})
			same(t, fmt.Sprintf("updated since %s, inclusive", second), got, want)
		}
		for _, off := range []time.Duration{-time.Microsecond, -time.Nanosecond, 0, time.Nanosecond, time.Microsecond} {
			exact := all[i].UpdatedAt.Add(off)
			want := keep(all, func(r serve.Record) bool { return r.UpdatedAt.After(exact) })
			got := list(t, s, serve.Query{Feed: feed, Limit: everything, UpdatedSince: exact, UpdatedAfter: true})
			same(t, fmt.Sprintf("updated after %s", exact.Format(time.RFC3339Nano)), got, want)
		}
	}
	last := all[len(all)-1].UpdatedAt
	want := keep(all, func(r serve.Record) bool { return r.UpdatedAt.After(last) })
	same(t, "pages of an update", walk(t, s, serve.Query{Feed: feed, Limit: 2, UpdatedSince: last, UpdatedAfter: true}, func() {}), want)
}

func pricingDate(t *testing.T, s serve.Source, feed api.Feed, all []serve.Record) {
	var dates []string
	for _, r := range all {
		if want := pricingDateOf(t, r); feed.Kind == api.Priced && r.PricingDate != want {
			t.Errorf("%s %d: got the pricing date %q, its body says %q", feed, r.ID, r.PricingDate, want)
		}
		if r.PricingDate != "" {
			dates = append(dates, r.PricingDate)
		}
	}
	slices.Sort(dates)
	if feed.Kind == api.Priced && len(dates) == 0 {
		t.Error("no priced deal has a pricing date")
	}
	if len(dates) == 0 {
		dates = []string{"2026-01-05"}
	}
	low, mid, high := dates[0], dates[len(dates)/2], dates[len(dates)-1]
	for _, bound := range [][2]string{{mid, ""}, {"", mid}, {low, mid}, {mid, high}, {mid, mid}, {high, low}, {"0001-01-01", "9999-12-31"}} {
		want := keep(all, func(r serve.Record) bool {
			return r.PricingDate != "" && r.PricingDate >= bound[0] && (bound[1] == "" || r.PricingDate <= bound[1])
		})
		got := walk(t, s, serve.Query{Feed: feed, Limit: 9, PricingDateFrom: bound[0], PricingDateTo: bound[1]}, func() {})
		same(t, fmt.Sprintf("priced from %q to %q", bound[0], bound[1]), got, want)
	}
}

// pricingDateOf returns the pricing date that a body states: of a loan without one, the newest of its tranches.
func pricingDateOf(t *testing.T, r serve.Record) string {
	var body struct {
		PricingDate, PricedDate string
		Tranches                []struct{ PricingDate string }
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatalf("deal %d: %v", r.ID, err)
	}
	newest := ""
	for _, tranche := range body.Tranches {
		newest = max(newest, tranche.PricingDate)
	}
	return cmp.Or(body.PricingDate, body.PricedDate, newest)
}

// changed tests the filters on "changed" of the lists that have them.
func changed(t *testing.T, s serve.Source, feed api.Feed, all []serve.Record) {
	if feed.Service != api.Bond || feed.Kind != api.Expected {
		return
	}
	at := map[int64]time.Time{}
	var instants []time.Time
	for _, r := range all {
		var body struct{ Changed time.Time }
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatalf("deal %d: %v", r.ID, err)
		}
		at[r.ID] = body.Changed
		instants = append(instants, body.Changed)
	}
	slices.SortFunc(instants, time.Time.Compare)
	low, mid, high := instants[0], instants[len(instants)/2], instants[len(instants)-1]
	none := time.Time{}
	for _, bound := range [][2]time.Time{{mid, none}, {none, mid}, {low, mid}, {mid, high}, {mid, mid}, {mid.Add(time.Nanosecond), none}, {none, mid.Add(-time.Nanosecond)}, {high, low}} {
		want := keep(all, func(r serve.Record) bool {
			return !at[r.ID].Before(bound[0]) && (bound[1].IsZero() || !at[r.ID].After(bound[1]))
		})
		got := walk(t, s, serve.Query{Feed: feed, Limit: 5, ChangedFrom: bound[0], ChangedTo: bound[1]}, func() {})
		same(t, fmt.Sprintf("changed from %s to %s", bound[0], bound[1]), got, want)
	}
}
