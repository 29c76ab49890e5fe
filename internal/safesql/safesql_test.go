package safesql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dealflow/internal/confine"
	"dealflow/internal/testkit/world"
	"dealflow/load/store"
	"dealflow/sql/answer"
)

// serveStatement is the argument that makes the test's binary a worker.
const serveStatement = "serve-statement"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == serveStatement {
		environ := func(_ *answer.Rows, out io.Writer) error {
			_, err := fmt.Fprint(out, os.Environ())
			return err
		}
		csv := func(rows *answer.Rows, out io.Writer) error { return rows.WriteCSV(out) }
		if err := Serve(os.Stdin, os.Stdout, os.Stderr, map[string]Format{"csv": csv, "environ": environ}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fixture is a lake with its catalog, and a runner.
type fixture struct {
	Runner
	lake, outside string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := world.ShortLake(t)
	w.Publish(t)
	f := &fixture{lake: store.LocalPath(w.Store), outside: t.TempDir()}
	if err := os.WriteFile(filepath.Join(f.outside, "a.csv"), []byte("secret\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Command, f.WorkDir = []string{"/proc/self/exe", serveStatement}, t.TempDir()
	return f
}

func (f *fixture) query(statement string) Query {
	statement = strings.NewReplacer("{lake}", f.lake, "{outside}", f.outside, "{own}", "_"+"dealflow").Replace(statement)
	return Query{Statement: statement, Catalog: filepath.Join(f.lake, "catalog.duckdb"), Lake: f.lake}
}

func (f *fixture) csv(ctx context.Context, statement string) (string, error) {
	var out bytes.Buffer
	err := f.Write(ctx, f.query(statement), "csv", &out)
	return out.String(), err
}

// files lists all files of the fixture with their sizes.
func (f *fixture) files(t *testing.T) (all []string) {
	t.Helper()
	for _, root := range []string{f.lake, f.outside, f.WorkDir} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && path == root {
				return err
			}
			info, err := d.Info()
			all = append(all, path+" "+info.ModTime().String()+" "+info.Mode().String())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// leaving returns a copy of the fixture with these gates left out.
func (f *fixture) leaving(gates ...gateName) *fixture {
	other := *f
	other.without = gates
	return &other
}

func wantLandlock(t *testing.T) {
	t.Helper()
	if err := confine.Supported(); err != nil {
		t.Skipf("not tested here: %v", err)
	}
}

// TestStatements runs statements about one lake.
func TestStatements(t *testing.T) {
	f := newFixture(t)
	for name, test := range map[string]func(*testing.T, *fixture){
		"syntax gate": testSyntaxGate, "escapes": testEscapes, "answers": testAnswers, "page": testPage, "places": testPlaces, "plan": testPlan, "endless": testEndless,
		"reader gone": testReaderGone, "environment": testEnvironment, "unconfined": testUnconfined,
	} {
		t.Run(name, func(t *testing.T) { test(t, f) })
	}
}

// writing are statements that write a file, run a program's code, or change the engine, if nothing keeps them from it.
var writing = []string{
	"COPY (SELECT 1) TO '{lake}/history/evil.parquet'",
	"COPY (SELECT 1) TO '{outside}/evil.csv'",
	"EXPLAIN ANALYZE COPY (SELECT 1) TO '{lake}/history/evil.parquet'",
	"FROM enable_logging(storage='file', storage_config={'path': '{lake}/history/log'})",
	"CALL enable_logging(storage='file', storage_config={'path': '{outside}/log'})",
	"ATTACH '{outside}/evil.duckdb' AS evil",
	"ATTACH '{lake}/history/evil.duckdb' AS evil",
	"EXPORT DATABASE '{outside}/exported'",
	"COPY FROM DATABASE catalog TO other",
	"INSERT INTO runs FROM runs",
	"CREATE TABLE evil AS SELECT 1",
	"DELETE FROM runs",
	"DROP TABLE runs",
	"INSTALL httpfs",
	"LOAD httpfs",
	"LOAD '{outside}/a.csv'",
	"SET enable_external_access = true",
	"SET lock_configuration = false",
}

// reading are statements that read what is not in the lake's tables.
var reading = []string{
	"FROM read_csv('{outside}/a.csv')",
	"FROM read_text('/etc/passwd')",
	"FROM read_text('{lake}/history/../../../../../../etc/passwd')",
	"FROM read_blob('/etc/passwd')",
	"FROM '{outside}/a.csv'",
	`FROM "{outside}/a.csv"`,
	"SELECT (SELECT secret FROM '{outside}/a.csv')",
	"WITH a AS (FROM read_csv('{outside}/a.csv')) FROM a",
	"FROM runs WHERE run_id IN (SELECT secret::VARCHAR FROM read_csv('{outside}/a.csv'))",
	"FROM glob('/etc/*')",
	"FROM sniff_csv('{outside}/a.csv')",
	"SELECT * FROM (VALUES (1)) v, LATERAL (FROM read_text('/etc/passwd'))",
}

// refused are further statements that only the syntax gate refuses: the others hold what they could do.
var refused = []string{
	"", ";", "SELECT 1; SELECT 2", "SELECT 1; COPY (SELECT 1) TO '{outside}/evil.csv'",
	"EXPLAIN SELECT 1", "EXPLAIN ANALYZE SELECT 1",
	"PRAGMA database_list", "PRAGMA version", "CALL pragma_version()", "SHOW TABLES", "SHOW ALL TABLES", "USE main", "DETACH catalog",
	"SET threads = 64", "RESET threads", "SET VARIABLE lake = '/'", "SET search_path = '{own}'",
	"CREATE VIEW evil AS SELECT 1", "CREATE TEMP TABLE evil (a INT)", "CREATE MACRO evil() AS 1", "CREATE SCHEMA evil", "CREATE SECRET (TYPE s3)",
	"CREATE TYPE evil AS ENUM ('a')", "CREATE SEQUENCE evil", "ALTER TABLE runs ADD COLUMN x INT", "UPDATE runs SET command = ''", "TRUNCATE runs",
	"VACUUM", "ANALYZE", "CHECKPOINT", "FORCE CHECKPOINT", "BEGIN", "COMMIT", "PREPARE p AS SELECT 1", "EXECUTE p", "DEALLOCATE p", "IMPORT DATABASE '{outside}'",
	"COMMENT ON TABLE runs IS 'x'", "MERGE INTO runs USING runs r ON false WHEN NOT MATCHED THEN INSERT", "PIVOT runs ON command",
	"FROM read_parquet('{lake}/history/*/*.parquet')", "FROM parquet_scan('{lake}/history/x.parquet')", "FROM parquet_metadata('{lake}/history/x.parquet')",
	"FROM read_json('{outside}/a.json')", "FROM read_ndjson_objects('{outside}/a.json')", "FROM '{lake}/history/x.parquet'",
	"FROM query('SELECT 1')", "FROM query_table('runs')", "FROM histogram('runs', command)", "FROM histogram_values('{own}.version_index', valid_from)", "FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
	"SELECT json_serialize_plan('FROM read_csv(''{outside}/a.csv'')')", "SELECT write_log('x')", "SELECT getenv('HOME')", "SELECT getvariable('lake')",
	"SELECT current_setting('temp_directory')", "SELECT pg_get_viewdef(1)", "SELECT [getvariable(x) FOR x IN ['lake']]", "SELECT max(getvariable('lake')) OVER ()",
	"FROM duckdb_views()", "FROM duckdb_tables()", "FROM duckdb_settings()", "FROM duckdb_variables()", "FROM duckdb_secrets()", "FROM duckdb_databases()", "FROM duckdb_logs()", "FROM which_secret('x', 's3')",
	"FROM duckdb_views", "FROM sqlite_master", "FROM pg_catalog.pg_views", "FROM pragma_table_info('runs')", "FROM duckdb_temporary_files()", "FROM seq_scan('runs')", "FROM arrow_scan(1, 2, 3)",
	"FROM {own}.version_index", "FROM {own}.history_bond_priced_deals", "SELECT {own}.normal_name('x')", "FROM {own}.observed(now())", "FROM files.bond_priced_deals",
	"FROM catalog.main.runs", "FROM system.information_schema.tables", "FROM memory.x", "FROM runs AT (VERSION => 1)", "FROM no_such_table", "SELECT system.main.abs(1)",
	"SELECT $1", "SELECT ?", "SELECT $name",
	// A name of a WITH clause counts where DuckDB sees it alone: elsewhere it is a table, or a file.
	`WITH duckdb_views AS (FROM duckdb_views) FROM duckdb_views`,
	`SELECT (WITH duckdb_views AS (SELECT 1 AS a) SELECT a FROM duckdb_views), (SELECT count(*) FROM duckdb_views)`,
	`WITH a AS (FROM "x.csv"), "x.csv" AS (SELECT 1) FROM a`,
	`WITH RECURSIVE a AS (FROM b), b AS (SELECT 1) FROM a`,
	"SELECT 1 UNION ALL FROM read_text('/etc/passwd')", "SELECT 1 LIMIT (SELECT count(*) FROM glob('/etc/*'))", "SELECT 1 ORDER BY (SELECT count(*) FROM glob('/etc/*'))",
	"FROM runs PIVOT (count(*) FOR command IN ('run')) JOIN glob('/etc/*') ON true", "SELECT count(*) FILTER ((SELECT count(*) FROM glob('/etc/*')) > 0) FROM runs",
	"SELECT list_transform([1], lambda x: (SELECT count(*) FROM glob('/etc/*')))", "DESCRIBE FROM read_text('/etc/passwd')", "SUMMARIZE '{outside}/a.csv'",
	"VALUES ((SELECT content FROM read_text('/etc/passwd')))", "FROM changes((SELECT content FROM read_text('/etc/passwd')), now())",
	"SELECT CASE WHEN true THEN (SELECT content FROM read_text('/etc/passwd')) END",
}

// testSyntaxGate checks the first gate alone, as it is for each statement that must not pass.
func testSyntaxGate(t *testing.T, f *fixture) {
	db, known := f.scratch(t)
	for _, statement := range slices.Concat(writing, reading, refused) {
		tree, err := serialize(t.Context(), db, f.query(statement).Statement)
		if err == nil {
			err = check(tree, known)
		}
		if refusal := (*Refusal)(nil); !errors.As(err, &refusal) {
			t.Errorf("%s: got %v, want that it is refused", statement, err)
		}
	}
}

// testEscapes checks that each statement fails, and that no file of the lake or next to it is another one after it: with all
// gates, and with one of them left out after the other.
func testEscapes(t *testing.T, f *fixture) {
	wantLandlock(t)
	before := f.files(t)
	wantSame := func(what string) {
		t.Helper()
		if after := f.files(t); !slices.Equal(after, before) {
			t.Fatalf("%s: the files are %q, want %q", what, after, before)
		}
	}
	both := slices.Concat(writing, reading)
	for gate, statements := range map[gateName][]string{
		"none":      {writing[0], writing[2], writing[3], reading[0], reading[1]},
		syntaxGate:  both,
		engineGate:  {writing[0], writing[3], writing[5], reading[0], reading[1]},
		processGate: {writing[0], writing[3], writing[5], reading[0], reading[1]},
	} {
		for _, statement := range statements {
			out, err := f.leaving(gate).csv(t.Context(), statement)
			// The engine can turn on a log that it cannot write.
			if isLog := strings.Contains(statement, "enable_logging"); err == nil && (gate != syntaxGate || !isLog) {
				t.Errorf("without %s: %s: it succeeded and said %q", gate, statement, out)
			}
			wantSame(string(gate) + ": " + statement)
		}
	}
	for _, statement := range slices.Concat(writing[:8], reading) { // the kernel alone: the engine may find that a folder is empty
		out, err := f.leaving(syntaxGate, engineGate).csv(t.Context(), statement)
		if slices.Contains(reading, statement) && err == nil && strings.Count(out, "\n") > 1 {
			t.Errorf("the process alone: %s said %q", statement, out)
		}
		wantSame("the process alone: " + statement)
	}
	if _, err := f.csv(t.Context(), "SELECT count(*) FROM bond_priced_deals"); err != nil {
		t.Errorf("the next statement: %v", err)
	}
}

// testAnswers checks that what a reader of the tables needs is answered.
func testAnswers(t *testing.T, f *fixture) {
	for statement, want := range map[string]string{
		"SELECT count(*) AS n FROM bond_priced_deals": "n\n4\n",
		"WITH RECURSIVE a AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM a WHERE x < 3), b AS (FROM a) SELECT sum(x)::INT AS s FROM b":                                        "s\n6\n",
		"SELECT count(*) AS n FROM history.bond_priced_deals h JOIN history.deal_versions v USING (market, deal_id, version) WHERE v.kind = 'priced' AND v.service = 'bond'": "n\n6\n",
		"SELECT count(*) > 0 AS some FROM snapshots.bond_priced_deals":                                                                                                       "some\ntrue\n",
		"SELECT count(*) AS n FROM bond_priced_deals_as_of(now());":                                                                                                          "n\n4\n",
		"SELECT count(*) > 0 AS some FROM changes('2000-01-01'::TIMESTAMPTZ, now()) -- a note":                                                                               "some\ntrue\n",
		"FROM (VALUES (1, 'a,b')) v(n, s)":                                                                          "n,s\n1,\"a,b\"\n",
		"SELECT x.a, unnest([1, 2]) AS u FROM (SELECT {'a': 1} AS x)":                                               "a,u\n1,1\n1,2\n",
		"SELECT list_transform([1, 2], lambda x: x + 1)[2] AS l":                                                    "l\n3\n",
		"SELECT column_name FROM (DESCRIBE markets) LIMIT 1":                                                        "column_name\nservice\n",
		"SELECT count(*) AS n FROM information_schema.tables WHERE table_schema || '.' || table_name = 'main.runs'": "n\n1\n",
		"SELECT regexp_full_match(lake_id, '[0-9a-f]{12}') AS ok FROM catalog_info":                                 "ok\ntrue\n",
		"SELECT row_number() OVER (ORDER BY i DESC) AS r FROM range(2) t(i) QUALIFY r = 1":                          "r\n1\n",
	} {
		if got, err := f.csv(t.Context(), statement); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", statement, got, err, want)
		}
	}
	wantLandlock(t)
	var size int64
	err := f.Parquet(t.Context(), f.query("FROM bond_priced_deals ;\n"), func(path string) error {
		info, err := os.Stat(path)
		size = info.Size()
		return err
	})
	if err != nil || size < 100 {
		t.Errorf("Parquet: %d bytes, %v", size, err)
	}
}

// testPage checks where a page ends, and how values are in it.
func testPage(t *testing.T, f *fixture) {
	p, err := f.Page(t.Context(), f.query("SELECT i AS n, CASE WHEN i > 0 THEN '' END AS s FROM range(1000000000000) t(i)"), 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Rows) != 2 || !p.More || p.Rows[0][1] != nil || *p.Rows[1][1] != "" || *p.Rows[1][0] != "1" || !p.Columns[0].Number || p.Columns[1].Number {
		t.Errorf("got %+v", p)
	}
	p, err = f.Page(t.Context(), f.query("SELECT repeat('x', 1000000) AS s LIMIT 1"), 1)
	if err != nil || p.More || !strings.HasSuffix(*p.Rows[0][0], "… (cut: the value has 1000000 bytes)") {
		t.Errorf("a long value: %v", err)
	}
}

// testPlaces checks that an error shows its place under the line as it was written, whether the statement is answered, explained
// or saved, and what the engine proposes.
func testPlaces(t *testing.T, f *fixture) {
	const binder = "Binder Error: Referenced column \"borower\" not found in FROM clause!\nCandidate bindings: \"borrower"
	for _, c := range []struct{ statement, says, place string }{
		{"selec 1", "syntax error at or near \"selec\"", "LINE 1: selec 1\n        ^"},
		{"SELECT 1,\n  getvariable('x')", "getvariable: the function is not open", "LINE 2:   getvariable('x')\n          ^"},
		{"SELECT 1,\n\tborower\nFROM loan_priced_deals", binder, "LINE 2: \tborower\n        \t^"},
		{"SELECT 'é' AS \"日本\",\n\t'東京', 'e\u0301', borower FROM loan_priced_deals;", binder, "LINE 2: \t'東京', 'e\u0301', borower FROM loan_priced_deals;\n        \t \u3000\u3000        ^"},
		{"\n SELECT 1,\t'👩', getvariable('x')", "not open", "LINE 2:  SELECT 1,\t'👩', getvariable('x')\n                  \t \u3000   ^"},
		{"\n\n  SELECT " + strings.Repeat("'x', ", 50) + "borower FROM loan_priced_deals", binder, "borower FROM loan_priced_deals\n" + strings.Repeat(" ", 8+2+7+250) + "^"},
		{"SELECT 'a'::INT FROM loan_priced_deals", "Conversion Error: Could not convert string 'a' to INT32", "LINE 1: SELECT 'a'::INT FROM loan_priced_deals\n                  ^"},
		{"SELECT no_such(1)", "Catalog Error: Scalar Function with name no_such does not exist!\nDid you mean", "LINE 1: SELECT no_such(1)\n               ^"},
		{"SELECT 1\x00, 2", "U+0000", "LINE 1: SELECT 1\x00, 2\n                ^"},
		{"SELECT '\xff'", "not UTF-8", ""},
	} {
		_, err := f.Page(t.Context(), f.query(c.statement), 2)
		if got := Explain(err, c.statement); !strings.Contains(got, c.says) || !strings.HasSuffix(got, c.place) {
			t.Errorf("%s: got\n%q, want %q and at the end\n%q", c.statement, got, c.says, c.place)
		}
	}
	const statement, place = "\n SELECT 1,\n\tborower\nFROM loan_priced_deals ;", "LINE 3: \tborower\n        \t^"
	for how, ask := range map[string]func() error{
		"csv":     func() error { _, err := f.csv(t.Context(), statement); return err },
		"plan":    func() error { _, err := f.Plan(t.Context(), f.query(statement)); return err },
		"Parquet": func() error { return f.Parquet(t.Context(), f.query(statement), func(string) error { return nil }) },
	} {
		if err := ask(); err == nil || !strings.HasPrefix(Explain(err, statement), binder) || !strings.HasSuffix(Explain(err, statement), place) {
			t.Errorf("%s: got %v, want %q and at the end\n%q", how, err, binder, place)
		}
	}
}

// testPlan checks that a plan shows how tables are read, says nothing of files and numbers of rows, and that its statement passes
// the same gates and is not run.
func testPlan(t *testing.T, f *fixture) {
	plan, err := f.Plan(t.Context(), f.query("SELECT v.service, count(*) FROM history.bond_priced_deals h JOIN history.deal_versions v USING (market, deal_id, version) GROUP BY ALL;"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"HASH_GROUP_BY\n", "    groups: ", "    join type: INNER\n", "    function: READ_PARQUET\n"} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan has no %q:\n%s", want, plan)
		}
	}
	for _, bad := range []string{f.lake, ".parquet", "rdinality", "Files"} {
		if strings.Contains(plan, bad) {
			t.Errorf("the plan has %q:\n%s", bad, plan)
		}
	}
	if _, err := f.Plan(t.Context(), f.query(endless[0])); err != nil {
		t.Error(err)
	}
	before := f.files(t)
	for _, statement := range append([]string{"ANALYZE SELECT 1", "(ANALYZE) SELECT 1", "(FORMAT html) SELECT 1", "SELECT 1) FROM (SELECT 2", "SELECT 1; SELECT 2"}, writing[:3]...) {
		if plan, err := f.Plan(t.Context(), f.query(statement)); err == nil {
			t.Errorf("%s has the plan\n%s", statement, plan)
		}
	}
	if after := f.files(t); !slices.Equal(after, before) {
		t.Errorf("the files were\n%v\nand are\n%v", before, after)
	}
}

// children lists the processes that this one has started and that have not ended.
func children(t *testing.T) (all []string) {
	t.Helper()
	found, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		text, _ := os.ReadFile(path) // the thread has ended
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

// endless are statements that do not end in a life. The second is one call of a function, in which the engine heeds nothing.
var endless = []string{
	"SELECT count(*) FROM range(100000000000000) t(i) WHERE i % 7 = 8",
	"SELECT count(*) FROM range(1000000) t(i) WHERE levenshtein(repeat('ab', 4000000), repeat('ba', 4000000)) = i",
}

// testEndless checks that a statement ends with its time, and that its process and its folder are gone then.
func testEndless(t *testing.T, f *fixture) {
	f = f.leaving()
	f.Time = 300 * time.Millisecond
	for _, statement := range endless {
		if out, err := f.csv(t.Context(), statement); !errors.Is(err, ErrTime) {
			t.Errorf("%s: got %q, %v, want %v", statement, out, err, ErrTime)
		}
		if left := children(t); len(left) > 0 {
			t.Errorf("%s: the processes %v are left", statement, left)
		}
	}
	world.WantEmpty(t, f.WorkDir)
}

// testReaderGone checks that a statement's process ends when its reader goes.
func testReaderGone(t *testing.T, f *fixture) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := f.csv(ctx, endless[1])
		ended <- err
	}()
	for len(children(t)) == 0 && ctx.Err() == nil {
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v", err)
		default:
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("the processes %v are left", left)
	}
	world.WantEmpty(t, f.WorkDir)
}

// testEnvironment checks that a worker has no variable of its parent.
func testEnvironment(t *testing.T, f *fixture) {
	t.Setenv("DEALFLOW_SECRET", "hush")
	var out bytes.Buffer
	if err := f.Write(t.Context(), f.query("SELECT 1"), "environ", &out); err != nil || out.String() != "[]" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

// testUnconfined checks a system without the restriction to some files: statements are answered, protected by the syntax gate, the
// engine's settings and the limit of files; what needs a file is refused, and says what is missing.
func testUnconfined(t *testing.T, f *fixture) {
	f = f.leaving()
	f.Unconfined = true
	if out, err := f.csv(t.Context(), "SELECT count(*) AS n FROM bond_priced_deals"); out != "n\n4\n" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
	err := f.Parquet(t.Context(), f.query("FROM runs"), func(string) error { return nil })
	if !errors.Is(err, ErrSystem) || !errors.Is(err, confine.ErrUnsupported) {
		t.Errorf("Parquet: got %v", err)
	}
	_, err = f.leaving(syntaxGate).csv(t.Context(), writing[0])
	if err == nil || !strings.Contains(err.Error(), "File too large") {
		t.Errorf("COPY with the limit of files: got %v", err)
	}
	info, err := os.Stat(filepath.Join(f.lake, "history", "evil.parquet"))
	if err == nil && info.Size() > 0 {
		t.Errorf("COPY wrote %d bytes", info.Size())
	}
}

// TestReplacedCatalog asks a catalog that shows another commit than the caller's, and one that is gone: nothing is answered.
func TestReplacedCatalog(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	shows := f.query(`SELECT "commit" FROM catalog_info`)
	var out strings.Builder
	if err := f.Write(t.Context(), shows, "csv", &out); err != nil {
		t.Fatal(err)
	}
	commit, err := strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(out.String(), "commit\n")), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	shows.Commit = commit
	if err := f.Write(t.Context(), shows, "csv", io.Discard); err != nil {
		t.Errorf("its own commit: %v", err)
	}
	other, gone := shows, shows
	other.Commit++
	gone.Catalog = filepath.Join(t.TempDir(), "gone")
	for name, q := range map[string]Query{"another commit": other, "no file": gone} {
		out.Reset()
		if err := f.Write(t.Context(), q, "csv", &out); !errors.Is(err, ErrReplaced) || out.Len() > 0 {
			t.Errorf("%s: got %q, %v; want ErrReplaced", name, out.String(), err)
		}
	}
}
