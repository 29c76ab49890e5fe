package main

import (
	"fmt"
	"strings"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/sql"
)

// shownRows is the number of rows of an example's answer in the document.
const shownRows = 8

// checkAnalysesDoc compares docs/generated/analyses.md with the comments of the analyses, and with the results of their examples
// on the demonstration's lake; with -update it writes the file.
func checkAnalysesDoc(t *testing.T, dir string) {
	var b strings.Builder
	b.WriteString(testkit.Generated + `# Analyses

Questions that the catalog answers, as views and table macros. They are made from the comments in
[sql/analyses](../../sql/analyses); the answers are those of the demonstration's lake (` + "`make demo`" + `). How to
read a point-in-time table, and the mistakes to avoid: [point-in-time.md](../explanation/point-in-time.md).
What the parsed columns mean: [helper-columns.md](helper-columns.md).

Every analysis takes an instant, ` + "`as_of`" + ` (TIMESTAMPTZ), and knows nothing that became known later; without it,
it tells all that is known. Where no other argument is needed there is a view of the same name, except of
the wide tables (` + "`FROM bond_priced_as_of()`" + `): ` + "`FROM tap_family`" + ` and
` + "`FROM tap_family('2026-01-08T06:00:00Z')`" + `.

| analysis | gives |
|---|---|
`)
	analyses, err := sql.Analyses()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range analyses {
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", a.Name, a.Name, a.Title)
	}
	b.WriteString("\n" + sharedRules)
	for _, a := range analyses {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", a.Name, a.Title)
		for _, part := range [][2]string{{"Definition", a.Definition}, {"Parameters", a.Parameters}, {"Units", a.Units}, {"Caveats", a.Caveats}} {
			if part[1] != "" {
				b.WriteString(testkit.Wrap("**"+part[0]+".** "+part[1], "") + "\n\n")
			}
		}
		fmt.Fprintf(&b, "**Example.** %s\n\n```sql\n%s```\n```\n%s```\n", a.Question, a.Example, firstRows(runMain(t, "query", "--lake", dir, a.Example)))
	}
	b.WriteString("\n## Quality checks\n\nAsked of every commit before it is made, on a catalog that nobody sees yet. `hold`: nothing is\ncommitted, exit code 5, unless `--accept-checks` names the check. `warn`: it is told. The results\nstand in the commit and in the table `checks`.\n\n| check | severity | finds |\n|---|---|---|\n")
	for _, c := range sql.QualityChecks() {
		fmt.Fprintf(&b, "| [%s](../../sql/checks/%s.sql) | %s | %s |\n", c.Name, c.Name, c.Severity, c.Doc)
	}
	testkit.Golden(t, "../../docs/generated/analyses.md", []byte(b.String()))
}

// sharedRules are the conventions of all analyses.
const sharedRules = `What they share:

- **Money** is the source's ` + "`nominal_usd`" + `, without retained, exchanged or secondary amounts. What
  the source has not converted (usd 0 or none) is in no sum of USD, and counted apart.
- **Averages** stand beside the number of deals in them.
- **The same security in two markets**: same ISIN, pricing date, deal type and nominal, in different
  markets. IG keeps it before HY, HY before EM; sums and counts leave the others out (` + "`counted`" + `). A
  deal without an ISIN is never a duplicate.
- **Left-censored** deals stood at their feed's first commit. When they became known says nothing
  about them: they are in no lag and no age.
- **Names** of banks and borrowers are canonical: by the aliases in ` + "`aliases/banks.csv`" + ` and
  ` + "`aliases/borrowers.csv`" + ` of the lake (CSV with the heading ` + "`alias,canonical,valid_from`" + `; valid_from
  is a day or empty), compared without regard to case and spaces; a name that no alias knows stands
  for itself, in lower case. The names as received stay in the tables. A change of aliases changes
  answers about the past: ` + "`alias_version`" + ` in ` + "`catalog_info`" + ` says which were used.
- **Lead roles** of bonds: bookrunner (active, passive, joint), lead manager (joint), global
  coordinator (joint), B&D; of loans: bookrunner or mandated lead arranger.
- **Tranches** of expected deals keep a ` + "`tranche_uid`" + ` from version to version: by pricedDeal link,
  FIGI, name, name without regard to case and spaces with its currency, position; in this order,
  from earlier versions only.
`

// firstRows returns the first rows of a printed table.
func firstRows(table string) string {
	lines := strings.SplitAfter(table, "\n")
	if len(lines) <= shownRows+2 {
		return table
	}
	return strings.Join(lines[:shownRows+1], "") + fmt.Sprintf("… and %d more\n", len(lines)-2-shownRows)
}
