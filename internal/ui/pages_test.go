package ui_test

import (
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"dealflow/internal/chart"
	"dealflow/internal/testkit/world"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/login"
	"dealflow/load/store"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// TestExplorer serves a lake that gets three nights. The other tests ask the lake of all nights. As of each of them, all pages
// are the same right after the night and at the end, when the lake has been pulled again, compacted, replayed and expired.
func TestExplorer(t *testing.T) {
	w := world.New(t, sim.Config{Seed: 1, Deals: 12})
	w.Night(t, 0)
	e := serve(t, w)
	const most = 1
	early := []map[string]string{}
	for night := 1; night <= 3; night++ {
		log := w.Log(t)
		base := "/as-of/" + asof.Path(log.KnownAt) + "/"
		if night < 3 {
			early = append(early, e.crawl(t, base, most))
			w.Night(t, night*2)
		}
	}
	log := w.Log(t)
	e.now = log.KnownAt.Add(9 * time.Hour)
	for newest := fmt.Sprintf(`"commit": %d,`, log.Number); ; { // which is opened in the background; ends with the test at the latest
		if _, body, _ := e.get(t, "/-/newest"); strings.Contains(body, newest) {
			break
		}
	}
	t.Run("links", func(t *testing.T) { testLinks(t, e) })
	t.Run("requests", func(t *testing.T) {
		testRequests(t, e, asof.Path(log.Commits[0].KnownAt), asof.Path(log.Commits[1].KnownAt))
	})
	t.Run("health", func(t *testing.T) { testHealth(t, e, asof.Path(log.Commits[1].KnownAt)) })
	t.Run("downloads", func(t *testing.T) { testDownloads(t, e) })
	t.Run("filters", func(t *testing.T) { testFilters(t, e) })
	t.Run("pipeline", func(t *testing.T) { testPipeline(t, e) })
	t.Run("analyses", func(t *testing.T) { testAnalyses(t, e) })
	t.Run("diff", func(t *testing.T) { testDiff(t, e) })
	t.Run("deal", func(t *testing.T) { testDeal(t, e) })
	t.Run("column", func(t *testing.T) { testColumn(t, e) })
	t.Run("edits", func(t *testing.T) { testEdits(t, e) })
	t.Run("login", func(t *testing.T) { testLogin(t, e, w) })
	t.Run("slow", func(t *testing.T) { testSlow(t, e, w) })
	t.Run("readers", func(t *testing.T) { testReaders(t, e) })
	// What is done to the files of a lake later changes no page, either.
	for _, name := range []string{"pull again", "compact", "replay", "expire"} {
		upkeep[name](t, w)
	}
	t.Run("nothing learned later", func(t *testing.T) {
		for i, before := range early {
			if len(before) < 30 {
				t.Errorf("night %d: %d pages: the crawl sees too little", i+1, len(before))
			}
			compare(t, before, e.crawl(t, "/as-of/"+asof.Path(log.Commits[i].KnownAt)+"/", most))
		}
	})
}

// testLinks checks the pages of the newest state: each link leads to something, nothing is inline, and headings and labels
// are there.
func testLinks(t *testing.T, e *explorer) {
	pages := e.crawl(t, "/", 1)
	seen := 0
	for path, page := range pages {
		if !strings.Contains(page, "<html") {
			continue
		}
		seen++
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		ids, headings, within := map[string]bool{}, 0, []string{}
		for n := range root.Descendants() {
			if n.Data == "h1" {
				headings++
			}
			if n.Data == "style" || n.Data == "script" && n.FirstChild != nil {
				t.Errorf("%s: an inline <%s>", path, n.Data)
			}
			for _, a := range n.Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
					t.Errorf("%s: the attribute %s=%q", path, a.Key, a.Val)
				}
				if part, ok := strings.CutPrefix(a.Val, "#"); ok && a.Key == "href" {
					within = append(within, part)
				}
				if a.Key == "id" {
					if ids[a.Val] {
						t.Errorf("%s: two elements have the id %s", path, a.Val)
					}
					ids[a.Val] = true
				}
			}
		}
		for _, part := range within {
			if !ids[part] {
				t.Errorf("%s: a link to the part %s, which is not there", path, part)
			}
		}
		if strings.Contains(page, `class="saves">Table as`) && !strings.Contains(page, `>Parquet</a> · <a href="#sql-`) &&
			!strings.Contains(path, "/deals/") && !strings.Contains(path, "/tables/") && !strings.Contains(path, "/runs") { // which are not made of one statement
			t.Errorf("%s: the table does not lead to its statement", path)
		}
		if headings != 1 {
			t.Errorf("%s: %d headings of the first level", path, headings)
		}
		if strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "%!") {
			t.Errorf("%s: the page has what no template should write", path)
		}
	}
	if seen < 15 {
		t.Errorf("%d pages: the crawl sees too little", seen)
	}
}

// testSlow asks for the pages as a reader without patience: they are the same, except for the line that says that the rest follows, their host, and the title
// of those whose heading was not known.
func testSlow(t *testing.T, e *explorer, w *world.World) {
	slow := &explorer{lake: e.lake, now: e.now, patience: time.Nanosecond}
	slow.Server = httptest.NewServer(slow.server(t, w, nil))
	defer slow.Close()
	began, early := 0, regexp.MustCompile(`<p class="address">.*|<title>.*</title>|<p class="wait .*\n`)
	for path, want := range e.crawl(t, "/", 1) {
		if !strings.Contains(want, "<html") || strings.Contains(path, "sql?") { // of which the time is in the answer
			continue
		}
		got := slow.page(t, path)
		if strings.Contains(got, `class="wait`) {
			began++
		}
		if got = early.ReplaceAllString(aside.ReplaceAllString(got, ""), ""); got != early.ReplaceAllString(want, "") {
			compare(t, map[string]string{path: early.ReplaceAllString(want, "")}, map[string]string{path: got})
		}
	}
	if began < 10 {
		t.Errorf("%d pages were begun before their content was there: the test sees too little", began)
	}
}

// testHealth checks the quarantine, and the deals of each feed by night. A page as of an instant has no quarantine: that is of now.
func testHealth(t *testing.T, e *explorer, second string) {
	page, then := e.page(t, "/"), e.page(t, "/as-of/"+second+"/")
	for _, want := range []string{
		"23 records; the table has the first 20", "dealflow quarantine show 5f2a19", `href="./quarantine/5f2a19"`, `deals?q=19"`, `deals?q=22"`, "&lt;b&gt;message", "2.0 KiB",
		`data-copy="dealflow quarantine retry"`,
	} {
		if has := strings.Contains(page, want); has != (want != `deals?q=22"`) {
			t.Errorf("Health has %s: %t", want, has)
		}
	}
	if strings.Contains(then, "uarantine show") {
		t.Error("a page as of an instant has the quarantine of now")
	}
	status, body, header := e.get(t, "/quarantine/5f2a19")
	if status != http.StatusOK || body != "{\"id\":<b>\xff5f2a19" || header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment") {
		t.Errorf("the bytes of a record: %d, %v, %q", status, header, body)
	}
	for _, path := range []string{"/quarantine/5f2aff", "/quarantine/x", "/as-of/" + second + "/quarantine/5f2a19"} {
		if status, _, _ := e.get(t, path); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
	at := 0
	for _, id := range []string{"findings", "feeds", "checks", "drift", "quarantine", "nights"} {
		next := strings.Index(page, `id="`+id+`"`)
		if next < at {
			t.Errorf("Health has %s at %d, before %d", id, next, at)
		}
		at = next
	}
	for _, page := range []string{page, then} {
		if isOld := strings.Contains(page, "none of them new.</summary>"); isOld == strings.Contains(page, "<details open><summary>") {
			t.Errorf("drift of which none is new: %t, and its table is open as if it were not so", isOld)
		}
	}
	nights := regexp.MustCompile(`aria-label="bond/ig/priced: deals of the last (\d+) nights, `)
	for _, c := range []struct{ page, want string }{{page, "3"}, {then, "2"}} {
		if found := nights.FindStringSubmatch(c.page); found == nil || found[1] != c.want {
			t.Errorf("the deals by night: got %v, want %s nights", found, c.want)
		}
	}
}

// testRequests checks what the server answers to requests that are wrong, or special.
func testRequests(t *testing.T, e *explorer, first, second string) {
	wrong := "/analyses/vintages?of_field=nothing&of_deal_id=" + regexp.MustCompile(`bond/ig/priced/(\d+)`).FindStringSubmatch(e.page(t, "/deals?market=IG&kind=priced"))[1]
	for _, c := range []struct {
		path, header, value string
		status              int
		want                string // in the body, or in Location of a redirect
	}{
		{"/", "Host", "example.com", 421, "example.com"},
		{"/", "Host", "127.0.0.2:8910", 200, "Health"},
		{"/", "Host", "localhost:1", 200, "Health"},
		{"/", "", "", 200, "12 of 12 feeds, "},
		{"/pipeline?market=IG,XX", "", "", 400, "market=XX: want one of"},
		{"/changes?field=loan_expected_deals.stage", "", "", 200, `name="field" value="loan_expected_deals.stage"`},
		{"/runs", "", "", 200, "aliases <bdi>none</bdi>"},
		{"/as-of/" + second + "/runs", "", "", 200, "/runs</p>"},
		{"/", "", "", 200, "./analyses/data_quality"},
		{"/deals?marke=IG", "", "", 400, "marke"},
		{"/deals?kind=price", "", "", 400, "priced, expected"},
		{"/deals?priced_from=yesterday", "", "", 400, "2026-01-05"},
		{"/deals?page=0", "", "", 400, "page=0"},
		{"/deals?q=%ff", "", "", 400, "want UTF-8"},
		{"/deals?q=a%00", "", "", 400, "without U&#43;0000"},
		{"/deals?market=IG&market=HY", "", "", 400, "once"},
		{"/deals?sort=name;drop", "", "", 400, "address cannot be read"},
		{"/deals/bond/ig/priced/999999", "", "", 404, "No deal 999999"},
		{"/deals/bond/ll/priced/1", "", "", 404, "no deal has this address"},
		{"/deals?market=IG,HY", "", "", 400, "market=IG,HY: want one of IG, HY, EM, LL, CF, AF"},
		{"/pipeline?market=XX", "", "", 400, "market=XX: want one of"},
		{"/changes?market=XX", "", "", 400, "market=XX: want one of"},
		{"/deals?market=ig", "", "", 200, "bond/ig/priced"},
		{"/pipeline?since=soon", "", "", 400, "want an instant"},
		{"/pipeline?sponsor=maybe", "", "", 400, "yes, no"},
		{"/analyses/league_table?of_market=XX", "", "", 400, "of_market=XX"},
		{"/analyses/league_table?from_date=1+May", "", "", 400, "from_date=1 May: want a day"},
		{"/analyses/league_table?scope=lead%27)", "", "", 400, "lead, all"},
		{"/analyses/pipeline_conversion?n=-1", "", "", 400, "whole number from 0"},
		{"/analyses/vintages_wide?of_deal_ids=1&of_fields=a]%27", "", "", 400, "names of columns"},
		{"/analyses/deal_timeline?of_service=loan&of_market=IG&of_deal_id=1", "", "", 400, "LL CF AF"},
		{"/analyses/vintages.csv", "", "", 400, "fill in Deal, Column"},
		{wrong, "", "", 400, "<bdi>vintages: nothing is no column of the deals"},
		{wrong, "", "", 400, "<h1><bdi>This could not be answered</bdi></h1>"},
		{strings.Replace(wrong, "?", ".csv?", 1), "", "", 400, "nothing is no column of the deals"},
		{"/sql.csv?sql=SELECT+1,%0A%09x", "", "", 400, "LINE 2: \tx\n        \t^</bdi></pre>"},
		{"/tables", "", "", 200, `<a href="./tables/runs"><bdi>runs</bdi></a></td><td class="n "><bdi>3</bdi></td><td class=""><bdi>One row per run that committed.</bdi>`},
		{"/tables/runs", "", "", 200, "<bdi>known_at</bdi></td><td class=\"\"><bdi>TIMESTAMP WITH TIME ZONE</bdi>"},
		{"/tables/history.deal_versions", "", "", 200, "history.deal_versions%0ALIMIT"},
		{"/tables/runs.csv", "", "", 200, "column_name,data_type,comment\n"},
		{"/tables/_" + "dealflow.catalog", "", "", 404, "No table _"},
		{"/tables/nothing", "", "", 404, "No table nothing"},
		{"/analyses/nothing", "", "", 404, "no page has this address"},
		{"/nothing", "", "", 404, "no page has this address"},
		{"/..%2f..%2fetc/passwd", "", "", 404, ""},
		{"/as-of/2026-01-07/deals", "", "", 302, "../" + second + "/deals"},
		{"/as-of/commit-2/", "", "", 302, "../" + second + "/"},
		{"/as-of/commit-99/", "", "", 400, "commits 1 to 3"},
		{"/as-of/soon/", "", "", 400, "want an instant"},
		{"/as-of/2020-01-01T00:00:00Z/", "", "", 200, "before the first commit"},
		{"/as-of/2036-01-01T00:00:00Z/", "", "", 200, "not final"},
		{"/-/go?page=deals%3Fq%3Da&at=commit-2", "", "", 302, "../as-of/" + second + "/deals?q=a"},
		{"/-/go?page=..%2F..%2Fx&at=commit-2", "", "", 400, "page"},
		{"/-/go?page=%2F%2Fexample.com&at=", "", "", 400, "page"},
		{"/-/newest", "", "", 200, `"commit": 3`},
		{"/-/healthz", "", "", 200, `"verdict": "warned"`},
		{"/runs/last", "", "", 302, "./3"},
		{"/runs/3", "", "", 200, "Commit 3"},
		{"/runs/4", "", "", 404, "No commit or attempt 4."},
		{"/runs", "", "", 200, "Attempts that made no commit are not among them: the store hangs."},
		{"/as-of/" + first + "/changes?kind=priced", "", "", 200, `<input type="hidden" name="kind" value="priced"><label for="from">After</label><input id="from" name="from" value=""`},
		{"/as-of/" + second + "/runs/3", "", "", 404, "No commit 3"},
	} {
		var headers []string
		if c.header != "" {
			headers = []string{c.header, c.value}
		}
		status, body, header := e.get(t, c.path, headers...)
		if status != c.status || !strings.Contains(body, c.want) && header.Get("Location") != c.want {
			t.Errorf("%s: got %d, Location %q and %.300s, want %d and %q", c.path, status, header.Get("Location"), body, c.status, c.want)
		}
		for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy"} {
			if header.Get(name) == "" {
				t.Errorf("%s: the header %s is not there", c.path, name)
			}
		}
	}
	post, err := http.Post(e.URL+"/deals", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	post.Body.Close()
	if post.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d", post.StatusCode)
	}
	_, _, header := e.get(t, "/deals")
	tag := header.Get("ETag")
	if status, body, _ := e.get(t, "/deals", "If-None-Match", tag); tag == "" || status != http.StatusNotModified || body != "" {
		t.Errorf("the same page again: status %d, %d bytes, want 304 and none", status, len(body))
	}
	if _, _, header := e.get(t, "/as-of/"+second+"/deals"); header.Get("ETag") == tag {
		t.Error("a page as of an instant has the tag of the newest one")
	}
}

// testDownloads checks that the table of a page and its files have the same deals.
func testDownloads(t *testing.T, e *explorer) {
	_, text, header := e.get(t, "/deals.csv?market=HY&kind=priced")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if got := header.Get("Content-Disposition"); got != `attachment; filename="deals.csv"` {
		t.Errorf("Content-Disposition: %s", got)
	}
	page := e.page(t, "/deals?market=HY&kind=priced")
	found := regexp.MustCompile(`deals/bond/hy/priced/(\d+)"`).FindAllStringSubmatch(page, -1)
	if len(found) != len(rows)-1 {
		t.Fatalf("the page has %d deals, the file %d", len(found), len(rows)-1)
	}
	for i := range found {
		if found[i][1] != rows[i+1][3] {
			t.Errorf("row %d: the page has deal %s, the file %s", i+1, found[i][1], rows[i+1][3])
		}
	}
	if _, text, _ := e.get(t, "/deals.parquet?market=HY"); !strings.HasPrefix(text, "PAR1") || !strings.HasSuffix(text, "PAR1") {
		t.Errorf("%d bytes that are no Parquet", len(text))
	}
	if status, _, header := e.get(t, "/deals/bond/hy/priced/"+found[0][1]+"/payload-1"); status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
		t.Errorf("a payload: status %d, %s", status, header.Get("Content-Type"))
	}
}

// testFilters checks that a filter of the list of deals leaves as many deals as its link says.
func testFilters(t *testing.T, e *explorer) {
	page := e.page(t, "/deals")
	for _, name := range []string{"service", "market", "kind", "currency", "sector", "grade", "year"} {
		found := regexp.MustCompile(`href="\./deals\?(` + name + `=[^"]+)"><bdi>[^<]*</bdi> <small>(\d+)</small>`).FindStringSubmatch(page)
		if found == nil {
			t.Errorf("no filter %s", name)
			continue
		}
		_, text, _ := e.get(t, "/deals.csv?"+html.UnescapeString(found[1]))
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || fmt.Sprint(len(rows)-1) != found[2] {
			t.Errorf("%s: the link says %s deals, the file has %d: %v", found[1], found[2], len(rows)-1, err)
		}
	}
}

// testPipeline checks that each deal to come is once on the board of its service, and that the table has each tranche.
func testPipeline(t *testing.T, e *explorer) {
	_, text, _ := e.get(t, "/pipeline.csv")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 10 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	want, tranches := map[string]map[string]int{}, map[string]int{}
	for _, row := range rows[1:] {
		if want[row[0]] == nil {
			want[row[0]] = map[string]int{}
		}
		want[row[0]][strings.ToLower(row[0]+"/"+row[1])+"/expected/"+row[2]] = 1
		tranches[row[0]]++
	}
	for service, deals := range want {
		page, _, _ := strings.Cut(e.page(t, "/pipeline?service="+service), `<section aria-label="Priced since">`)
		got := map[string]int{}
		for _, found := range regexp.MustCompile(`<li class="card"><p><a href="\./deals/([a-z]+/[a-z]+/expected/\d+)"`).FindAllStringSubmatch(page, -1) {
			got[found[1]]++
		}
		if !maps.Equal(got, deals) {
			t.Errorf("%s: the board has %v, the file %v", service, got, deals)
		}
		table := e.page(t, "/pipeline?view=table&service="+service)
		if n := strings.Count(regexp.MustCompile(`(?s)<caption>Tranches.*?</table>`).FindString(table), "<tr"); n != tranches[service]+1 {
			t.Errorf("%s: the table has %d rows, want %d and a heading", service, n, tranches[service])
		}
	}
	// Several markets, and what priced: before the board in words, in its last column as cards.
	_, text, _ = e.get(t, "/pipeline.csv?market=hy,EM")
	if rows, err = csv.NewReader(strings.NewReader(text)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	markets := map[string]bool{}
	for _, row := range rows[1:] {
		markets[row[1]] = true
	}
	if !maps.Equal(markets, map[string]bool{"HY": true, "EM": true}) {
		t.Errorf("the pipeline of HY and EM has the markets %v", markets)
	}
	// Each timing has the number of deals that the filter leaves.
	tried := 0
	for service := range want {
		_, filter, _ := strings.Cut(e.page(t, "/pipeline?service="+service), `aria-label="Filter by timing"`)
		filter, _, _ = strings.Cut(filter, "</div>")
		for _, choice := range regexp.MustCompile(`href="\.(/pipeline\?[^"]*timing=[^"]*)".*<small>(\d+)</small>`).FindAllStringSubmatch(filter, -1) {
			tried++
			_, text, _ := e.get(t, strings.Replace(html.UnescapeString(choice[1]), "/pipeline", "/pipeline.csv", 1))
			if rows, err = csv.NewReader(strings.NewReader(text)).ReadAll(); err != nil {
				t.Fatal(err)
			}
			left := map[string]bool{}
			for _, row := range rows[1:] {
				left[row[1]+row[2]] = true
			}
			if fmt.Sprint(len(left)) != choice[2] {
				t.Errorf("%s: %d deals, the page says %s", choice[1], len(left), choice[2])
			}
		}
	}
	if tried < 3 {
		t.Errorf("%d timings: the test sees too little", tried)
	}
	before, after, _ := strings.Cut(e.page(t, "/pipeline?service=bond&since=commit-1"), `<div class="board">`)
	said := regexp.MustCompile(`<summary>Since then (\d+) left \((\d+) priced, \d+ gone\)</summary>`).FindStringSubmatch(before)
	if said == nil || said[2] == "0" {
		t.Fatalf("what left is not before the board: %v", said)
	}
	wantParts(t, after, `<section aria-label="Priced since">`, "/priced/", "<bdi>priced</bdi></span>")
	// What left obeys the filters, too: of those that they gave then, those that are not to come any more.
	comes := func(path string) map[string]bool {
		_, text, _ := e.get(t, path)
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		deals := map[string]bool{}
		for _, row := range rows[1:] {
			deals[row[0]+row[1]+row[2]] = true
		}
		return deals
	}
	now, leaving := comes("/pipeline.csv"), 0
	_, first, _ := e.get(t, "/as-of/commit-1/")
	then := regexp.MustCompile(`as-of/[^/"]+`).FindString(first)
	if _, _, header := e.get(t, "/as-of/commit-1/"); header.Get("Location") != "" {
		then = "as-of/" + strings.Trim(header.Get("Location"), "./")
	}
	for _, filter := range []string{"", "&currency=USD", "&currency=EUR", "&currency=XXX", "&timing=today", "&sponsor=yes", "&sponsor=no", "&market=LL,EM"} {
		gone := 0
		for deal := range comes("/" + then + "/pipeline.csv?" + filter) {
			if !now[deal] {
				gone++
			}
		}
		if filter != "" {
			leaving += gone
		}
		wantParts(t, e.page(t, "/pipeline?since=commit-1"+filter), fmt.Sprintf(" changed, %d left (", gone))
	}
	if leaving < 5 {
		t.Errorf("%d deals left: the test sees too little", leaving)
	}
}

// testDiff compares what changed between neighbouring versions with the comparison of any two versions.
func testDiff(t *testing.T, e *explorer) {
	compared := 0
	for _, row := range regexp.MustCompile(`deals/([a-z]+/[a-z]+/[a-z]+/\d+)\?tab=diff&amp;v=(\d+)"`).FindAllStringSubmatch(e.page(t, "/changes?from=commit-1"), -1) {
		if compared == 8 {
			break
		}
		want := e.page(t, "/deals/"+row[1]+"?tab=diff&v="+row[2])
		if !strings.Contains(want, `<table class="diff`) {
			continue
		}
		compared++
		got, err := e.diffOf(t, row[1], row[2])
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range got {
			if !strings.Contains(want, html.EscapeString(line)) {
				t.Errorf("deal %s, version %s: the page lacks %q", row[1], row[2], line)
			}
		}
		if rows := strings.Count(want, "<tr><td><bdi>"); rows != len(got) {
			t.Errorf("deal %s, version %s: %d differences, want %d", row[1], row[2], rows, len(got))
		}
	}
	if compared < 4 {
		t.Errorf("%d versions were compared", compared)
	}
	// field_change cuts long texts; the page has them to their ends.
	long := e.texts(t, `SELECT lower(f.market), f.deal_id, f.version, regexp_extract(d.message, '(\w+)\W*$', 1)
		FROM field_change f JOIN loan_expected_deals d USING (market, deal_id, version)
		WHERE f.kind = 'expected' AND f.service = 'loan' AND f.field = 'message' AND f.change = 'edited' AND f."is" LIKE '%…' AND length(d.message) > 300 ORDER BY ALL LIMIT 1`)[0]
	page := e.page(t, "/deals/loan/"+long[0]+"/expected/"+long[1]+"?tab=diff&v="+long[2])
	_, message, _ := strings.Cut(page, "<td>message</td>")
	message, _, _ = strings.Cut(message, "</tr>")
	if !strings.Contains(message, long[3]) || strings.Contains(message, "…") {
		t.Errorf("deal %s: the message is not whole, up to %q: %s", long[1], long[3], message)
	}
}

// testDeal checks that an expected deal and the deal that it priced as lead to each other, that the head of an expected deal has
// its tranches, that the comparison says from when the versions were known and what removed a deal, and that a removed deal is
// found by its borrower.
func testDeal(t *testing.T, e *explorer) {
	ask := func(statement string) (values [4]string) {
		t.Helper()
		if err := e.db.QueryRow(statement).Scan(&values[0], &values[1], &values[2], &values[3]); err != nil {
			t.Fatal(err)
		}
		return values
	}
	pair := ask(`SELECT DISTINCT lower(market), deal_id::VARCHAR, priced_deal_id::VARCHAR, volume FROM history.bond_expected_tranches t
		WHERE priced_deal_id IN (SELECT deal_id FROM history.bond_priced_deals p WHERE p.market = t.market) AND valid_to IS NULL AND volume <> '' ORDER BY ALL LIMIT 1`)
	expected, priced := "/deals/bond/"+pair[0]+"/expected/"+pair[1], "/deals/bond/"+pair[0]+"/priced/"+pair[2]
	wantParts(t, e.page(t, expected), priced[1:]+`">priced as `+pair[2], `<ul class="lines">`, " · "+html.EscapeString(pair[3]))
	wantParts(t, e.page(t, priced), expected[1:]+`">announced as `+pair[1])
	gone := ask(`SELECT service || '/' || lower(market) || '/' || kind, deal_id::VARCHAR, version::VARCHAR, reason FROM history.deal_versions
		WHERE change = 'removed' AND valid_to IS NULL ORDER BY ALL LIMIT 1`)
	wantParts(t, e.page(t, "/deals/"+gone[0]+"/"+gone[1]+"?tab=diff"), "Version "+gone[2]+" removed the deal ("+gone[3]+"), known ")
	moved := ask(`SELECT lower(market), deal_id::VARCHAR, min(version)::VARCHAR, '' FROM field_change
		WHERE service = 'loan' AND kind = 'expected' AND table_name = 'loan_expected_deals' AND field = 'stage' GROUP BY ALL ORDER BY ALL LIMIT 1`)
	own := "/deals/loan/" + moved[0] + "/expected/" + moved[1]
	events := e.page(t, own)
	wantParts(t, events, own[1:]+"?tab=diff&amp;v="+moved[2]+`"><bdi>`)
	if strings.Contains(events, "<bdi>loan_expected_deals.changed, ") {
		t.Error("an event names the time of a change as news")
	}
	lost := ask(`SELECT market, deal_id::VARCHAR, borrower_name, '' FROM history.bond_expected_deals
		WHERE valid_to IS NOT NULL AND borrower_name <> '' AND (market, deal_id) IN (SELECT (market, deal_id) FROM history.deal_versions
			WHERE service = 'bond' AND kind = 'expected' AND change = 'removed' AND valid_to IS NULL) ORDER BY ALL LIMIT 1`)
	search := "?state=removed&q=" + url.QueryEscape(lost[2])
	wantParts(t, e.page(t, "/deals"+search), "/expected/"+lost[1]+`"`, template.HTMLEscapeString(strings.Map(chart.Visible, lost[2]))+"</bdi></td>")
	if _, body, _ := e.get(t, "/deals.csv"+search); !strings.Contains(body, lost[1]) {
		t.Errorf("the file of removed deals lacks %s: %s", lost[1], body)
	}
	wantParts(t, e.page(t, "/deals"), " other, ")
	shown := e.page(t, priced+"?tab=fields")
	for tab, other := range map[string]string{"banks": "bond_priced_geographies", "lists": "bond_priced_banks"} {
		page := e.page(t, priced+"?tab="+tab)
		wantParts(t, page, "?tab=prices", "<h2>"+map[string]string{"banks": "bond_priced_banks", "lists": "bond_priced_geographies"}[tab]+"</h2>")
		if strings.Contains(page, "<h2>"+other) {
			t.Errorf("the tab %s has %s", tab, other)
		}
	}
	wantParts(t, shown, "<dt>ISIN</dt>", "<td>nominal_usd</td>")
	if strings.Contains(shown, ".000000</bdi>") {
		t.Error("the fields have amounts with six zeros")
	}
	edited := ask(`SELECT service || '/' || lower(market) || '/' || kind, deal_id::VARCHAR, version::VARCHAR, strftime(valid_from AT TIME ZONE 'UTC', '%-d %b %Y %H:%M UTC')
		FROM history.deal_versions WHERE change = 'changed' ORDER BY ALL LIMIT 1`)
	wantParts(t, e.page(t, "/deals/"+edited[0]+"/"+edited[1]+"?tab=diff&v="+edited[2]), " → "+edited[3]+": ", edited[2]+", known "+edited[3]+"</option>")
}

// testColumn checks the page of a column: its values are those of the table, and it leads to the columns that are read from it and
// to the analyses that name it.
func testColumn(t *testing.T, e *explorer) {
	var value, rows, all string
	if err := e.db.QueryRow(`SELECT ranking, count(*)::VARCHAR, (SELECT count(*)::VARCHAR FROM bond_priced_deals) FROM bond_priced_deals GROUP BY ranking ORDER BY count(*) DESC, ranking LIMIT 1`).Scan(&value, &rows, &all); err != nil {
		t.Fatal(err)
	}
	wantParts(t, e.page(t, "/tables/bond_priced_deals/ranking"), "<dt>Rows</dt><dd><bdi>"+all+"</bdi>", "<bdi>"+html.EscapeString(value)+"</bdi></td><td class=\"n \"><bdi>"+rows+"</bdi>", "/ranking.csv", "<h2>Edits within 7 days")
	wantParts(t, e.page(t, "/tables/bond_priced_deals/spread"), "tables/bond_priced_deals/spread_bp\">spread_bp</a>", "<h2>How its texts were read</h2>", "<bdi>OK</bdi>")
	wantParts(t, e.page(t, "/tables/bond_priced_deals/spread_bp"), "Read from", "tables/bond_priced_deals/spread\">", "analyses/bond_deals_core_as_of\">")
	wantParts(t, e.page(t, "/tables/bond_priced_deals/nominal_usd"), "analyses/issuance_volume\">", "analyses/league_table\">") // macros that others call have their bodies elsewhere
	wantParts(t, e.page(t, "/tables/bond_priced_deals"), "tables/bond_priced_deals/ranking\"><bdi>ranking</bdi>")
	var different, null string
	if err := e.db.QueryRow("SELECT count(DISTINCT borrower_ticker)::VARCHAR, count(*) FILTER (borrower_ticker IS NULL)::VARCHAR FROM bond_priced_deals").Scan(&different, &null); err != nil {
		t.Fatal(err)
	}
	facts := []string{"<dt>Different values</dt><dd><bdi>" + different + "</bdi>"}
	if null != "0" {
		facts = append(facts, "<dt>NULL in</dt><dd><bdi>"+null+"</bdi>")
	}
	wantParts(t, e.page(t, "/tables/bond_priced_deals/borrower_ticker"), facts...)
	for _, path := range []string{"/tables/bond_priced_deals/nothing", "/tables/nothing/ranking"} {
		if status, _, _ := e.get(t, path); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
}

// testEdits checks that the lists of changes say what was and what is, without a further page: each edited value of the pipeline's
// columns, and each of those of all versions.
func testEdits(t *testing.T, e *explorer) {
	rows, err := e.db.Query(`SELECT table_name || '.' || field || ' ' || coalesce(row_key, ''), was, "is", table_name || '.' || field
		FROM field_change c WHERE change = 'edited' AND field IN ('volume', 'margin', 'price_evolution', 'status', 'isin_code') AND length(was) < 200
		AND (SELECT count(*) FROM field_change o WHERE (o.service, o.market, o.kind, o.deal_id, o.version) = (c.service, c.market, c.kind, c.deal_id, c.version)) <= 12`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	seen := 0
	shown := func(text string) string {
		return "<bdi>" + strings.ReplaceAll(template.HTMLEscapeString(strings.Map(chart.Visible, text)), "+", "&#43;") + "</bdi>"
	}
	for rows.Next() {
		var name, was, is, field string
		if err := rows.Scan(&name, &was, &is, &field); err != nil {
			t.Fatal(err)
		}
		seen++
		wantParts(t, e.page(t, "/changes?from=commit-1&field="+field), shown(strings.TrimSpace(name))+"</span> ", `was </span>`+shown(was), `is </span>`+shown(is))
	}
	if err := rows.Err(); err != nil || seen == 0 {
		t.Fatalf("%d edits, %v", seen, err)
	}
	board := e.page(t, "/pipeline?service=loan&since=commit-1") + e.page(t, "/pipeline?service=bond&since=commit-1")
	var name, was, is, deal string
	if err := e.db.QueryRow(`SELECT c.field, c.was, c."is", p.deal_id::VARCHAR FROM field_change c JOIN pipeline_core_as_of('infinity') p USING (service, market, deal_id)
		WHERE c.kind = 'expected' AND c.change = 'edited' AND c.field IN ('volume', 'margin', 'timing', 'status') AND p.first_known_at = (SELECT min(known_at) FROM runs)
		QUALIFY row_number() OVER (PARTITION BY c.service, c.market, c.deal_id, c.row_key, c.field ORDER BY c.version DESC) = 1 ORDER BY ALL LIMIT 1`).Scan(&name, &was, &is, &deal); err != nil {
		t.Fatal(err)
	}
	_, card, found := strings.Cut(board, "/expected/"+deal+`">`)
	if card, _, _ = strings.Cut(card, `<li class="card">`); !found {
		t.Fatalf("no card of %s", deal)
	}
	wantParts(t, card, "<bdi>"+name, `is </span>`+shown(is))
	if strings.Contains(board, `<span class="soft">changed, `) {
		t.Error("a card names the time of a change as news")
	}
}

// testLogin checks that without the token there is nothing to see but the form and its style.
func testLogin(t *testing.T, e *explorer, w *world.World) {
	const token = "a token of thirty-two characters"
	door, err := login.New(login.Config{Token: token, Clock: time.Now, Client: func(*http.Request) string { return "" }, Style: "assets/style.css"})
	if err != nil {
		t.Fatal(err)
	}
	closed := &explorer{Server: httptest.NewServer(e.server(t, w, door)), lake: e.lake}
	defer closed.Close()
	style := regexp.MustCompile(`/-/assets/[0-9a-f]+/style.css`).FindString(e.page(t, "/runs"))
	for path, want := range map[string]string{
		"/": "./-/login?next=", "/deals?q=a": "./-/login?next=deals%3Fq%3Da", "/deals.csv": "./-/login?next=deals.csv", "/-/newest": "../-/login?next=-%2Fnewest", "/-/healthz": "../-/login?next=-%2Fhealthz",
		"/as-of/commit-2/deals": "../../-/login?next=as-of%2Fcommit-2%2Fdeals", "/nothing": "./-/login?next=nothing", "/-/go?page=deals&at=": "../-/login?next=-%2Fgo%3Fpage%3Ddeals%26at%3D",
	} {
		if status, body, header := closed.get(t, path, "Accept", "text/html"); status != http.StatusSeeOther || header.Get("Location") != want || body != "" {
			t.Errorf("%s: status %d, Location %q, want %q", path, status, header.Get("Location"), want)
		}
		if status, _, header := closed.get(t, path); status != http.StatusUnauthorized || header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: a program gets status %d", path, status)
		}
		if status, _, _ := closed.get(t, path, "Authorization", "Bearer "+token); status == http.StatusUnauthorized {
			t.Errorf("%s: the token is not admitted", path)
		}
	}
	for path, want := range map[string]int{"/-/login": http.StatusOK, style: http.StatusOK} {
		if status, _, header := closed.get(t, path, "Accept", "text/html"); status != want || header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: status %d", path, status)
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.PostForm(closed.URL+"/-/login", url.Values{"token": {token}, "next": {"deals"}})
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther || len(answer.Cookies()) != 1 {
		t.Fatalf("the form: status %d, %d cookies", answer.StatusCode, len(answer.Cookies()))
	}
	if status, body, _ := closed.get(t, "/deals", "Cookie", answer.Cookies()[0].String()); status != http.StatusOK || !strings.Contains(body, "<h1>") {
		t.Errorf("with the cookie: status %d", status)
	}
	if status, _, _ := closed.get(t, "/-/login", "Host", "example.com"); status != http.StatusMisdirectedRequest {
		t.Errorf("the form under another name: status %d", status)
	}
}

// testReaders asks for the same and for other pages at once, as 200 readers. Answers are kept within their bound.
func testReaders(t *testing.T, e *explorer) {
	const readers = 200
	paths := []string{"/", "/deals?q=a", "/changes", "/runs", "/deals?market=IG", "/as-of/commit-2/deals", "/pipeline", "/tables", "/deals?sort=borrower", "/deals.csv"}
	done := make(chan int)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: readers}}
	for i := range readers {
		go func() {
			answer, err := client.Get(e.URL + paths[i%len(paths)])
			if err != nil {
				done <- 0
				return
			}
			_, err = io.Copy(io.Discard, answer.Body)
			if answer.Body.Close(); err != nil {
				answer.StatusCode = 0
			}
			done <- answer.StatusCode
		}()
	}
	for range readers {
		if status := <-done; status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	client.CloseIdleConnections()
}

// TestSearchByCanonicalName searches for a name that only the aliases give: it finds the deals of its spellings from the day on
// from which the alias is valid, priced and expected, in the list, its filters and its files.
func TestSearchByCanonicalName(t *testing.T) {
	w, b := world.NewBook(t)
	b.Write(world.Priced, 1, `"borrower":{"name":"Oak  Holding"},"pricingDate":"2026-01-02"`)
	b.Write(world.Priced, 2, `"borrower":{"name":"OAK HOLDING"},"pricingDate":"2025-06-30"`)
	b.Write(world.Priced, 3, `"borrower":{"name":"Birch"},"pricingDate":"2026-01-02"`)
	b.Write(world.Expected, 4, `"borrower":{"name":"oak holding"}`)
	b.Write(world.Expected, 5, `"borrower":{"name":"Elm"},"headline":"USD4.113m TL, 1e0 and 0x4"`)
	if err := w.Store.Put(t.Context(), lake.BorrowerAliasesKey, strings.NewReader("alias,canonical,valid_from\nOak Holding,Cédar & Sons,2026-01-01\n"), store.Replace); err != nil {
		t.Fatal(err)
	}
	w.Night(t, 0, world.Feeds(world.Priced, world.Expected), world.Quiet)
	e := serve(t, w)
	for path, want := range map[string]string{
		"/deals.csv?q=cedar+%26":         "1 4",
		"/deals.csv?q=oak":               "1 2 4",
		"/deals.csv?q=birch":             "3",
		"/deals.csv?q=4":                 "4",
		"/deals.csv?q=CEDAR&kind=priced": "1",
		"/deals.csv?q=larch":             "",
		"/deals.csv?q=4.113":             "5", // digits alone are an id
		"/deals.csv?q=1e0":               "5",
		"/deals.csv?q=0x4":               "5",
		"/deals.csv?q=-4":                "",
	} {
		ids := e.dealsIn(t, path)
		slices.Sort(ids)
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: the deals %q, want %q", path, got, want)
		}
	}
	wantParts(t, e.page(t, "/deals?q=cedar"), "2 deals", "Oak  Holding", "searched for also by the canonical names", ">expected</bdi> <small>1</small>")
}

// dealsIn returns the ids of the deals in a CSV file, in its order.
func (e *explorer) dealsIn(t *testing.T, path string) (ids []string) {
	t.Helper()
	_, body, _ := e.get(t, path)
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || len(rows) == 0 || len(rows[0]) < 4 || rows[0][3] != "deal_id" {
		t.Fatalf("%s: %v: %s", path, err, said(body))
	}
	for _, row := range rows[1:] {
		ids = append(ids, row[3])
	}
	return ids
}

// TestRemovedDeals lists removed deals with each filter and order: those of the state before the removal. The counts of the
// filters are those of the lists that they lead to.
func TestRemovedDeals(t *testing.T) {
	w, b := world.NewBook(t)
	b.Write(world.Priced, 1, `"borrower":{"name":"Oak","sector":"Energy"},"pricingDate":"2025-06-30","currency":"USD","green":true`)
	b.Write(world.Priced, 2, `"borrower":{"name":"Birch","sector":"Retail"},"pricingDate":"2026-01-02","currency":"EUR"`)
	b.Write(world.Priced, 3, `"borrower":{"name":"Elm","sector":"Energy"},"pricingDate":"2026-01-02","currency":"USD"`)
	b.Write(world.Expected, 4, `"borrower":{"name":"Ash","sector":"Energy"},"headline":"USD3.113m","_embedded":{"tranches":[{"currency":"GBP"}]}`)
	b.Write(world.Expected, 5, `"borrower":{"name":"Fir","sector":"Energy"}`)
	feeds := world.Feeds(world.Priced, world.Expected)
	w.Night(t, 0, feeds, world.Quiet)
	b.Write(world.Priced, 1, `"borrower":{"name":"Oak","sector":"Metals"},"pricingDate":"2025-06-30","currency":"USD","green":true`)
	w.Night(t, 1, feeds, world.Quiet)
	b.Strike(world.Priced, 2)
	w.Night(t, 2, feeds, world.Quiet, world.AcceptRemovals)
	b.Strike(world.Priced, 1)
	b.Strike(world.Expected, 4)
	w.Night(t, 3, feeds, world.Quiet, world.AcceptRemovals)
	e := serve(t, w)
	for filter, want := range map[string]string{
		"":                                    "4 1 2", // newest removal first
		"&sort=day":                           "1 2 4",
		"&sort=-day":                          "2 1 4",
		"&sort=borrower":                      "4 2 1",
		"&sort=-known":                        "4 1 2",
		"&currency=USD":                       "1",
		"&currency=GBP":                       "4",
		"&currency=XXX":                       "",
		"&sector=Metals":                      "1",
		"&sector=Energy":                      "4",
		"&year=2026":                          "2",
		"&esg=green":                          "1",
		"&grade=IG":                           "",
		"&priced_from=2026-01-01":             "2",
		"&kind=priced&priced_from=2020-01-01": "1 2",
		"&q=3.113":                            "4",
		"&q=1e0":                              "",
		"&q=2":                                "2",
		"&q=birch":                            "2",
	} {
		if got := strings.Join(e.dealsIn(t, "/deals.csv?state=removed"+filter), " "); got != want {
			t.Errorf("%s: the deals %q, want %q", filter, got, want)
		}
	}
	for filter, want := range map[string]string{"": "4 1 2", "&sector=Energy": "4"} {
		page := e.page(t, "/deals?state=removed"+filter)
		var shown []string
		for _, found := range regexp.MustCompile(`/(?:priced|expected)/(\d+)"`).FindAllStringSubmatch(page, -1) {
			shown = append(shown, found[1])
		}
		if got := strings.Join(shown, " "); got != want {
			t.Errorf("%s: the page has the deals %q, want %q", filter, got, want)
		}
		for _, link := range regexp.MustCompile(`href="\.(/deals)(\?[^"]+)"><bdi>[^<]*</bdi> <small>(\d+)</small>`).FindAllStringSubmatch(page, -1) {
			if n := len(e.dealsIn(t, link[1]+".csv"+html.UnescapeString(link[2]))); fmt.Sprint(n) != link[3] {
				t.Errorf("%s: %s has %d deals, the link says %s", filter, link[2], n, link[3])
			}
		}
	}
	then := "/as-of/" + asof.Path(w.Log(t).Commits[2].KnownAt)
	if got := strings.Join(e.dealsIn(t, then+"/deals.csv?state=removed&currency=EUR"), " "); got != "2" {
		t.Errorf("as of the third night: the deals %q", got)
	}
	wantParts(t, e.page(t, "/deals?state=removed&currency=USD"), "1 deal had been removed in the newest state.", ">USD</bdi> <small>1</small>")
}

// TestLongChanges asks for the changes of more than 31 days: the page has counts, a sentence, and the way to the last 31 days, which
// are listed.
func TestLongChanges(t *testing.T) {
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	b.Write(world.Priced, 2, `"message":"late"`)
	w.Night(t, 40, world.Feeds(world.Priced), world.Quiet)
	e := serve(t, w)
	long := e.page(t, "/changes?from=2025-01-01T00:00:00Z&kind=priced")
	wantParts(t, long, "These are 40 days, with 4 versions.", "4 versions became known", "save all versions as Parquet", `changes.parquet?`)
	if strings.Contains(long, "?tab=diff") {
		t.Error("versions are listed")
	}
	next := regexp.MustCompile(`<a href="\./(changes\?[^"]*)">The last 31 days`).FindStringSubmatch(long)
	if next == nil {
		t.Fatal("no way to the last 31 days")
	}
	wantParts(t, e.page(t, "/"+html.UnescapeString(next[1])), "1 version became known", "?tab=diff", `name="kind" value="priced"`)
	wantParts(t, e.page(t, "/as-of/"+asof.Path(w.Log(t).Commits[0].KnownAt)+"/changes?from=2025-01-01T00:00:00Z"), "3 versions became known", ">added")
}

// TestFilesAreTheTables compares pages with their files: they have the same rows, also under filters, and filters of runs are of all
// runs, not of the newest alone.
func TestFilesAreTheTables(t *testing.T) {
	w, b := world.NewBook(t)
	for night, members := range []string{`"message":"A"`, `"message":"B"`, `"message":"B","ranking":"Senior"`} {
		b.Write(world.Priced, 1, members)
		w.Night(t, night, world.Feeds(world.Priced), world.Quiet)
	}
	w.Lengthen(t, 120)
	e := serve(t, w)
	rows := func(path string, column int) (all []string) {
		t.Helper()
		status, body, _ := e.get(t, path)
		found, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		if status != http.StatusOK || err != nil || len(found) == 0 {
			t.Fatalf("%s: status %d, %v: %s", path, status, err, said(body))
		}
		for _, row := range found[1:] {
			all = append(all, row[column])
		}
		return all
	}
	const deal = "/deals/bond/ig/priced/1"
	for query, want := range map[string]string{"?tab=diff": "3", "?tab=diff&v=2": "2", "?tab=diff&v=3&against=2": "3", "?tab=diff&v=1": ""} {
		page, got := e.page(t, deal+query), rows(deal+".csv"+query, 0)
		if n := strings.Count(page, "<tr><td><bdi>"); strings.Join(got, " ") != want || n != len(got) {
			t.Errorf("%s: the file has the versions %v, want %s; the page has %d rows", query, got, want, n)
		}
	}
	if status, body, _ := e.get(t, deal+".csv?tab=diff&v=3&against=1"); status != http.StatusBadRequest || !strings.Contains(body, "against=1: ") {
		t.Errorf("a file of versions that are no neighbours: status %d: %s", status, said(body))
	}
	for filter, want := range map[string][2]int{"": {123, 100}, "?command=run": {3, 3}, "?command=compact": {120, 100}, "?command=run&outcome=done": {3, 3}, "?outcome=held": {0, 0}} {
		if got := len(rows("/runs.csv"+filter, 0)); got != want[0] {
			t.Errorf("%s: the file has %d runs, want %d", filter, got, want[0])
		}
		for _, base := range []string{"", "/as-of/" + asof.Path(w.Log(t).KnownAt)} {
			page := e.page(t, base+"/runs"+filter)
			if got := len(regexp.MustCompile(`<tr><td class="n "><a href="[^"]*runs/\d+">`).FindAllString(page, -1)); got != want[1] {
				t.Errorf("%s/runs%s: the page has %d runs, want %d", base, filter, got, want[1])
			}
		}
	}
	wantParts(t, e.page(t, "/runs"), ">run</bdi> <small>3</small>", ">compact</bdi> <small>120</small>", "The last 100 runs of ")
	wantParts(t, e.page(t, "/runs?command=run"), "<bdi>3 runs of 5 Jan ", ">done</bdi> <small>3</small>")
	for path, column := range map[string]string{"/tables": "spread", "/tables/runs": "known"} {
		found, root := []string{}, e.page(t, path+"?q="+column)
		for _, row := range regexp.MustCompile(`<tr><td class=""><(?:a href="[^"]*"><bdi>|bdi>)([a-z_0-9]+)`).FindAllStringSubmatch(root, -1) {
			found = append(found, row[1])
		}
		if got := rows(path+".csv?q="+column, 0); !slices.Equal(got, found) || len(got) == 0 {
			t.Errorf("%s?q=%s: the file has %q, the page %q", path, column, got, found)
		}
	}
	if _, body, _ := e.get(t, "/tables.parquet?q=spread"); !strings.HasPrefix(body, "PAR1") {
		t.Errorf("%.100q is no Parquet", body)
	}
	if status, body, _ := e.get(t, "/tables.csv?q=no+such+thing"); status != http.StatusOK || strings.Count(body, "\n") != 1 {
		t.Errorf("a search without a result: status %d: %s", status, said(body))
	}
}

// TestDiffOfSpace changes white space alone, of a long and of a short text: the comparison has a mark with its name, the list of
// changes says it, and texts keep their lines.
func TestDiffOfSpace(t *testing.T) {
	w, b := world.NewBook(t)
	for night, members := range []string{
		`"message":"The first line is long enough for words.\nThe second line follows it.","ranking":"Senior Secured"`,
		`"message":"The first line is long enough for words.\n\nThe second line\u00a0follows it.","ranking":"Senior  Secured"`,
	} {
		b.Write(world.Priced, 1, members)
		w.Night(t, night, world.Feeds(world.Priced), world.Quiet)
	}
	e := serve(t, w)
	was := func(name string) string {
		return `<del><span class="hidden">was </span><small>[` + name + `]</small></del>`
	}
	is := func(name string) string {
		return `<ins><span class="hidden">is </span><small>[` + name + `]</small></ins>`
	}
	wantParts(t, e.page(t, "/deals/bond/ig/priced/1?tab=diff"), was("line break")+" "+is("2 line breaks"), was("space")+" "+is("no-break space"), was("space")+" "+is("2 spaces"))
	wantParts(t, e.page(t, "/changes?from=commit-1"), "bond_priced_deals.message (white space)", "bond_priced_deals.ranking (white space)")
	wantParts(t, e.page(t, "/deals/bond/ig/priced/1?tab=fields"), "<td class=\"text\"><bdi>The first line is long enough for words.\n\nThe second line")
}

// TestDiffOutsideColumns changes a field that no column has: the comparison has its JSON pointer with both values, between
// neighbours and between others.
func TestDiffOutsideColumns(t *testing.T) {
	w, b := world.NewBook(t)
	for night, members := range []string{`"canary":{"a/b":1,"kept":true}`, `"canary":{"a/b":"<i>","kept":true}`, `"canary":{"kept":true}`} {
		b.Write(world.Priced, 1, members)
		w.Night(t, night, world.Feeds(world.Priced), world.Quiet)
	}
	e := serve(t, w)
	const deal = "/deals/bond/ig/priced/1?tab=diff"
	wantParts(t, e.page(t, deal+"&v=2"), "Only content outside all columns differs: 1 place.", "<td>/canary/a~1b</td>", "<del><span class=\"hidden\">was </span><bdi>1</bdi></del>", "<ins><span class=\"hidden\">is </span><bdi>&#34;&lt;i&gt;&#34;</bdi></ins>")
	wantParts(t, e.page(t, deal), "<td>/canary/a~1b</td>", "<del><span class=\"hidden\">was </span><bdi>&#34;&lt;i&gt;&#34;</bdi></del></td><td>–</td>")
	wantParts(t, e.page(t, deal+"&v=3&against=1"), "1 place.", "<del><span class=\"hidden\">was </span><bdi>1</bdi></del></td><td>–</td>")
}
