// Package lineagetest validates events of OpenLineage against the published JSON schema, for tests.
// Takes: an event as it is sent.
// Gives: its parts; the test fails if the event, or one of its facets, does not keep to its schema.
// Keeps: each facet is validated by the schema that it names; one without a schema here fails.
// Fails: by failing the test.
// May change here: which facets have a schema.
package lineagetest

import (
	"bytes"
	"embed"
	"encoding/json"
	"path"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed testdata/spec/*.json
var spec embed.FS

// Facets are the facets of a thing by their names.
type Facets map[string]map[string]any

// Event is an event of OpenLineage.
type Event struct {
	EventType string `json:"eventType"`
	EventTime string `json:"eventTime"`
	Run       struct {
		RunID  string `json:"runId"`
		Facets Facets `json:"facets"`
	} `json:"run"`
	Job struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
		Facets    Facets `json:"facets"`
	} `json:"job"`
	Inputs  []Dataset `json:"inputs"`
	Outputs []Dataset `json:"outputs"`
}

// Dataset is a data set of an event.
type Dataset struct {
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	Facets       Facets `json:"facets"`
	InputFacets  Facets `json:"inputFacets"`
	OutputFacets Facets `json:"outputFacets"`
}

// Parse validates an event and its facets, and returns it.
func Parse(t testing.TB, document []byte) Event {
	t.Helper()
	compiler := compilerOf(t)
	var e Event
	var plain struct {
		SchemaURL string `json:"schemaURL"`
	}
	if err := json.Unmarshal(document, &e); err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	if err := json.Unmarshal(document, &plain); err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	validate(t, compiler, plain.SchemaURL, value)
	all := []Facets{e.Run.Facets, e.Job.Facets}
	for _, d := range append(append([]Dataset{}, e.Inputs...), e.Outputs...) {
		all = append(all, d.Facets, d.InputFacets, d.OutputFacets)
	}
	checked := 0
	for _, facets := range all {
		for name, f := range facets {
			url, _ := f["_schemaURL"].(string)
			// The file of a facet says by which name a thing has it.
			file, _, _ := strings.Cut(url, "#")
			validate(t, compiler, file, map[string]any{name: any(f)})
			validate(t, compiler, url, any(f))
			checked++
		}
	}
	if checked == 0 {
		t.Errorf("the event has no facets: %s", document)
	}
	return e
}

func validate(t testing.TB, compiler *jsonschema.Compiler, url string, value any) {
	t.Helper()
	schema, err := compiler.Compile(url)
	if err != nil {
		t.Fatalf("schema %s: %v", url, err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v", url, err)
	}
}

// compilerOf returns a compiler that has the files of the specification, under the addresses that they name.
func compilerOf(t testing.TB) *jsonschema.Compiler {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	const folder = "testdata/spec"
	files, err := spec.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := spec.ReadFile(path.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource(document.(map[string]any)["$id"].(string), document); err != nil {
			t.Fatal(err)
		}
	}
	return compiler
}
