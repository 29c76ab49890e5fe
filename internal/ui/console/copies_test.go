package console

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"dealflow/internal/chart"
)

// hostile are parts of statements that a shell, Python, a page or a copy could take for something else.
var hostile = []string{
	"SELECT 1", "FROM x", " ", "\n", "\t", "'", "''", `"`, `""`, `"""`, `'''`, `\`, `\\`, `\n`, `\0101`, `\x41`, `\N{BULLET}`, "$HOME", "$(date)", "`date`", "${x}", "!!", "!", "%s", "%%", "{x}", "{{.}}",
	"--", "-- a", "-f", "#", ";", "&", "|", "<", ">", "*", "?", "~", "(", ")", "[a]", "</code>", "&amp;", "é", "e\u0301", "日本", "👩\u200d👧", "\u00a0", "\u3000", "\u200b", "\u202e", "\ufeff", "\u2028", "\u0085",
	"\x01", "\x07", "\x1b[31m", "\x7f", "\r", "\v", "\f", "\U000e0041", "\ufffd", "EOF",
}

// statementsToCopy returns the parts alone, and mixtures of them. The page trims them.
func statementsToCopy() (all []string) {
	random := rand.New(rand.NewPCG(24, 5))
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, text)
		}
	}
	for _, part := range hostile {
		add(part)
		add("SELECT " + part + " x")
	}
	for range 400 {
		var text strings.Builder
		for range 1 + random.IntN(9) {
			text.WriteString(hostile[random.IntN(len(hostile))])
		}
		add(text.String())
	}
	return all
}

// TestCopiesAreTheStatement checks that the lines of a page are the statement: sh hands it over byte by byte, and Python evaluates
// to it, though the page replaces what readers do not see.
func TestCopiesAreTheStatement(t *testing.T) {
	const lake = `/lakes/it's "$HOME" of \é`
	statements := statementsToCopy()
	var script strings.Builder
	script.WriteString("dealflow() { for word in \"$@\"; do printf '%s\\0' \"$word\"; done; printf '\\001\\0'; }\n")
	var want strings.Builder
	var literals [][2]string
	for _, s := range append(statements, "") {
		if s == "" {
			s = lake
		}
		line := shell(lake, s)
		for _, text := range []string{line, python(lake, s), python("s3://a/b", s)} {
			if strings.Map(chart.Visible, text) != text || strings.Contains(text, "\ufeff") {
				t.Errorf("%q: a page would change %q", s, text)
			}
		}
		script.WriteString(line + "\n")
		words := []string{"query", "--safe", "--lake", lake}
		if strings.HasPrefix(s, "-") {
			words = append(words, "--")
		}
		want.WriteString(strings.Join(append(words, s, "\x01"), "\x00") + "\x00")
		literals = append(literals, [2]string{python(lake, s), s})
	}
	sh := exec.CommandContext(t.Context(), "sh")
	sh.Env = []string{"HOME=/nowhere", "LC_ALL=C"}
	sh.Stdin = strings.NewReader(script.String())
	got, err := sh.Output()
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(string(got), "\x00\x01\x00"), strings.Split(want.String(), "\x00\x01\x00")
	for i := range max(len(gotLines), len(wantLines)) {
		if i >= len(gotLines) || i >= len(wantLines) || gotLines[i] != wantLines[i] {
			t.Fatalf("sh, statement %d: got %q, want %q", i, gotLines[min(i, len(gotLines)-1)], wantLines[min(i, len(wantLines)-1)])
		}
	}
	program, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT TESTED: what Python makes of the lines, because there is no python3")
	}
	input, err := json.Marshal(literals)
	if err != nil {
		t.Fatal(err)
	}
	check := exec.CommandContext(t.Context(), program, "-c", `
import ast, json, sys
sys.stdin.reconfigure(encoding="utf-8")
bad = 0
for code, want in json.load(sys.stdin):
    texts = [node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)]
    sql = [t for t in texts if isinstance(t, str)][-1]
    if sql != want or "/lakes/it's \"$HOME\" of \\é/catalog.duckdb" not in texts:
        bad += 1
        print(ascii((code, want, texts)))
sys.exit(bad > 0)
`)
	check.Stdin = bytes.NewReader(input)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("Python: %v\n%.3000s", err, out)
	}
}

// TestCopiesAreReadable checks that usual statements are written as a person would write them.
func TestCopiesAreReadable(t *testing.T) {
	for statement, want := range map[string]string{
		"FROM runs": `dealflow query --safe --lake /data/deals "FROM runs"`,
		"FROM deals_as_of('2026-01-08 06:00:00Z')": `dealflow query --safe --lake /data/deals "FROM deals_as_of('2026-01-08 06:00:00Z')"`,
		`SELECT "commit" FROM runs`:                `dealflow query --safe --lake /data/deals 'SELECT "commit" FROM runs'`,
		"-- All runs.\nFROM runs":                  "dealflow query --safe --lake /data/deals -- \"-- All runs.\nFROM runs\"",
	} {
		if got := shell("/data/deals", statement); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	want := `import duckdb  # pip install duckdb pytz

con = duckdb.connect("/data/deals/catalog.duckdb", read_only=True)
con.execute("SET TimeZone = 'UTC'; SET VARIABLE lake = '/data/deals'")
print(con.sql("""SELECT "commit"
FROM runs"""))
`
	if got := python("/data/deals", "SELECT \"commit\"\nFROM runs"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := python("s3://bucket/deals", "FROM runs"); !strings.Contains(got, `con.execute("ATTACH 's3://bucket/deals/catalog.duckdb' AS lake (READ_ONLY); USE lake")`) {
		t.Errorf("a bucket: got\n%s", got)
	}
}
