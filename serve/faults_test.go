package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// strikes sends requests to an injector and returns how often each kind struck.
func strikes(faults Faults, count int, path string, request func(i int, r *http.Request)) (kinds map[Fault]int, order []Fault) {
	m := &faultInjector{faults: faults}
	kinds = map[Fault]int{}
	for i := range count {
		r := withVisit(httptest.NewRequest(http.MethodGet, path, nil), &visit{})
		r.Header.Set("Authorization", fmt.Sprint("Bearer ", i/200))
		if request != nil {
			request(i, r)
		}
		kind := m.draw(r, m.use(r))
		kinds[kind]++
		order = append(order, kind)
	}
	return kinds, order
}

func askGzip(_ int, r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") }

// TestFaultsOccurAsOften checks the share of answers that go wrong against the one that was asked for, spread evenly
// over the kinds that a request can get.
func TestFaultsOccurAsOften(t *testing.T) {
	const count = 40_000
	near := func(what string, got int, want float64) {
		t.Helper()
		if off := math.Abs(float64(got) - want*count); off > 4*math.Sqrt(want*count)+1 {
			t.Errorf("%s: got %d of %d, want %.0f", what, got, count, want*count)
		}
	}
	for path, kinds := range map[string]float64{"/v3/bond/ig/priced-deal?seeker=x": 13, "/v3": 12} {
		got, _ := strikes(AllFaults(1, 0.13), count, path, askGzip)
		near("no fault at "+path, got[""], 0.87)
		for kind, times := range got {
			if kind != "" && kind != FaultTokenExpired { // which needs an older token
				near(fmt.Sprintf("%s at %s", kind, path), times, 0.13/kinds*(1+0.25/(kinds-1)))
			}
		}
		if len(got)-1 != int(kinds) {
			t.Errorf("%s: got the kinds %v, want %v", path, slices.Collect(maps.Keys(got)), kinds)
		}
	}
	got, _ := strikes(Faults{Seed: 1, Rates: map[Fault]float64{FaultServerError: 0.01, FaultBadJSON: 0.03, FaultCursorExpired: 0.5}}, count, "/v3", nil)
	near("500", got[FaultServerError], 0.01)
	near("badjson", got[FaultBadJSON], 0.03)
	near("none", got[""], 0.96)
	if got[FaultCursorExpired]+got[FaultBadGzip] > 0 {
		t.Errorf("got kinds that the request cannot get: %v", got)
	}
}

func TestFaultsFollowTheSeed(t *testing.T) {
	_, first := strikes(AllFaults(1, 0.5), 600, "/v3", askGzip)
	_, again := strikes(AllFaults(1, 0.5), 600, "/v3", askGzip)
	_, other := strikes(AllFaults(2, 0.5), 600, "/v3", askGzip)
	if !slices.Equal(first, again) {
		t.Error("the same seed struck differently")
	}
	if slices.Equal(first, other) {
		t.Error("another seed struck alike")
	}
	if kinds, _ := strikes(Faults{Seed: 1}, 600, "/v3", askGzip); kinds[""] != 600 {
		t.Errorf("without rates: got %v", kinds)
	}
	if kinds, _ := strikes(AllFaults(1, 1, FaultTooMany), 600, "/v3", askGzip); kinds[FaultTooMany]+kinds[""] > 0 {
		t.Errorf("at a share of 1 without one kind: got %v", kinds)
	}
}

func TestParseFaults(t *testing.T) {
	for text, want := range map[string]string{
		"1.5": "want 0 to 1", "x": "500=0.01", "-1": "want 0 to 1", "NaN": "want 0 to 1",
		"500=x": `500: rate "x"`, "teapot=0.1": `kind "teapot"`, "500=0.6,502=0.6": "add up", "500=0.1,": `rate ""`,
	} {
		if faults, err := ParseFaults(1, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %+v, %v, want an error with %s", text, faults, err, want)
		}
	}
	if faults, err := ParseFaults(1, "429-bare=0.25, html=0.5"); err != nil || faults.Rates[FaultBareTooMany] != 0.25 || faults.Rates[FaultHTML] != 0.5 {
		t.Errorf("got %+v, %v", faults, err)
	}
	if faults, err := ParseFaults(1, ""); err != nil || !faults.none() {
		t.Errorf("no text: got %+v, %v", faults, err)
	}
}

// TestFaultsOnTheWire lets each kind strike every answer and looks at what a client gets.
func TestFaultsOnTheWire(t *testing.T) {
	kinds, _ := ListFaults()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server, err := New(Config{Source: still{}, Faults: Faults{Rates: map[Fault]float64{kind: 1}}})
			if err != nil {
				t.Fatal(err)
			}
			web := httptest.NewServer(server.Handler())
			t.Cleanup(web.Close)
			token := server.issue(server.accounts.byID["demo"], still{}.Now())
			ask := func() (*http.Response, []byte, error) {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+"/v3?seeker=x", nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("Accept-Encoding", "gzip")
				answer, err := web.Client().Do(r)
				if err != nil {
					return nil, nil, err
				}
				defer answer.Body.Close()
				body, err := io.ReadAll(answer.Body)
				return answer, body, err
			}
			uses := 1
			if kind == FaultTokenExpired {
				uses += newToken
			}
			var answer *http.Response
			var body []byte
			for range uses {
				answer, body, err = ask()
			}
			if kind == FaultTruncated {
				if err == nil {
					t.Errorf("got a complete body: %s", body)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := map[Fault]int{
				FaultServerError: 500, FaultTooMany: 429, FaultBareTooMany: 429, FaultTokenExpired: 401, FaultCursorExpired: 400,
				FaultBadGateway: 502, FaultUnavailable: 503, FaultGatewayTimeout: 504,
			}[kind]
			if want == 0 {
				want = 200
			}
			if answer.StatusCode != want {
				t.Errorf("got %d, want %d", answer.StatusCode, want)
			}
			if retry := answer.Header.Get("Retry-After"); (retry != "") != (kind == FaultTooMany) {
				t.Errorf("got Retry-After %q", retry)
			}
			page := kind == FaultHTML || want > 500
			if isPage := answer.Header.Get("Content-Type") == "text/html" && bytes.HasPrefix(body, []byte("<html>")); isPage != page {
				t.Errorf("got a page of HTML: %t; %s %s", isPage, answer.Header.Get("Content-Type"), body)
			}
			if isJSON := json.Valid(body); isJSON == (page || kind == FaultBadJSON || kind == FaultBadGzip) {
				t.Errorf("got JSON: %t; %s", isJSON, body)
			}
			if kind == FaultBadGzip {
				zip, err := gzip.NewReader(bytes.NewReader(body))
				if err == nil {
					_, err = io.ReadAll(zip)
				}
				if err == nil {
					t.Error("the gzip can be read")
				}
			}
			if odd := bytes.Contains(body, []byte(`"HTTP://`)); odd != (kind == FaultLinkSpelling) {
				t.Errorf("got links in capitals: %t", odd)
			}
		})
	}
}
