package lineagetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// rule says whether a value, decoded with numbers as json.Number, is what a member may have. Its errors begin with the path
// of the member.
type rule func(path string, value any) error

// object has the rules of an object's members.
type object struct {
	required map[string]rule
	optional map[string]rule
}

// event is the form of a RunEvent.
var event = object{
	required: map[string]rule{
		"eventTime": instant,
		"producer":  uri,
		"schemaURL": exactly("https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"),
		"run": object{
			required: map[string]rule{"runId": runID},
			optional: map[string]rule{"facets": facets("RunFacet")},
		}.check,
		"job": object{
			required: map[string]rule{"namespace": text, "name": text},
			optional: map[string]rule{"facets": facets("JobFacet")},
		}.check,
	},
	optional: map[string]rule{
		"eventType": oneOf("START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"),
		"inputs":    listOf(dataset("inputFacets", "InputDatasetFacet")),
		"outputs":   listOf(dataset("outputFacets", "OutputDatasetFacet")),
	},
}

func dataset(ownFacets, kind string) rule {
	return object{
		required: map[string]rule{"namespace": text, "name": text},
		optional: map[string]rule{"facets": facets("DatasetFacet"), ownFacets: facets(kind)},
	}.check
}

// facetForm is the form of a facet, without _producer and _schemaURL.
type facetForm struct {
	kind    string // the place in which it may be
	version string
	name    string // of its type
	object
}

// forms has the facets that we send, by the names under which a thing has them.
var forms = map[string]facetForm{
	"processing_engine": {"RunFacet", "1-1-1", "ProcessingEngineRunFacet", object{
		required: map[string]rule{"version": text},
		optional: map[string]rule{"name": text, "openlineageAdapterVersion": text},
	}},
	"errorMessage": {"RunFacet", "1-0-1", "ErrorMessageRunFacet", object{
		required: map[string]rule{"message": text, "programmingLanguage": text},
		optional: map[string]rule{"stackTrace": text},
	}},
	"nominalTime": {"RunFacet", "1-0-1", "NominalTimeRunFacet", object{
		required: map[string]rule{"nominalStartTime": instant},
		optional: map[string]rule{"nominalEndTime": instant},
	}},
	"jobType": {"JobFacet", "2-0-4", "JobTypeJobFacet", object{
		required: map[string]rule{"processingType": text, "integration": text},
		optional: map[string]rule{"jobType": text},
	}},
	"documentation": {"JobFacet", "1-1-0", "DocumentationJobFacet", object{
		required: map[string]rule{"description": text},
		optional: map[string]rule{"contentType": text},
	}},
	"version": {"DatasetFacet", "1-0-1", "DatasetVersionDatasetFacet", object{
		required: map[string]rule{"datasetVersion": text},
	}},
	"schema": {"DatasetFacet", "1-2-0", "SchemaDatasetFacet", object{
		optional: map[string]rule{"fields": listOf(object{
			required: map[string]rule{"name": text},
			optional: map[string]rule{"type": text, "description": text, "ordinal_position": whole},
		}.check)},
	}},
	"inputStatistics": {"InputDatasetFacet", "1-0-0", "InputStatisticsInputDatasetFacet", object{
		optional: map[string]rule{"rowCount": whole, "size": whole, "fileCount": whole},
	}},
	"outputStatistics": {"OutputDatasetFacet", "1-0-2", "OutputStatisticsOutputDatasetFacet", object{
		optional: map[string]rule{"rowCount": whole, "size": whole, "fileCount": whole},
	}},
}

// facets is the rule of an object of facets of one kind.
func facets(kind string) rule {
	all := object{optional: map[string]rule{}}
	for name, form := range forms {
		if form.kind != kind {
			continue
		}
		required := maps.Clone(form.required)
		if required == nil {
			required = map[string]rule{}
		}
		required["_producer"] = uri
		required["_schemaURL"] = exactly("https://openlineage.io/spec/facets/" + form.version + "/" + form.name + ".json#/$defs/" + form.name)
		all.optional[name] = object{required, form.optional}.check
	}
	return all.check
}

// check says what is wrong with the form of an event; the error names all members that are.
func check(document []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	return event.check("event", value)
}

// check is the rule of the object.
func (o object) check(path string, value any) error {
	members, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: got %v, want an object", path, value)
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(o.required)) {
		if _, ok := members[name]; !ok {
			wrong = append(wrong, fmt.Errorf("%s.%s: missing", path, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		follow := o.required[name]
		if follow == nil {
			follow = o.optional[name]
		}
		if follow == nil {
			wrong = append(wrong, fmt.Errorf("%s.%s: no member of this object", path, name))
		} else {
			wrong = append(wrong, follow(path+"."+name, members[name]))
		}
	}
	return errors.Join(wrong...)
}

func listOf(item rule) rule {
	return func(path string, value any) error {
		items, ok := value.([]any)
		if !ok {
			return fmt.Errorf("%s: got %v, want a list", path, value)
		}
		var wrong []error
		for i := range items {
			wrong = append(wrong, item(fmt.Sprintf("%s[%d]", path, i), items[i]))
		}
		return errors.Join(wrong...)
	}
}

func text(path string, value any) error {
	if _, ok := value.(string); !ok {
		return fmt.Errorf("%s: got %v, want a text", path, value)
	}
	return nil
}

func oneOf(texts ...string) rule {
	return func(path string, value any) error {
		if got, ok := value.(string); !ok || !slices.Contains(texts, got) {
			return fmt.Errorf("%s: got %v, want one of %q", path, value, texts)
		}
		return nil
	}
}

func exactly(want string) rule { return oneOf(want) }

func whole(path string, value any) error {
	number, _ := value.(json.Number)
	if _, err := strconv.ParseInt(string(number), 10, 64); err != nil {
		return fmt.Errorf("%s: got %v, want a whole number", path, value)
	}
	return nil
}

// instant is the rule of a date-time of RFC 3339, which has a zone.
func instant(path string, value any) error {
	got, _ := value.(string)
	if _, err := time.Parse(time.RFC3339, got); err != nil {
		return fmt.Errorf("%s: got %v, want a date-time of RFC 3339", path, value)
	}
	return nil
}

// runID is the rule of a UUID in its usual form, with hyphens alone.
func runID(path string, value any) error {
	got, _ := value.(string)
	if _, err := uuid.Parse(got); err != nil || len(got) != len(uuid.Nil.String()) {
		return fmt.Errorf("%s: got %v, want a UUID", path, value)
	}
	return nil
}

// uri is the rule of an absolute URI.
func uri(path string, value any) error {
	got, _ := value.(string)
	if u, err := url.Parse(got); err != nil || !u.IsAbs() {
		return fmt.Errorf("%s: got %v, want an absolute URI", path, value)
	}
	return nil
}
