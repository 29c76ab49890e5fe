package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"dealflow/schemas/api"
)

// TestFeeds checks the twelve feeds, their order, and their names in paths and records.
func TestFeeds(t *testing.T) {
	want := []struct {
		text, path, listKey, idKey string
		updatedSince               bool
	}{
		{"bond/ig/priced", "/v3/bond/ig/priced-deal", "pricedDeals", "dealId", true},
		{"bond/ig/expected", "/v3/bond/ig/expected-deal", "expectedDeals", "id", false},
		{"bond/hy/priced", "/v3/bond/hy/priced-deal", "pricedDeals", "dealId", true},
		{"bond/hy/expected", "/v3/bond/hy/expected-deal", "expectedDeals", "id", false},
		{"bond/em/priced", "/v3/bond/em/priced-deal", "pricedDeals", "dealId", true},
		{"bond/em/expected", "/v3/bond/em/expected-deal", "expectedDeals", "id", false},
		{"loan/ll/priced", "/v3/loan/ll/priced-deal", "pricedDeals", "dealId", true},
		{"loan/ll/expected", "/v3/loan/ll/expected-deal", "expectedDeals", "dealId", true},
		{"loan/cf/priced", "/v3/loan/cf/priced-deal", "pricedDeals", "dealId", true},
		{"loan/cf/expected", "/v3/loan/cf/expected-deal", "expectedDeals", "dealId", true},
		{"loan/af/priced", "/v3/loan/af/priced-deal", "pricedDeals", "dealId", true},
		{"loan/af/expected", "/v3/loan/af/expected-deal", "expectedDeals", "dealId", true},
	}
	feeds := api.Feeds()
	if len(feeds) != len(want) {
		t.Fatalf("got %d feeds, want %d", len(feeds), len(want))
	}
	for i, w := range want {
		f := feeds[i]
		if f.String() != w.text || f.Path() != w.path || f.ListKey() != w.listKey || f.IDKey() != w.idKey || f.HasUpdatedSince() != w.updatedSince {
			t.Errorf("feed %d: got %s %s %s %s %t, want %+v", i, f, f.Path(), f.ListKey(), f.IDKey(), f.HasUpdatedSince(), w)
		}
		if got := f.DealPath(12); got != w.path+"/12" {
			t.Errorf("%s: got deal path %s", f, got)
		}
		for _, text := range []string{w.text, strings.ToUpper(w.text), " " + w.text + "\n"} {
			if got, err := api.ParseFeed(text); err != nil || got != f {
				t.Errorf("ParseFeed(%q): got %v %v, want %v", text, got, err, f)
			}
		}
	}
}

func TestParseFeedErrors(t *testing.T) {
	for _, text := range []string{"", "bond", "bond/ig", "bond/ll/priced", "loan/ig/priced", "bond/ig/priced/1", "bond/ig/expected-deal", "bond//priced"} {
		if got, err := api.ParseFeed(text); err == nil || !strings.Contains(err.Error(), "want service/market/kind") {
			t.Errorf("ParseFeed(%q): got %v %v, want an error that says the form", text, got, err)
		}
	}
}

func TestParseFeeds(t *testing.T) {
	all := api.Feeds()
	for text, want := range map[string][]api.Feed{
		"":                                all,
		"  ":                              all,
		"loan/af/expected,bond/ig/priced": {all[0], all[11]},
		"bond/ig/priced, BOND/IG/PRICED":  {all[0]},
	} {
		if got, err := api.ParseFeeds(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseFeeds(%q): got %v %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{",", "bond/ig/priced,", "bond/ig/priced,x"} {
		if got, err := api.ParseFeeds(text); err == nil {
			t.Errorf("ParseFeeds(%q): got %v, want an error", text, got)
		}
	}
}

// TestFeedText writes feeds as JSON, as values and as keys, and reads them back.
func TestFeedText(t *testing.T) {
	want := map[api.Feed]api.Feed{}
	for _, f := range api.Feeds() {
		want[f] = f
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got := map[api.Feed]api.Feed{}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 12 {
		t.Errorf("got %d feeds, want 12", len(got))
	}
	for f := range want {
		if got[f] != f {
			t.Errorf("got %v, want %v", got[f], f)
		}
	}
	var feed api.Feed
	if err := json.Unmarshal([]byte(`"bond/xx/priced"`), &feed); err == nil {
		t.Error("got no error for an unknown feed")
	}
}
