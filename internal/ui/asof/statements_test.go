package asof

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"dealflow/sql/explorer"
)

// bound are the sources of a statement that are bound to an instant by themselves: macros that get it, and what
// each statement must compare with it.
var (
	source   = regexp.MustCompile(`(?i)\b(?:FROM|JOIN)\s+([\w."]+)(?:(\()([^)]*))?`)
	cte      = regexp.MustCompile(`(?i)(?:WITH|,)\s*(\w+)\s+AS\s*\(`)
	instant  = regexp.MustCompile(`\$as_of\b`)
	compared = regexp.MustCompile(`\b(?:r\.)?(?:known_at|valid_from) <= \$as_of::TIMESTAMPTZ`)
)

// TestStatementsKeepToTheirInstant reads the statements of the explorer: each table that one reads is a macro that gets the
// instant, a part of the statement, or runs or history, which it compares with the instant once for each. (TestExplorer
// compares the answers.)
func TestStatementsKeepToTheirInstant(t *testing.T) {
	all, err := explorer.Statements()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range explorer.Names(all) {
		if fault := outside(all[name].Text); fault != "" {
			t.Errorf("%s: %s", name, fault)
		}
		if !strings.HasSuffix(all[name].Title, ".") {
			t.Errorf("%s: the title %q is no sentence", name, all[name].Title)
		}
	}
	if len(all) < 25 {
		t.Errorf("%d statements: the test sees too little", len(all))
	}
	for text, want := range map[string]string{
		"SELECT * FROM bond_priced_deals":                                                        "reads bond_priced_deals",
		"SELECT * FROM bond_priced_deals_as_of(now())":                                           "without the instant",
		"SELECT * FROM history.deal_versions WHERE deal_id = 1":                                  "0 of 1",
		"SELECT * FROM runs WHERE known_at <= $as_of::TIMESTAMPTZ UNION ALL SELECT * FROM runs ": "1 of 2",
		"SELECT * FROM snapshots.bond_priced_deals":                                              "reads snapshots.bond_priced_deals",
	} {
		if got := outside(text); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// outside says what a statement reads that is not bound to the instant; "" for nothing.
func outside(text string) string {
	var parts []string
	for _, found := range cte.FindAllStringSubmatch(text, -1) {
		parts = append(parts, found[1])
	}
	need := 0
	for _, found := range source.FindAllStringSubmatch(text, -1) {
		name, isMacro, args := strings.ReplaceAll(found[1], `"`, ""), found[2] != "", found[3]
		switch {
		case slices.Contains(parts, name):
		case name == "duckdb_columns" || name == "duckdb_functions" || name == "duckdb_keywords" || name == "information_schema.tables": // names, and no rows
		case isMacro && instant.MatchString(args):
		case isMacro:
			return name + " without the instant"
		case name == "runs" || strings.HasPrefix(name, "history."):
			need++
		case name == "catalog_info": // the aliases, which are those of today
		case name == "feed_runs" || name == "checks": // of the run that they are joined to
		default:
			return "reads " + name
		}
	}
	if got := len(compared.FindAllString(text, -1)); got < need {
		return strings.Join([]string{"compares", string(rune('0' + got)), "of", string(rune('0' + need)), "tables with the instant"}, " ")
	}
	return ""
}
