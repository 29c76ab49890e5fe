package rest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dealflow/internal/maintain"
	"dealflow/internal/testkit/world"
	"dealflow/load/iceberg"
	"dealflow/load/iceberg/rest"
	"dealflow/serve"
	"dealflow/serve/sim"
)

func TestMain(m *testing.M) { world.Main(m) }

// ask sends a request, and returns the status, the body and the ETag of its answer.
func ask(t *testing.T, h http.Handler, method, path string, header ...string) (status int, body, tag string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://lake.example"+path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	answer := w.Result()
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(data), answer.Header.Get("ETag")
}

// TestCatalog asks for what clients ask for, before and after the tables of a lake are published.
func TestCatalog(t *testing.T) {
	t.Parallel()
	w := world.ShortLake(t)
	h := rest.New(rest.Config{Store: w.Store})
	const tables = "/iceberg/v1/namespaces/current/tables"
	want := func(method, path string, status int, parts ...string) string {
		t.Helper()
		got, body, _ := ask(t, h, method, path)
		if got != status {
			t.Errorf("%s %s: status %d, want %d: %s", method, path, got, status, body)
		}
		for _, part := range parts {
			if !strings.Contains(body, part) {
				t.Errorf("%s %s: %.300s, want %s in it", method, path, body, part)
			}
		}
		return body
	}
	want("GET", tables, 200, `{"identifiers":[]}`)
	want("GET", tables+"/bond_priced_deals", 404, `"type":"NoSuchTableException"`)
	if _, err := maintain.Tables(t.Context(), maintain.TablesConfig{
		Config: w.Upkeep(t, func(c *maintain.Config) { c.NoCatalog = true }), Change: func(s *iceberg.Settings) { s.On = true },
	}); err != nil {
		t.Fatal(err)
	}
	want("GET", "/iceberg/v1/config?warehouse=any", 200, `"defaults":{"dealflow.credentials":"none: `, `"overrides":{}`, `"GET /v1/{prefix}/namespaces/{namespace}/tables/{table}"`)
	want("GET", "/iceberg/v1/namespaces", 200, `{"namespaces":[["current"],["history"],["snapshots"]]}`)
	want("GET", "/iceberg/v1/namespaces?parent=current", 200, `{"namespaces":[]}`)
	want("GET", "/iceberg/v1/namespaces?parent=none", 404, `"type":"NoSuchNamespaceException"`)
	want("GET", "/iceberg/v1/namespaces/history", 200, `"namespace":["history"]`)
	want("HEAD", "/iceberg/v1/namespaces/history", 204)
	want("HEAD", "/iceberg/v1/namespaces/none", 404)
	want("GET", tables+"?pageToken=", 200, `{"namespace":["current"],"name":"loan_priced_tranche_banks"}`)
	want("GET", "/iceberg/v1/namespaces/none/tables", 404, `"code":404`, `"type":"NoSuchNamespaceException"`)
	want("HEAD", tables+"/bond_priced_deals", 204)
	want("HEAD", tables+"/none", 404)
	want("GET", "/iceberg/v1/namespaces/current%1Fbond_priced_deals/tables/snapshots", 404, `"type":"NoSuchTableException"`)
	for _, method := range []string{"POST", "DELETE", "PUT"} {
		want(method, tables+"/bond_priced_deals", 403, `"type":"ForbiddenException"`, `"code":403`)
	}
	want("GET", "/iceberg/v1/views", 403, `"type":"ForbiddenException"`)
	var loaded struct {
		Location string `json:"metadata-location"`
		Metadata struct {
			Current   int64  `json:"current-snapshot-id"`
			Location  string `json:"location"`
			Snapshots []any  `json:"snapshots"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(want("GET", tables+"/bond_priced_deals?snapshots=all", 200)), &loaded); err != nil {
		t.Fatal(err)
	}
	m := loaded.Metadata
	if m.Current != 4 || len(m.Snapshots) != 4 || !strings.HasPrefix(loaded.Location, "file://"+w.Root+"/") || !strings.HasPrefix(loaded.Location, m.Location+"/") {
		t.Errorf("got %+v, want commits 1 to 4 under file://%s", loaded, w.Root)
	}
	_, _, tag := ask(t, h, "GET", tables+"/bond_priced_deals")
	if status, body, _ := ask(t, h, "GET", tables+"/bond_priced_deals", "If-None-Match", tag); tag == "" || status != 304 || body != "" {
		t.Errorf("the same again: tag %s, status %d, %q; want 304 without a body", tag, status, body)
	}
}

// TestWhoMayAsk has the catalog of a server need a token, and a server without tables not have it.
func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	w := world.ShortLake(t)
	market := sim.New(sim.Config{Seed: 1, Deals: 1})
	handler := func(tables http.Handler) http.Handler {
		server, err := serve.New(serve.Config{Source: market, Tables: tables, BaseURL: "http://lake.example/base"})
		if err != nil {
			t.Fatal(err)
		}
		return server.Handler()
	}
	h := handler(rest.New(rest.Config{Store: w.Store}))
	const path = "/base/iceberg/v1/config"
	if status, body, _ := ask(t, h, "GET", path); status != 401 {
		t.Errorf("without a token: %d %s, want 401", status, body)
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "http://lake.example/base/oauth/token", strings.NewReader("grant_type=client_credentials"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("demo", "demo")
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	var token struct {
		Text string `json:"access_token"`
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &token); err != nil {
		t.Fatalf("%s: %v", answer.Body, err)
	}
	if status, body, _ := ask(t, h, "GET", path, "Authorization", "Bearer "+token.Text); status != 200 {
		t.Errorf("with a token: %d %s, want 200", status, body)
	}
	if status, body, _ := ask(t, handler(nil), "GET", path, "Authorization", "Bearer "+token.Text); status != 404 && status != 401 {
		t.Errorf("without tables: %d %s, want none", status, body)
	}
}
