package ui_test

import (
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"dealflow/internal/testkit/world"
)

// hostile are texts that would do something if a page obeyed them. Each has the word marker.
var hostile = []string{
	`<script>alert("marker")</script>`, `\"><img src=x onerror=\"marker\">`, `{{.Data}} marker`, `</title></style></svg><b>marker`,
	`marker \u202e gnitirw \u200f`, `javascript:marker()`, `=cmd(marker)`, `&lt;i&gt; marker`, `' OR 1=1 -- marker`, `marker \u0007\u001b[31m`,
}

// TestHostileTexts puts such texts into names, headlines and lists. In every page they are texts: no element, no attribute and
// no link comes of them.
func TestHostileTexts(t *testing.T) {
	w, b := world.NewBook(t)
	all := world.Feeds(world.Priced, world.Expected)
	for i, text := range hostile {
		quoted := `"` + strings.ReplaceAll(strings.ReplaceAll(text, `"`, `\"`), `\\"`, `\"`) + `"`
		b.Write(world.Priced, int64(i+1), `"borrower":{"name":`+quoted+`,"sector":`+quoted+`},"currency":`+quoted+`,"spread":`+quoted+`,"banks":[{"name":`+quoted+`}]`)
		b.Write(world.Expected, int64(i+1), `"headline":`+quoted+`,"borrower":{"name":`+quoted+`},"tranches":[{"name":`+quoted+`,"volume":`+quoted+`}]`)
	}
	w.Night(t, 0, all, world.Quiet)
	for i := range hostile {
		b.Write(world.Priced, int64(i+1), `"borrower":{"name":"other"},"message":"<u>marker</u>"`)
	}
	w.Night(t, 1, all, world.Quiet)
	e := serve(t, w)
	pages := e.crawl(t, "/", 1)
	for _, path := range []string{"/deals?q=marker", "/deals?q=%3Cscript%3Emarker", "/deals?q=%27+OR+1%3D1+--+marker", "/deals?sort=borrower"} {
		pages[path] = e.page(t, path)
	}
	for _, statement := range []string{
		"SELECT * FROM bond_priced_deals, (SELECT chr(7) || 'marker' || chr(8238) AS \"<b>marker\"), (SELECT '<script>marker</script>' || chr(0))",
		"FROM history.bond_expected_deals", "SELECT \"<img src=x onerror=marker>\"\n</textarea><b>marker</b>", "FROM \"<b>marker\"",
	} {
		path := "/sql?" + url.Values{"sql": {statement}}.Encode()
		_, pages[path], _ = e.get(t, path)
		if n := strings.Count(pages[path], "marker"); n < 3 {
			t.Errorf("%s: the texts are on the page %d times: %.3000s", statement, n, pages[path])
		}
	}
	seen := 0
	for path, page := range pages {
		if !strings.Contains(page, "<html") {
			continue
		}
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type == html.TextNode && strings.Contains(n.Data, "marker") {
				seen++
			}
			if n.Type == html.ElementNode && (n.Data == "img" || n.Data == "b" || n.Data == "i" || n.Data == "u" || n.Data == "script" && n.FirstChild != nil) {
				t.Errorf("%s: an element <%s>", path, n.Data)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || (a.Key == "href" || a.Key == "src" || a.Key == "action") && strings.HasPrefix(strings.TrimSpace(a.Val), "javascript") {
					t.Errorf("%s: the attribute %s=%q", path, a.Key, a.Val)
				}
			}
		}
		for _, bad := range []string{"\u202e", "\u200f", "\x07", "\x1b"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: the page has %q", path, bad)
			}
		}
	}
	if seen < 40 {
		t.Errorf("the texts are on the pages %d times: the test sees too little", seen)
	}
}
