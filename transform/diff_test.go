package transform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
	"dealflow/transform"
)

// TestDiff compares two days of simulated markets. A version does not differ from itself. What is set or added in one
// direction is cleared or removed in the other, in the same rows and fields.
func TestDiff(t *testing.T) {
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	clock := sim.NewManualClock(start)
	market := sim.New(sim.Config{Seed: 5, Deals: 60, Epoch: start, Clock: clock.Now})
	before := map[api.Feed]map[int64][]byte{}
	for _, feed := range api.Feeds() {
		before[feed] = map[int64][]byte{}
		for _, deal := range market.Deals(feed) {
			before[feed][deal.ID] = slices.Clone(deal.Body)
		}
	}
	clock.Set(start.AddDate(0, 0, 3))
	base, err := api.ParseBase("http://127.0.0.1:8900")
	if err != nil {
		t.Fatal(err)
	}
	opposite := map[string]string{
		lake.FieldSet: lake.FieldCleared, lake.FieldCleared: lake.FieldSet, lake.FieldEdited: lake.FieldEdited,
		lake.RowAdded: lake.RowRemoved, lake.RowRemoved: lake.RowAdded,
	}
	kinds := map[string]int{}
	for _, feed := range api.Feeds() {
		d := transform.NewDiffer(feed)
		diff := func(was, is []byte) []string {
			changes, err := d.Diff(transform.Content{Payload: was, Base: base}, transform.Content{Payload: is, Base: base})
			if err != nil {
				t.Fatalf("%s: %v", feed, err)
			}
			var lines []string
			for _, c := range changes {
				lines = append(lines, fmt.Sprintf("%s|%s|%s|%s|%s|%s", c.Table, c.RowKey, c.Field, c.Change, c.Was, c.Is))
			}
			slices.Sort(lines)
			return lines
		}
		for _, deal := range market.Deals(feed) {
			was, ok := before[feed][deal.ID]
			if !ok {
				continue
			}
			if same := diff(deal.Body, slices.Clone(deal.Body)); len(same) > 0 {
				t.Errorf("%s deal %d differs from itself: %q", feed, deal.ID, same)
			}
			there := diff(was, deal.Body)
			var turned []string
			for _, line := range diff(deal.Body, was) {
				parts := strings.SplitN(line, "|", 4)
				rest := strings.SplitN(parts[3], "|", 2)
				kinds[rest[0]]++
				kinds[opposite[rest[0]]]++
				at := strings.Index(line, "|"+rest[0]+"|")
				turned = append(turned, line[:at]+"|"+opposite[rest[0]])
			}
			var places []string
			for _, line := range there {
				for change := range opposite {
					if at := strings.Index(line, "|"+change+"|"); at >= 0 {
						places = append(places, line[:at]+"|"+change)
						break
					}
				}
			}
			slices.Sort(turned)
			slices.Sort(places)
			if !slices.Equal(places, turned) {
				t.Errorf("%s deal %d: there\n%q\nand back\n%q", feed, deal.ID, places, turned)
			}
		}
	}
	for change := range opposite {
		if kinds[change] == 0 {
			t.Errorf("nothing was %s: the test sees too little", change)
		}
	}
}

// TestDiffOfRepeatedRows: rows with the same key are numbered, and a text that looks like such a number is none.
func TestDiffOfRepeatedRows(t *testing.T) {
	d := transform.NewDiffer(api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced})
	payload := func(message, banks string) transform.Content {
		return transform.Content{Payload: []byte(`{"dealId":1,"message":"` + message + `","banks":[` + banks + `]}`)}
	}
	const twice, marked = `{"name":"A","status":"S"},{"name":"A","status":"S"}`, `{"name":"A","status":"S | #2"}`
	for _, c := range []struct {
		was, is transform.Content
		want    []string
	}{
		{payload("x", twice+","+marked), payload("y", twice+","+marked), []string{"bond_priced_deals message edited"}},
		{payload("x", twice), payload("x", marked), []string{"bond_priced_banks  row removed", "bond_priced_banks  row removed", "bond_priced_banks  row added"}},
		{payload("x", twice), payload("x", twice+","+twice), []string{"bond_priced_banks  row added", "bond_priced_banks  row added"}},
	} {
		changes, err := d.Diff(c.was, c.is)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, change := range changes {
			got = append(got, fmt.Sprintf("%s %s %s", change.Table, change.Field, change.Change))
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s to %s: got %q, want %q", c.was.Payload, c.is.Payload, got, c.want)
		}
	}
}
