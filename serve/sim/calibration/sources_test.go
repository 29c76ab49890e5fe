package calibration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryFigureHasASource checks that the comment of every exported variable says where its values are from.
func TestEveryFigureHasASource(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR {
				continue
			}
			for _, spec := range group.Specs {
				value := spec.(*ast.ValueSpec)
				comment := group.Doc.Text() + value.Doc.Text()
				if !value.Names[0].IsExported() {
					continue
				}
				if count++; !strings.Contains(strings.Join(strings.Fields(comment), " "), "Source: ") {
					t.Errorf("%s: the comment of %s does not say where its values are from (Source: …)", name, value.Names[0].Name)
				}
			}
		}
	}
	if count < 50 {
		t.Errorf("got %d variables, want all", count)
	}
}
