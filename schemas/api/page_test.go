package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var igPriced = Feed{Bond, IG, Priced}

func TestSplitPage(t *testing.T) {
	tests := map[string]struct {
		body string
		want []string
		next string

		drift []PageDrift
	}{
		"records":             {body: ` {"_embedded" : {"pricedDeals":[{"dealId":1} , {"a":[{}]}]},"_links":{"next":{"href":"http:\/\/x\u002f2"}}} ` + "\n", want: []string{`{"dealId":1}`, `{"a":[{}]}`}, next: "http://x/2"},
		"links first":         {body: `{"_links":{"next":{"templated":null,"href":"/n"}},"_embedded":{"pricedDeals":[{}]}}`, want: []string{`{}`}, next: "/n"},
		"odd entries":         {body: `{"_embedded":{"pricedDeals":[null, 7, "x]\"}\\", [1,[2]], true]},"_links":{}}`, want: []string{`null`, `7`, `"x]\"}\\"`, `[1,[2]]`, `true`}},
		"repeated in record":  {body: `{"_embedded":{"pricedDeals":[{"a":1,"a":2}]},"_links":{}}`, want: []string{`{"a":1,"a":2}`}},
		"invalid UTF-8":       {body: "{\"_embedded\":{\"pricedDeals\":[{\"a\":\"\xff\"}]},\"_links\":{}}", want: []string{"{\"a\":\"\xff\"}"}},
		"other lists":         {body: `{"_embedded":{"x":[1],"expectedDeals":[2],"pricedDeals":[3]},"page":{"size":1e2},"_links":{}}`, want: []string{`3`}, drift: []PageDrift{{"page:/_embedded/x", false, []byte("[1]")}, {"page:/_embedded/expectedDeals", false, []byte("[2]")}}},
		"odd names":           {body: `{"_embedded":{"pricedDeals":[],"a/b~\u0063":{"d":[ ]}},"_links":{}}`, drift: []PageDrift{{"page:/_embedded/a~1b~0c", false, []byte(`{"d":[ ]}`)}}},
		"escaped names":       {body: `{"_embedde\u0064":{"priced\u0044eals":[3]},"_link\u0073":{}}`, want: []string{`3`}},
		"empty list":          {body: `{"_embedded":{"pricedDeals":[ ]},"_links":{}}`},
		"null list":           {body: `{"_embedded":{"pricedDeals":null},"_links":{}}`, drift: []PageDrift{{"page:/_embedded/pricedDeals", true, []byte("null")}}},
		"absent list":         {body: `{"_embedded":{},"_links":{}}`},
		"null embedded":       {body: `{"_embedded":null,"_links":{}}`, drift: []PageDrift{{"page:/_embedded", true, []byte("null")}}},
		"absent embedded":     {body: `{"_links":{"first":{"href":"/f"},"next":null}}`},
		"next in an array":    {body: `{"_links":{"next":[{"href":"/n"}]}}`, next: "/n"},
		"next in none":        {body: `{"_links":{"next":[]}}`},
		"next without a href": {body: `{"_links":{"next":{"href":null}}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			page, err := SplitPage([]byte(test.body), igPriced)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range page.Records {
				got = append(got, string(r))
			}
			if !slices.Equal(got, test.want) || page.Next != test.next || !reflect.DeepEqual(page.Drift, test.drift) {
				t.Errorf("got %q, next %q, drift %v", got, page.Next, page.Drift)
			}
		})
	}
}

func TestSplitPageRefuses(t *testing.T) {
	whole := `{"_embedded":{"pricedDeals":[{"dealId":1,"a":[1,"x"]},{"dealId":2}]},"_links":{"next":{"href":"/n"}}}`
	for cut := range len(whole) {
		if _, err := SplitPage([]byte(whole[:cut]), igPriced); err == nil {
			t.Errorf("a page cut off after %d bytes passed: %s", cut, whole[:cut])
		}
	}
	for name, body := range map[string]string{
		"more after it":    whole + `{}`,
		"a damaged name":   "{\"_embed\x00<ded\":{\"pricedDeals\":[]},\"_links\":{}}",
		"a damaged link":   "{\"_links\":{\"next\":{\"href\":\"/n\x00<\"}}}",
		"no object":        `[]`,
		"HTML":             `<html>`,
		"other list":       `{"_embedded":{"expectedDeals":[]},"_links":{}}`,
		"renamed list":     `{"_embedded":{"deals":[{"dealId":1}]},"_links":{"first":{"href":"/f"}}}`,
		"no links":         `{"_embedded":{"pricedDeals":[{"dealId":1}]}}`,
		"links are null":   `{"_embedded":{"pricedDeals":[{"dealId":1}]},"_links":null}`,
		"bare":             `{}`,
		"list is object":   `{"_links":{},"_embedded":{"pricedDeals":{}}}`,
		"list is string":   `{"_links":{},"_embedded":{"pricedDeals":"x"}}`,
		"list is nullish":  `{"_links":{},"_embedded":{"pricedDeals":nullx}}`,
		"embedded is list": `{"_links":{},"_embedded":[]}`,
		"links is string":  `{"_links":"x"}`,
		"next is string":   `{"_links":{"next":"/n"}}`,
		"href is number":   `{"_links":{"next":{"href":7}}}`,
		"two next links":   `{"_links":{"next":[{"href":"/a"},{"href":"/b"}]}}`,
		"next twice":       `{"_links":{"next":{"href":"/a"},"next":{"href":"/b"}}}`,
		"embedded twice":   `{"_links":{},"_embedded":{},"_embedded":{}}`,
		"links twice":      `{"_links":{},"_links":{}}`,
		"list twice":       `{"_links":{},"_embedded":{"pricedDeals":[],"pricedDeals":[]}}`,
		"brackets crossed": `{"_links":{},"_embedded":{"pricedDeals":[{"a":[}]}]}}`,
		"trailing comma":   `{"_links":{},"_embedded":{"pricedDeals":[1,]}}`,
		"literal":          `{"_links":{},"a":nil}`,
		"an error":         `{"errorId":"x","message":"no","_links":{}}`,
		"deep record":      `{"_embedded":{"pricedDeals":[` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `]}}`,
		"deep next":        `{"_links":{"next":` + strings.Repeat("[", 1e6),
	} {
		if _, err := SplitPage([]byte(body), igPriced); err == nil {
			t.Errorf("%s: passed", name)
		}
	}
}

func TestReadRecordID(t *testing.T) {
	tests := []struct {
		record string
		want   RecordID
		reason RejectReason
	}{
		{record: `{"dealId":7,"_links":{"self":{"href":"/s"},"updatedSince":{"href":"\/l?updatedSince=x"}}}`, want: RecordID{ID: 7, HasID: true, UpdatedSince: "/l?updatedSince=x"}},
		{record: ` {"id":1,"a":{"dealId":2},"dealId":7.0} `, want: RecordID{ID: 7, HasID: true}},
		{record: `{"dealId":1e2,"_links":null}`, want: RecordID{ID: 100, HasID: true}},
		{record: `{"dealId":1200E-2,"_links":{"updatedSince":null}}`, want: RecordID{ID: 12, HasID: true}},
		{record: `{"dealId":9223372036854775807}`, want: RecordID{ID: 1<<63 - 1, HasID: true}},
		{record: `{"dealId":-9.223372036854775808e18}`, want: RecordID{ID: -1 << 63, HasID: true}},
		{record: `{"dealId":-0,"_links":"odd"}`, want: RecordID{HasID: true}},
		{record: `{"dealId":0e999999999999999999999}`, want: RecordID{HasID: true}},
		{record: `{"dealId":9223372036854775808}`, reason: RejectNoID},
		{record: `{"dealId":1e400000000}`, reason: RejectNoID},
		{record: `{"dealId":7.5}`, reason: RejectNoID},
		{record: `{"dealId":"7"}`, reason: RejectNoID},
		{record: `{"dealId":null}`, reason: RejectNoID},
		{record: `{"id":7}`, reason: RejectNoID},
		{record: `{}`, reason: RejectNoID},
		{record: `{"dealId":07}`, reason: RejectInvalidJSON},
		{record: "{\"dealId\":7,\"_links\":{\"updatedSince\":{\"href\":\"http://h\x00<:1/\"}}}", want: RecordID{ID: 7, HasID: true}},
		{record: `{"dealId":7,}`, want: RecordID{ID: 7, HasID: true}, reason: RejectInvalidJSON},
		{record: `{"dealId":7`, want: RecordID{ID: 7, HasID: true}, reason: RejectInvalidJSON},
		{record: `{"dealId":7} 8`, want: RecordID{ID: 7, HasID: true}, reason: RejectInvalidJSON},
		{record: `{"dealId":7,"dealId":7}`, want: RecordID{ID: 7, HasID: true}, reason: RejectDuplicateMember},
		{record: `{"dealId":7,"dealId":8}`, reason: RejectDuplicateMember},
		{record: `{"dealId":7,"dealI\u0064":8,"dealId":8}`, reason: RejectDuplicateMember},
		{record: "{\"dealId\":7,\"a\":\"\xc3\"}", want: RecordID{ID: 7, HasID: true}, reason: RejectInvalidUTF8},
		{record: `null`, reason: RejectNotObject},
		{record: `[{"dealId":7}]`, reason: RejectNotObject},
		{record: `"{"`, reason: RejectNotObject},
		{record: `bogus`, reason: RejectInvalidJSON},
		{record: ``, reason: RejectInvalidJSON},
	}
	for _, test := range tests {
		found, err := ReadRecordID([]byte(test.record), igPriced)
		var reject *Reject
		if errors.As(err, &reject); err != nil && reject == nil {
			t.Errorf("%s: %T is no *Reject", test.record, err)
			continue
		}
		var reason RejectReason
		if reject != nil {
			reason = reject.Reason
		}
		if found != test.want || reason != test.reason {
			t.Errorf("%s: got %+v, %v; want %+v, %s", test.record, found, err, test.want, test.reason)
		}
	}
}

func TestUpdatedSinceTime(t *testing.T) {
	for href, want := range map[string]string{
		"https://x/v3/bond/ig/priced-deal?updatedSince=2026-03-01T10:00:00Z":        "2026-03-01T10:00:00Z",
		"/l?pageSize=5&updatedSince=2026-03-01T10%3A00%3A00%2B02:00&seeker=%zz#f?x": "2026-03-01T08:00:00Z",
		"/l?updatedSince=2026-03-01T10:00:00.250+02:00":                             "2026-03-01T08:00:00.25Z",
		"/l?updatedSince=yesterday":                                                 "",
		"/l?since=2026-03-01T10:00:00Z":                                             "",
		"":                                                                          "",
	} {
		got, ok := UpdatedSinceTime(href)
		if text := got.UTC().Format(time.RFC3339Nano); ok != (want != "") || ok && text != want {
			t.Errorf("%s: got %s, %v", href, text, ok)
		}
	}
}

// TestSplitSamples reads the sample pages and compares with encoding/json.
func TestSplitSamples(t *testing.T) {
	for _, feed := range Feeds() {
		body := sample(t, feed)
		page, err := SplitPage(body, feed)
		if err != nil {
			t.Errorf("%s: %v", feed, err)
			continue
		}
		compare(t, body, feed, page)
		if len(page.Records) != 25 || page.Next == "" || page.First == "" {
			t.Errorf("%s: %d records, first %q, next %q", feed, len(page.Records), page.First, page.Next)
		}
		for _, record := range page.Records {
			found, err := ReadRecordID(record, feed)
			if err != nil || (found.UpdatedSince != "") != feed.HasUpdatedSince() {
				t.Errorf("%s: %+v, %v", feed, found, err)
			}
		}
	}
}

func sample(t testing.TB, feed Feed) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", "..", "testdata", "samples", string(feed.Service), feed.Market.Lower(), string(feed.Kind)+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// compare compares a page with what encoding/json reads from the same body.
func compare(t *testing.T, body []byte, feed Feed, page Page) {
	t.Helper()
	// Maps, because struct fields would match names in any case.
	var want, embedded map[string]json.RawMessage
	var records []json.RawMessage
	if err := json.Unmarshal(body, &want); err != nil {
		t.Fatalf("encoding/json refuses what passed: %v", err)
	}
	if raw, ok := want["_embedded"]; ok && json.Unmarshal(raw, &embedded) != nil {
		t.Fatal("encoding/json refuses _embedded")
	}
	if raw, ok := embedded[feed.ListKey()]; ok && json.Unmarshal(raw, &records) != nil {
		t.Fatal("encoding/json refuses the list")
	}
	if len(records) != len(page.Records) {
		t.Fatalf("%d records, want %d", len(page.Records), len(records))
	}
	for i := range records {
		if want := records[i]; want != nil && !bytes.Equal(page.Records[i], want) {
			t.Errorf("record %d: got %s, want %s", i, page.Records[i], want)
		}
	}
}

func FuzzSplitPage(f *testing.F) {
	// One record of a sample is enough: large seeds make the fuzzer slow.
	page, err := SplitPage(sample(f, igPriced), igPriced)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(fmt.Sprintf(`{"_embedded":{"pricedDeals":[%s]},"_links":{"first":{"href":"/f"},"next":{"href":"/n"}}}`, page.Records[0])))
	for _, body := range []string{
		`{}`, `{"_links":{}}`, `{"_embedded":{"deals":[1]},"_links":{}}`, `{"_embedded":{"x":1,"pricedDeals":null},"_links":{}}`, `{"_embedded":{"pricedDeals":[null,{"dealId":7.0,"a":"\\\""},[[]]]},"_links":{"next":{"href":"\u0061"}}}`,
		`{"_links":{},"_embedded":{"pricedDeals":[{"a":[}]}]}}`, "{\"_embedded\":{\"pricedDeals\":[\"\xff\"]}}", `{"_links":{"next":[[[`, `{"a":"\`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		page, err := SplitPage(body, igPriced)
		for _, record := range page.Records {
			found, err := ReadRecordID(record, igPriced)
			if err == nil && !found.HasID {
				t.Errorf("%s: neither an id nor an error", record)
			}
		}
		if !json.Valid(body) {
			return // the body is not a list page: SplitPage only must not panic
		}
		if err == nil {
			compare(t, body, igPriced, page)
			return
		}
		if page := wellFormed(body); page && !errors.Is(err, errRepeatedName) && !errors.Is(err, errTooDeep) {
			t.Errorf("valid page refused: %v", err)
		}
	})
}

// wellFormed says whether valid JSON has the form of a list page, by encoding/json's reading.
func wellFormed(body []byte) bool {
	var page map[string]json.RawMessage
	if bytes.TrimSpace(body)[0] != '{' || json.Unmarshal(body, &page) != nil {
		return false
	}
	var embedded map[string]json.RawMessage
	var list []json.RawMessage
	if raw, ok := page["_embedded"]; ok && json.Unmarshal(raw, &embedded) != nil {
		return false
	}
	if raw, ok := embedded["pricedDeals"]; ok && json.Unmarshal(raw, &list) != nil {
		return false
	}
	var links map[string]json.RawMessage
	if raw, ok := page["_links"]; ok && json.Unmarshal(raw, &links) != nil {
		return false
	}
	if _, listed := embedded["pricedDeals"]; links == nil || len(embedded) > 0 && !listed {
		return false
	}
	raw, ok := links["next"]
	if !ok {
		return true
	}
	var next map[string]json.RawMessage
	var href *string
	if json.Unmarshal(raw, &next) != nil {
		return false
	}
	raw, ok = next["href"]
	return !ok || json.Unmarshal(raw, &href) == nil
}

func BenchmarkSplitPage(b *testing.B) {
	body := sample(b, igPriced)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		page, err := SplitPage(body, igPriced)
		if err != nil {
			b.Fatal(err)
		}
		for _, record := range page.Records {
			if _, err := ReadRecordID(record, igPriced); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func TestSecretStaysHidden(t *testing.T) {
	const text = "canary-7f3a"
	secret := NewSecret(text)
	type holder struct {
		Public Secret
		hidden Secret
	}
	held := holder{secret, secret}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+verb+verb, secret, &secret, held)
	}
	encoded, err := json.Marshal(map[string]any{"a": secret, "b": held})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(encoded)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "a", secret, "b", held)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "a", secret, "b", held)
	if strings.Contains(out.String(), text) || strings.Contains(out.String(), fmt.Sprintf("%x", text)) {
		t.Errorf("the secret shows: %s", out.String())
	}
	if secret.Reveal() != text || secret.IsZero() || !(Secret{}).IsZero() {
		t.Error("the secret is not kept")
	}
}
