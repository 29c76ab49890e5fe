package main

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/load"
	"dealflow/load/verify"
	"dealflow/schemas/lake"
)

// TestReportsAreDocumented compares docs/reference/run-report.md with the JSON results of the commands: the file names each
// field, and its tables begin with no other name.
func TestReportsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/run-report.md")
	if err != nil {
		t.Fatal(err)
	}
	documented, mentioned := map[string]bool{}, map[string]bool{}
	for line := range strings.SplitSeq(string(page), "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				documented[name[1]] = true
			}
			for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(line, -1) {
				mentioned[name[1]] = true
			}
		}
	}
	var reported []string
	for _, result := range []reflect.Type{
		reflect.TypeFor[pull.Result](), reflect.TypeFor[pull.Plan](), reflect.TypeFor[pull.PlannedFeed](), reflect.TypeFor[lake.FeedRun](), reflect.TypeFor[maintain.Result](), reflect.TypeFor[maintain.ExpireResult](),
		reflect.TypeFor[maintain.ExpiredFeed](), reflect.TypeFor[maintain.ReplayResult](), reflect.TypeFor[maintain.ReplayedTable](),
		reflect.TypeFor[verify.Report](), reflect.TypeFor[verify.Checked](), reflect.TypeFor[verify.Finding](), reflect.TypeFor[load.Garbage](), reflect.TypeFor[verify.Unlisted](),
	} {
		reported = append(reported, jsonNames(result)...)
	}
	for _, name := range reported {
		if !mentioned[name] {
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
func jsonNames(structure reflect.Type) (names []string) {
	for field := range structure.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}
