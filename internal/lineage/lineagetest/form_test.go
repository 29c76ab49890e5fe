package lineagetest

import (
	"strings"
	"testing"
)

const (
	published = "https://openlineage.io/spec/"
	good      = `{"eventType":"COMPLETE","eventTime":"2026-01-07T21:00:00.5+01:00","producer":"urn:p","schemaURL":"` + published + `2-0-2/OpenLineage.json#/$defs/RunEvent",` +
		`"run":{"runId":"019b9b1c-3f00-7a10-8000-000000000001","facets":{"errorMessage":{"_producer":"urn:p","_schemaURL":"` + published + `facets/1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet","message":"m","programmingLanguage":"Go"}}},` +
		`"job":{"namespace":"n","name":"j"},"inputs":[],` +
		`"outputs":[{"namespace":"file","name":"t","facets":{"schema":{"_producer":"urn:p","_schemaURL":"` + published + `facets/1-2-0/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet","fields":[{"name":"c","ordinal_position":1}]}},` +
		`"outputFacets":{"outputStatistics":{"_producer":"urn:p","_schemaURL":"` + published + `facets/1-0-2/OutputStatisticsOutputDatasetFacet.json#/$defs/OutputStatisticsOutputDatasetFacet","rowCount":7}}}]}`
)

// TestCheck refuses events in which one thing is wrong, and names the member.
func TestCheck(t *testing.T) {
	if err := check([]byte(good)); err != nil {
		t.Fatalf("a good event: %v", err)
	}
	for _, c := range []struct{ old, wrong, want string }{
		{`"eventTime":"2026-01-07T21:00:00.5+01:00",`, ``, "eventTime: missing"},
		{`"producer":"urn:p","schemaURL"`, `"schemaURL"`, "producer: missing"},
		{`"schemaURL":`, `"schemaUrl":`, "schemaURL: missing"},
		{`"runId":"019b9b1c-3f00-7a10-8000-000000000001",`, ``, "run.runId: missing"},
		{`"job":{"namespace":"n","name":"j"},`, ``, "job: missing"},
		{`"namespace":"n",`, ``, "job.namespace: missing"},
		{`,"name":"t"`, ``, "outputs[0].name: missing"},
		{`COMPLETE`, `DONE`, "eventType: got DONE"},
		{`+01:00`, ``, "eventTime: got"},
		{`T21:00:00.5+01:00`, ``, "eventTime: got"},
		{`019b9b1c-3f00-7a10-8000-000000000001`, `019b9b1c3f007a108000000000000001`, "run.runId: got"},
		{`"producer":"urn:p"`, `"producer":"p"`, "producer: got p"},
		{`"_producer":"urn:p"`, `"_producer":"/p"`, "errorMessage._producer: got /p"},
		{`"message":"m",`, ``, "errorMessage.message: missing"},
		{`"message":"m",`, `"message":null,`, "errorMessage.message: got"},
		{`"message":"m",`, `"message":"m","code":1,`, "errorMessage.code: no member"},
		{`facets/1-0-1/`, `facets/1-0-0/`, "errorMessage._schemaURL: got"},
		{`"errorMessage":`, `"error":`, "run.facets.error: no member"},
		{`"errorMessage":`, `"schema":`, "run.facets.schema: no member"},
		{`"outputFacets":`, `"inputFacets":`, "outputs[0].inputFacets: no member"},
		{`"inputs":[]`, `"inputs":{}`, "inputs: got"},
		{`"ordinal_position":1`, `"ordinal_position":"1"`, "schema.fields[0].ordinal_position: got 1"},
		{`"name":"c",`, ``, "schema.fields[0].name: missing"},
		{`"rowCount":7`, `"rowCount":7.5`, "outputStatistics.rowCount: got 7.5"},
		{`"rowCount":7`, `"rowCount":"7"`, "outputStatistics.rowCount: got 7"},
	} {
		document := strings.Replace(good, c.old, c.wrong, 1)
		if document == good {
			t.Fatalf("the good event has no %s", c.old)
		}
		if err := check([]byte(document)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in place of %s: got the error %v, want %q", c.wrong, c.old, err, c.want)
		}
	}
}
