package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// contract checks answers against the description that the server serves. It is stricter than the description: a member
// that is not described is an error.
type contract struct {
	client *client
	router routers.Router
	seen   map[string]bool // operation and status
}

func newContract(client *client) *contract {
	client.t.Helper()
	_, _, body := client.get("/openapi.json", "Authorization", "")
	doc, err := openapi3.NewLoader().LoadFromData(body)
	if err != nil {
		client.t.Fatal(err)
	}
	if doc.Servers[0].URL != client.base || doc.Components.SecuritySchemes["oauth2"].Value.Flows.ClientCredentials.TokenURL != client.base+"/oauth/token" {
		client.t.Errorf("the description names other addresses than %s", client.base)
	}
	none := false
	for _, schema := range doc.Components.Schemas {
		closeObjects(schema, &none)
	}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		client.t.Fatal(err)
	}
	return &contract{client, router, map[string]bool{}}
}

func closeObjects(ref *openapi3.SchemaRef, none *bool) {
	schema := ref.Value
	if ref.Ref != "" || len(schema.Properties) == 0 {
		if ref.Ref == "" && schema.Items != nil {
			closeObjects(schema.Items, none)
		}
		return
	}
	schema.AdditionalProperties = openapi3.AdditionalProperties{Has: none}
	for _, property := range schema.Properties {
		closeObjects(property, none)
	}
}

func (c *contract) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.(*http.Transport).RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	route, params, err := c.router.FindRoute(r)
	if err != nil {
		c.client.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		return response, nil
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 response.StatusCode, Header: response.Header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	c.seen[route.Operation.OperationID] = true
	if err := openapi3filter.ValidateResponse(context.Background(), input); err != nil {
		c.client.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	return response, nil
}

// TestAnswersKeepTheContract calls every endpoint of every market, with success and with errors.
func TestAnswersKeepTheContract(t *testing.T) {
	openapi3filter.RegisterBodyDecoder("application/hal+json", openapi3filter.JSONBodyDecoder)
	quirks := sim.Quirks{}
	client, _, clock := market(t, sim.Config{Seed: 3, Deals: 60, Quirks: &quirks})
	clock.Advance(72 * time.Hour)
	contract := newContract(client)
	client.http.Transport = contract
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()

	if client.newToken("demo", "demo") == "" {
		t.Fatal("no token")
	}
	client.askToken("demo", "wrong", "text/plain", "", "")
	client.askToken("demo", "demo", "text/plain", "", "")
	paths := []string{"/v3"}
	for _, service := range api.Services() {
		paths = append(paths, "/v3/"+string(service))
		for _, market := range api.Markets(service) {
			paths = append(paths, "/v3/"+string(service)+"/"+market.Lower())
		}
	}
	for _, path := range paths {
		if status, _, body := client.get(path); status != 200 {
			t.Errorf("%s: %d %s", path, status, body)
		}
		if status, _, _ := client.get(path, "Authorization", ""); status != 401 {
			t.Errorf("%s without a token: %d", path, status)
		}
	}
	for _, feed := range api.Feeds() {
		page := client.page(feed.Path() + "?pageSize=25")
		deals := client.deals(feed, page)
		for _, deal := range deals[:min(3, len(deals))] {
			if status, _, body := client.get(feed.DealPath(deal.id)); status != 200 {
				t.Errorf("%s: %d %s", feed.DealPath(deal.id), status, body)
			}
		}
		if len(deals) == 0 {
			t.Errorf("%s: no deals", feed)
		}
		if next := page.Links[api.LinkNext].Href; next != "" {
			client.page(next)
		}
		for path, want := range map[string]int{feed.Path() + "?pageSize=0": 400, feed.DealPath(999999999): 404} {
			if status, _, body := client.get(path); status != want {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
	}
	if want := 1 + 3 + 6 + 4*6; len(contract.seen) != want {
		t.Errorf("%d operations were asked, the API has %d: %v", len(contract.seen), want, slices.Sorted(maps.Keys(contract.seen)))
	}
}

func TestDocsPageStandsAlone(t *testing.T) {
	client := start(t, serve.Config{Source: newStand()})
	status, header, body := client.get("/docs", "Authorization", "")
	page := string(body)
	if status != 200 || header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%d %v", status, header)
	}
	for _, want := range []string{"/v3/bond/ig/priced-deal/{id}", "nominalWithExchange", "pricingDateFrom", "INVESTMENT | SUB_INVESTMENT | UNRATED", client.base + "/oauth/token"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %s", want)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "ZgotmplZ") {
		t.Error("the page holds a script, or text that the template refused")
	}
	for _, address := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if anchor, ok := strings.CutPrefix(address[1], "#"); ok {
			if !strings.Contains(page, `id="`+anchor+`"`) {
				t.Errorf("the page has no place %s", anchor)
			}
			continue
		}
		if address[1] != client.base+"/openapi.json" {
			t.Errorf("the page leads to %s", address[1])
		}
	}
}

func TestOpenAPIOverHTTPIsJSON(t *testing.T) {
	client := start(t, serve.Config{Source: newStand()})
	status, header, body := client.get("/openapi.json", "Authorization", "")
	if status != 200 || header.Get("Content-Type") != "application/json" || !json.Valid(body) {
		t.Errorf("%d %v", status, header)
	}
}
