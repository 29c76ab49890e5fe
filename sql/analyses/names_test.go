package analyses_test

import (
	stdsql "database/sql"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"dealflow/internal/testkit/world"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// alias is a line of a file of aliases: alias, canonical, valid_from ("" for always).
type alias [3]string

// aliases are the lines of a file.
type aliases []alias

// oneLetter are small letters that have one capital.
var oneLetter = strings.NewReplacer("ς", "σ", "ß", "ss")

// composed applies NFC to the characters that the market decomposes.
var composed = strings.NewReplacer("e\u0301", "é")

// normalName is the form in which names are compared: composed lower-case letters, with one space for each run of other
// than visible characters, and without characters that have no width.
func normalName(value any) string {
	name, _ := value.(string)
	var normal strings.Builder
	space := false
	for _, c := range oneLetter.Replace(composed.Replace(strings.ToLower(name))) {
		if unicode.Is(unicode.Cf, c) {
			continue
		}
		if unicode.IsSpace(c) || unicode.In(c, unicode.Z, unicode.C) || c == unicode.ReplacementChar {
			space = true
			continue
		}
		if space && normal.Len() > 0 {
			normal.WriteByte(' ')
		}
		space = false
		normal.WriteRune(c)
	}
	return normal.String()
}

// canonical returns the meaning of a name on a day. The day "" is no day; the result "" is no name.
func (all aliases) canonical(name any, day string) string {
	normal := normalName(name)
	var best *alias
	for i, a := range all {
		if normal == "" || normalName(a[0]) != normal || a[2] != "" && (day == "" || day < a[2]) {
			continue
		}
		if best == nil || a[2] > best[2] || a[2] == best[2] && a[1] < best[1] {
			best = &all[i]
		}
	}
	if best != nil {
		return best[1]
	}
	return normal
}

// knows reports whether a name is in the table.
func (all aliases) knows(name string) bool {
	return slices.ContainsFunc(all, func(a alias) bool { return normalName(a[0]) == name || normalName(a[1]) == name })
}

// declare puts a file of aliases into the lake, and returns them with what a catalog adds: canonical names
// are names of themselves.
func declare(t testing.TB, w *world.World, key string, lines ...alias) aliases {
	t.Helper()
	var file strings.Builder
	out := csv.NewWriter(&file)
	records := [][]string{{"alias", "canonical", "valid_from"}}
	for _, line := range lines {
		records = append(records, line[:])
	}
	if err := out.WriteAll(records); err != nil {
		t.Fatal(err)
	}
	if err := w.Store.Put(t.Context(), key, strings.NewReader(file.String()), store.Replace); err != nil {
		t.Fatal(err)
	}
	all := aliases(slices.Clone(lines))
	for _, line := range lines {
		if !slices.ContainsFunc(all, func(a alias) bool { return a[0] == line[1] }) {
			all = append(all, alias{line[1], line[1], ""})
		}
	}
	return all
}

// declareNames makes one house of the two banks that are named most often, one from 2025 on only, and has
// the third rename itself; and it gives the borrowers of some deals another name.
func declareNames(t testing.TB, w *world.World, h *history) {
	t.Helper()
	banks, companies := map[string]int{}, map[string]int{}
	for _, feed := range api.Feeds() {
		for _, record := range w.Market.Deals(feed) {
			for table, rows := range h.flatten(t, w.URL, feed, record.Body) {
				for _, row := range rows {
					if strings.HasSuffix(table, "_banks") {
						banks[normalName(row["name"])]++
					} else if strings.HasSuffix(table, "_deals") {
						companies[normalName(row["borrower_name"])]++
					}
				}
			}
		}
	}
	b, c := mostly(banks), mostly(companies)
	h.bankNames = declare(t, w, lake.BankAliasesKey,
		alias{strings.ToUpper(b[0]), "First House", ""}, alias{"  " + b[1], "First House", "2025-06-30"},
		alias{b[2], "Old Name", ""}, alias{b[2], "New Name", "2024-11-15"}, alias{b[3], "Late & Co, Ltd", "2099-01-01"})
	h.companyNames = declare(t, w, lake.BorrowerAliasesKey,
		alias{c[0], "Group", ""}, alias{c[1], "Group", "2024-06-01"}, alias{c[2], "Group", "2026-01-07"})
}

// mostly lists names, the most frequent first.
func mostly(names map[string]int) []string {
	delete(names, "")
	all := sortedKeys(names)
	slices.SortStableFunc(all, func(a, b string) int { return names[b] - names[a] })
	return all
}

// TestRoles reads roles of bonds' banks as desks spell them, from the practice of the market: a bank that keeps a book, leads or coordinates
// is a lead; one that helps is not.
func TestRoles(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	var banks []string
	add := func(name string, roles ...string) {
		for i, role := range roles {
			banks = append(banks, fmt.Sprintf(`{"name":"%s %d","status":%q}`, name, i, role))
		}
	}
	add("Lead", "Bookrunner", "Bookrunners", "Joint Book-runner", "JOINT BOOK RUNNER", "Active Joint Bookrunner", "Joint Lead Manager", "Joint Leads", "JLM", "Lead-Manager",
		"Global co-ordinator", "Joint Global Co-ordinators", "B & D", "Billing and Delivery",
		"Physical Bookrunner", "JGC/JBR", "Global Coordinator & Bookrunner", "JLM, B&D")
	add("Helper", "Co-Manager", "Co-Leads", "Senior Co-Managers", "Structurer", "Selling agent")
	b.Write(feed(api.Bond, api.IG, api.Priced), 1, `"pricingDate":"2026-01-05","leagueTableEligible":true,"currency":"EUR","nominal":{"amount":1700,"converted":{"usd":1700}},"banks":[`+strings.Join(banks, ",")+`]`)
	w.Evening(0)
	if _, err := w.Run(t, world.Quiet); err != nil {
		t.Fatal(err)
	}
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, `SELECT count(*), min(credit_usd)::INTEGER, bool_and(bank LIKE 'lead %') FROM league_table('IG', DATE '2026-01-01', DATE '2026-12-31')`, "17 100 true")
		world.WantLines(t, db, `SELECT value, total FROM data_quality WHERE market = 'IG' AND name = 'unknown_roles'`, "1 22") // Selling agent
	})
}
