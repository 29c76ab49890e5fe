// Package lineagetest checks the form of events of OpenLineage, for tests.
// Takes: an event as it is sent.
// Gives: its parts; the test fails if the event, or one of its facets, does not have the form of the specification 2-0-2.
// Keeps: a member or a facet that the table of forms does not name is refused, also where the specification would let it be.
// Fails: by failing the test, with the path of each member that is wrong.
// May change here: which facets have a form.
package lineagetest

import (
	"encoding/json"
	"testing"
)

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

// Parse checks the form of an event and of its facets, and returns the event.
func Parse(t testing.TB, document []byte) Event {
	t.Helper()
	if err := check(document); err != nil {
		t.Errorf("%v\nin the event %s", err, document)
	}
	var e Event
	if err := json.Unmarshal(document, &e); err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	return e
}
