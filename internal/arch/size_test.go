package arch_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A package can be held in the head up to about this size, and so can a struct that lives longer than a function.
const (
	maxLines  = 2700
	maxFields = 20
)

// largePackages may be larger, for a reason.
var largePackages = map[string]string{
	"cmd/dealflow": "a file for each command",
	"extract":      "one client, whose parts share its jobs; the spool is the next part that can get a package",
	"serve/sim":    "a file for each kind of record of the simulated market",

	"transform/text": "a file for each kind of text and for each table of names; all are methods of one scanner",
}

// largeStructs may have more fields, for a reason.
var largeStructs = map[string]string{
	"schemas/api.BondPricedDeal":    "mirrors the API's record",
	"schemas/api.LoanPricedTranche": "mirrors the API's record",
	"schemas/lake.FeedRun":          "mirrors a commit's JSON",
	"transform/text.Reading":        "mirrors the helper columns, a part for each",
	"internal/pull.Config":          "settings",
	"internal/bench/growth.Row":     "mirrors the columns of a table",
	"serve/sim.Quirks":              "settings",
	"serve/sim.bondLine":            "a plan that is made again for each rendering",
}

// TestSize keeps packages and structs small enough to be understood at once.
func TestSize(t *testing.T) {
	const root = "../.."
	for _, p := range packages(t) {
		pkg := strings.TrimPrefix(p.ImportPath, module)
		lines := 0
		files, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
			wantSmallStructs(t, pkg, path, text)
		}
		if largePackages[pkg] == "" && lines > maxLines {
			t.Errorf("%s has %d lines, want %d at most: find the part that others need without the rest, and give it a package (docs/explanation/architecture.md)", pkg, lines, maxLines)
		}
	}
}

func wantSmallStructs(t *testing.T, pkg, path string, text []byte) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		fields, ok := spec.Type.(*ast.StructType)
		name := pkg + "." + spec.Name.Name
		if ok && fields.Fields.NumFields() > maxFields && largeStructs[name] == "" {
			t.Errorf("%s has %d fields, want %d at most: group those that are set together into a struct of their own, or let a function return them", name, fields.Fields.NumFields(), maxFields)
		}
		return true
	})
}
