package extract

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"testing"
	"time"

	"dealflow/schemas/api"
)

// said is an answer to a request by id.
type said struct {
	status      int
	contentType string
	body        string
}

const (
	jsonType = "application/json"
	ownBody  = `{"timestamp":"2026-03-02T09:00:00Z","errorId":"5e0f7a52-0000-4000-8000-000000000001","message":"no"}`
	bareBody = `{"status":404,"title":"no deal"}`
	htmlBody = `<html><body><h1>Not Found</h1></body></html>`
)

var (
	own       = said{404, jsonType, ownBody}
	bare      = said{404, jsonType, bareBody}
	bareAgain = said{404, "application/json; charset=utf-8", `{"title":"another text","status":404}`}
	html      = said{404, "text/html", htmlBody}
	found     = said{status: 200}
)

// byID has the market answer some requests by id. It counts all requests by id.
func (m *market) byID(answers map[int64]said) (asked map[int64]int) {
	asked = map[int64]int{}
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		id, err := strconv.ParseInt(path.Base(r.URL.Path), 10, 64)
		if err != nil {
			return false
		}
		asked[id]++
		answer, ok := answers[id]
		switch {
		case !ok:
			return false
		case answer.status == http.StatusOK:
			fmt.Fprint(w, m.record(bondPriced, &deal{id: id}))
			return true
		}
		w.Header()["Content-Type"] = []string{answer.contentType}
		w.WriteHeader(answer.status)
		fmt.Fprint(w, answer.body)
		return true
	}
	return asked
}

// TestEvidence holds answers by id against the rule: a 404 or 403 is evidence if its body carries errorId; a 404 also
// if content type and member names are those of the 404 for an id that cannot exist; a 403 also by the form of a 403 of
// the feed, while a deal in the list answers 200. Text, HTML and empty bodies never are.
func TestEvidence(t *testing.T) {
	const first, second, third = 2147483647, 2147483646, 1
	type answers = map[int64]said
	html403, bare403 := said{403, "text/html", htmlBody}, said{403, jsonType, bareBody}
	for name, c := range map[string]struct {
		answers answers // deals 1000 to 1002 are in the list, 7 and 8 are not
		proved  []int64 // of 7 and 8
		asked   []int64 // of the ids that cannot exist
	}{
		"errorId":                      {answers{7: own, 8: own}, []int64{7, 8}, nil},
		"errorId of a 403":             {answers{7: {403, jsonType, ownBody}, 8: own}, []int64{7, 8}, nil},
		"errorId without content type": {answers{7: {404, "", ownBody}, 8: own}, []int64{7, 8}, nil},
		"errorId is empty":             {answers{7: {404, jsonType, `{"errorId":"","message":"no"}`}, 8: own, first: own}, []int64{8}, []int64{first}},
		"errorId is no text":           {answers{7: {404, jsonType, `{"errorId":7,"message":"no"}`}, 8: own, first: own}, []int64{8}, []int64{first}},
		"errorId deeper":               {answers{7: {404, jsonType, `{"error":{"errorId":"a"}}`}, 8: own, first: own}, []int64{8}, []int64{first}},
		"errorID in HTML":              {answers{7: {404, "text/html", "<pre>" + ownBody + "</pre>"}, 8: own}, []int64{8}, nil},

		"form":                        {answers{7: bare, 8: bareAgain, first: bare}, []int64{7, 8}, []int64{first}},
		"another member":              {answers{7: {404, jsonType, `{"status":404,"title":"no","route":"x"}`}, 8: bare, first: bare}, []int64{8}, []int64{first}},
		"a member less":               {answers{7: {404, jsonType, `{"status":404}`}, 8: bare, first: bare}, []int64{8}, []int64{first}},
		"another JSON type":           {answers{7: {404, "application/problem+json", bareBody}, 8: bare, first: bare}, []int64{8}, []int64{first}},
		"JSON that is called text":    {answers{7: {404, "text/plain", bareBody}, 8: {404, "text/plain", bareBody}, first: {404, "text/plain", bareBody}}, nil, nil},
		"an empty object":             {answers{7: {404, jsonType, `{}`}, 8: {404, jsonType, `{}`}, first: {404, jsonType, `{}`}}, nil, nil},
		"a list":                      {answers{7: {404, jsonType, `[{"status":404}]`}, 8: {404, jsonType, `null`}, first: {404, jsonType, `[{"status":404}]`}}, nil, nil},
		"HTML":                        {answers{7: html, 8: html, first: html}, nil, nil},
		"text":                        {answers{7: {404, "text/plain", "not found"}, 8: {404, "text/plain", "not found"}, first: {404, "text/plain", "not found"}}, nil, nil},
		"empty bodies":                {answers{7: {404, jsonType, ""}, 8: {404, "", ""}, first: {404, jsonType, ""}}, nil, nil},
		"HTML as the form":            {answers{7: bare, 8: own, first: html}, []int64{8}, []int64{first}},
		"the first id exists":         {answers{7: bare, 8: own, first: found, second: bare}, []int64{7, 8}, []int64{first, second}},
		"the first id is a 400":       {answers{7: bare, 8: own, first: {400, jsonType, ownBody}, second: bare}, []int64{7, 8}, []int64{first, second}},
		"only the third":              {answers{7: bare, 8: own, first: {400, jsonType, ownBody}, second: found, third: bare}, []int64{7, 8}, []int64{first, second, third}},
		"none":                        {answers{7: bare, 8: own, first: {400, jsonType, ownBody}, second: found, third: {400, "", ""}}, []int64{8}, []int64{first, second, third}},
		"the first id is a 403":       {answers{7: bare, 8: own, first: {403, jsonType, bareBody}, second: bare}, []int64{8}, []int64{first}},
		"the first id cannot be read": {answers{7: bare, 8: own, first: {500, jsonType, ownBody}, second: bare}, []int64{8}, []int64{first}},

		"403 by form":            {answers{7: bare403, 8: bare403}, []int64{7, 8}, nil},
		"403s of two forms":      {answers{7: bare403, 8: {403, jsonType, `{"reason":"blocked"}`}}, []int64{7}, nil},
		"403 of a firewall":      {answers{7: html403, 8: html403}, nil, nil},
		"403 without a body":     {answers{7: {403, jsonType, ""}, 8: {403, "", ""}}, nil, nil},
		"404 in the form of 403": {answers{7: bare403, 8: bare, first: html}, []int64{7}, []int64{first}},
	} {
		t.Run(name, inVirtualTime(func(t *testing.T) {
			m := newMarket().fill(bondPriced, 3, time.Minute)
			asked := m.byID(c.answers)
			client := newClient(t, m.config())
			for range 2 { // the second time, the form is known
				confirmed, err := client.Confirm(context.Background(), bondPriced, Question{IDs: []int64{7, 8}, Shown: shown(1000)}, newSpool(t, bondPriced))
				if err != nil || !confirmed.Believed {
					t.Fatalf("got %+v, %v", confirmed, err)
				}
				var proved []int64
				for _, id := range []int64{7, 8} {
					if confirmed.Answers[id].Proved {
						proved = append(proved, id)
					}
				}
				if !slices.Equal(proved, c.proved) {
					t.Errorf("evidence of %v, want %v: %+v", proved, c.proved, confirmed.Answers)
				}
			}
			for _, id := range []int64{first, second, third} {
				want := 0
				if slices.Contains(c.asked, id) {
					want = 1
				}
				if c.answers[id].status >= 500 {
					want *= 8 // attempts
				}
				if asked[id] != want {
					t.Errorf("id %d was asked %d times, want %d", id, asked[id], want)
				}
			}
		}))
	}
}

// TestImpossibleIDThatIsListed: the id is no example of one that cannot exist.
func TestImpossibleIDThatIsListed(t *testing.T) {
	m := newMarket().fill(bondPriced, 3, time.Minute)
	m.touch(bondPriced, 2147483647)
	asked := m.byID(map[int64]said{7: bare, 2147483646: bare})
	client, spool := newClient(t, m.config()), newSpool(t, bondPriced)
	if _, err := client.Snapshot(context.Background(), bondPriced, spool); err != nil {
		t.Fatal(err)
	}
	confirmed, err := client.Confirm(context.Background(), bondPriced, Question{IDs: []int64{7}, Shown: shown(1000)}, spool)
	if err != nil || !confirmed.Answers[7].Proved || asked[2147483647] != 0 || asked[2147483646] != 1 {
		t.Errorf("got %+v, %v, asked %v; want evidence by the form of 2147483646", confirmed, err, asked)
	}
}

// TestAnswersThatAreNotBelieved: without a deal in the list that answers 200 by id, before and after, the API's own 404
// is no evidence.
func TestAnswersThatAreNotBelieved(t *testing.T) {
	other := api.Feed{Service: api.Bond, Market: api.HY, Kind: api.Priced}
	for name, c := range map[string]struct {
		shown    []Shown
		lost     int // the request from which on everything is 404; 0 for never
		believed bool
	}{
		"no deal in the list":            {nil, 0, false},
		"a deal in the list answers":     {shown(1000), 0, true},
		"one of two answers":             {shown(13, 1000), 0, true},
		"none of two answers":            {shown(13, 14), 0, false},
		"everything is 404":              {shown(1000, 1001), 1, false},
		"everything is 404 in the midst": {shown(1000, 1001), 2, false},
		"a deal of another feed":         {[]Shown{{other, []int64{1001}}}, 0, true},
		"none of another feed":           {[]Shown{{other, []int64{5}}}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket().fill(bondPriced, 3, time.Minute).fill(other, 3, time.Minute)
			n := 0
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet {
					return false
				}
				n++
				if c.lost == 0 || n < c.lost {
					return false
				}
				w.Header().Set("Content-Type", jsonType)
				fail(w, http.StatusNotFound, "no data")
				return true
			}
			confirmed, err := newClient(t, m.config()).Confirm(context.Background(), bondPriced, Question{IDs: []int64{7}, Shown: c.shown}, newSpool(t, bondPriced))
			if err != nil || confirmed.Believed != c.believed || !maps.Equal(confirmed.Answers, map[int64]Answer{7: {Gone, c.believed}}) {
				t.Errorf("got %+v, %v; want it believed and proved: %t", confirmed, err, c.believed)
			}
		})
	}
}

// TestAskedAgain: a deal that earlier runs kept without evidence never fails its feed.
func TestAskedAgain(t *testing.T) {
	t.Run("it fails", inVirtualTime(func(t *testing.T) {
		m := newMarket().fill(bondPriced, 3, time.Minute)
		m.byID(map[int64]said{7: {500, jsonType, ownBody}, 8: own})
		confirmed, err := newClient(t, m.config()).Confirm(context.Background(), bondPriced, Question{IDs: []int64{8}, Again: []int64{7}, Shown: shown(1000)}, newSpool(t, bondPriced))
		if err != nil || !maps.Equal(confirmed.Answers, map[int64]Answer{7: {NoAnswer, false}, 8: {Gone, true}}) {
			t.Errorf("got %+v, %v", confirmed, err)
		}
	}))
	t.Run("so does the deal in the list", inVirtualTime(func(t *testing.T) {
		m := newMarket().fill(bondPriced, 3, time.Minute)
		m.byID(map[int64]said{7: own, 1000: {500, jsonType, ownBody}})
		confirmed, err := newClient(t, m.config()).Confirm(context.Background(), bondPriced, Question{Again: []int64{7}, Shown: shown(1000)}, newSpool(t, bondPriced))
		if err != nil || !maps.Equal(confirmed.Answers, map[int64]Answer{7: {Gone, false}}) {
			t.Errorf("got %+v, %v", confirmed, err)
		}
	}))
	t.Run("but the end of the run ends it", func(t *testing.T) {
		m := newMarket().fill(bondPriced, 3, time.Minute)
		ctx, cancel := context.WithCancel(context.Background())
		m.instead = func(_ http.ResponseWriter, r *http.Request) bool {
			if path.Base(r.URL.Path) == "7" {
				cancel()
			}
			return false
		}
		if confirmed, err := newClient(t, m.config()).Confirm(ctx, bondPriced, Question{Again: []int64{7}, Shown: shown(1000)}, newSpool(t, bondPriced)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %+v, %v", confirmed, err)
		}
	})
}

// TestRefusalThatIsCutOff: the body of a 404 or 403 is requested again if it is cut off, as any other damaged answer.
func TestRefusalThatIsCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		cut       int // answers
		announced bool
		proved    bool
	}{"once": {1, true, true}, "always": {1 << 20, true, false}, "once, by the server itself": {1, false, true}} {
		t.Run(name, inVirtualTime(func(t *testing.T) {
			m := newMarket().fill(bondPriced, 3, time.Minute)
			n := 0
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				id := path.Base(r.URL.Path)
				if id != "7" && id != "8" {
					return false
				}
				body := ownBody
				if n++; n <= c.cut {
					w.Header().Set("Content-Type", jsonType)
					if c.announced {
						w.Header().Set("Content-Length", strconv.Itoa(len(body)))
					}
					body = body[:40]
				}
				w.WriteHeader(map[string]int{"7": 404, "8": 403}[id])
				fmt.Fprint(w, body)
				return true
			}
			confirmed, err := newClient(t, m.config()).Confirm(context.Background(), bondPriced, Question{IDs: []int64{7, 8}, Shown: shown(1000)}, newSpool(t, bondPriced))
			if err != nil || !maps.Equal(confirmed.Answers, map[int64]Answer{7: {Gone, c.proved}, 8: {OutOfEntitlement, c.proved}}) {
				t.Errorf("got %+v, %v; want evidence: %t", confirmed, err, c.proved)
			}
		}))
	}
}
