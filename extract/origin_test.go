package extract

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/idna"

	"dealflow/schemas/api"
)

func originOf(t testing.TB, text string) origin {
	t.Helper()
	base, err := api.ParseBase(text)
	if err != nil {
		t.Fatal(err)
	}
	o, err := newOrigin(base)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestLinksAreHeldToTheOrigin(t *testing.T) {
	const page = "/v3/bond/ig/priced-deal"
	for _, test := range []struct{ base, link, want string }{ // want "": it leaves
		{"https://api.example.test", "https://api.example.test/v3/x", "https://api.example.test/v3/x"},
		{"https://api.example.test", "https://api.example.test:443/v3/x", "https://api.example.test/v3/x"},
		{"https://api.example.test:443", "https://api.example.test/v3/x", "https://api.example.test/v3/x"},
		{"https://api.example.test", "HTTPS://API.Example.TEST/v3/x", "https://api.example.test/v3/x"},
		{"https://api.example.test", "//api.example.test/v3/x", "https://api.example.test/v3/x"},
		{"https://api.example.test", "?seeker=a%2Fb#part", "https://api.example.test" + page + "?seeker=a%2Fb"},
		{"https://api.example.test", "https://api.example.test:80/v3/x", ""},
		{"https://api.example.test", "https://api.example.test:8443/v3/x", ""},
		{"https://api.example.test", "https://api.example.test:/v3/x", ""},
		{"https://api.example.test", "https://api.example.test:0443/v3/x", ""},
		{"https://api.example.test", "http://api.example.test/v3/x", ""},
		{"https://api.example.test", "http://api.example.test:443/v3/x", ""},
		{"https://api.example.test", "ftp://api.example.test/v3/x", ""},
		{"https://api.example.test", "//evil.test/v3/x", ""},
		{"https://api.example.test", "///evil.test/v3/x", "https://api.example.test///evil.test/v3/x"},
		{"https://api.example.test", `/\evil.test/v3/x`, `https://api.example.test/%5Cevil.test/v3/x`},
		{"https://api.example.test", `https:\\evil.test/v3/x`, ""},
		{"https://api.example.test", `https://api.example.test\.evil.test/`, ""},
		{"https://api.example.test", `https://evil.test\@api.example.test/`, ""},
		{"https://api.example.test", "https://api.example.test@evil.test/v3/x", ""},
		{"https://api.example.test", "https://api.example.test:443@evil.test/v3/x", ""},
		{"https://api.example.test", "https://user@api.example.test/v3/x", ""},
		{"https://api.example.test", "https://@api.example.test/v3/x", ""},
		{"https://api.example.test", "https://api.example.test.evil.test/v3/x", ""},
		{"https://api.example.test", "https://api.example.test./v3/x", ""},
		{"https://api.example.test", "https://evil.test#@api.example.test/", ""},
		{"https://api.example.test", "https://evil.test?@api.example.test/", ""},
		{"https://api.example.test", "https:///v3/x", ""},
		{"https://api.example.test", "https:api.example.test/v3/x", ""},
		{"https://api.example.test", "javascript:alert(1)", ""},
		{"https://api.example.test", "\thttps://evil.test/", ""},
		{"https://api.example.test", "https://evil.test\n/", ""},
		// İ has the plain i for its lower case, but the name is another's.
		{"https://api.example.test", "https://ap\u0130.example.test/v3/x", ""},
		// The Kelvin sign and fullwidth letters are spellings of the same name on the wire.
		{"https://bank.example.test", "https://ban\u212a.example.test/v3/x", "https://bank.example.test/v3/x"},
		{"https://bank.example.test", "https://\uff42ank.example.test/v3/x", "https://bank.example.test/v3/x"},
		{"https://bücher.example.test", "https://xn--bcher-kva.example.test/v3/x", "https://xn--bcher-kva.example.test/v3/x"},
		{"https://xn--bcher-kva.example.test", "https://BÜCHER.example.test/v3/x", "https://xn--bcher-kva.example.test/v3/x"},
		{"https://bücher.example.test", "https://bucher.example.test/v3/x", ""},
		{"https://bücher.example.test", "https://xn--bcher-kvb.example.test/v3/x", ""},
		{"http://127.0.0.1:8080", "http://127.0.0.1:8081/v3/x", ""},
		{"http://127.0.0.1:8080", "http://localhost:8080/v3/x", ""},
		{"http://[::1]:8080", "http://[::1]:8080/v3/x", "http://[::1]:8080/v3/x"},
		{"http://[::1]", "http://[0:0::1]/v3/x", ""},
		{"https://api.example.test/flow", "/flow/v3/x", "https://api.example.test/flow/v3/x"},
		{"https://api.example.test/flow", "/flowing/v3/x", ""},
		{"https://api.example.test/flow", "/flow/../admin", ""},
		{"https://api.example.test/flow", "/flow/%2e%2e/admin", ""},
		{"https://api.example.test/flow", "/flow/%2E./admin", ""},
		{"https://api.example.test/flow", "/v3/x", ""},
	} {
		o := originOf(t, test.base)
		got, err := o.resolve(test.base+page, test.link)
		var link *LinkError
		if got != test.want || (err != nil) != (test.want == "") || err != nil && !errors.As(err, &link) {
			t.Errorf("%s from %s: got %q, %v; want %q", test.link, test.base, got, err, test.want)
		}
	}
}

// FuzzResolve: any link is refused, or goes to the API's own host, as net/http would reach it, and under its path.
// Resolving it again changes nothing.
func FuzzResolve(f *testing.F) {
	for _, link := range []string{
		"/flow/v3/x?a=b#c", "?seeker=x", "//evil.test/flow", "https://api.example.test:443/flow/v3", "https://api.example.test@evil.test/flow",
		"https://ap\u0130.example.test/flow", "/flow/%2e%2e/x", `/flow\..\x`, "https://\uff41pi.example.test/flow", "flow/..;/x", "/flow/%252e%252e/", "https://api.example.test:/flow", "HTTPS://API.example.test/flow",
	} {
		f.Add(link)
	}
	o := originOf(f, "https://api.example.test/flow")
	const from = "https://api.example.test/flow/v3/bond/ig/priced-deal?pageSize=1000"
	f.Fuzz(func(t *testing.T, link string) {
		got, err := o.resolve(from, link)
		if err != nil {
			var refused *LinkError
			if !errors.As(err, &refused) || got != "" {
				t.Fatalf("%q: got %q, %v", link, got, err)
			}
			return
		}
		request, err := http.NewRequest(http.MethodGet, got, nil)
		if err != nil {
			t.Fatalf("%q: %q cannot be requested: %v", link, got, err)
		}
		host, err := idna.Lookup.ToASCII(request.URL.Host)
		if err != nil || host != "api.example.test" || request.URL.Scheme != "https" || request.URL.User != nil {
			t.Fatalf("%q: would go to %q (%v)", link, got, err)
		}
		if clean := path.Clean(request.URL.Path); clean != "/flow" && !strings.HasPrefix(clean, "/flow/") {
			t.Fatalf("%q: climbs out to %q", link, got)
		}
		if again, err := o.resolve(from, got); err != nil || again != got {
			t.Fatalf("%q: %q became %q, %v", link, got, again, err)
		}
		if u, err := url.Parse(got); err != nil || u.Fragment != "" {
			t.Fatalf("%q: got %q, %v", link, got, err)
		}
	})
}

// elsewhere is a second real server, which must receive nothing.
type elsewhere struct {
	*httptest.Server
	mu    sync.Mutex
	heard []string
}

func newElsewhere(t *testing.T) *elsewhere {
	e := &elsewhere{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.heard = append(e.heard, fmt.Sprint(r.Method, r.URL, r.Header))
	}))
	t.Cleanup(func() {
		e.Close()
		if len(e.heard) != 0 {
			t.Errorf("the other server heard %v", e.heard)
		}
	})
	return e
}

// TestTheTokenStaysWithItsOrigin uses two real servers. The token and the secret never reach the second one, which
// listens at another port of the same host, in whatever way the first one points there.
func TestTheTokenStaysWithItsOrigin(t *testing.T) {
	other := newElsewhere(t)
	host := strings.TrimPrefix(other.URL, "http://")
	empty := func(links string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, `{"_links":{%s}}`, links) }
	}
	redirect := func(status int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+"/flow/v3", status) }
	}
	for name, test := range map[string]struct {
		method string
		answer func(w http.ResponseWriter, r *http.Request)
		since  string
	}{
		"next":               {http.MethodGet, empty(`"next":{"href":"` + other.URL + `/flow/v3"}`), ""},
		"next, no scheme":    {http.MethodGet, empty(`"next":{"href":"//` + host + `/flow/v3"}`), ""},
		"next, user":         {http.MethodGet, empty(`"next":{"href":"http://127.0.0.1@` + host + `/flow/v3"}`), ""},
		"next, name of host": {http.MethodGet, empty(`"next":{"href":"` + strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + `/flow/v3"}`), ""},
		"updatedSince": {http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"_embedded":{"pricedDeals":[`)
			for i, at := range []string{"09:10", "09:05"} {
				fmt.Fprintf(w, `%s{"dealId":%d,"_links":{"updatedSince":{"href":"%s/flow/v3?updatedSince=2026-03-02T%s:00Z"}}}`, []string{"", ","}[i], i, other.URL, at)
			}
			fmt.Fprint(w, `]},"_links":{"next":{"href":"?seeker=2"}}}`)
		}, ""},
		"saved link":          {http.MethodGet, empty(""), other.URL + "/flow/v3/bond/ig/priced-deal?updatedSince=2026-03-02T09:00:00Z"},
		"redirect 302":        {http.MethodGet, redirect(302), ""},
		"redirect 307":        {http.MethodGet, redirect(307), ""},
		"token redirect 302":  {http.MethodPost, redirect(302), ""},
		"token redirect 307":  {http.MethodPost, redirect(307), ""},
		"token redirect 308":  {http.MethodPost, redirect(308), ""},
		"deal asked for 301":  {http.MethodGet, redirect(301), "by id"},
		"saved link, no host": {http.MethodGet, empty(""), "//" + host + "/flow/v3"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket()
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == test.method {
					test.answer(w, r)
				}
				return r.Method == test.method
			}
			c := newClient(t, m.onNetwork(t, m))
			var err error
			switch test.since {
			case "":
				_, err = c.Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced))
			case "by id":
				_, err = c.Confirm(context.Background(), bondPriced, Question{IDs: []int64{1}}, newSpool(t, bondPriced))
			default:
				_, err = c.Changes(context.Background(), bondPriced, test.since, newSpool(t, bondPriced))
			}
			var link *LinkError
			if !errors.As(err, &link) || strings.Contains(err.Error(), "canary") {
				t.Errorf("got %v", err)
			}
		})
	}
}
