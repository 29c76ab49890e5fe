package ui_test

import (
	"encoding/csv"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"dealflow/sql/answer"
	statements "dealflow/sql/explorer"
)

// testAnalyses checks that each analysis has a page with all its parameters, that each page answers, and that two of them say
// what the macros say.
func testAnalyses(t *testing.T, e *explorer) {
	given := e.texts(t, "SELECT market, deal_id FROM bond_priced_deals WHERE market = 'IG' ORDER BY deal_id LIMIT 1")[0]
	form := url.Values{"of_deal_id": {given[1]}, "of_deal_ids": {given[1] + ", 2"}, "of_field": {"nominal_usd"}, "of_fields": {"spread, nominal_usd"}}
	var macros []string
	for _, a := range described(t) {
		macros = append(macros, a.Name)
	}
	for _, a := range statements.Analyses() {
		asked, names := url.Values{}, []string{}
		for _, p := range a.Params {
			names = append(names, p.Name)
			if form.Has(p.Name) {
				asked.Set(p.Name, form.Get(p.Name))
			}
		}
		if a.Name != "execution_by" { // the one that is no macro
			at := slices.Index(macros, a.Name)
			if at < 0 {
				t.Errorf("%s is no analysis", a.Name)
				continue
			}
			macros = slices.Delete(macros, at, at+1)
			has := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "market" })
			want := strings.Split(e.texts(t, "SELECT array_to_string(list_filter(parameters, lambda p: p <> 'as_of'), ' ') FROM duckdb_functions() WHERE schema_name = 'main' AND function_name = '"+a.Name+"'")[0][0], " ")
			slices.Sort(has)
			slices.Sort(want)
			if strings.Join(has, " ") != strings.TrimSpace(strings.Join(want, " ")) {
				t.Errorf("%s: the form has %v, the macro %v", a.Name, has, want)
			}
		}
		path := "/analyses/" + a.Name
		if len(asked) > 0 {
			if page := e.page(t, path); !strings.Contains(page, "Fill in") {
				t.Errorf("%s does not ask for what is missing", path)
			}
			path += "?" + asked.Encode()
		}
		page := e.page(t, path)
		if !strings.Contains(page, "<caption>"+a.Name) && !strings.Contains(page, "The answer has no row") || !strings.Contains(page, "Caveats") {
			t.Errorf("%s has no table, or does not say what it means", path)
		}
		if a.Name != "execution_by" && a.Name != "deal_timeline" { // of all others, the id of a deal leads to it
			columns := e.texts(t, "SELECT count(*) FROM duckdb_columns() WHERE schema_name = 'main' AND table_name = '"+a.Name+"' AND column_name = 'deal_id'")[0][0]
			link := regexp.MustCompile(`<td class="n "><a href="\.\./(deals/[^"]+)">`).FindStringSubmatch(page)
			if (columns != "0" || a.Kind != "") && link == nil && strings.Contains(page, "<caption>"+a.Name) {
				t.Errorf("%s: no deal has a link", path)
			} else if link != nil {
				e.page(t, "/"+link[1])
			}
		}
		for _, name := range names {
			if !strings.Contains(page, `name="`+name+`"`) {
				t.Errorf("%s has no field %s", path, name)
			}
		}
	}
	if len(macros) > 0 {
		t.Errorf("analyses without a page: %v", macros)
	}
	const days = "from_date=2024-01-01&to_date=2026-12-31"
	wantRows(t, e, "/analyses/league_table.csv?of_market=BOND&"+days, []int{0, 1, 2, 4},
		"SELECT rank, bank, credit_usd, deals FROM league_table('BOND', DATE '2024-01-01', DATE '2026-12-31') ORDER BY rank NULLS LAST, bank")
	wantRows(t, e, "/analyses/execution_by.csv?cut=sector&measure=tightening&"+days, []int{0, 1, 2},
		"SELECT coalesce(b.borrower_sector, '(none)') AS cut, count(*) AS deals, count(m.tightening_bp) AS n FROM execution_metrics m JOIN bond_priced_deals b USING (market, deal_id) "+
			"WHERE m.pricing_date BETWEEN DATE '2024-01-01' AND DATE '2026-12-31' GROUP BY 1 ORDER BY n DESC, cut")
	top := e.texts(t, "SELECT count(*) OVER (PARTITION BY true), bank FROM league_table('BOND', DATE '2024-01-01', DATE '2026-12-31') ORDER BY rank NULLS LAST, bank LIMIT 1")[0]
	wantParts(t, e.page(t, "/analyses/league_table?of_market=BOND&"+days), `<p class="lead"><bdi>`+top[0]+" rows of league_table; the first is "+top[1]+": ")
	wantBars(t, e, "/analyses/league_table?of_market=BOND&"+days, "SELECT least(25, count(*)) FROM league_table('BOND', DATE '2024-01-01', DATE '2026-12-31') WHERE credit_usd > 0")
}

// wantRows compares columns of a file with what a statement says.
func wantRows(t *testing.T, e *explorer, path string, columns []int, statement string) {
	t.Helper()
	_, text, _ := e.get(t, path)
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 3 {
		t.Fatalf("%s: %d rows, %v", path, len(rows), err)
	}
	var got [][]string
	for _, row := range rows[1:] {
		var cells []string
		for _, i := range columns {
			cells = append(cells, row[i])
		}
		got = append(got, cells)
	}
	if want := e.texts(t, statement); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", path, got, want)
	}
}

// wantBars compares the number of bars of a page's chart, and of that for a narrow screen, with what a statement says.
func wantBars(t *testing.T, e *explorer, path, statement string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(e.page(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	want, bars := e.texts(t, statement)[0][0], map[string]int{"broad": 0, "narrow": 0}
	for n := range root.Descendants() {
		if n.Data == "rect" {
			bars[n.Parent.Attr[slices.IndexFunc(n.Parent.Attr, func(a html.Attribute) bool { return a.Key == "class" })].Val]++
		}
	}
	for class, n := range bars {
		if fmt.Sprint(n) != want {
			t.Errorf("%s: the %s chart has %d bars, want %s", path, class, n, want)
		}
	}
}

// texts returns the answer of a statement on the newest catalog, asked by the test itself.
func (e *explorer) texts(t *testing.T, statement string) (all [][]string) {
	t.Helper()
	rows, err := answer.Query(t.Context(), e.db, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	for rows.Next() {
		all = append(all, rows.Texts())
	}
	if rows.Err() != nil || len(all) == 0 {
		t.Fatalf("%s: %d rows, %v", statement, len(all), rows.Err())
	}
	return all
}
