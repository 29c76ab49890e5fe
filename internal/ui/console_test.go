package ui_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"dealflow/internal/safesql"
	"dealflow/internal/testkit/world"
	"dealflow/internal/ui/asof"
	"dealflow/schemas/lake"
	"dealflow/sql"
	statements "dealflow/sql/explorer"
)

// TestConsole runs statements on the page for them.
func TestConsole(t *testing.T) {
	w := world.ShortLake(t)
	w.Publish(t)
	e := serve(t, w)
	asked := func(base, statement string, more ...string) string {
		values := url.Values{"sql": {statement}}
		for i := 0; i+1 < len(more); i += 2 {
			values.Set(more[i], more[i+1])
		}
		return base + "?" + values.Encode()
	}
	t.Run("form", func(t *testing.T) {
		page := e.page(t, "/sql")
		wantParts(t, page, `<textarea id="sql"`, `href="./tables/bond_priced_deals"`, `>Commits</a>`, `aria-current="page">SQL</a>`)
		if page := e.page(t, "/tables/bond_priced_deals"); !strings.Contains(page, `<a href="../sql?sql=`) {
			t.Error("a statement of a page has no link to the console")
		}
	})
	t.Run("names", func(t *testing.T) { testNames(t, e, w) })
	t.Run("answers", func(t *testing.T) {
		page := e.page(t, asked("/sql", "SELECT '<b>' AS a, NULL::DECIMAL(18, 2) AS b, 1 AS c, [{'<i>': now()}] AS d"))
		wantParts(t, page, "&lt;b&gt;", `title="NULL"`, "1 row, ", "sql.csv?sql=SELECT", "<bdi>a</bdi> <small>VARCHAR</small>", "<small>DECIMAL(18,2)</small>", "<small>INTEGER</small>",
			"<small>STRUCT(&#34;&lt;i&gt;&#34; TIMESTAMPTZ)[]</small>")
		wantParts(t, page, "dealflow query --safe --lake folder &#34;SELECT &#39;&lt;b&gt;&#39; AS a, NULL", "duckdb.connect(&#34;folder/catalog.duckdb&#34;, read_only=True)")
		wantParts(t, e.page(t, asked("/sql", "FROM range(5000)")), " rows of more, ")
		wantParts(t, e.page(t, asked("/sql", "FROM range(5000)", "rows", "2")), "The first 2 rows of more")
		wantParts(t, e.page(t, asked("/sql", "FROM runs WHERE false")), "The answer has no row")
		for format, want := range map[string]string{"csv": "x,y\n1,\n", "json": "[\n{\"x\":1,\"y\":null}\n]\n"} {
			if _, body, header := e.get(t, asked("/sql."+format, "SELECT 1 AS x, NULL AS y")); body != want {
				t.Errorf("%s: got %q, %v", format, body, header)
			}
		}
		if _, body, _ := e.get(t, asked("/sql.parquet", "FROM runs")); !strings.HasPrefix(body, "PAR1") {
			t.Errorf("Parquet: got %.100q", body)
		}
	})
	t.Run("explained", func(t *testing.T) {
		page := e.page(t, asked("/sql", "SELECT count(*) FROM bond_priced_deals -- <b>", "explain", "1"))
		wantParts(t, page, "UNGROUPED_AGGREGATE", "table: version_index", "It was not run.", "-- &lt;b&gt;")
		if strings.Contains(page, "<tbody>") || strings.Contains(page, "sql.csv?") {
			t.Error("the page of a plan has an answer")
		}
		for path, want := range map[string]string{
			asked("/sql", "EXPLAIN ANALYZE SELECT 1", "explain", "1"): "only one SELECT", asked("/sql", "SELECT 1", "explain", "2"): "want 1",
			asked("/sql.csv", "SELECT 1", "explain", "1"): "of the page alone",
		} {
			if status, body, _ := e.get(t, path); status != http.StatusBadRequest || !strings.Contains(body, want) {
				t.Errorf("%s: status %d: %s", path, status, said(body))
			}
		}
	})
	t.Run("refused", func(t *testing.T) {
		for statement, want := range map[string]string{
			"FROM read_csv('/etc/passwd')":               "read_csv: the function is not open in FROM",
			"FROM _" + "dealflow.version_index":          "is not open",
			"COPY (SELECT 1) TO '/tmp/evil'":             "only one SELECT",
			"selec 1":                                    "LINE 1: selec 1\n        ^",
			"SELECT borower_name FROM bond_priced_deals": "borrower_name",
		} {
			for _, page := range []string{"/sql", "/sql.csv"} {
				status, body, _ := e.get(t, asked(page, statement))
				if status != http.StatusBadRequest || !strings.Contains(body, want) {
					t.Errorf("%s?%s: status %d, want 400 and %q in %.2000s", page, statement, status, want, body)
				}
			}
		}
		for path, want := range map[string]int{
			asked("/sql", strings.Repeat("x", 9000)): http.StatusBadRequest, "/sql?query=1": http.StatusBadRequest, "/sql?rows=0": http.StatusBadRequest, "/sql.csv": http.StatusBadRequest,
		} {
			if status, _, _ := e.get(t, path); status != want {
				t.Errorf("%.40s: status %d, want %d", path, status, want)
			}
		}
	})
	t.Run("link of another site", func(t *testing.T) {
		path := asked("/sql", "SELECT 41 + 1 AS n")
		status, body, header := e.get(t, path, "Sec-Fetch-Site", "cross-site")
		if status != http.StatusOK || strings.Contains(body, ">42<") || !strings.Contains(body, "Read it before you run it") {
			t.Errorf("status %d: %s", status, body)
		}
		if status, body, _ := e.get(t, path, "Sec-Fetch-Site", "same-origin", "If-None-Match", header.Get("ETag")); status != http.StatusOK || !strings.Contains(body, ">42<") {
			t.Errorf("then run: status %d: %s", status, said(body))
		}
		if status, _, _ := e.get(t, asked("/sql.csv", "SELECT 1"), "Sec-Fetch-Site", "cross-site"); status != http.StatusForbidden {
			t.Errorf("download: status %d", status)
		}
	})
	t.Run("as of", func(t *testing.T) {
		log := w.Log(t)
		for i := range log.Commits {
			c := &log.Commits[i]
			at := "TIMESTAMPTZ '" + c.KnownAt.String() + "'"
			base := "/as-of/" + asof.Path(c.KnownAt) + "/sql.csv"
			for now, then := range map[string]string{
				"bond_priced_deals":         "bond_priced_deals_as_of(" + at + ")",
				"deals":                     "deals_as_of(" + at + ")",
				"history.bond_priced_banks": "(SELECT * REPLACE (CASE WHEN valid_to <= " + at + " THEN valid_to END AS valid_to) FROM history.bond_priced_banks WHERE valid_from <= " + at + ")",
				"runs":                      "runs WHERE known_at <= " + at,
			} {
				_, got, _ := e.get(t, asked(base, "FROM "+now+" ORDER BY ALL"))
				_, want, _ := e.get(t, asked("/sql.csv", "FROM "+then+" ORDER BY ALL"))
				if got != want || strings.Count(got, "\n") < 2 {
					t.Errorf("commit %d: %s is\n%s\nwant\n%s", c.Number, now, got, want)
				}
			}
		}
		if _, got, _ := e.get(t, asked("/as-of/2020-01-01T00:00:00Z/sql.csv", "SELECT (SELECT count(*) FROM deals) AS deals, (SELECT count(*) FROM runs) AS runs")); got != "deals,runs\n0,0\n" {
			t.Errorf("before the first commit: %q", got)
		}
	})
	t.Run("large catalog", func(t *testing.T) {
		large := &explorer{now: e.now}
		var err error
		if large.lake, err = asof.Open(t.Context(), asof.Config{Newer: large.newer(t, w), Clock: time.Now, LargeCatalog: 1}); err != nil {
			t.Fatal(err)
		}
		large.Server = httptest.NewServer(large.server(t, w, nil))
		defer large.Close()
		path := asked("/as-of/commit-1/sql", "SELECT 6 * 7 AS n")
		if _, _, header := large.get(t, path); header.Get("Location") != "" {
			path = "/as-of/" + strings.TrimLeft(header.Get("Location"), "./")
		}
		status, body, header := large.get(t, path)
		if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || !strings.Contains(body, "is being made") || !strings.Contains(body, "SELECT 6 * 7 AS n</textarea>") {
			t.Errorf("status %d: %s", status, said(body))
		}
		for status == http.StatusServiceUnavailable { // ends with the test at the latest
			status, body, _ = large.get(t, path)
		}
		if status != http.StatusOK || !strings.Contains(body, ">42<") {
			t.Errorf("then: status %d: %s", status, said(body))
		}
		if err := large.lake.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("statements of pages", func(t *testing.T) {
		all, err := statements.Statements()
		if err != nil {
			t.Fatal(err)
		}
		text := "SELECT nothing_of_this_name" // for the engine to stop at, when the check of the statement is over
		for name, s := range all {
			if strings.HasPrefix(name, "values/") && !strings.HasSuffix(name, ".deal_id") {
				continue // they differ by the column
			}
			if one := regexp.MustCompile(`\$[a-z_]+`).ReplaceAllString(s.Text, "NULL"); !strings.Contains(one, "files.") {
				text += fmt.Sprintf(",\n(SELECT count(*) FROM (\n%s\n) \"%s\")", one, name)
			}
		}
		described, err := sql.Analyses() // whose examples are on the page, too
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range described {
			text += fmt.Sprintf(",\n(SELECT count(*) FROM (\n%s\n) \"example of %s\")", a.Example, a.Name)
		}
		runner := safesql.Runner{Command: []string{"/proc/self/exe", answerStatement}, WorkDir: t.TempDir()}
		_, err = runner.Page(t.Context(), safesql.Query{Statement: text, Catalog: filepath.Join(w.Root, "catalog.duckdb"), Lake: w.Root}, 1)
		if failure := (*safesql.Failure)(nil); !errors.As(err, &failure) || !strings.Contains(failure.Reason, "nothing_of_this_name") {
			t.Error(safesql.Explain(err, text))
		}
	})
	t.Run("reader gone", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL+asked("/sql", "SELECT count(*) FROM range(100000000000000) t(i) WHERE i % 7 = 8"), nil)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			answer, err := http.DefaultClient.Do(request)
			if err == nil {
				err = answer.Body.Close()
			}
			ended <- err
		}()
		for len(children(t)) == 0 && len(ended) == 0 {
			continue
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		for len(children(t)) > 0 { // ends with the test at the latest
			continue
		}
	})
}

// testNames checks the list of names: it has each table in its three schemas and each macro, nothing but what a statement may
// use, and each is written as a statement must have it.
func testNames(t *testing.T, e *explorer, w *world.World) {
	root, err := html.Parse(strings.NewReader(e.page(t, "/sql")))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string        // of all names
	var calls, named []string // SQL that uses tables and macros
	for item := range root.Descendants() {
		if item.Data != "li" || !slices.ContainsFunc(item.Parent.Attr, func(a html.Attribute) bool { return a.Key == "class" && a.Val == "used" }) {
			continue
		}
		var codes []string
		for n := range item.Descendants() {
			if n.Data == "code" {
				codes = append(codes, n.FirstChild.Data)
			}
		}
		texts = append(texts, strings.Join(codes, " "))
		name, params, isCall := strings.Cut(codes[0], "(")
		switch params = strings.TrimSuffix(params, ")"); {
		case !isCall:
			named = append(named, fmt.Sprintf("(SELECT count(*) FROM (SELECT %s FROM %s LIMIT 0))", strings.Join(codes[1:], ", "), name))
		default:
			args := append(strings.Fields(params), codes[1:]...)
			for i, arg := range args {
				if args[i] = "NULL"; strings.HasSuffix(arg, ":=") {
					args[i] = arg + " NULL"
				}
			}
			calls = append(calls, name+"("+strings.Join(args, ", ")+")")
		}
	}
	for _, table := range lake.Tables() {
		for _, want := range []string{table.Name, "history." + table.Name, "snapshots." + table.Name} {
			if !slices.ContainsFunc(texts, func(text string) bool {
				return strings.HasPrefix(text, want+" ") && strings.Contains(text+" ", " deal_id ")
			}) {
				t.Errorf("the list lacks %s with its columns", want)
			}
		}
		if want := table.Name + "_as_of(t) since :="; !slices.Contains(texts, want) {
			t.Errorf("the list lacks %s", want)
		}
	}
	for _, want := range []string{"league_table(of_market, from_date, to_date) as_of := scope := credit :=", "execution_metrics() as_of :=", "changes(from, to)", "utc_day(t)"} {
		if !slices.Contains(texts, want) {
			t.Errorf("the list lacks %q", want)
		}
	}
	runner := safesql.Runner{Command: []string{"/proc/self/exe", answerStatement}, WorkDir: t.TempDir()}
	query := safesql.Query{Statement: "SELECT " + strings.Join(named, ",\n"), Catalog: filepath.Join(w.Root, "catalog.duckdb"), Lake: w.Root}
	if _, err := runner.Page(t.Context(), query, 1); err != nil {
		t.Errorf("the tables: %s", safesql.Explain(err, query.Statement))
	}
	for _, call := range calls {
		from := "FROM "
		if strings.HasPrefix(call, "utc_day(") || strings.HasPrefix(call, "knowledge_at(") || strings.HasPrefix(call, "linked_market(") || strings.HasPrefix(call, "is_priced(") {
			from = ""
		}
		if _, err := e.db.ExecContext(t.Context(), "EXPLAIN SELECT * FROM (SELECT "+strings.Repeat("* ", len(from)/5)+from+call+")"); err != nil {
			t.Errorf("%s: %v", call, err)
		}
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

// wantParts checks that a page has some parts.
func wantParts(t *testing.T, page string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q: %.3000s", part, strings.TrimSpace(page[max(0, strings.Index(page, "<main")):]))
		}
	}
}
