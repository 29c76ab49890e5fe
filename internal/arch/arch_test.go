package arch_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "dealflow/"

// doors says which of our packages each room may import, besides those inside itself. A name means that room alone,
// "schemas/..." all below it, "*" all. From the first to the last the rows go up: values, rooms, use cases, commands.
var doors = map[string][]string{
	"schemas/api":  {},
	"schemas/lake": {"schemas/api"},

	"extract":         {"schemas/...", "extract/internal/budget"},
	"transform":       {"schemas/...", "transform/drift", "transform/internal/columnar", "transform/internal/instant"},
	"transform/drift": {"schemas/..."},

	// Only numbers of bytes: it knows no answers.
	"extract/internal/budget": {},

	// Only Arrow: what a column is built of says nothing of deals.
	"transform/internal/columnar": {},
	// Only texts and numbers.
	"transform/internal/instant": {},

	// One file, then the log, then what needs both: each can be read without those after it.
	"load/store":    {},
	"load/parquet":  {"load/store", "schemas/..."},
	"load/mirror":   {"load/store", "load/parquet", "schemas/...", "internal/workfolder"},
	"load/runs":     {"load/store", "load/parquet", "schemas/..."}, // what a log says of its old runs
	"load/state":    {"schemas/..."},
	"load/begun":    {"load/store", "schemas/..."},
	"load/lines":    {},
	"load/live":     {"schemas/..."},
	"load":          {"load/store", "load/parquet", "load/lines", "load/live", "load/runs", "load/state", "load/begun", "schemas/...", "internal/process"},
	"load/transfer": {"load/store", "load", "load/begun", "schemas/..."},
	"load/verify":   {"load/store", "load/parquet", "load/runs", "load", "load/iceberg", "schemas/..."},
	"load/iceberg":  {"load/store", "load/parquet", "load/runs", "load", "schemas/...", "load/iceberg/manifest", "load/iceberg/known", "load/iceberg/spans"},
	"load/loadtest": {"*"},

	"sql":                   {"schemas/...", "sql/byyear", "sql/engine", "sql/identity", "sql/layoutfile", "sql/names", "sql/ownschema", "sql/quote", "sql/runrows", "sql/sealed"},
	"sql/engine":            {}, // only databases: it knows no catalog
	"sql/names":             {},
	"sql/byyear":            {"schemas/...", "sql/ownschema", "sql/quote"},
	"sql/layoutfile":        {},
	"sql/runrows":           {"schemas/..."},
	"sql/sealed":            {"schemas/..."},
	"sql/ownschema":         {"sql/quote"},
	"sql/quote":             {},
	"sql/paths":             {}, // only a database
	"sql/identity":          {}, // values alone: it knows no database
	"sql/explorer":          {"schemas/...", "sql/quote"},
	"sql/answer":            {}, // only a database: it knows no catalog
	"serve":                 {"schemas/..."},
	"serve/sim":             {"schemas/...", "serve", "serve/sim/calibration"},
	"serve/sim/calibration": {"schemas/api"}, // data alone, no function
	"serve/lakesource":      {"schemas/...", "serve", "sql/quote"},

	// The use cases: only here do rooms meet. A run compacts after its commit, so pull may import maintain.
	"internal/confine":       {}, // of a machine: it knows no statement
	"internal/safesql":       {"internal/confine", "sql", "sql/answer", "sql/engine", "sql/quote"},
	"internal/attempts":      {"schemas/...", "load/...", "internal/process", "internal/exitcode"},
	"internal/catalog":       {"schemas/...", "transform", "load/...", "sql", "sql/names", "sql/paths", "sql/sealed"},
	"internal/maintain":      {"schemas/...", "transform", "load/...", "internal/catalog", "internal/workfolder"},
	"internal/ddl":           {"schemas/...", "internal/export", "sql/quote"},
	"internal/export":        {"schemas/...", "load/...", "sql/answer", "sql/quote"},
	"internal/lineage":       {"schemas/..."},
	"internal/notify":        {"schemas/api"},
	"internal/metrics":       {"internal/exitcode"}, // numbers alone: who computes them is the caller's affair
	"internal/pull":          {"schemas/...", "extract", "transform", "load/...", "internal/catalog", "internal/heap", "internal/maintain", "internal/pull/rows", "internal/pull/runclock"},
	"internal/pull/rows":     {"schemas/...", "transform", "transform/drift", "load/..."}, // it knows no API and no commit
	"internal/pull/runclock": {"schemas/..."},
	"internal/chart":         {},
	"internal/report":        {"schemas/...", "internal/chart"},
	"internal/ui":            {"internal/ui/..."},
	"internal/ui/login":      {},                                                                                             // it knows no page
	"internal/ui/frame":      {"schemas/...", "internal/chart", "internal/ui/login", "internal/ui/asof", "internal/ui/grid"}, // it knows no page
	"internal/ui/grid":       {"schemas/...", "internal/chart", "internal/ui/asof"},
	// The pages. They meet only in internal/ui.
	"internal/ui/deals":    {"schemas/...", "internal/chart", "internal/ui/asof", "internal/ui/frame", "internal/ui/grid"},
	"internal/ui/console":  {"schemas/...", "sql/quote", "internal/chart", "internal/safesql", "internal/ui/asof", "internal/ui/frame", "internal/ui/grid"},
	"internal/ui/operator": {"schemas/...", "internal/attempts", "internal/chart", "internal/ui/asof", "internal/ui/frame", "internal/ui/grid", "internal/words"},
	"internal/ui/study":    {"schemas/...", "sql/explorer", "internal/chart", "internal/ui/asof", "internal/ui/frame", "internal/ui/grid"},
	"internal/ui/asof":     {"schemas/...", "load", "sql/answer", "sql/explorer", "sql/quote", "transform"}, // the only way from a page to a lake
	"internal/watch":       {"schemas/...", "load/...", "internal/exitcode", "internal/logs", "internal/process", "internal/watch/schedule"},
	"internal/words":       {},
	"internal/runlist":     {"schemas/...", "load/...", "internal/attempts"},
	"internal/advice":      {"schemas/...", "load/...", "internal/attempts", "internal/exitcode", "internal/maintain", "internal/pull"},
	"internal/status":      {"schemas/...", "load/...", "internal/advice", "internal/attempts", "internal/catalog", "internal/exitcode", "internal/metrics", "internal/pull", "internal/runlist", "internal/watch", "internal/words"},
	"cmd/dealflow":         {"*"},

	"internal/arch":             {},
	"internal/watch/schedule":   {},
	"internal/config":           {},
	"internal/logs":             {},
	"internal/bench":            {"*"},
	"internal/bench/growth":     {},
	"internal/exitcode":         {},
	"internal/heap":             {},
	"internal/process":          {}, // of a machine: it knows no lake
	"internal/simulation":       {"*"},
	"internal/testkit":          {"schemas/..."},
	"internal/workfolder":       {},
	"internal/testkit/longlake": {"*"},
	"internal/testkit/s3test":   {"schemas/...", "load/..."},
	"internal/testkit/world":    {"*"},
}

// testsOnly are packages that no program may contain.
var testsOnly = []string{"internal/bench", "internal/testkit", "internal/simulation", "internal/lineage/lineagetest", "load/loadtest", "load/store/storetest", "serve/sourcetest", "load/store/faultstore", "load/store/tracestore"}

// pure are rooms that touch neither clock, network nor disk, with the packages they must not import.
var pure = map[string][]string{
	"transform":               {"os", "net", "net/http", "io/fs", "log/slog", "math/rand", "math/rand/v2"},
	"internal/watch/schedule": {"os", "net", "net/http", "io/fs", "log/slog", "math/rand", "math/rand/v2"},
	"schemas":                 {"os", "net", "net/http", "io/fs", "math/rand", "math/rand/v2"},
	"internal/ddl":            {"os", "net", "net/http", "io/fs", "math/rand", "math/rand/v2"},
	"internal/report":         {"os", "net", "net/http", "io/fs", "math/rand", "math/rand/v2"},
	"internal/chart":          {"os", "net", "net/http", "io/fs", "math/rand", "math/rand/v2"},
}

// forbidden are packages that nothing here may link.
var forbidden = map[string]string{
	"github.com/apache/arrow-go/v18/parquet": "it does not link beside arrow/go/v17's (duplicated symbol)",
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// packages lists the module's packages with what their non-test files import.
func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// within says whether a package is in a folder.
func within(pkg, folder string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }

// room finds the row of the table that a package belongs to: the longest that holds it.
func room(pkg string) (string, bool) {
	for p := pkg; p != "."; p = path.Dir(p) {
		if _, ok := doors[p]; ok {
			return p, true
		}
	}
	return "", false
}

// allows says whether one of the doors leads to a package.
func allows(doors []string, to string) bool {
	toRoom, _ := room(to)
	return slices.ContainsFunc(doors, func(door string) bool {
		folder, below := strings.CutSuffix(door, "/...")
		return door == "*" || door == toRoom || below && within(to, folder)
	})
}

// TestRooms compares the imports between our packages with the table.
func TestRooms(t *testing.T) {
	for _, p := range packages(t) {
		pkg := strings.TrimPrefix(p.ImportPath, module)
		from, ok := room(pkg)
		if !ok {
			t.Errorf("%s is in no room: put it into one, or give it a row in the table of this test and a reason in docs/explanation/architecture.md", pkg)
			continue
		}
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module)
			if toRoom, _ := room(to); !ours || toRoom == from {
				continue
			}
			if !allows(doors[from], to) {
				t.Errorf("%s imports %s. The rooms meet only in the use cases (docs/explanation/architecture.md): let one of these fetch the value there and hand it over (as they do with lake.Latest and lake.Batch), or declare a small interface in %s that the other room's type satisfies (as sql.LocalFiles)", pkg, to, from)
			}
		}
	}
}

// TestParquetInOnePlace keeps the Parquet library in load/parquet: importing it registers a codec for the process.
func TestParquetInOnePlace(t *testing.T) {
	const library = "github.com/apache/arrow/go/v17/parquet"
	for _, p := range packages(t) {
		pkg := strings.TrimPrefix(p.ImportPath, module)
		kit := slices.ContainsFunc(testsOnly, func(k string) bool { return within(pkg, k) })
		if !kit && pkg != "load/parquet" && slices.ContainsFunc(p.Imports, func(to string) bool { return within(to, library) }) {
			t.Errorf("%s imports %s: add what it needs to load/parquet, which writes and reads files with the lake's settings", pkg, library)
		}
	}
}

// TestTestsOnly keeps test support out of the program.
func TestTestsOnly(t *testing.T) {
	for _, p := range packages(t) {
		pkg := strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range p.Imports {
			to := strings.TrimPrefix(imported, module)
			for _, kit := range testsOnly {
				if within(to, kit) && !slices.ContainsFunc(testsOnly, func(k string) bool { return within(pkg, k) }) {
					t.Errorf("%s imports %s, which is for tests only: move what the program needs into a room", pkg, to)
				}
			}
		}
	}
}

// TestPure keeps clock, network and disk out of the rooms that are pure.
func TestPure(t *testing.T) {
	for _, p := range packages(t) {
		pkg := strings.TrimPrefix(p.ImportPath, module)
		for folder, banned := range pure {
			for _, imported := range p.Imports {
				if within(pkg, folder) && slices.Contains(banned, imported) {
					t.Errorf("%s imports %s: %s is pure; take the value as an argument", pkg, imported, folder)
				}
			}
		}
	}
}

// TestForbidden keeps out what does not link.
func TestForbidden(t *testing.T) {
	for _, p := range packages(t) {
		for banned, why := range forbidden {
			if slices.ContainsFunc(p.Deps, func(dep string) bool { return within(dep, banned) }) {
				t.Errorf("%s brings in %s: %s", p.ImportPath, banned, why)
			}
		}
	}
}
