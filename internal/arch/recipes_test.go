package arch_test

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRecipes follows three recipes of CONTRIBUTING.md in a copy of the program, by the files that they name alone, and
// runs the commands that shall prove them. It compiles and runs other packages' tests, so it needs TEST_FULL.
func TestRecipes(t *testing.T) {
	if os.Getenv("TEST_FULL") == "" { //nolint:forbidigo // test support: it sets how much is tried
		t.Skip("TEST_FULL is not set")
	}
	t.Parallel()
	recipes := text(t, "../../CONTRIBUTING.md")

	t.Run("analysis", func(t *testing.T) {
		t.Parallel()
		dir, _ := copied(t)
		_, rest, _ := strings.Cut(recipes, "   ```sql\n")
		statement, _, found := strings.Cut(rest, "   ```\n")
		name := regexp.MustCompile(`^ *-- (\w+): `).FindStringSubmatch(statement)
		if !found || name == nil {
			t.Fatal("the recipe of an analysis has no example")
		}
		statement = regexp.MustCompile(`(?m)^   `).ReplaceAllString(statement, "")
		write(t, dir, "sql/analyses/"+name[1]+".sql", statement)
		run(t, dir, "go", "test", "-vet=off", "./sql", "-run", "TestAnalyses|TestPublicNames|TestMarkets|TestNoLookAhead")
	})

	t.Run("column and table", func(t *testing.T) {
		t.Parallel()
		dir, originals := copied(t)
		const table = "bond_expected_deal_history"
		_, recipe, _ := strings.Cut(recipes, "### A column\n")
		recipe, _, _ = strings.Cut(recipe, "\n### An analysis")

		declare(t, dir, "99")
		edit(t, dir, "schemas/api/openapi.yaml", `(?m)^(    DealHistoryEntry:\n(?:      .*\n)*?      properties:\n)`, "$1        author: {type: string, description: Author of the entry.}\n")
		edit(t, dir, "testdata/tables.md", `(?m)^(## `+table+`\n(?:.*\n)*?\| message \| UTF8 \| message \|\n)`, "$1| author | UTF8 | author |\n")
		edit(t, dir, "testdata/samples/expected/"+table+".ndjson", `(?m)\}$`, `,"author":null}`)
		edit(t, dir, "schemas/api/openapi.yaml", `(?m)^(        dealHistory: \{type: array, .*)$`, "$1\n"+
			`        notes: {type: array, items: {type: object, properties: {headline: {type: string, description: Headline of the note.}}}, description: Notes on the deal.}`)
		edit(t, dir, "testdata/tables.md", `(?m)^## loan_priced_deals$`, "## "+newTable+"\n"+
			"one row per entry of `notes`; key market, deal_id, version, ordinal\n\n| column | type | from |\n|---|---|---|\n| headline | UTF8 | headline |\n\n$0")
		write(t, dir, "testdata/samples/expected/"+newTable+".ndjson", "")
		edit(t, dir, "transform/batch_test.go", `"schema_version":\d+`, `"schema_version":99`)
		generate := regexp.MustCompile(`(?m)^\t\$\(GO\) (test .*) -update$`).FindStringSubmatch(text(t, filepath.Join(dir, "Makefile")))
		if generate == nil {
			t.Fatal("Makefile has no line that rewrites golden files")
		}
		run(t, dir, "go", append(strings.Fields(generate[1]), "-vet=off", "-update")...)
		run(t, dir, "go", "test", "-vet=off", "-short", "./schemas/...", "./transform/...")

		// What has changed is what the recipe names.
		for _, name := range files(t, dir) {
			if originals[name] == sha256.Sum256([]byte(text(t, filepath.Join(dir, name)))) {
				continue
			}
			named := strings.HasPrefix(name, "docs/generated/") || strings.HasPrefix(name, "testdata/transform/") ||
				strings.Contains(recipe, "`"+strings.NewReplacer(table, "<table>", newTable, "<table>").Replace(name)+"`")
			if !named {
				t.Errorf("%s has changed, and neither the recipe of a column nor that of a table names it", name)
			}
		}
	})
}

// newTable is a table that declare adds.
const newTable = "bond_expected_notes"

// declare adds a column, a link and a table to the declarations of a copy, with a new schema version.
func declare(t *testing.T, dir, schemaVersion string) {
	t.Helper()
	edit(t, dir, "schemas/lake/table.go", `const SchemaVersion = \d+`, "const SchemaVersion = "+schemaVersion)
	edit(t, dir, "schemas/lake/bond_expected_deal_history.go", `(?m)^(\t\t\t\{Number: 13, .*)$`, "$1\n\t\t\t"+
		`{Number: 14, Name: "author", Type: Text, Pointer: "/dealHistory/*/author", Since: SchemaVersion, Doc: "Author of the entry."},`)
	write(t, dir, "schemas/lake/"+newTable+".go", `package lake

import "dealflow/schemas/api"

func bondExpectedNotes() *Table {
	return &Table{
		Name: "`+newTable+`", Service: api.Bond, Kind: api.Expected,
		Rows:     "/notes/*",
		Identity: []string{"headline"},
		Since:    SchemaVersion,
		Doc:      "Notes on expected bond deals.",
		Columns: []Column{
			{Number: 11, Name: "headline", Type: Text, Pointer: "/notes/*/headline", Doc: "Headline of the note."},
		},
	}
}
`)
	edit(t, dir, "schemas/lake/table.go", `bondExpectedDealHistory\(\),`, "$0 bondExpectedNotes(),")
}

// copied returns a copy of the program's sources, and the checksum of each file.
func copied(t *testing.T) (dir string, originals map[string][sha256.Size]byte) {
	t.Helper()
	dir, originals = t.TempDir(), map[string][sha256.Size]byte{}
	for _, name := range files(t, "../..") {
		data := text(t, filepath.Join("../..", name))
		originals[name] = sha256.Sum256([]byte(data))
		write(t, dir, name, data)
	}
	return dir, originals
}

// files returns the names of all files below root, without what builds and the demonstration leave there.
func files(t *testing.T, root string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", "bin", "bench", "demo-lake"}, name) {
			return fs.SkipDir
		}
		if entry.Type().IsRegular() && name != ".git" { // a file in a second work tree
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func write(t *testing.T, dir, name, data string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// edit replaces what matches in a file of the copy.
func edit(t *testing.T, dir, name, pattern, replacement string) {
	t.Helper()
	before := text(t, filepath.Join(dir, name))
	after := regexp.MustCompile(pattern).ReplaceAllString(before, replacement)
	if after == before {
		t.Fatalf("%s: nothing matches %s", name, pattern)
	}
	write(t, dir, name, after)
}

// run runs a command in the copy, with the tests' own counts.
func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	command.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TEST_") })
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
}
