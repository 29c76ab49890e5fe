package lakesource

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"dealflow/schemas/api"
)

var (
	priced = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}
	known  = instantOf(time.Date(2026, 1, 5, 22, 0, 0, 1000, time.UTC))
)

func TestRewrite(t *testing.T) {
	const base = "https://api.example.com/deals"
	for name, c := range map[string]struct{ payload, want string }{
		"nothing to do": {`{ "dealId" : 7.0,"x":[1, {"y":null}] }`, `{ "dealId" : 7.0,"x":[1, {"y":null}] }`},
		"links": {
			`{"_links":{"self":{"href":"https://api.example.com/deals/v3/bond/ig/priced-deal/7","type":"x"},"a" : { "href" : "HTTPS://API.example.com:443/deals/v3/x" }}}`,
			`{"_links":{"self":{"href":"/v3/bond/ig/priced-deal/7","type":"x"},"a" : { "href":"/v3/x" }}}`},
		"updated since": {
			`{"_links":{"updatedSince":{"href":"https://api.example.com/deals/v3/bond/ig/priced-deal?updatedSince=2026-01-01T00:00:00Z"}}}`,
			`{"_links":{"updatedSince":{"href":"/v3/bond/ig/priced-deal?updatedSince=2026-01-05T22:00:00Z"}}}`},
		"updated since of no deal": {
			`{"t":{"_links":{"updatedSince":{"href":"https://api.example.com/deals/v3/y"}}}}`,
			`{"t":{"_links":{"updatedSince":{"href":"/v3/y"}}}}`},
		"tranches": {
			`{"_embedded":{"tranches":[{"_links":{"pricedDeal":{"href":"https://api.example.com/deals/v3/z"}}}]}}`,
			`{"_embedded":{"tranches":[{"_links":{"pricedDeal":{"href":"/v3/z"}}}]}}`},
		"escapes":   {`{"\u005flinks":{"a":{"hr\u0065f":"https:\/\/api.example.com\/deals\/v3\/\"\u00e9"}}}`, `{"\u005flinks":{"a":{"href":"/v3/\"é"}}}`},
		"elsewhere": {`{"_links":{"a":{"href":"https://example.org/v3/x"},"b":{"href":"x"}}}`, `{"_links":{"a":{"href":"https://example.org/v3/x"},"b":{"href":"x"}}}`},
		"neighbours of the API": {
			`{"_links":{"a":{"href":"/other"},"b":{"href":"//example.org/v3"},"c":{"href":"/deals/v3/x"}}}`,
			`{"_links":{"a":{"href":"\/other"},"b":{"href":"\//example.org/v3"},"c":{"href":"/v3/x"}}}`},
		"no links": {
			`{"href":"/v3/a","x":{"href":"https://api.example.com/deals/v3/b"},"_links":{"href":"/v3/c","d":"/v3/d","e":[{"href":"/v3/e"}],"updatedSince":null}}`,
			`{"href":"\/v3/a","x":{"href":"https://api.example.com/deals/v3/b"},"_links":{"href":"\/v3/c","d":"/v3/d","e":[{"href":"\/v3/e"}],"updatedSince":null}}`},
		"text that looks like a link": {`{"m":"\"_links\":{\"a\":{\"href\":\"/v3\"}}"}`, `{"m":"\"_links\":{\"a\":{\"href\":\"/v3\"}}"}`},
		"lone surrogate":              {`{"m":"\ud800","_links":{"a":{"href":"https://api.example.com/deals/\ud800"}}}`, "{\"m\":\"\\ud800\",\"_links\":{\"a\":{\"href\":\"/\uFFFD\"}}}"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newRewriter(priced).body([]byte(c.payload), base, known)
			if err != nil || string(got) != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestRewriteFails(t *testing.T) {
	w := newRewriter(priced)
	for _, c := range [][2]string{{`{}`, ""}, {`{}`, "here"}, {`{`, "https://h"}, {``, "https://h"}, {`{} {}`, "https://h"}} {
		if got, err := w.body([]byte(c[0]), c[1], known); err == nil {
			t.Errorf("%q from %q: %s", c[0], c[1], got)
		}
	}
	if _, err := w.body([]byte(`{}`), "https://h", known); err != nil {
		t.Error("after a failure:", err)
	}
}

// FuzzRewrite checks that a record and its payload differ in hrefs only, and that rewriting a record again from the
// same address changes nothing.
func FuzzRewrite(f *testing.F) {
	f.Add(`{"_links":{"self":{"href":"http://h/v3/x"},"updatedSince":{"href":"q"}},"href":"/a","x":[{"_links":{"a":{"href":"/b"}}}]}`)
	f.Add(`{"_links":[{"href":"//x"}],"a":{"_links":{"_links":{"href":"/","b":{"href":"/c"}}}}}`)
	f.Fuzz(func(t *testing.T, payload string) {
		w := newRewriter(priced)
		once, err := w.body([]byte(payload), "http://h", known)
		if err != nil {
			return
		}
		var before, after any
		if json.Unmarshal([]byte(payload), &before) != nil {
			return // not UTF-8, for example: such payloads are quarantined
		}
		if err := json.Unmarshal(once, &after); err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if !reflect.DeepEqual(blank(before), blank(after)) {
			t.Errorf("%s became %s", payload, once)
		}
		if twice, err := w.body(once, "http://h", known); err != nil || string(twice) != string(once) {
			t.Errorf("%s became %s, then %s, %v", payload, once, twice, err)
		}
	})
}

// blank takes the hrefs out of a value.
func blank(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if _, text := inner.(string); name == "href" && text {
				inner = ""
			}
			value[name] = blank(inner)
		}
	case []any:
		for i := range value {
			value[i] = blank(value[i])
		}
	}
	return value
}
