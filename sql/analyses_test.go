package sql

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestAnalyses checks that every macro of the files is described, each once.
func TestAnalyses(t *testing.T) {
	analyses, err := Analyses()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, a := range analyses {
		if names[a.Name] || !strings.HasSuffix(a.Title, ".") {
			t.Errorf("%s: described twice, or %q is no sentence", a.Name, a.Title)
		}
		names[a.Name] = true
	}
	files, err := fs.Glob(statements, "analyses/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	macro := regexp.MustCompile(`(?m)^CREATE MACRO main\.(\w+)\(`)
	for _, file := range files {
		text, err := fs.ReadFile(statements, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range macro.FindAllStringSubmatch(string(text), -1) {
			if !names[found[1]] {
				t.Errorf("%s: no comment describes %s", file, found[1])
			}
		}
	}
	// Users rely on these names.
	for _, name := range []string{
		"bond_priced_as_of", "loan_priced_as_of", "pipeline_as_of", "pipeline_conversion", "league_table", "execution_metrics", "issuance_volume",
		"deal_timeline", "field_change", "restatement_stats", "tap_family", "maturity_wall", "loan_flex_and_terms", "data_quality", "parse_coverage", "changes",
	} {
		if !names[name] {
			t.Errorf("no comment describes %s", name)
		}
	}
}

// TestAnalysesAsOf checks that every analysis has a query as of an instant, and that this query reads the analysis.
func TestAnalysesAsOf(t *testing.T) {
	analyses, err := Analyses()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range analyses {
		for _, query := range a.AsOf {
			if !strings.HasPrefix(query, a.Name+"(") || strings.Contains(query, "{deal_id}") && !strings.Contains(query, "{feed}") {
				t.Errorf("%s is asked with %q", a.Name, query)
			}
		}
	}
}

// TestAnalysisOrder checks that files come by name, except after those that they read.
func TestAnalysisOrder(t *testing.T) {
	for _, test := range []struct {
		files map[string]string
		want  string
		wrong string
	}{
		{map[string]string{"b": "", "a": "", "c": ""}, "a b c", ""},
		{map[string]string{"a": "-- after: c\n", "b": "", "c": ""}, "b c a", ""},
		{map[string]string{"a": "-- after: b\n-- after: d\n", "b": "-- after: c\n", "c": "", "d": ""}, "c b d a", ""},
		{map[string]string{"a": "-- after: b\n", "b": "-- after: a\n"}, "", "analyses/a.sql: it comes after b"},
		{map[string]string{"a": "-- after: z\n"}, "", "analyses/a.sql: it comes after z"},
	} {
		in := fstest.MapFS{}
		for name, text := range test.files {
			in["analyses/"+name+".sql"] = &fstest.MapFile{Data: []byte(text)}
		}
		files, err := analysisFiles(in)
		var names []string
		for _, file := range files {
			names = append(names, file.name)
		}
		if got := strings.Join(names, " "); got != test.want || (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%q: got %q, %v; want %q, %q", test.files, got, err, test.want, test.wrong)
		}
	}
}

// whole is a comment that says all that one must.
const whole = `-- volume: How much was issued.
-- after: lines
-- as of: volume('week', {as_of})
-- as of: volume('year', {as_of})
--
-- Definition: the sum,
--   over all:
--   - the first item,
--     on two lines;
--   - the second.
-- Units: USD.
-- Caveats: none.
-- Example: How much?
--   SELECT *
--     FROM volume('week')
CREATE MACRO main.volume(grain, as_of) AS TABLE SELECT 1;`

func TestAnalysisComment(t *testing.T) {
	file := analysisFile{text: "-- What the volume shares.\nCREATE VIEW x AS SELECT 1;\n\n" + whole}
	all, err := file.analyses()
	if err != nil || len(all) != 1 {
		t.Fatalf("got %+v, %v", all, err)
	}
	a := all[0]
	if a.Name != "volume" || a.Definition != "the sum, over all:\n- the first item, on two lines;\n- the second." || a.Example != "SELECT *\n  FROM volume('week')\n" ||
		!slices.Equal(a.AsOf, []string{"volume('week', {as_of})", "volume('year', {as_of})"}) {
		t.Errorf("got %+v", a)
	}
	for _, test := range []struct{ old, new, wrong string }{
		{"-- as of: volume('week', {as_of})\n-- as of: volume('year', {as_of})\n", "", "not complete"},
		{"'year', {as_of}", "'year'", "no {as_of}"},
		{"-- as of:", "-- as-of:", "got \"-- as-of:"},
		{"-- Units: USD.\n", "", "not complete"},
		{"-- volume: How", "-- How", "not complete"},
		{"--\n", "", "no comment"},
	} {
		broken := analysisFile{text: strings.ReplaceAll(whole, test.old, test.new)}
		if all, err := broken.analyses(); err == nil || !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("without %q: got %+v, %v; want %s", test.old, all, err, test.wrong)
		}
	}
}
