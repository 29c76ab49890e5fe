package serve_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

var epoch = time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)

// client sends requests to a server over HTTP, with a token.
type client struct {
	t     testing.TB
	base  string
	token string
	http  *http.Client
}

// start serves a configuration on a free port until the test ends.
func start(t testing.TB, config serve.Config) *client {
	t.Helper()
	server, err := serve.New(config)
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server.Handler())
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); listener.Close() })
	c := &client{t: t, base: listener.URL, http: &http.Client{Transport: transport}}
	c.token = c.newToken("demo", "demo")
	return c
}

// market returns a client of a simulated market, the market and its clock.
func market(t testing.TB, config sim.Config) (*client, *sim.Market, *sim.ManualClock) {
	t.Helper()
	clock := sim.NewManualClock(epoch)
	config.Clock, config.Epoch = clock.Now, epoch
	source := sim.New(config)
	return start(t, serve.Config{Source: source, TokenTTL: 1000 * time.Hour}), source, clock
}

func (c *client) newToken(id, secret string) string {
	c.t.Helper()
	status, _, body := c.askToken(id, secret, "application/x-www-form-urlencoded", "grant_type=client_credentials", "")
	if status != http.StatusOK {
		return ""
	}
	var answer struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int32  `json:"expires_in"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.TokenType != "Bearer" || answer.ExpiresIn <= 0 || answer.AccessToken == "" {
		c.t.Fatalf("token: %s (%v)", body, err)
	}
	return answer.AccessToken
}

func (c *client) askToken(id, secret, contentType, form, query string) (int, http.Header, []byte) {
	c.t.Helper()
	request, err := http.NewRequest(http.MethodPost, c.base+"/oauth/token"+query, strings.NewReader(form))
	if err != nil {
		c.t.Fatal(err)
	}
	if id != "" {
		request.SetBasicAuth(id, secret)
	}
	request.Header.Set("Content-Type", contentType)
	return c.do(request)
}

func (c *client) do(request *http.Request) (int, http.Header, []byte) {
	c.t.Helper()
	response, err := c.http.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, response.Header, body
}

// get requests a path or a complete URL.
func (c *client) get(path string, header ...string) (int, http.Header, []byte) {
	c.t.Helper()
	return c.send(http.MethodGet, path, header...)
}

func (c *client) send(method, path string, header ...string) (int, http.Header, []byte) {
	c.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = c.base + path
	}
	request, err := http.NewRequest(method, path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	return c.do(request)
}

// page is a page of a list as a client reads it.
type page struct {
	Embedded map[string][]json.RawMessage `json:"_embedded"`
	Links    api.Links                    `json:"_links"`
}

func (c *client) page(path string) page {
	c.t.Helper()
	status, _, body := c.get(path)
	if status != http.StatusOK {
		c.t.Fatalf("%s: %d %s", path, status, body)
	}
	var p page
	if err := json.Unmarshal(body, &p); err != nil {
		c.t.Fatalf("%s: %v", path, err)
	}
	return p
}

// listed is a deal as a client reads it from a list.
type listed struct {
	id           int64
	body         string // with hrefs relative to the base
	updatedSince string
}

func (c *client) deals(feed api.Feed, p page) []listed {
	c.t.Helper()
	raw, ok := p.Embedded[feed.ListKey()]
	if !ok || raw == nil {
		c.t.Fatalf("%s: no list %s in the page", feed, feed.ListKey())
	}
	var deals []listed
	for _, body := range raw {
		var deal struct {
			ID     int64     `json:"id"`
			DealID int64     `json:"dealId"`
			Links  api.Links `json:"_links"`
		}
		if err := json.Unmarshal(body, &deal); err != nil {
			c.t.Fatalf("%s: %v", body, err)
		}
		relative := strings.ReplaceAll(string(body), `"href":"`+c.base+"/", `"href":"/`)
		deals = append(deals, listed{deal.ID + deal.DealID, relative, deal.Links[api.LinkUpdatedSince].Href})
	}
	return deals
}

// wantError checks an error answer: its status and the API's error body.
func wantError(t *testing.T, what string, wantStatus, status int, header http.Header, body []byte) {
	t.Helper()
	var fault map[string]string
	if status != wantStatus {
		t.Errorf("%s: status %d, want %d: %s", what, status, wantStatus, body)
	}
	if err := json.Unmarshal(body, &fault); err != nil || len(fault) != 3 || len(fault["errorId"]) != 36 || fault["message"] == "" {
		t.Errorf("%s: %s is not the API's error body (%v)", what, body, err)
	}
	if _, err := time.Parse(time.RFC3339, fault["timestamp"]); err != nil {
		t.Errorf("%s: timestamp: %v", what, err)
	}
	if header.Get("Content-Type") != "application/json" {
		t.Errorf("%s: content type %q", what, header.Get("Content-Type"))
	}
}
