package sql_test

import (
	stdsql "database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql"
)

// TestAsOfOverYears asks each table of expected deals around the instants of four years, in which deals stay listed, are removed and come
// back: in a catalog that was extended, in one from scratch, and in those that are cut at each commit. Only the files of some years are read.
func TestAsOfOverYears(t *testing.T) {
	t.Parallel()
	c := &chronicle{history: newHistory(t)}
	c.yearly = true
	grown := ""
	c.tell(7, rand.New(rand.NewPCG(3, 5)), func() { grown = c.buildFrom(grown) })
	whole := c.buildFrom("")
	var skipped int
	for name, path := range map[string]string{"grown": grown, "from scratch": whole} {
		db := c.open(path)
		for commit := range c.runs {
			for _, off := range []time.Duration{-time.Microsecond, 0, time.Microsecond, 45 * 24 * time.Hour} {
				at := c.instant(commit).Add(off)
				c.wantExpected(db, fmt.Sprintf("%s as of %s", name, lake.At(at)), fmt.Sprintf("TIMESTAMPTZ '%s'", lake.At(at)), c.asOf(at))
				since := at.AddDate(-1, -commit%3, 0)
				c.wantExpected(db, fmt.Sprintf("%s from %s to %s", name, lake.At(since), lake.At(at)), fmt.Sprintf("'%s', since := '%s'", lake.At(at), lake.At(since)), c.between(since, at))
			}
			at := c.instant(commit)
			c.wantExpected(db, fmt.Sprintf("%s from after %s", name, lake.At(at)), fmt.Sprintf("'%s', since := 'infinity'", lake.At(at)), c.asOf(at))
			skipped += skippedFiles(t, db, fmt.Sprintf("FROM bond_expected_deals_as_of('%s')", c.runs[commit].KnownAt))
		}
		c.wantExpected(db, name, "'infinity'", c.asOf(c.instant(len(c.runs)-1)))
		c.wantExpected(db, name, "'-infinity'", nil)
		c.wantExpected(db, name, "'infinity', since := '-infinity'", c.between(time.Time{}, c.instant(len(c.runs)-1)))
	}
	if skipped < len(c.runs) {
		t.Errorf("%d files were not opened: the test sees too little", skipped)
	}
	for i := range c.runs {
		cut := filepath.Join(t.TempDir(), "cut.duckdb")
		shown := lake.NamedCommit{Number: c.runs[i].Number, KnownAt: c.runs[i].KnownAt}
		if err := sql.Cut(t.Context(), whole, cut, shown.KnownAt, shown, c.files, localFiles(t, c.root)); err != nil {
			t.Fatal(err)
		}
		db := c.open(cut)
		c.wantExpected(db, fmt.Sprintf("cut at commit %d", shown.Number), "'infinity'", c.asOf(shown.KnownAt.Time))
		macros := strings.Join(texts(t, db, "SELECT macro_definition FROM duckdb_functions() WHERE function_name IN ('_bond_may_be_listed', '_loan_may_be_listed')"), " ")
		instants := regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`).FindAllString(macros, -1)
		if len(instants) == 0 {
			t.Errorf("cut at commit %d: the macros name no instants: %s", shown.Number, macros)
		}
		for _, text := range instants {
			if text > shown.KnownAt.UTC().Format(time.DateTime) {
				t.Errorf("cut at commit %d: it names the later instant %s", shown.Number, text)
			}
		}
	}
}

// TestYearsInDoubt has files of years in which no run of a version began, and versions whose run is not known: then no file is left out.
func TestYearsInDoubt(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*chronicle){
		"another year": func(c *chronicle) {
			for i := range c.runs {
				c.runs[i].StartedAt = lake.At(c.runs[i].StartedAt.AddDate(-20, 0, 0))
			}
		},
		"unknown run": func(c *chronicle) { c.runs[2].RunID = "0195-another" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &chronicle{history: newHistory(t)}
			c.yearly = true
			c.tell(6, rand.New(rand.NewPCG(3, 5)), func() {})
			spoil(c)
			db := c.open(c.buildFrom(""))
			for commit := range c.runs {
				c.wantExpected(db, fmt.Sprintf("as of commit %d", commit), fmt.Sprintf("'%s'", c.runs[commit].KnownAt), c.asOf(c.instant(commit)))
			}
			if n := skippedFiles(t, db, "FROM bond_expected_deals_as_of('infinity')"); n > 0 {
				t.Errorf("%d files are not opened", n)
			}
		})
	}
}

// wantExpected checks which versions the tables of expected deals have for the arguments of their macros.
func (c *chronicle) wantExpected(db *stdsql.DB, what, arguments string, versions []known) {
	c.t.Helper()
	for _, table := range lake.Tables() {
		if table.Kind != api.Expected {
			continue
		}
		got := texts(c.t, db, fmt.Sprintf("SELECT market || ' ' || deal_id || ' ' || version || ' ' || "+spelt+" FROM %s_as_of(%s)", "known_at", table.Name, arguments))
		if want := c.rowsIn(table, versions); !slices.Equal(got, want) {
			c.t.Errorf("%s: %s: got %d\n%s\nwant %d\n%s", what, table.Name, len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
		}
	}
}

// skippedFiles is how many of its files a query does not open.
func skippedFiles(t *testing.T, db *stdsql.DB, query string) (n int) {
	t.Helper()
	var key, plan string
	if err := db.QueryRow("EXPLAIN "+query).Scan(&key, &plan); err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`Scanning Files:\s+│?\s*(\d+)/(\d+)`).FindAllStringSubmatch(plan, -1) {
		var some, all int
		if _, err := fmt.Sscan(found[1]+" "+found[2], &some, &all); err != nil {
			t.Fatal(err)
		}
		n += all - some
	}
	return n
}
