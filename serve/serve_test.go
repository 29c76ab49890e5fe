package serve_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// fake is a Source whose answers a test sets.
type fake struct {
	now  time.Time
	list func(serve.Query) (serve.Page, error)
	get  func(int64) (serve.Record, error)
}

func (f *fake) Now() time.Time { return f.now }
func (f *fake) List(_ context.Context, q serve.Query) (serve.Page, error) {
	if f.list == nil {
		return serve.Page{}, nil
	}
	return f.list(q)
}
func (f *fake) Get(_ context.Context, _ api.Feed, id int64) (serve.Record, error) {
	return f.get(id)
}

func TestConfigNamesAllFaults(t *testing.T) {
	_, err := serve.New(serve.Config{
		Accounts: []serve.Account{{ClientID: "a:b", Secret: "s"}, {ClientID: "x"}},
		BaseURL:  "ftp://x", DefaultPageSize: 5, MaxPageSize: 2, TokenTTL: time.Millisecond,
	})
	for _, want := range []string{"Source", "account 1", "account 2", "BaseURL", "DefaultPageSize", "TokenTTL"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

func TestTokens(t *testing.T) {
	source := &fake{now: epoch}
	awkward := serve.Account{ClientID: "jo+1@example.test", Secret: "p=ä:/ %&!"}
	client := start(t, serve.Config{Source: source, Accounts: []serve.Account{{ClientID: "demo", Secret: "demo"}, awkward}, TokenTTL: time.Hour})

	const form = "application/x-www-form-urlencoded"
	for name, ask := range map[string]struct {
		id, secret, contentType, body, query string
		status                               int
	}{
		"form":               {"demo", "demo", form, "grant_type=client_credentials", "", 200},
		"query":              {"demo", "demo", "text/plain", "", "?grant_type=client_credentials", 200},
		"raw credentials":    {awkward.ClientID, awkward.Secret, form, "grant_type=client_credentials", "", 200},
		"as RFC 6749 has it": {"jo%2B1%40example.test", "p%3D%C3%A4%3A%2F+%25%26%21", form, "grant_type=client_credentials", "", 200},
		"wrong secret":       {"demo", "nope", form, "grant_type=client_credentials", "", 401},
		"unknown id":         {"nobody", "demo", form, "grant_type=client_credentials", "", 401},
		"secret of another":  {"demo", awkward.Secret, form, "grant_type=client_credentials", "", 401},
		"no credentials":     {"", "", form, "grant_type=client_credentials", "", 401},
		"no grant type":      {"demo", "demo", form, "", "", 400},
		"other grant type":   {"demo", "demo", form, "grant_type=password", "", 400},
		"broken form":        {"demo", "demo", form, "grant_type=%zz", "", 400},
	} {
		t.Run(name, func(t *testing.T) {
			status, header, body := client.askToken(ask.id, ask.secret, ask.contentType, ask.body, ask.query)
			if ask.status == http.StatusOK {
				if status != http.StatusOK || header.Get("Cache-Control") != "no-store" {
					t.Errorf("%d %v %s", status, header, body)
				}
				return
			}
			wantError(t, name, ask.status, status, header, body)
			if status == 401 && !strings.HasPrefix(header.Get("WWW-Authenticate"), "Basic ") {
				t.Errorf("WWW-Authenticate: %q", header.Get("WWW-Authenticate"))
			}
		})
	}

	if status, _, body := client.get("/v3"); status != http.StatusOK {
		t.Fatalf("with a token: %d %s", status, body)
	}
	good := client.token
	source.now = epoch.Add(time.Hour - time.Second)
	if status, _, _ := client.get("/v3"); status != http.StatusOK {
		t.Error("the token expired early")
	}
	source.now = epoch.Add(time.Hour)
	status, header, body := client.get("/v3")
	wantError(t, "expired", 401, status, header, body)
	source.now = epoch
	for name, authorization := range map[string]string{
		"none": "", "basic": "Basic ZGVtbzpkZW1v", "made up": "Bearer abc", "bent": "Bearer " + good[:10] + "x" + good[11:], "cut": "Bearer " + good[:20],
	} {
		status, header, body := client.get("/v3/bond", "Authorization", authorization)
		wantError(t, name, 401, status, header, body)
	}
}

// TestTablesToken asks the token endpoint of the tables, with the credentials in the form, as clients of Iceberg catalogs
// do: pyiceberg sends a scope, too. Its tokens are those of all paths.
func TestTablesToken(t *testing.T) {
	shown := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	client := start(t, serve.Config{Source: &fake{now: epoch}, TokenTTL: time.Hour, Tables: shown})
	for form, want := range map[string]int{
		"grant_type=client_credentials&client_id=demo&client_secret=demo&scope=catalog": 200,
		"grant_type=client_credentials&client_id=demo&client_secret=nope":               401,
		"grant_type=client_credentials":                                                 401,
		"client_id=demo&client_secret=demo":                                             400,
		"grant_type=client_credentials&client_id=%zz":                                   400,
	} {
		request, err := http.NewRequest(http.MethodPost, client.base+"/iceberg/v1/oauth/tokens", strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		status, header, body := client.do(request)
		if want != http.StatusOK {
			wantError(t, form, want, status, header, body)
			continue
		}
		var answer struct {
			Token string `json:"access_token"`
			Type  string `json:"token_type"`
		}
		if err := json.Unmarshal(body, &answer); err != nil || status != want || !strings.EqualFold(answer.Type, "bearer") {
			t.Fatalf("%s: %d %s", form, status, body)
		}
		client.token = answer.Token
		if status, _, body := client.get("/v3"); status != http.StatusOK {
			t.Errorf("with the token: %d %s", status, body)
		}
	}
	if status, _, _ := client.get("/iceberg/v1/config"); status != http.StatusTeapot {
		t.Errorf("the tables answer %d, want what they say", status)
	}
}

func TestDiscovery(t *testing.T) {
	client := start(t, serve.Config{Source: &fake{now: epoch}})
	for path, want := range map[string]string{
		"/v3":         `{"_embedded":{"services":[{"name":"bond","_links":{"self":{"href":"BASE/v3/bond"}}},{"name":"loan","_links":{"self":{"href":"BASE/v3/loan"}}}]},"_links":{"self":{"href":"BASE/v3"}}}`,
		"/v3/loan/cf": `{"name":"cf","_links":{"expectedDeals":{"href":"BASE/v3/loan/cf/expected-deal"},"pricedDeals":{"href":"BASE/v3/loan/cf/priced-deal"},"self":{"href":"BASE/v3/loan/cf"}}}`,
	} {
		status, header, body := client.get(path)
		if got := strings.ReplaceAll(string(body), client.base, "BASE"); status != 200 || got != want || header.Get("Content-Type") != "application/hal+json" {
			t.Errorf("%s: %d %s\nwant %s", path, status, got, want)
		}
	}
	for _, service := range api.Services() {
		var markets struct {
			Embedded struct{ Markets []struct{ Name string } } `json:"_embedded"`
		}
		_, _, body := client.get("/v3/" + string(service))
		if err := json.Unmarshal(body, &markets); err != nil || len(markets.Embedded.Markets) != 3 {
			t.Errorf("%s: %s (%v)", service, body, err)
		}
	}
}

func TestErrors(t *testing.T) {
	secret := "the database password is 12345"
	source := &fake{now: epoch, get: func(id int64) (serve.Record, error) {
		switch id {
		case 1:
			return serve.Record{}, fmt.Errorf("deal 1: %w", serve.ErrForbidden)
		case 2:
			return serve.Record{}, errors.New(secret)
		case 3:
			panic(secret)
		}
		return serve.Record{}, serve.ErrNotFound
	}}
	var log bytes.Buffer
	client := start(t, serve.Config{Source: source, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for path, want := range map[string]int{
		"/v3/bond/ig/priced-deal/1":                                403,
		"/v3/bond/ig/priced-deal/2":                                500,
		"/v3/bond/ig/priced-deal/3":                                500,
		"/v3/bond/ig/priced-deal/4":                                404,
		"/v3/bond/ig/priced-deal/abc":                              400,
		"/v3/bond/ig/priced-deal/3000000000":                       400,
		"/v3/bond/ig/expected-deal/3000000000":                     404,
		"/v3/loan/ll/priced-deal/99999999999999999999":             400,
		"/v3/bond/xx/priced-deal":                                  404,
		"/v3/bond/IG/priced-deal":                                  404,
		"/v3/bond/ll":                                              404,
		"/v3/equity":                                               404,
		"/v3/":                                                     404,
		"/":                                                        404,
		"/v3/bond/ig/priced-deal?pageSize=0":                       400,
		"/v3/bond/ig/priced-deal?pageSize=x":                       400,
		"/v3/bond/ig/priced-deal?pageSize=3000000000":              400,
		"/v3/bond/ig/priced-deal?updatedSince=yesterday":           400,
		"/v3/bond/ig/priced-deal?seeker=abc":                       400,
		"/v3/bond/ig/expected-deal?updatedSince=is-not-read-there": 200,
		"/v3/bond/ig/priced-deal?somethingElse=is-not-read":        200,
	} {
		status, header, body := client.get(path)
		if want == http.StatusOK {
			if status != want {
				t.Errorf("%s: %d %s", path, status, body)
			}
			continue
		}
		wantError(t, path, want, status, header, body)
		if bytes.Contains(body, []byte(secret)) {
			t.Errorf("%s tells what went wrong inside: %s", path, body)
		}
	}
	for path, allow := range map[string]string{"/v3/bond": "GET, HEAD", "/oauth/token": "POST"} {
		method := http.MethodPost
		if allow == "POST" {
			method = http.MethodGet
		}
		status, header, body := client.send(method, path)
		wantError(t, path, 405, status, header, body)
		if header.Get("Allow") != allow {
			t.Errorf("%s: Allow %q, want %q", path, header.Get("Allow"), allow)
		}
	}
	if !strings.Contains(log.String(), secret) {
		t.Error("the log does not say what went wrong inside")
	}
}

func TestLogHoldsNoSecrets(t *testing.T) {
	var log bytes.Buffer
	source := sim.New(sim.Config{Deals: 5, Expected: 3})
	client := start(t, serve.Config{
		Source: source, Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Accounts: []serve.Account{{ClientID: "demo", Secret: "demo"}, {ClientID: "canary-id", Secret: "canary-secret"}},
	})
	client.token = client.newToken("canary-id", "canary-secret")
	client.get("/v3/bond/ig/priced-deal")
	client.get("/v3/nowhere")
	client.askToken("canary-id", "canary-secre", "text/plain", "", "?grant_type=client_credentials&client_secret=canary-secret")
	text := log.String()
	for _, secret := range []string{"canary-secre", client.token} {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %q:\n%s", secret, text)
		}
	}
	if !strings.Contains(text, `"path":"/v3/bond/ig/priced-deal","status":200`) {
		t.Errorf("no access log:\n%s", text)
	}
}

func TestPages(t *testing.T) {
	client, _, _ := market(t, sim.Config{Seed: 1, Deals: 40})
	feed := api.Feeds()[0]
	p := client.page(feed.Path() + "?pageSize=5&updatedSince=2020-01-01T00:00:00Z")
	if n := len(client.deals(feed, p)); n != 5 {
		t.Errorf("%d deals on a page of 5", n)
	}
	want := client.base + feed.Path() + "?pageSize=5&updatedSince=2020-01-01T00%3A00%3A00Z"
	if got := p.Links[api.LinkFirst].Href; got != want {
		t.Errorf("first: %s, want %s", got, want)
	}
	if got := p.Links[api.LinkNext].Href; !strings.HasPrefix(got, client.base+feed.Path()+"?pageSize=5&seeker=") || !strings.HasSuffix(got, "&updatedSince=2020-01-01T00%3A00%3A00Z") {
		t.Errorf("next: %s", got)
	}
	whole := client.page(feed.Path() + "?pageSize=1000000")
	if _, more := whole.Links[api.LinkNext]; more {
		t.Error("the last page has a next link")
	}
	status, _, body := client.get(feed.Path() + "?updatedSince=2099-01-01T00:00:00Z")
	if status != 200 || !bytes.HasPrefix(body, []byte(`{"_embedded":{"pricedDeals":[]},"_links":{"first":{"href":"`)) {
		t.Errorf("an empty list: %d %s", status, body)
	}
	seeker := p.Links[api.LinkNext].Href
	seeker = seeker[strings.Index(seeker, "seeker=")+7 : strings.LastIndex(seeker, "&")]
	status, header, body := client.get("/v3/bond/hy/priced-deal?seeker=" + seeker)
	wantError(t, "a cursor of another list", 400, status, header, body)
}

func TestMaxPageSizeClamps(t *testing.T) {
	asked := 0
	client := start(t, serve.Config{MaxPageSize: 3, Source: &fake{now: epoch, list: func(q serve.Query) (serve.Page, error) {
		asked = q.Limit
		return serve.Page{}, nil
	}}})
	for query, want := range map[string]int{"": 3, "?pageSize=2": 2, "?pageSize=2147483647": 3} {
		if client.page("/v3/loan/ll/priced-deal" + query); asked != want {
			t.Errorf("%q: limit %d, want %d", query, asked, want)
		}
	}
}

func TestDateFollowsTheMarket(t *testing.T) {
	source := &fake{now: time.Date(2031, 5, 6, 7, 8, 9, 987654321, time.FixedZone("", 3600))}
	client := start(t, serve.Config{Source: source})
	for _, path := range []string{"/v3", "/v3/bond/ig/priced-deal", "/nowhere", "/v3/bond/ig/priced-deal?pageSize=-1"} {
		_, header, _ := client.get(path)
		if got := header.Get("Date"); got != "Tue, 06 May 2031 06:08:09 GMT" {
			t.Errorf("%s: Date %q", path, got)
		}
	}
	_, header, _ := client.get("/v3", "Authorization", "none")
	if got := header.Get("Date"); got != "Tue, 06 May 2031 06:08:09 GMT" {
		t.Errorf("401: Date %q", got)
	}
}

func TestBaseURL(t *testing.T) {
	body := []byte(`{"dealId":7,"headline":"\"href\":\"/v3/x\"","_links":{"self":{"href":"/v3/bond/ig/priced-deal/7"},"original":{"href":"https://elsewhere.test/v3/1"}}}`)
	record := serve.Record{ID: 7, UpdatedAt: epoch, Body: body}
	source := &fake{now: epoch, get: func(int64) (serve.Record, error) { return record, nil }, list: func(serve.Query) (serve.Page, error) {
		return serve.Page{Records: []serve.Record{record}, More: true}, nil
	}}
	server, err := serve.New(serve.Config{Source: source, BaseURL: "https://api.example.test/deals/"})
	if err != nil {
		t.Fatal(err)
	}
	client := start(t, serve.Config{Source: source})
	client.http.Transport = handlerTransport{server.Handler()}
	client.base += "/deals"
	client.token = client.newToken("demo", "demo")
	want := strings.ReplaceAll(string(body), `"href":"/`, `"href":"https://api.example.test/deals/`)
	if status, _, got := client.get("/v3/bond/ig/priced-deal/7"); status != 200 || string(got) != want {
		t.Errorf("%d %s\nwant %s", status, got, want)
	}
	if _, _, got := client.get("/v3/bond/ig/priced-deal"); !strings.Contains(string(got), want) || !strings.Contains(string(got), `"next":{"href":"https://api.example.test/deals/v3/bond/ig/priced-deal?seeker=`) {
		t.Errorf("%s", got)
	}
}

// handlerTransport calls a handler without a network.
type handlerTransport struct{ handler http.Handler }

func (h handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestGzip(t *testing.T) {
	client, _, _ := market(t, sim.Config{Seed: 2, Deals: 30})
	_, _, plain := client.get("/v3/bond/ig/priced-deal", "Accept-Encoding", "identity")
	for accept, packed := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "br": false, "": false, "GZIP": true} {
		_, header, body := client.get("/v3/bond/ig/priced-deal", "Accept-Encoding", accept)
		if got := header.Get("Content-Encoding") == "gzip"; got != packed {
			t.Errorf("%q: compressed %t", accept, got)
			continue
		}
		if packed {
			reader, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(reader); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(body, plain) {
			t.Errorf("%q: another body", accept)
		}
	}
	status, header, body := client.send(http.MethodHead, "/v3/bond/ig/priced-deal", "Accept-Encoding", "identity")
	if status != 200 || len(body) != 0 || header.Get("Content-Length") != fmt.Sprint(len(plain)) {
		t.Errorf("HEAD: %d, %d bytes, %v", status, len(body), header)
	}
}

func TestServeDrainsAndLeaves(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	source := &fake{now: epoch, list: func(serve.Query) (serve.Page, error) {
		close(entered)
		<-release
		return serve.Page{}, nil
	}}
	server, err := serve.New(serve.Config{Source: source})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &client{t: t, base: "http://" + listener.Addr().String(), http: &http.Client{Transport: transport}}
	client.token = client.newToken("demo", "demo")
	answered := make(chan int, 1)
	go func() {
		status, _, _ := client.get("/v3/bond/ig/priced-deal")
		answered <- status
	}()
	<-entered
	cancel()
	close(release)
	if status := <-answered; status != http.StatusOK {
		t.Errorf("the open request got %d", status)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestServeTellsOfABrokenListener(t *testing.T) {
	server, err := serve.New(serve.Config{Source: &fake{now: epoch}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := server.Serve(t.Context(), listener); err == nil {
		t.Error("no error")
	}
}
