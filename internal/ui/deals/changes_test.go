package deals

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
)

// TestTooMuch has both bounds of what the page of changes lists.
func TestTooMuch(t *testing.T) {
	const month = 31 * 24 * time.Hour
	for _, c := range []struct {
		took     time.Duration
		versions int64
		want     string
	}{
		{month, 50_000, ""}, {0, 0, ""}, {month + time.Microsecond, 1, "These are 31 days, with 1 version."}, {month, 50_001, "These are 50,001 versions. Of more than 50,000 "},
	} {
		if got := tooMuch(c.took, c.versions); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v with %d versions: got %q, want %q", c.took, c.versions, got, c.want)
		}
	}
}

// TestTabs checks which lists have a tab of their own, by feed.
func TestTabs(t *testing.T) {
	for _, feed := range api.Feeds() {
		want := map[string]string{"bond/priced": "banks prices lists", "loan/priced": "banks lists", "bond/expected": "lists", "loan/expected": "lists"}[string(feed.Service)+"/"+string(feed.Kind)]
		tabs := slices.DeleteFunc([]string{banksTab, pricesTab, listsTab}, func(tab string) bool { return !hasTab(feed, tab) })
		if got := strings.Join(tabs, " "); got != want || !hasTab(feed, "diff") {
			t.Errorf("%s: the tabs %s, want %s", feed, got, want)
		}
	}
}
