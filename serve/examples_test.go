package serve_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"dealflow/internal/testkit"
	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// examples collects an example of each schema and parameter of openapi.yaml.
type examples struct {
	Parameters map[string]any `json:"parameters"`
	Schemas    map[string]any `json:"schemas"`

	scores map[string]int
}

// TestExamples compares schemas/api/examples.json with what a simulated market answers; with -update it writes the file.
// Every schema and every parameter has an example, which keeps to its schema.
func TestExamples(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	got := &examples{Parameters: map[string]any{}, Schemas: map[string]any{}, scores: map[string]int{}}
	c := exampleMarket(t)
	for _, path := range []string{"/v3", "/v3/bond", "/v3/bond/ig"} {
		got.ask(c, doc, path, path)
	}
	for _, feed := range api.Feeds() {
		page := c.page(feed.Path() + "?pageSize=1000")
		ref := doc.Paths.Value(feed.Path() + "/{id}").Get.Responses.Value("200").Value.Content.Get("application/hal+json").Schema
		for _, deal := range page.Embedded[feed.ListKey()] {
			got.harvest(ref, decoded(t, deal))
		}
		got.ask(c, doc, feed.Path(), feed.Path()+"?pageSize=1")
	}
	got.parameters(t, c)
	got.Schemas["Token"] = map[string]any{"access_token": c.token, "token_type": "Bearer", "expires_in": 3600}
	_, _, body := c.get(setA.DealPath(1))
	fault := decoded(t, body).(map[string]any)
	fault["errorId"] = "1b4e28ba-2fa1-41d2-883f-0016d3cca427" // another one in each answer
	got.Schemas["Error"] = fault

	for name, ref := range doc.Components.Schemas {
		check(t, name, ref.Value, got.Schemas[name])
	}
	for name, ref := range doc.Components.Parameters {
		check(t, name, ref.Value.Schema.Value, got.Parameters[name])
	}
	text, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "../schemas/api/examples.json", append(text, '\n'))
}

// exampleMarket returns a client of a market on a busy day, at the address that openapi.yaml names.
func exampleMarket(t *testing.T) *client {
	const base = "http://127.0.0.1:8900"
	now := epoch.Add(39*time.Hour + 30*time.Minute)
	source := sim.New(sim.Config{Seed: 1, Deals: 60, PerDay: 10, Epoch: epoch, Clock: func() time.Time { return now }, Quirks: &sim.Quirks{LinkExtras: 0.05}})
	server, err := serve.New(serve.Config{Source: source, BaseURL: base, SigningKeys: [][]byte{[]byte(strings.Repeat("k", serve.MinSigningKey))}})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, base: base, http: &http.Client{Transport: handlerTransport{server.Handler()}}}
	c.token = c.newToken("demo", "demo")
	return c
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// ask takes the answer of a path.
func (x *examples) ask(c *client, doc *openapi3.T, described, path string) {
	status, _, body := c.get(path)
	if status != http.StatusOK {
		c.t.Fatalf("%s: %d %s", path, status, body)
	}
	x.harvest(doc.Paths.Value(described).Get.Responses.Value("200").Value.Content.Get("application/hal+json").Schema, decoded(c.t.(*testing.T), body))
}

// harvest keeps a value, and those in it, as the examples of their schemas if they show more members than the ones
// before; of two that show as many, the shorter one.
func (x *examples) harvest(ref *openapi3.SchemaRef, value any) {
	schema := ref.Value
	if name := path.Base(ref.Ref); ref.Ref != "" {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // it was read from JSON
		}
		seen := map[string]bool{}
		members(value, "", seen)
		if score := len(seen)*1_000_000 - len(text); x.Schemas[name] == nil || score > x.scores[name] {
			x.Schemas[name], x.scores[name] = value, score
		}
	}
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			x.harvest(schema.Items, item)
		}
	case map[string]any:
		for name, inner := range value {
			if property := schema.Properties[name]; property != nil {
				x.harvest(property, inner)
			} else if schema.AdditionalProperties.Schema != nil {
				x.harvest(schema.AdditionalProperties.Schema, inner)
			}
		}
	}
}

// members collects the places of all members.
func members(value any, at string, into map[string]bool) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			members(item, at+"/*", into)
		}
	case map[string]any:
		for name, inner := range value {
			into[at+"/"+name] = true
			members(inner, at+"/"+name, into)
		}
	}
}

// parameters takes values that the market's own answers give.
func (x *examples) parameters(t *testing.T, c *client) {
	parameter := func(href, name string) string {
		u, err := url.Parse(href)
		if err != nil || u.Query().Get(name) == "" {
			t.Fatalf("%s: no %s (%v)", href, name, err)
		}
		return u.Query().Get(name)
	}
	page := c.page(setA.Path() + "?pageSize=2")
	priced := decoded(t, page.Embedded[setA.ListKey()][1]).(map[string]any)
	expected := decoded(t, c.page(setC.Path() + "?pageSize=2").Embedded[setC.ListKey()][0]).(map[string]any)
	loan := decoded(t, c.page(setB.Path() + "?pageSize=2").Embedded[setB.ListKey()][0]).(map[string]any)
	x.Parameters["seeker"] = parameter(page.Links[api.LinkNext].Href, "seeker")
	x.Parameters["updatedSince"] = parameter(priced["_links"].(map[string]any)["updatedSince"].(map[string]any)["href"].(string), "updatedSince")
	x.Parameters["pageSize"] = 25
	x.Parameters["pricingDateFrom"], x.Parameters["pricingDateTo"] = priced["pricingDate"], priced["pricingDate"]
	x.Parameters["changedFrom"], x.Parameters["changedTo"] = expected["changed"], expected["changed"]
	x.Parameters["id32"], x.Parameters["id64"] = priced["dealId"], loan["dealId"]
}

// check compares an example with its schema.
func check(t *testing.T, name string, schema *openapi3.Schema, example any) {
	t.Helper()
	if example == nil {
		t.Errorf("%s has no example", name)
		return
	}
	text, err := json.Marshal(example)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	if err := schema.VisitJSON(plain, openapi3.EnableFormatValidation()); err != nil {
		t.Errorf("%s: the example %s: %v", name, text, err)
	}
}

// TestExamplesAreServed checks that the description that a server shows has all examples, under its own address, and that
// the page shows them.
func TestExamplesAreServed(t *testing.T) {
	client := start(t, serve.Config{Source: newStand()})
	_, _, body := client.get("/openapi.json", "Authorization", "")
	doc, err := openapi3.NewLoader().LoadFromData(body)
	if err != nil {
		t.Fatal(err)
	}
	for name, ref := range doc.Components.Schemas {
		if ref.Value.Example == nil {
			t.Errorf("the schema %s is served without an example", name)
		}
	}
	for name, ref := range doc.Components.Parameters {
		if ref.Value.Example == nil {
			t.Errorf("the parameter %s is served without an example", name)
		}
	}
	if bytes.Contains(body, []byte("127.0.0.1:8900")) {
		t.Error("the description has another address than the server's")
	}
	_, _, page := client.get("/docs", "Authorization", "")
	for _, want := range []string{"&#34;nominalWithRetained&#34;: {", client.base + "/v3/bond/ig/priced-deal", "two years", "Retry-After", "YYYY-MM-DDThh:mm:ssZ"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page does not show %s", want)
		}
	}
}

// TestEverythingIsDescribed checks that each schema, member and parameter says what it is.
func TestEverythingIsDescribed(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	var walk func(name string, ref *openapi3.SchemaRef)
	walk = func(name string, ref *openapi3.SchemaRef) {
		if ref.Value.Description == "" {
			t.Errorf("%s is not described", name)
		}
		if ref.Ref != "" {
			return // it is described at its own place
		}
		for member, property := range ref.Value.Properties {
			walk(name+"."+member, property)
		}
	}
	for name, ref := range doc.Components.Schemas {
		walk(name, ref)
	}
	for name, ref := range doc.Components.Parameters {
		if ref.Value.Description == "" {
			t.Errorf("the parameter %s is not described", name)
		}
	}
	for _, want := range []string{"429", "Retry-After", "Free Trial", "two years", "YYYY-MM-DDThh:mm:ssZ"} {
		if !slices.ContainsFunc(strings.Split(doc.Info.Description, "\n"), func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("the description does not speak of %s", want)
		}
	}
}
