package lineage_test

import (
	"encoding/json"
	"testing"
	"time"

	"dealflow/internal/lineage"
	"dealflow/internal/lineage/lineagetest"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

const runID = "019b9b1c-3f00-7a10-8000-000000000001"

var night = time.Date(2026, 1, 7, 22, 0, 0, 0, time.FixedZone("", 3600))

func command(url string) *lineage.Command {
	return &lineage.Command{RunID: runID, Name: "run", Namespace: "desk", Lake: url, API: "https://api.test:8443/base", Version: "0.1.0 (a b)", StartedAt: night}
}

// ending is that of a run with a commit of two tables, whose second feed failed.
func ending() lineage.Ending {
	feeds := api.Feeds()
	known := lake.At(night.Add(time.Minute))
	return lineage.Ending{
		Type: lineage.Fail, EndedAt: night.Add(2 * time.Minute), Error: "some feeds failed",
		Feeds: []lake.FeedRun{
			{Feed: feeds[0], BaseURL: "https://other.test", Deals: 20, Added: 3, Bytes: 5000},
			{Feed: feeds[1], Outcome: lake.OutcomeFailed, Added: 2, Changed: 1},
		},
		Commit: &lake.Commit{Number: 4, KnownAt: known, SnapshotDate: "2026-01-07", Add: []lake.File{
			{Table: "history.bond_priced_deals", Rows: 3, Bytes: 100},
			{Table: "quarantine", Rows: 1, Bytes: 10},
			{Table: "history.bond_priced_deals", Rows: 4, Bytes: 200},
		}},
	}
}

// TestEvents checks what events say, and that they have the form of the specification.
func TestEvents(t *testing.T) {
	c := command("s3://bucket/team/deals")
	begun, err := c.Begun()
	if err != nil {
		t.Fatal(err)
	}
	start := lineagetest.Parse(t, begun)
	if start.EventType != "START" || start.EventTime != "2026-01-07T21:00:00Z" || start.Run.RunID != runID || start.Job.Namespace != "desk" || start.Job.Name != "dealflow.run" || len(start.Inputs)+len(start.Outputs) != 0 {
		t.Errorf("start: %s", begun)
	}
	ended, err := c.Ended(ending())
	if err != nil {
		t.Fatal(err)
	}
	e := lineagetest.Parse(t, ended)
	if e.EventType != "FAIL" || e.EventTime != "2026-01-07T21:02:00Z" || e.Run.RunID != runID {
		t.Errorf("end: %s", ended)
	}
	feeds := api.Feeds()
	wantDataset(t, e.Inputs, 0, "https://other.test", feeds[0].Path()[1:])
	wantDataset(t, e.Inputs, 1, "https://api.test:8443", "base"+feeds[1].Path())
	wantDataset(t, e.Outputs, 0, "s3://bucket", "team/deals/history.bond_priced_deals")
	wantDataset(t, e.Outputs, 1, "s3://bucket", "team/deals/quarantine")
	for _, c := range []struct {
		got  any
		want string
	}{
		{e.Inputs[0].InputFacets["inputStatistics"]["rowCount"], "20"},
		{e.Inputs[0].InputFacets["inputStatistics"]["size"], "5000"},
		{e.Inputs[1].InputFacets["inputStatistics"]["rowCount"], "3"},
		{e.Outputs[0].OutputFacets["outputStatistics"]["rowCount"], "7"},
		{e.Outputs[0].OutputFacets["outputStatistics"]["size"], "300"},
		{e.Outputs[0].OutputFacets["outputStatistics"]["fileCount"], "2"},
		{e.Outputs[0].Facets["version"]["datasetVersion"], `"` + lake.At(night.Add(time.Minute)).String() + `"`},
		{start.Run.Facets["processing_engine"]["version"], `"0.1.0 (a b)"`},
		{start.Job.Facets["jobType"]["processingType"], `"BATCH"`},
		{start.Job.Facets["documentation"]["description"], `"Pulls complete snapshots of the lists of a deal API into a lake, as one commit."`},
		{e.Run.Facets["errorMessage"]["message"], `"some feeds failed"`},
		{e.Run.Facets["nominalTime"]["nominalStartTime"], `"2026-01-07T00:00:00Z"`},
	} {
		if got, _ := json.Marshal(c.got); string(got) != c.want {
			t.Errorf("got %s, want %s in\n%s", got, c.want, ended)
		}
	}
	fields := e.Outputs[0].Facets["schema"]["fields"].([]any)
	columns := lake.TableColumns("history.bond_priced_deals")
	if len(fields) != len(columns) || fields[0].(map[string]any)["name"] != columns[0].Name || fields[0].(map[string]any)["description"] != columns[0].Doc {
		t.Errorf("the schema has %d fields, want %d: %v", len(fields), len(columns), fields[0])
	}
	if e.Outputs[1].Facets["schema"] != nil {
		t.Error("quarantine has a schema, want none: it is no table of Parquet files")
	}

	inFolder, err := command("file:///data/deals").Ended(lineage.Ending{Type: lineage.Complete, EndedAt: night, Commit: ending().Commit})
	if err != nil {
		t.Fatal(err)
	}
	e = lineagetest.Parse(t, inFolder)
	wantDataset(t, e.Outputs, 0, "file", "/data/deals/history.bond_priced_deals")
	if len(e.Inputs) != 0 || e.Run.Facets["errorMessage"] != nil {
		t.Errorf("%s", inFolder)
	}
}

func wantDataset(t *testing.T, all []lineagetest.Dataset, i int, namespace, name string) {
	t.Helper()
	if len(all) <= i || all[i].Namespace != namespace || all[i].Name != name {
		t.Errorf("data set %d of %+v: want %s %s", i, all, namespace, name)
	}
}
