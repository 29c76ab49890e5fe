package load_test

import (
	"bytes"
	"strings"
	"testing"

	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/lake"
)

// TestCommitThatNamesOtherPlaces refuses logs whose newest commit names a file outside the place that its table and
// partition give it, or an instant that is not later than that of the commit before it: for all readers, when they
// decode it.
func TestCommitThatNamesOtherPlaces(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	for n := range 3 {
		loadtest.Night(t, l, n, loadtest.Added(int64(n+1), 1, 'a'))
	}
	data := storetest.Bytes(t, s, lake.CommitKey(3))
	const path = `"path":"history/deal_versions/mkt=IG/year=2026/`
	for name, c := range map[string]struct{ old, replacement, fault string }{
		"as it is":                  {"", "", ""},
		"out of the lake":           {path, `"path":"../../history/deal_versions/mkt=IG/year=2026/`, `part \"..\"`},
		"up and down again":         {path, path + "../year=2026/", `part \"..\"`},
		"an absolute path":          {path, `"path":"/tmp/`, `part \"\"`},
		"backslashes":               {path, path + `a\\b`, "backslashes"},
		"an empty part":             {path, path + "/", `part \"\"`},
		"another market":            {path, `"path":"history/deal_versions/mkt=HY/year=2026/`, "want history/deal_versions/mkt=IG/year=2026"},
		"another table":             {path, `"path":"history/bond_priced_deals/mkt=IG/year=2026/`, "wrong folder"},
		"the paths of format 1":     {path, `"path":"history/deal_versions/market=IG/year=2026/`, "wrong folder"},
		"another table's partition": {`"table":"history.deal_versions"`, `"table":"history.bond_priced_deals"`, "wrong folder"},
		"a removal out of the lake": {`"remove":null`, `"remove":["../x"]`, `part \"..\"`},
		"known when the last was":   {`"known_at":"2026-03-04T22:00:00.000000Z"`, `"known_at":"2026-03-03T22:00:00.000000Z"`, "want an instant later than that of the commit before it, 2026-03-03T22:00:00.000000Z"},
		"known before the last":     {`"known_at":"2026-03-04T22:00:00.000000Z"`, `"known_at":"2026-03-03T21:00:00.000000Z"`, "known_at 2026-03-03T21:00:00.000000Z"},
	} {
		t.Run(name, func(t *testing.T) {
			if !bytes.Contains(data, []byte(c.old)) {
				t.Fatalf("the commit has no %s: %s", c.old, data)
			}
			s := storetest.Clone(t, s)
			storetest.Overwrite(t, s, lake.CommitKey(3), bytes.Replace(data, []byte(c.old), []byte(c.replacement), 1))
			_, err := load.Open(t.Context(), s)
			want := strings.ReplaceAll(c.fault, `\`, "")
			switch {
			case c.fault == "" && err != nil:
				t.Error(err)
			case c.fault != "" && (err == nil || !strings.Contains(err.Error(), "the log is damaged") || !strings.Contains(err.Error(), want)):
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

// TestCheckpointThatNamesOtherPlaces does not use a checkpoint with such a path or instant: it reads the commits.
func TestCheckpointThatNamesOtherPlaces(t *testing.T) {
	s := fiftyTwo(t)
	want := summarise(t, s)
	key := lake.CheckpointKey(50)
	whole := unzip(t, storetest.Bytes(t, s, key))
	for name, change := range map[string][2]string{
		"a file elsewhere":       {`"path":"history/deal_versions/mkt=IG/year=2026/`, `"path":"../history/deal_versions/mkt=IG/year=2026/`},
		"a file of another year": {`"path":"history/deal_versions/mkt=IG/year=2026/`, `"path":"history/deal_versions/mkt=IG/year=2025/`},
		"instants that fall":     {`"known_at":"2026-03-03T22:00:00.000000Z"`, `"known_at":"2026-03-02T22:00:00.000000Z"`},
		"another last instant":   {`"commit":50,"known_at":"2026-04-20T22:00:00.000000Z"`, `"commit":50,"known_at":"2026-04-21T01:00:00.000000Z"`},
	} {
		t.Run(name, func(t *testing.T) {
			if !bytes.Contains(whole, []byte(change[0])) {
				t.Fatalf("the checkpoint has no %s: %.300s", change[0], whole)
			}
			s := storetest.Clone(t, s)
			storetest.Overwrite(t, s, key, zip(t, bytes.Replace(whole, []byte(change[0]), []byte(change[1]), 1)))
			if got := summarise(t, s); !got.equal(want) {
				t.Errorf("got commit %d, %d runs, %d files; want %d, %d, %d", got.number, len(got.runs), len(got.files), want.number, len(want.runs), len(want.files))
			}
			if !loadtest.Open(t, s).Log().CheckpointDue() {
				t.Error("the checkpoint was used")
			}
		})
	}
}
