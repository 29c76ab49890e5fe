package arch_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inside is how a statement reads the part of a catalog that belongs to package sql alone. (Keys of objects of the
// lake begin with _dealflow/.)
const inside = "_dealflow" + "."

// insiders are tests that compare the inside of catalogs, or damage it: no public name would do.
var insiders = []string{"cut_test.go", "derived_test.go", "published_test.go"}

// TestPublicNames keeps statements outside package sql to the public names of a catalog.
func TestPublicNames(t *testing.T) {
	const root = "../.."
	read := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name == "sql" || name != "." && strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			return nil
		}
		if ending := filepath.Ext(name); ending != ".go" && ending != ".sql" || slices.Contains(insiders, entry.Name()) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		for n, line := range strings.Split(string(text), "\n") {
			if strings.Contains(line, inside) {
				t.Errorf("%s:%d reads %s…, which package sql may change at any time: read a public name of the catalog (catalog_info, files.<table>, markets, knowledge_at(t), …), or give what you need a public name in sql/views", name, n+1, inside)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 100 {
		t.Errorf("%d files were read in %s", read, root)
	}
}
