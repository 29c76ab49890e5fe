package ui_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"dealflow/internal/testkit/world"
	"dealflow/internal/ui/asof"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestLinksOfTheInstant links an expected loan to one priced deal, and then to another: a page has the link of its instant, and
// the deal that was linked before does not claim it any more.
func TestLinksOfTheInstant(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	for _, id := range []int64{100, 101} {
		b.Write(world.LoanPriced, id, "")
	}
	b.Write(world.LoanExpected, 1, `"_links":{"pricedDeal":{"href":"/v3/loan/ll/priced-deal/100"}}`)
	w.Night(t, 0)
	then := w.Log(t).KnownAt
	b.Write(world.LoanExpected, 1, `"_links":{"pricedDeal":{"href":"/v3/loan/ll/priced-deal/101"}}`)
	w.Night(t, 1)
	e := serve(t, w)
	check := func(base, linked, other string) {
		t.Helper()
		for path, want := range map[string]string{"loan/ll/expected/1": "priced as " + linked, "loan/ll/priced/" + linked: "announced as 1"} {
			if page := e.page(t, base+"deals/"+path); strings.Count(page, "priced as ")+strings.Count(page, "announced as ") != 1 || !strings.Contains(page, want) {
				t.Errorf("%s%s: want %q and no other link", base, path, want)
			}
		}
		if page := e.page(t, base+"deals/loan/ll/priced/"+other); strings.Contains(page, "announced as ") {
			t.Errorf("%s: deal %s has a link that it had at another instant", base, other)
		}
	}
	check("/", "101", "100")
	check("/as-of/"+asof.Path(then)+"/", "100", "101")
}

// TestDamagedFile cuts off the end of a history file: a page that reads it is an error of the server, not of the reader's values. If a part of the
// page alone reads it, that says so in its place.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		table, path string
		want        []string
	}{
		"page": {"bond_priced_deals", "/tables/bond_priced_deals/ranking", []string{"<h1><bdi>This could not be answered", ".parquet"}},
		"part": {"bond_priced_banks", "/deals/bond/ig/priced/1?tab=banks", []string{
			"<h1><bdi>Oak</bdi></h1>", "?tab=prices", "<h3>This could not be answered</h3>", ".parquet", `">The statement</a>`, "The same record in the API", "</html>",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := world.NewBook(t)
			b.Write(world.Priced, 1, `"borrower":{"name":"Oak"},"banks":[{"name":"Aspen"}]`)
			w.Night(t, 0)
			damaged := 0
			for _, file := range w.Log(t).Files(lake.HistoryTable(test.table)) {
				path := filepath.Join(w.Root, file.Path)
				if err := os.Truncate(path, file.Bytes-4); err != nil {
					t.Fatal(err)
				}
				damaged++
			}
			e := serve(t, w)
			status, body, header := e.get(t, test.path)
			if status != http.StatusInternalServerError || header.Get("ETag") != "" || damaged == 0 {
				t.Errorf("status %d and ETag %q of %d damaged files, want 500 and none", status, header.Get("ETag"), damaged)
			}
			wantParts(t, body, test.want...)
			if found := regexp.MustCompile(`href="#(sql-\d+)">The statement</a>`).FindStringSubmatch(body); name == "part" && (found == nil || !strings.Contains(body, `id="`+found[1]+`"`)) {
				t.Error("the part that failed does not lead to its statement")
			}
		})
	}
}

// TestFiltersOfOddTexts follows each filter by a text that no person would write: it leaves as many deals as its link says. A text that
// cannot be seen is no filter.
func TestFiltersOfOddTexts(t *testing.T) {
	w, b := world.NewBook(t)
	feed := api.Feeds()[0]
	for i, sector := range []string{`Energy`, ` Energy`, `Energy `, ``, ` `, `\u0000`, `a&b=c`, `100%`, `a+b`} {
		b.Write(feed, int64(i+1), `"borrower":{"sector":"`+sector+`"}`)
	}
	w.Night(t, 0, world.Feeds(feed), world.Quiet)
	e := serve(t, w)
	links := regexp.MustCompile(`href="\./deals\?(sector=[^"]*)"><bdi>([^<]*)</bdi> <small>(\d+)</small>`).FindAllStringSubmatch(e.page(t, "/deals"), -1)
	for _, link := range links {
		if page := e.page(t, "/deals?"+html.UnescapeString(link[1])); link[3] != "1" || !strings.Contains(page, "<bdi>1 deal in the newest state") || strings.TrimSpace(link[2]) == "" {
			t.Errorf("the filter %q says %s deals, and has %s", link[1], link[3], said(page))
		}
	}
	if len(links) != 7 {
		t.Errorf("%d filters, want 7: %q", len(links), links)
	}
}
