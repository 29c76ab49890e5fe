package api_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"dealflow/internal/testkit"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// description loads openapi.yaml and checks that it is OpenAPI.
func description(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestOpenAPIIsValid(t *testing.T) {
	doc := description(t)
	if doc.Info.Version != "3.4.0" || !strings.HasPrefix(doc.OpenAPI, "3.0.") {
		t.Errorf("OpenAPI %s, version %s", doc.OpenAPI, doc.Info.Version)
	}
	seen := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.OperationID == "" || seen[operation.OperationID] {
				t.Errorf("%s %s: operationId %q is missing or stands twice", method, path, operation.OperationID)
			}
			seen[operation.OperationID] = true
			for _, status := range []string{"200", "400", "401", "403", "404", "429", "500"} {
				if operation.Responses.Value(status) == nil {
					t.Errorf("%s %s: no answer %s", method, path, status)
				}
			}
			for code := range operation.Responses.Map() {
				number, err := strconv.Atoi(code)
				if _, known := api.StatusByCode(number); err != nil || !known {
					t.Errorf("%s %s: %s is not in the table of statuses", method, path, code)
				}
			}
		}
	}
}

// withoutColumn contains the properties for which no table has a column, and the reason.
var withoutColumn = map[string]string{
	"/market":              "it is the feed's own; the key column market holds it, and a difference is drift",
	"/dealId":              "it is the key column deal_id",
	"/id":                  "it is the key column deal_id",
	"/_links/updatedSince": "where to read on, not content: the log keeps it per feed",
	"hreflang":             "of a link only href is content",
	"title":                "of a link only href is content",
	"type of a link":       "of a link only href is content",
	"deprecation":          "of a link only href is content",
	"profile":              "of a link only href is content",
	"name of a link":       "of a link only href is content",
	"templated":            "of a link only href is content",
}

// leaves collects the pointers of all values in a schema; "*" is any entry.
func leaves(schema *openapi3.Schema, at string, into map[string]bool) {
	switch {
	case schema.Items != nil:
		leaves(schema.Items.Value, at+"/*", into)
	case schema.AdditionalProperties.Schema != nil:
		leaves(schema.AdditionalProperties.Schema.Value, at+"/*", into)
	case len(schema.Properties) > 0:
		for name, property := range schema.Properties {
			leaves(property.Value, at+"/"+name, into)
		}
	default:
		into[at] = true
	}
}

// TestColumnsAndPropertiesAgree compares openapi.yaml with the lake's columns, in both directions, for every market.
func TestColumnsAndPropertiesAgree(t *testing.T) {
	doc := description(t)
	used := map[string]bool{}
	for _, feed := range api.Feeds() {
		answer := doc.Paths.Value(feed.Path() + "/{id}").Get.Responses.Value("200").Value
		record := answer.Content.Get("application/hal+json").Schema.Value
		properties, columns := map[string]bool{}, map[string]bool{}
		leaves(record, "", properties)
		for _, table := range lake.FeedTables(feed) {
			for i := range table.Columns {
				if column := &table.Columns[i]; column.Pointer != "" && column.In(feed.Market) {
					columns[column.Pointer] = true
				}
			}
		}
		for _, pointer := range slices.Sorted(maps.Keys(properties)) {
			if reason := reasonFor(pointer); reason != "" {
				used[reason] = true
			}
			if columns[pointer] == (reasonFor(pointer) != "") {
				t.Errorf("%s: property %s has a column: %t, named as having none: %t", feed, pointer, columns[pointer], !columns[pointer])
			}
		}
		for _, pointer := range slices.Sorted(maps.Keys(columns)) {
			if !properties[pointer] {
				t.Errorf("%s: column of %s, which is no property", feed, pointer)
			}
		}
		for _, table := range lake.FeedTables(feed) {
			for i := range table.Columns {
				column := &table.Columns[i]
				if column.Pointer == "" || !column.In(feed.Market) {
					continue
				}
				property := find(record, column.Pointer)
				if property == nil {
					continue
				}
				var allowed []string
				for _, value := range property.Enum {
					allowed = append(allowed, value.(string))
				}
				if want := column.AllowedIn(feed.Market); !slices.Equal(slices.Sorted(slices.Values(allowed)), slices.Sorted(slices.Values(want))) {
					t.Errorf("%s %s: the description allows %q, the column %q", feed, column.Pointer, allowed, want)
				}
			}
		}
	}
	for reason := range withoutColumn {
		if !used[reason] {
			t.Errorf("%q is named as without a column, and there is no such property", reason)
		}
	}
}

// requiredMembers lists the pointers of the members that a schema requires, at any depth.
func requiredMembers(schema *openapi3.Schema, at string) (all []string) {
	switch {
	case schema.Items != nil:
		return requiredMembers(schema.Items.Value, at+"/*")
	case schema.AdditionalProperties.Schema != nil:
		return requiredMembers(schema.AdditionalProperties.Schema.Value, at+"/*")
	}
	for _, name := range schema.Required {
		all = append(all, at+"/"+name)
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		all = append(all, requiredMembers(schema.Properties[name].Value, at+"/"+name)...)
	}
	return all
}

// TestRequired compares required.txt with openapi.yaml; with -update it writes the file.
func TestRequired(t *testing.T) {
	doc := description(t)
	var want strings.Builder
	for _, feed := range api.Feeds() {
		answer := doc.Paths.Value(feed.Path() + "/{id}").Get.Responses.Value("200").Value
		pointers := requiredMembers(answer.Content.Get("application/hal+json").Schema.Value, "")
		slices.Sort(pointers)
		for _, pointer := range pointers {
			fmt.Fprintf(&want, "%s %s\n", feed, pointer)
		}
		if got := api.Required(feed); !testkit.Updating() && !slices.Equal(got, pointers) {
			t.Errorf("%s: got required members %q, want %q", feed, got, pointers)
		}
	}
	testkit.Golden(t, "required.txt", []byte(want.String()))
}

// TestRequiredOfDocument compares the required members with the API document (docs/reference/api.md), counted there by
// hand: of the deal itself, and of some objects in it.
func TestRequiredOfDocument(t *testing.T) {
	// Members that the document says are required of the deal itself.
	for text, want := range map[string]int{
		"bond/ig/priced": 31, "bond/hy/priced": 31, "bond/em/priced": 30, "bond/ig/expected": 8, "bond/hy/expected": 8, "bond/em/expected": 7,
		"loan/ll/priced": 5, "loan/cf/priced": 5, "loan/af/priced": 5, "loan/ll/expected": 8, "loan/cf/expected": 8, "loan/af/expected": 8,
	} {
		feed, err := api.ParseFeed(text)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, pointer := range api.Required(feed) {
			if strings.Count(pointer, "/") == 1 {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: got %d required members of the deal, want %d", feed, got, want)
		}
	}
	for text, members := range map[string]struct {
		required, optional []string
	}{
		"loan/ll/priced": {
			[]string{"/dealTotal/converted", "/dealTotal/currencies/*/amount", "/borrower/ratings/fitch", "/tranches/*/banks/*/type/mla", "/tranches/*/pik/value", "/useOfProceeds/gcp"},
			[]string{"/dealTotal/currencies", "/dealTotal/currencies/*/currency", "/tranches/*/nominal/amount", "/tranches/*/fxRate/usd", "/_links/self/href", "/useOfProceeds/lbo"},
		},
		"bond/em/priced": {
			[]string{"/premium", "/nominal/converted/usd", "/total/nominal", "/banks/*/status", "/priceEvolution/*/date", "/borrower/type"},
			[]string{"/currency", "/pref", "/borrower", "/rating/moodys", "/stats", "/premium/nip"},
		},
		"bond/ig/expected": {
			[]string{"/coveredBonds", "/_embedded/tranches/*/status", "/dealHistory/*/message"},
			[]string{"/_embedded", "/_embedded/tranches", "/dealHistory/*/headline", "/_links"},
		},
	} {
		feed, err := api.ParseFeed(text)
		if err != nil {
			t.Fatal(err)
		}
		got := api.Required(feed)
		for _, pointer := range members.required {
			if !slices.Contains(got, pointer) {
				t.Errorf("%s: %s is not required, want it to be", feed, pointer)
			}
		}
		for _, pointer := range members.optional {
			if slices.Contains(got, pointer) {
				t.Errorf("%s: %s is required, want it not to be", feed, pointer)
			}
		}
	}
}

// reasonFor returns the reason in withoutColumn for a pointer; "" if it has none.
func reasonFor(pointer string) string {
	link, member, isLink := strings.Cut(pointer, "_links/")
	if !isLink {
		if withoutColumn[pointer] != "" {
			return pointer
		}
		return ""
	}
	name, member, _ := strings.Cut(member, "/")
	if whole := link + "_links/" + name; withoutColumn[whole] != "" {
		return whole
	}
	for _, key := range []string{member, member + " of a link"} {
		if withoutColumn[key] != "" {
			return key
		}
	}
	return ""
}

// find is the schema at a pointer.
func find(schema *openapi3.Schema, pointer string) *openapi3.Schema {
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		var next *openapi3.SchemaRef
		switch {
		case name == "*" && schema.Items != nil:
			next = schema.Items
		case name == "*":
			next = schema.AdditionalProperties.Schema
		default:
			next = schema.Properties[name]
		}
		if next == nil {
			return nil
		}
		schema = next.Value
	}
	return schema
}
