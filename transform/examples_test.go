package transform_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"dealflow/internal/testkit"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// example is one file of testdata/transform: a comment, then as input
//
//	feed       the feed, such as bond/ig/priced
//	base       the API's base URL, if it is not samplesBase
//	*.json     a deal
//	*.ndjson   deals, one a line
//	*.quoted   deals, one a line as a Go string, for bytes that are not UTF-8
//	required   drift of missing members is part of the output; without it, deals may be short
//
// and as output, rewritten by go test ./transform -update,
//
//	rows/<table>   its rows without version and without columns that are NULL
//	drift          pointer, kind, count and example
//	rejected       index of the deal in the input, and the reason
type example struct {
	archive *txtar.Archive
	feed    api.Feed
	base    string
	deals   [][]byte
	missing bool
}

// exampleFiles are the paths of all example files.
func exampleFiles(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("../testdata/transform/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no example files: %v", err)
	}
	return paths
}

func readExample(t testing.TB, path string) *example {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	e := &example{archive: &txtar.Archive{Comment: archive.Comment}, base: samplesBase}
	for _, file := range archive.Files {
		text := strings.TrimSuffix(string(file.Data), "\n")
		switch ext := filepath.Ext(file.Name); {
		case file.Name == "feed":
			e.feed = mustFeed(t, text)
		case file.Name == "base":
			e.base = text
		case file.Name == "required":
			e.missing = true
		case ext == ".json":
			e.deals = append(e.deals, []byte(text))
		case ext == ".ndjson":
			for line := range strings.SplitSeq(text, "\n") {
				e.deals = append(e.deals, []byte(line))
			}
		case ext == ".quoted":
			for line := range strings.SplitSeq(text, "\n") {
				deal, err := strconv.Unquote(line)
				if err != nil {
					t.Fatalf("%s: %s: %v", path, line, err)
				}
				e.deals = append(e.deals, []byte(deal))
			}
		default:
			continue // output
		}
		e.archive.Files = append(e.archive.Files, file)
	}
	if e.feed == (api.Feed{}) || len(e.deals) == 0 {
		t.Fatalf("%s: want a feed and deals", path)
	}
	return e
}

// TestExamples flattens the deals of every example file and compares the output.
func TestExamples(t *testing.T) {
	for _, path := range exampleFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			e := readExample(t, path)
			e.archive.Files = append(e.archive.Files, e.flatten(t)...)
			testkit.Golden(t, path, txtar.Format(e.archive))
		})
	}
}

// flatten returns the output of an example, without empty parts.
func (e *example) flatten(t *testing.T) []txtar.File {
	f := transform.NewFlattener(e.feed, mustBase(t, e.base))
	batches := transform.NewHistoryBatches(testkit.Allocator(t), e.feed)
	defer batches.Release()
	var rejected, drift bytes.Buffer
	for i, deal := range e.deals {
		id, err := f.Read(deal)
		var reject *api.Reject
		switch {
		case errors.As(err, &reject):
			fmt.Fprintf(&rejected, "deal %d: %s\n", i+1, reject.Reason)
			continue
		case err != nil:
			t.Fatalf("deal %d: got %v, want an *api.Reject", i+1, err)
		}
		batches.Append(f, id, 1)
	}
	var files []txtar.File
	for i := range batches.Tables() {
		batch := batches.Take(i)
		var rows bytes.Buffer
		for _, row := range testkit.Rows(batch.Record, "version") {
			rows.WriteString(withoutNulls(t, row) + "\n")
		}
		batch.Record.Release()
		files = append(files, txtar.File{Name: "rows/" + batch.Table.Name, Data: rows.Bytes()})
	}
	for _, d := range f.TakeDrift() {
		if d.Kind == lake.DriftMissing && !e.missing {
			continue
		}
		fmt.Fprintf(&drift, "%s %s %d %s\n", d.Pointer, d.Kind, d.Count, d.Example)
	}
	files = append(files, txtar.File{Name: "drift", Data: drift.Bytes()}, txtar.File{Name: "rejected", Data: rejected.Bytes()})
	return nonEmpty(files)
}

func nonEmpty(files []txtar.File) []txtar.File {
	var kept []txtar.File
	for _, file := range files {
		if len(file.Data) > 0 {
			kept = append(kept, file)
		}
	}
	return kept
}

// withoutNulls removes the members of a row that are null, and keeps the order of the others.
func withoutNulls(t testing.TB, row string) string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(row))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var members []string
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
		if string(value) != "null" {
			members = append(members, fmt.Sprintf("%q:%s", name, value))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}
