package main

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/pipeline"
	"dealflow/schemas/lake"
)

// TestRunReportIsDocumented holds docs/run-report.md to what a run reports: each field stands in it, and
// it speaks of no others.
func TestRunReportIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/run-report.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for line := range strings.SplitSeq(string(page), "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				documented[name[1]] = true
			}
		}
	}
	reported := slices.Concat(jsonNames(reflect.TypeFor[pipeline.Result]()), jsonNames(reflect.TypeFor[lake.FeedRun]()))
	for _, name := range reported {
		if !documented[name] {
			t.Errorf("%s is reported and not documented", name)
		}
	}
	for name := range documented {
		if !slices.Contains(reported, name) {
			t.Errorf("%s is documented and not reported", name)
		}
	}
}

// jsonNames are the names of a struct's fields in JSON.
func jsonNames(of reflect.Type) (names []string) {
	for field := range of.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}
