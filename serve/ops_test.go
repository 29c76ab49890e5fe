package serve_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
)

func TestAsOf(t *testing.T) {
	source, then := newStand(), newStand()
	then.now = epoch.AddDate(-1, 0, 0)
	then.deals[setA] = then.deals[setA][:3]
	const instant = "2025-01-05T06:00:00.123456Z"
	source.past[instant] = then
	client := start(t, serve.Config{Source: source})
	past := *client
	for _, spelled := range []string{instant, "2025-01-05T07:00:00.123456+01:00", "2025-01-05T06%3A00%3A00.123456Z"} {
		past.base = client.base + "/as-of/" + spelled
		past.token = past.newToken("demo", "demo")
		if past.token == "" {
			t.Fatalf("%s: no token", spelled)
		}
		if got := past.ids(setA, setA.Path()+"?pageSize=1"); got != "3 2 1" {
			t.Errorf("%s: %q", spelled, got)
		}
		status, header, body := past.get("/v3/bond/ig")
		if status != 200 || strings.Count(string(body), `"href":"`) != strings.Count(string(body), `"href":"`+past.base+"/v3/") || header.Get("Date") != then.now.Format(http.TimeFormat) {
			t.Errorf("%s: %d %v %s", spelled, status, header, body)
		}
		status, header, body = past.get(setA.DealPath(5))
		wantError(t, spelled, 404, status, header, body)
	}
	if got := client.ids(setA, setA.Path()); got != "8 7 6 5 4 3 2 1" {
		t.Errorf("now: %q", got)
	}
	next := past.page(setA.Path() + "?pageSize=1").Links[api.LinkNext].Href
	status, header, body := client.get(strings.TrimPrefix(next, past.base))
	wantError(t, "a cursor of the past, now", 400, status, header, body)
	for path, want := range map[string]int{
		"/as-of/yesterday/v3": 400, "/as-of/2025-01-05/v3": 400, "/as-of/2025-01-05T06:00:00,5Z/v3": 400, "/as-of/2020-01-01T00:00:00Z/v3": 404,
		"/as-of/" + instant: 404, "/as-of/" + instant + "/healthz": 404, "/as-of/" + instant + "/as-of/" + instant + "/v3": 404,
	} {
		status, header, body := client.get(path)
		wantError(t, path, want, status, header, body)
	}
	status, header, body = client.get("/as-of/"+instant+"/v3", "Authorization", "")
	wantError(t, "without a token", 401, status, header, body)
	plain := start(t, serve.Config{Source: &fake{now: epoch}})
	status, header, body = plain.get("/as-of/" + instant + "/v3")
	wantError(t, "a source without a past", 404, status, header, body)

	trial := past
	trial.token = client.newToken("trial", "trial")
	if got := trial.ids(setA, setA.Path()); got != "" {
		t.Errorf("a trial sees %q of the past, which lies outside its two years now", got)
	}
}

func TestAdvance(t *testing.T) {
	source := newStand()
	post := func(to *client, query, body string, header ...string) (int, http.Header, []byte) {
		request, err := http.NewRequest(http.MethodPost, to.base+"/_sim/advance"+query, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
			if header[i] == "Host" {
				request.Host = header[i+1]
			}
		}
		return to.do(request)
	}
	client := startServing(t, serve.Config{Source: source})
	status, header, body := post(client, "?by=24h", "")
	if status != 200 || string(body) != `{"now":"2026-01-06T00:00:00Z"}` || header.Get("Date") != "Tue, 06 Jan 2026 00:00:00 GMT" {
		t.Errorf("%d %v %s", status, header, body)
	}
	if status, _, body := post(client, "", `{"seconds":1.5}`); status != 200 || string(body) != `{"now":"2026-01-06T00:00:01.5Z"}` {
		t.Errorf("%d %s", status, body)
	}
	for _, bad := range [][2]string{{"?by=-1h", ""}, {"?by=soon", ""}, {"", ""}, {"", `{"seconds":-1}`}, {"", `{"seconds":1e300}`}, {"", `{"seconds":1}{}`}, {"", `{"hours":1}`}, {"", `{}`}, {"?by=999999h", ""}} {
		status, header, body := post(client, bad[0], bad[1])
		wantError(t, fmt.Sprint(bad), 400, status, header, body)
	}
	for name, header := range map[string][]string{"a page of another site": {"Origin", "https://evil.test"}, "another name for this host": {"Host", "evil.test"}} {
		status, answer, body := post(client, "?by=1h", "", append(header, "Authorization", "")...)
		wantError(t, name, 401, status, answer, body)
	}
	status, header, body = client.get("/_sim/advance?by=1h")
	wantError(t, "GET", 405, status, header, body)
	still := startServing(t, serve.Config{Source: &fake{now: epoch}})
	status, header, body = post(still, "?by=1h", "")
	wantError(t, "a market that cannot be moved", 404, status, header, body)
	if source.now != epoch.Add(24*time.Hour+1500*time.Millisecond) {
		t.Errorf("it is %s", source.now)
	}
}

func TestHealthAndMetrics(t *testing.T) {
	client := startServing(t, serve.Config{Source: newStand()})
	if status, _, body := client.get("/healthz", "Authorization", ""); status != 200 || string(body) != `{"status":"ok","time":"2026-01-05T00:00:00Z"}` {
		t.Errorf("%d %s", status, body)
	}
	client.page(setA.Path())
	client.get("/nowhere")
	status, header, body := client.get("/metrics", "Authorization", "")
	if status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %v", status, header)
	}
	for _, want := range []string{
		`dealflow_http_requests_total{method="GET",route="/v3/bond/{market}/priced-deal",status="200"} 1`,
		`dealflow_http_requests_total{method="GET",route="none",status="404"} 1`,
		`dealflow_http_request_duration_seconds_bucket{route="/healthz",le="+Inf"} 1`, "dealflow_http_requests_in_flight 1",
	} {
		if !bytes.Contains(body, []byte(want+"\n")) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}

// TestWhoMaySeeMetrics checks that /metrics and /_sim/advance need a token, except with the built-in accounts at a
// listener on loopback. All requests come from this machine's loopback, as from a proxy on it.
func TestWhoMaySeeMetrics(t *testing.T) {
	own := []serve.Account{{ClientID: "demo", Secret: "demo"}}
	for name, c := range map[string]struct {
		client *client
		want   int // without a token
	}{
		"built-in accounts":                 {startServing(t, serve.Config{Source: newStand()}), 200},
		"accounts":                          {startServing(t, serve.Config{Source: newStand(), Accounts: own}), 401},
		"accounts, every address":           {startServingOn(t, "0.0.0.0:0", serve.Config{Source: newStand(), Accounts: own}), 401},
		"built-in accounts, behind a proxy": {startServing(t, serve.Config{Source: newStand(), BehindProxy: true}), 401},
		"a handler without a listener":      {start(t, serve.Config{Source: newStand()}), 401},
	} {
		ask := func(method, path string, header ...string) int {
			request, err := http.NewRequest(method, c.client.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i+1 < len(header); i += 2 {
				request.Header.Set(header[i], header[i+1])
			}
			status, _, _ := c.client.do(request)
			return status
		}
		for _, route := range [][2]string{{"GET", "/metrics"}, {"POST", "/_sim/advance?by=1h"}} {
			if got := ask(route[0], route[1]); got != c.want {
				t.Errorf("%s: %s: got %d, want %d", name, route[1], got, c.want)
			}
			if got := ask(route[0], route[1], "Authorization", "Bearer "+c.client.token); got != 200 {
				t.Errorf("%s: %s with a token: got %d, want 200", name, route[1], got)
			}
		}
	}
}

func TestEverythingElseIsTheErrorBody(t *testing.T) {
	client := start(t, serve.Config{Source: newStand()})
	for path, want := range map[string]int{
		"//v3": 404, "/v3/./bond": 404, "/v3/bond/../loan": 404, "/v3/bond/": 404, "/v3/bond//ig": 404, "/v3/bond/ig/priced-deal/1%2F2": 400,
		"/v3/bond/ig/priced-deal/%2e%2e": 404, "/v3/bond/ig%00": 404, "/v3/bond/ig/priced-deal/-1": 404, "/v3/bond/ig/priced-deal/+1": 400, "/v3/bond/ig/priced-deal/01": 400, "/v3/bond/ig/priced-deal/-0": 400,
	} {
		status, header, body := client.get(path)
		if want == 200 {
			if status != 200 {
				t.Errorf("%s: %d %s", path, status, body)
			}
			continue
		}
		wantError(t, path, want, status, header, body)
	}
	for _, method := range []string{"OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "BREW"} {
		status, header, body := client.send(method, "/v3/bond")
		wantError(t, method, 405, status, header, body)
	}
	status, header, body := client.askToken("demo", "demo", "application/x-www-form-urlencoded", "grant_type=client_credentials&pad="+strings.Repeat("x", 20<<10), "")
	wantError(t, "a long form", 413, status, header, body)
	request, err := http.NewRequest(http.MethodGet, client.base+"/v3", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "evil.test$x"
	status, header, body = client.do(request)
	wantError(t, "a host that is none", 400, status, header, body)
	_, header, _ = client.get("/v3")
	for name, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "ETag": ""} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// startServing is start, but with Serve and its listener on loopback.
func startServing(t *testing.T, config serve.Config) *client {
	t.Helper()
	return startServingOn(t, "127.0.0.1:0", config)
}

func startServingOn(t *testing.T, address string, config serve.Config) *client {
	t.Helper()
	_, port, err := net.SplitHostPort(servingOn(t, address, config).String())
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c := &client{t: t, base: "http://127.0.0.1:" + port, http: &http.Client{Transport: transport}}
	c.token = c.newToken("demo", "demo")
	return c
}

// serving runs Serve on a free port of loopback until the test ends.
func serving(t *testing.T, config serve.Config) net.Addr {
	t.Helper()
	return servingOn(t, "127.0.0.1:0", config)
}

func servingOn(t *testing.T, address string, config serve.Config) net.Addr {
	t.Helper()
	server, err := serve.New(config)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return listener.Addr()
}

func TestTLS(t *testing.T) {
	borrowed := httptest.NewTLSServer(http.NotFoundHandler())
	defer borrowed.Close()
	address := serving(t, serve.Config{Source: newStand(), TLS: &tls.Config{Certificates: borrowed.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}})
	transport := borrowed.Client().Transport.(*http.Transport).Clone()
	transport.ForceAttemptHTTP2 = true
	defer transport.CloseIdleConnections()
	client := &client{t: t, base: "https://" + address.String(), http: &http.Client{Transport: transport}}
	client.token = client.newToken("demo", "demo")
	if got := client.page(setA.Path()).Links[api.LinkFirst].Href; got != client.base+setA.Path() {
		t.Errorf("first: %s", got)
	}
	response, err := client.http.Get(client.base + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.ProtoMajor != 2 {
		t.Errorf("spoke %s", response.Proto)
	}
}

func TestBuiltinAccountsStayAtHome(t *testing.T) {
	server, err := serve.New(serve.Config{Source: newStand()})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Skip(err)
	}
	if err := server.Serve(t.Context(), listener); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("Serve on %s: %v", listener.Addr(), err)
	}
}
