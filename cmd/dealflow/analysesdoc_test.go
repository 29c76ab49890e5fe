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

An analysis is a view or a table macro of the catalog that answers one question, as of any instant:

` + "```sql\nFROM tap_family;                           -- as of now\nFROM tap_family('2026-01-08T06:00:00Z');   -- as it was known at that instant\n```" + `

Every analysis takes the instant as ` + "`as_of`" + ` (TIMESTAMPTZ), and uses nothing that became known later. Without
it, the answer uses all that is known. An analysis that needs no other argument is also a view. Except
the two wide tables, ` + "`bond_priced_as_of()` and `loan_priced_as_of('infinity')`" + `, which are only macros.

This page is made from the comments in [sql/analyses](../../sql/analyses). The answers are those of the
demonstration's lake (` + "`make demo`" + `). [How to read a point-in-time table](../explanation/point-in-time.md)
lists the mistakes to avoid. [Helper columns](helper-columns.md) says what the parsed columns mean.

| analysis | returns |
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
		fmt.Fprintf(&b, "**Example.** %s\n\n```sql\n%s```\n```\n%s```\n", a.Question, a.Example, firstRows(runMain(t, "query", "--lake", dir, a.Example)))
		for _, part := range [][2]string{{"Definition", a.Definition}, {"Parameters", a.Parameters}, {"Units", a.Units}, {"Caveats", a.Caveats}} {
			if part[1] != "" {
				b.WriteString("\n" + paragraph("**"+part[0]+".** "+part[1]))
			}
		}
	}
	b.WriteString("\n## Quality checks\n\nA run queries each check before it commits, on a catalog that no reader can see yet.\n\n- A check with `hold` that finds something stops the commit: nothing is committed, exit code 5. Except\n  if `--accept-checks` names the check.\n- A check with `warn` only warns.\n\nThe results are in the commit and in the table `checks`.\n\n| check | severity | finds |\n|---|---|---|\n")
	for _, c := range sql.QualityChecks() {
		fmt.Fprintf(&b, "| [%s](../../sql/checks/%s.sql) | %s | %s |\n", c.Name, c.Name, c.Severity, c.Doc)
	}
	testkit.Golden(t, "../../docs/generated/analyses.md", []byte(b.String()))
}

// sharedRules are the conventions of all analyses.
const sharedRules = `All analyses follow these rules:

- **Money** is the source's ` + "`nominal_usd`" + `, without retained, exchanged or secondary amounts. An amount
  that the source has not converted (usd 0 or missing) is in no sum of USD, and is counted separately.
- **An average** is next to the number of deals in it.
- **One security in two markets** has equal ISIN, pricing date, deal type and nominal in both. IG keeps
  it before HY, and HY before EM. Sums and counts leave the others out (` + "`counted`" + `). A deal without an
  ISIN is never a duplicate.
- **Left-censored** deals were in their feed's first commit. When they became known says nothing about
  them, so they are in no lag and no age.
- **Names** of banks and borrowers are canonical. [Aliases](../how-to/aliases.md) in
  ` + "`aliases/banks.csv` and `aliases/borrowers.csv`" + ` of the lake declare them. Names are compared without
  regard to case, spaces and invisible characters, in one Unicode form (NFC). A name that no alias
  knows is its own canonical name, in lower case. The tables keep the names as received. A change of
  aliases changes answers about the past:
  ` + "`alias_version` in `catalog_info`" + ` says which aliases were used.
- **Lead roles** of bonds are bookrunner (active, passive, joint), lead manager (joint), global
  coordinator (joint) and B&D, as desks spell them. Those of loans are bookrunner and mandated lead arranger.
- **Tranches** of expected deals keep a ` + "`tranche_uid`" + ` from version to version. They are matched by
  pricedDeal link, else FIGI, else name and currency, else name, else name (without regard to case and
  spaces) and currency, else position. Only earlier versions are used.
- **Links** between deals lead to the market that their path names, of whatever host.
`

// paragraph wraps a part of an analysis' comment: a paragraph, and the items of its list.
func paragraph(part string) string {
	lead, items, isList := strings.Cut(part, "\n")
	text := testkit.Wrap(lead, "") + "\n"
	if isList {
		text += "\n"
		for item := range strings.SplitSeq(items, "\n") {
			text += testkit.Wrap(item, "  ") + "\n"
		}
	}
	return text
}

// firstRows returns the first rows of a printed table.
func firstRows(table string) string {
	lines := strings.SplitAfter(table, "\n")
	if len(lines) <= shownRows+2 {
		return table
	}
	return strings.Join(lines[:shownRows+1], "") + fmt.Sprintf("… and %d more\n", len(lines)-2-shownRows)
}
