package runs_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"dealflow/load/parquet"
	"dealflow/load/runs"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/schemas/lake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSegmentFormat reads a segment that is written from docs/reference/lake-format.md, as a program of another version
// might: it must be readable for ever.
func TestSegmentFormat(t *testing.T) {
	t.Parallel()
	const (
		head  = `{"format_version":2,"dealflow_version":"0.1.0","requires":["run-segments"],"first":1,"last":3}` + "\n"
		one   = "1111111111111111111111111111111111111111111111111111111111111111"
		two   = "2222222222222222222222222222222222222222222222222222222222222222"
		three = "3333333333333333333333333333333333333333333333333333333333333333"
	)
	names := head +
		`{"commit":1,"sha256":"` + one + `","known_at":"2026-01-05T22:00:00.000000Z","run_id":"a","command":"run","pulled":true,"base":"https://x/market"}` + "\n" +
		`{"commit":2,"sha256":"` + two + `","known_at":"2026-01-06T22:00:00.000000Z","run_id":"b","command":"compact"}` + "\n" +
		`{"commit":3,"sha256":"` + three + `","known_at":"2026-01-07T22:00:00.000000Z","run_id":"c","command":"sync","pulled":true,"bases":{"bond/ig/priced":"https://x","loan/ll/priced":"https://y"}}` + "\n"
	whole := head
	for i, line := range []string{
		`"run_id":"a","command":"run","snapshot_date":"2026-01-05","feeds":[{"feed":"bond/ig/priced","outcome":"done","base_url":"https://x/market","later":"field"}]`,
		`"run_id":"b","command":"compact","feeds":[]`,
		`"run_id":"c","command":"sync","feeds":[{"feed":"bond/ig/priced","outcome":"done","base_url":"https://x"},{"feed":"loan/ll/priced","outcome":"done","base_url":"https://y"}]`,
	} {
		whole += fmt.Sprintf(`{"format_version":2,"commit":%d,"known_at":"2026-01-%02dT22:00:00.000000Z",%s,"checks":[]}`, i+1, i+5, line) + "\n"
	}
	var parts [][]byte
	for _, text := range []string{names, whole} {
		part, err := parquet.Compress([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	object := slices.Concat(parts...)
	s := new(memstore.Mem)
	if err := s.Put(t.Context(), "_dealflow/runs/00000000000000000003.ndjson.zst", bytes.NewReader(object), store.CreateOnly); err != nil {
		t.Fatal(err)
	}
	segment := runs.Segment{First: 1, Last: 3, SHA256: lake.SHA256(object), Names: int64(len(parts[0])), LastCommit: three}
	named, err := segment.ReadNames(t.Context(), s)
	if err != nil || len(named) != 3 {
		t.Fatalf("got %d names, %v", len(named), err)
	}
	if n := named[2]; n.Number != 3 || n.SHA256 != three || n.RunID != "c" || n.Command != "sync" || !n.Pulled || n.Base != "" || n.Bases["loan/ll/priced"] != "https://y" || n.KnownAt.String() != "2026-01-07T22:00:00.000000Z" {
		t.Errorf("the last name is %+v", n)
	}
	if named[1].Pulled || named[0].Base != "https://x/market" {
		t.Errorf("the names are %+v", named)
	}
	commits, err := segment.ReadCommits(t.Context(), s)
	if err != nil || len(commits) != 3 {
		t.Fatalf("got %d commits, %v", len(commits), err)
	}
	for i := range commits {
		if got := runs.NameOf(&commits[i], named[i].SHA256); !reflect.DeepEqual(got, named[i]) {
			t.Errorf("commit %d has the name %+v, want %+v", i+1, got, named[i])
		}
	}
	// What is not the segment that the checkpoint names is not read, and the error says which object it is.
	for what, wrong := range map[string]runs.Segment{
		"another hash":     {First: 1, Last: 3, SHA256: one, Names: segment.Names, LastCommit: three},
		"other numbers":    {First: 2, Last: 4, SHA256: segment.SHA256, Names: segment.Names, LastCommit: three},
		"names too long":   {First: 1, Last: 3, SHA256: segment.SHA256, Names: 1 << 40, LastCommit: three},
		"negative names":   {First: 1, Last: 3, SHA256: segment.SHA256, Names: -1, LastCommit: three},
		"names that break": {First: 1, Last: 3, SHA256: segment.SHA256, Names: segment.Names - 1, LastCommit: three},
	} {
		_, err := wrong.ReadNames(t.Context(), s)
		_, also := wrong.ReadCommits(t.Context(), s)
		if err == nil || also == nil || !strings.Contains(err.Error(), "_dealflow/runs/") {
			t.Errorf("%s: got %v and %v, want errors", what, err, also)
		}
	}
}
