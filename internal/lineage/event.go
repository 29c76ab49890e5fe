package lineage

import (
	"encoding/json"
	"time"
)

// Where the schemas of events and facets are published.
const (
	specification = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
	facets        = "https://openlineage.io/spec/facets/"
)

// EventType says what became of a run.
type EventType string

// The types of events.
const (
	Start    EventType = "START"
	Complete EventType = "COMPLETE"
	Fail     EventType = "FAIL"
	Abort    EventType = "ABORT" // skipped, or cancelled by a signal
)

// event is an event as a JSON document.
type event struct {
	EventType EventType `json:"eventType"`
	EventTime time.Time `json:"eventTime"`
	Producer  string    `json:"producer"`
	SchemaURL string    `json:"schemaURL"`
	Run       run       `json:"run"`
	Job       job       `json:"job"`
	Inputs    []dataset `json:"inputs"`
	Outputs   []dataset `json:"outputs"`
}

type run struct {
	RunID  string   `json:"runId"`
	Facets facetMap `json:"facets"`
}

type job struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Facets    facetMap `json:"facets"`
}

type dataset struct {
	Namespace    string   `json:"namespace"`
	Name         string   `json:"name"`
	Facets       facetMap `json:"facets"`
	InputFacets  facetMap `json:"inputFacets,omitempty"`
	OutputFacets facetMap `json:"outputFacets,omitempty"`
}

// facetMap has the facets of a thing by their names.
type facetMap map[string]map[string]any

// facet returns a facet of a published type and version, such as 1-0-1 of ErrorMessageRunFacet.
func facet(producer, version, name string, fields map[string]any) map[string]any {
	fields["_producer"], fields["_schemaURL"] = producer, facets+version+"/"+name+".json#/$defs/"+name
	return fields
}

func (e *event) encode() ([]byte, error) {
	if e.Inputs == nil {
		e.Inputs = []dataset{}
	}
	if e.Outputs == nil {
		e.Outputs = []dataset{}
	}
	return json.Marshal(e)
}
