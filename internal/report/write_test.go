package report

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"dealflow/internal/chart"
)

// hostile are texts that try to be markup or to steer the reader's screen.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg onload=alert(1)>`, `</title></style></svg><script>alert(1)</script>`,
	`<!-- --><iframe src="https://example.com">`, `javascript:alert(1)`, `]]><a href="https://example.com">x</a>`, `{{.Lake}}`, `</textarea><base href=//example.com>`,
	"safe\u202egnp.exe\u2066x\u2069\u200e\u200f\u061c", "bell\a nul\x00 esc\x1b[31m del\x7f csi\u009b sep\u2028\u2029 bom\ufeff", "bad \xff\xfe utf-8",
}

// inert are the elements that the page is made of: none of them fetches, runs or submits anything.
var inert = " html head meta title style body header nav main section h1 h2 h3 ul li a dl dt dd bdi p code pre details summary" +
	" figure figcaption div table thead tbody tr th td svg desc line rect path text "

// TestHostileTexts sets every text of the data to a hostile one: it stays text.
func TestHostileTexts(t *testing.T) {
	for _, text := range hostile {
		page := write(t, sample(text))
		if i := strings.IndexFunc(page, func(r rune) bool { return chart.Visible(r) != r }); i >= 0 {
			t.Errorf("%q: the page holds %q", text, page[i:i+10])
		}
		for _, n := range nodes(t, page) {
			if n.Type == html.CommentNode {
				t.Errorf("%q: a comment in the page: %q", text, n.Data)
			}
			if n.Type != html.ElementNode {
				continue
			}
			if !strings.Contains(inert, " "+n.Data+" ") {
				t.Errorf("%q: an element <%s> in the page", text, n.Data)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "style" || a.Key == "srcset" || strings.Contains(a.Key, "href") && !strings.HasPrefix(a.Val, "#") {
					t.Errorf("%q: an attribute %s=%q in the page", text, a.Key, a.Val)
				}
			}
		}
	}
}

// TestTextsArrive finds the same texts again, as text, in each table, chart and statement.
func TestTextsArrive(t *testing.T) {
	const text = `<b>"Løan & Sons"</b>`
	places := map[string]int{}
	for _, n := range nodes(t, write(t, sample(text))) {
		if n.Type == html.TextNode && strings.Contains(n.Data, text) {
			places[n.Parent.Data]++
		}
	}
	for _, element := range []string{"bdi", "title", "text", "code"} {
		if places[element] == 0 {
			t.Errorf("no <%s> holds the text; found in %v", element, places)
		}
	}
}

// TestPage checks what every report must contain, empty ones included.
func TestPage(t *testing.T) {
	for name, d := range map[string]*Data{"full": sample("text"), "empty": {Lake: "lake", AsOf: "infinity"}} {
		page := write(t, d)
		if again := write(t, d); again != page {
			t.Errorf("%s: the same data give another page", name)
		}
		if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"`) {
			t.Errorf("%s: the page does not forbid what it does not need", name)
		}
		ids := map[string]bool{}
		charts, empty := 0, 0
		for _, n := range nodes(t, page) {
			if id := attribute(n, "id"); id != "" {
				if ids[id] {
					t.Errorf("%s: two elements are called %s", name, id)
				}
				ids[id] = true
			}
			switch {
			case n.Data == "svg":
				charts++
				if attribute(n, "role") != "img" || n.FirstChild.NextSibling.Data != "title" {
					t.Errorf("%s: a chart does not say what it is", name)
				}
			case attribute(n, "class") == "empty":
				empty++
			}
		}
		if want := map[string]int{"full": 13, "empty": 0}[name]; charts != want {
			t.Errorf("%s: %d charts, want %d", name, charts, want)
		}
		if want := map[string]int{"full": 0, "empty": 16}[name]; empty != want {
			t.Errorf("%s: %d figures say that they are empty, want %d", name, empty, want)
		}
		if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") || strings.Contains(page, "ZgotmplZ") {
			t.Errorf("%s: the page holds what is no number or no text", name)
		}
	}
}

// TestVisible keeps what people write, in any language, and replaces what they do not see.
func TestVisible(t *testing.T) {
	for _, r := range "aé中עא\u200d😀 \n" {
		if chart.Visible(r) != r {
			t.Errorf("%q is replaced", r)
		}
	}
	for _, r := range "\x00\x1b\u0085\u2028\u202e\u2067\u200f\ufeff" {
		if chart.Visible(r) != unicode.ReplacementChar {
			t.Errorf("%q is not replaced", r)
		}
	}
}
