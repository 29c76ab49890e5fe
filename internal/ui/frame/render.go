package frame

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"dealflow/internal/chart"
	"dealflow/internal/ui/asof"
	"dealflow/schemas/lake"
)

//go:embed templates/*.html style.css ui.js
var files embed.FS

// parseTemplates returns the templates of pages by name, each with the layout. Those whose name begins with "_" are parts of
// all others.
func parseTemplates(from []fs.FS) (map[string]*template.Template, error) {
	shared, err := template.New("").ParseFS(files, "templates/_*.html")
	if err != nil {
		return nil, err
	}
	all := map[string]*template.Template{}
	for _, folder := range append([]fs.FS{files}, from...) {
		names, err := fs.Glob(folder, "templates/*.html")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			base := strings.TrimSuffix(path.Base(name), ".html")
			if strings.HasPrefix(base, "_") {
				continue
			}
			if all[base] != nil {
				return nil, fmt.Errorf("two templates have the name %s", base)
			}
			own, err := shared.Clone()
			if err == nil {
				all[base], err = own.ParseFS(folder, name)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// Content is what a page shows between the strip and the footer.
type Content struct {
	Title    string // the heading
	Lead     string // one sentence that answers the page's question; "" for none
	Template string
	Data     any
	Status   int   // of HTTP; 0: 200
	File     *File // in place of a page
}

// File is an answer that is no page.
type File struct {
	Name, Type string
	Data       []byte
}

// shell is the data of the layout. Templates of pages get it too, with their own in Data.
type shell struct {
	*Request
	*Content
	Strip   strip
	Program string
	Pages   []navigation
	Headed  string // the heading that was sent before the content was known; "" for none
	Assets  string // address of the files, without their name
	Search  string
	Parsers int    // version
	Aliases string // version
	Address string // of the page, for print
}

// navigation is a word of the navigation.
type navigation struct {
	Word, Key, Address string
	Current            bool
}

// shell returns the data of the layout.
func (s *Server) shell(q *Request, c *Content) shell {
	all := shell{
		Request: q, Content: c, Strip: q.strip(), Program: s.config.Version, Assets: q.site() + "-/assets/" + s.assets.hash + "/",
		Search: q.Values.Get("q"), Parsers: lake.ParserVersion, Aliases: q.aliases, Address: q.http.Host + q.http.URL.RequestURI(),
	}
	for _, p := range s.config.Pages {
		if p.Key != "" {
			all.Pages = append(all.Pages, navigation{p.Word, p.Key, q.Link(p.Path), q.page != nil && q.page.Word == p.Word})
		}
	}
	return all
}

// Asked returns the statements that the page has asked until now.
func (s shell) Asked() []evidence { return s.asked }

// Took is the time of the page on the server until now.
func (s shell) Took() string { return fmt.Sprintf("%d ms", time.Since(s.began).Milliseconds()) }

// render writes a page, or the part of it that a template of the layout has.
func (s *Server) render(out io.Writer, part string, all shell) error {
	t, ok := s.templates[all.Template]
	if !ok {
		return fmt.Errorf("no template %q", all.Template)
	}
	return t.ExecuteTemplate(out, part, all)
}

// askAliases learns the version of the aliases that names are read by; "none" without aliases.
func (q *Request) askAliases() {
	found, err := q.View.Ask(q.Ctx, asof.Query{Name: "aliases"})
	switch {
	case err != nil:
		q.aliases = "not known"
	case len(found.Rows) == 0:
		q.aliases = "none"
	default:
		q.aliases = cmp.Or(found.Row(0).Text("alias_version"), "none")
	}
}

// assets are the files that all pages share. Their address has their hash, so that browsers keep them.
type assets struct {
	hash   string
	files  map[string][]byte
	packed map[string][]byte // by gzip
}

func newAssets() (*assets, error) {
	a := &assets{files: map[string][]byte{}, packed: map[string][]byte{}}
	own, err := files.ReadFile("style.css")
	if err != nil {
		return nil, err
	}
	script, err := files.ReadFile("ui.js")
	if err != nil {
		return nil, err
	}
	a.files["style.css"] = append([]byte(themes(chart.Style)), themes(string(own))...)
	a.files["ui.js"] = script
	for name, data := range a.files {
		if a.packed[name], err = packed(data); err != nil {
			return nil, err
		}
	}
	a.hash = fmt.Sprintf("%x", sha256.Sum256(append(a.files["style.css"], script...)))[:16]
	return a, nil
}

// packed compresses by gzip.
func packed(data []byte) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(data)
	err = errors.Join(err, z.Close())
	return out.Bytes(), err
}

// darkScheme begins the colours for readers whose system is dark.
const darkScheme = "@media screen and (prefers-color-scheme: dark) {\n  :root {"

// themes lets a reader choose the scheme of a style: the attribute data-theme of the page goes before the system's.
func themes(style string) string {
	before, rest, found := strings.Cut(style, darkScheme)
	if !found {
		return style
	}
	dark, after, _ := strings.Cut(rest, "}\n}\n")
	return before + "@media screen and (prefers-color-scheme: dark) {\n  :root:not([data-theme=light]) {" + dark + "}\n}\n" +
		"@media screen {\n  :root[data-theme=dark] {" + dark + "}\n}\n" + after
}

func (a *assets) serve(w http.ResponseWriter, r *http.Request, name string) {
	hash, file, _ := strings.Cut(name, "/")
	data, ok := a.files[file]
	if !ok || hash != a.hash {
		http.Error(w, "no file has this address", http.StatusNotFound)
		return
	}
	if readsGzip(r) {
		data = a.packed[file]
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, file, time.Time{}, bytes.NewReader(data))
}

// Name is the lake's name in short: of one in a folder, the name of that.
func (s shell) Name() string {
	if strings.Contains(s.Lake(), "://") {
		return s.Lake()
	}
	return path.Base(s.Lake())
}

// MainSQL is the address of the statement of the page's main table, below on the page; "" if the page has not asked it.
func (s shell) MainSQL() string {
	if s.page == nil || s.page.Main == nil {
		return ""
	}
	main, err := s.page.Main(s.Request)
	if err != nil {
		return ""
	}
	return anchorOf(slices.IndexFunc(s.asked, func(e evidence) bool { return e.Name == main.Name }))
}

// anchorOf is the address of a statement of the page, below on it; "" for none.
func anchorOf(i int) string {
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("#sql-%d", i)
}

// At names the commit that the page is of; "" before the first.
func (s shell) At() string {
	c := s.View.Commit()
	if c == nil {
		return ""
	}
	return fmt.Sprint(c.Number)
}
