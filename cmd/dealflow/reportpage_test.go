package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"dealflow/internal/report"
)

// TestReportLinks checks that each link of a report has a target, and that every statement is linked.
func TestReportLinks(t *testing.T) {
	data := &report.Data{AsOf: "infinity"}
	queries, err := reportQueries(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		data.Queries = append(data.Queries, report.Query{Name: q.name, SQL: q.statement})
	}
	var page bytes.Buffer
	if err := report.Write(&page, data); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&page)
	if err != nil {
		t.Fatal(err)
	}
	ids, links := map[string]bool{}, map[string]bool{}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			switch a.Key {
			case "id":
				ids[a.Val] = true
			case "href":
				links[a.Val] = true
			}
		}
	}
	for link := range links {
		if !ids[strings.TrimPrefix(link, "#")] {
			t.Errorf("%s leads nowhere", link)
		}
	}
	for id := range ids {
		if !links["#"+id] && id != "sql-state" {
			t.Errorf("nothing leads to %s", id)
		}
	}
}

// TestReportKeepsFile fails to write a report in two ways: the folder keeps its files, and no temporary file remains.
func TestReportKeepsFile(t *testing.T) {
	folder := t.TempDir()
	text := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	if err := writeFile(t.Context(), folder+"/report.html", text("first")); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(t.Context(), folder, text("second")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if err := writeFile(t.Context(), folder+"/nowhere/report.html", text("")); err == nil {
		t.Error("a report was written into a folder that is not there")
	}
	if names := listed(t, folder); names != "report.html" {
		t.Errorf("the folder holds %s", names)
	}
	if names := listed(t, folder+"/.."); strings.Contains(names, ".") {
		t.Errorf("beside the folder lie %s", names)
	}
}

func listed(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return strings.Join(names, " ")
}
