package frame

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"dealflow/internal/ui/asof"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Request is a request for a page, read. Only the goroutine that answers it uses it.
type Request struct {
	Ctx    context.Context // ends when the reader has gone, or after the time of a page
	View   *asof.View
	Vars   map[string]string // of the page's path
	Values url.Values        // parameters, each of them known to the page
	server *Server
	http   *http.Request
	began  time.Time
	page   *Page
	path   string // below the base, without the ending of a download
	format string // of a download; "" for a page
	asked  []evidence
	stream *stream // nil until the page is shown
	status int     // of HTTP, of the first part that failed; 0: none did

	aliases string // version, for the layout
}

// Lake returns the address of the lake, without credentials: a folder, or a URL.
func (q *Request) Lake() string { return q.server.config.URL }

// Resolve returns the instant that a text names; see asof.Lake.
func (q *Request) Resolve(text string) (lake.Instant, error) {
	return q.server.config.Lake.Resolve(text)
}

// read reads a request: the base, which names the instant, then the page below it. It returns where to go instead, if the
// instant is not in the form of paths.
func (s *Server) read(ctx context.Context, r *http.Request, below string) (q *Request, redirect string, err error) {
	q = &Request{server: s, http: r, Ctx: ctx, began: time.Now()}
	rest, pinned := strings.CutPrefix(below, "as-of/")
	if !pinned {
		if q.View, err = s.config.Lake.Newest(ctx); err != nil {
			return nil, "", err
		}
	} else {
		named, page, found := strings.Cut(rest, "/")
		at, err := s.config.Lake.Resolve(named)
		if err != nil {
			return s.unresolved(ctx, r, page), "", Errorf(http.StatusBadRequest, "as-of/%v", err)
		}
		if asof.Path(at) != named || !found {
			up := strings.Repeat("../", strings.Count(rest, "/"))
			redirect = cmp.Or(up, "./") + asof.Path(at) + "/" + page
			if !found {
				redirect = "./" + asof.Path(at) + "/"
			}
			if r.URL.RawQuery != "" {
				redirect += "?" + r.URL.RawQuery
			}
			return q, redirect, nil
		}
		if q.View, err = s.config.Lake.At(ctx, at); err != nil {
			return nil, "", err
		}
		rest = page
	}
	q.path = rest
	if ending := strings.TrimPrefix(path.Ext(rest), "."); slices.Contains([]string{asof.CSV, asof.JSON, asof.Parquet}, ending) {
		q.path, q.format = strings.TrimSuffix(rest, "."+ending), ending
	}
	for i := range s.config.Pages {
		vars, ok := s.config.Pages[i].match(q.path)
		if !ok || q.format != "" && s.config.Pages[i].Main == nil && s.config.Pages[i].Save == nil {
			continue
		}
		q.page, q.Vars = &s.config.Pages[i], vars
		q.Values, err = query(r, q.page.Params)
		if err == nil && q.page.Move != nil {
			redirect, err = q.page.Move(q)
		}
		return q, redirect, err
	}
	return q, "", Errorf(http.StatusNotFound, "no page has this address; the navigation has all")
}

// unresolved returns the request for a page as of an instant that nothing is named by, to say so on a page: that of the newest state. It returns
// nil if there is none.
func (s *Server) unresolved(ctx context.Context, r *http.Request, page string) *Request {
	newest, err := s.config.Lake.Newest(ctx)
	if err != nil {
		return nil
	}
	return &Request{server: s, http: r, Ctx: ctx, View: newest, path: page, began: time.Now()}
}

// match compares a path with that of the page, and returns its variables.
func (p *Page) match(path string) (map[string]string, bool) {
	want, got := strings.Split(p.Path, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return nil, false
	}
	vars := map[string]string{}
	for i, part := range want {
		before, name, isVariable := strings.Cut(strings.TrimSuffix(part, "}"), "{")
		value, begins := strings.CutPrefix(got[i], before)
		switch {
		case isVariable:
			if vars[name] = value; !begins || value == "" {
				return nil, false
			}
		case part != got[i]:
			return nil, false
		}
	}
	return vars, true
}

// FromElsewhere says whether a page of another site led here, as browsers say.
func (q *Request) FromElsewhere() bool {
	from := q.http.Header.Get("Sec-Fetch-Site")
	return from == "cross-site" || from == "same-site"
}

// ConsolePath is the page below the base on which a reader runs statements; MaxStatement is the most bytes of one.
const (
	ConsolePath  = "sql"
	MaxStatement = 8 << 10
)

// ConsoleLink returns the address of the page on which a reader can run a statement; "" if it cannot be run there.
func (q *Request) ConsoleLink(statement string) string {
	address := ConsolePath + "?sql=" + url.QueryEscape(statement)
	known := slices.ContainsFunc(q.server.config.Pages, func(p Page) bool { return p.Path == ConsolePath })
	// The console does not open the schema files: its tables have what was learned later.
	if !known || len(statement) > MaxStatement || len(address) > maxURL/2 || strings.Contains(statement, "files.") {
		return ""
	}
	return q.Link(address)
}

// Empty says why there is nothing, and what to do: otherwise, unless there is no commit, or the page is of an instant before
// the first one.
func (q *Request) Empty(otherwise string) string {
	switch {
	case q.View.Commit() != nil:
		return otherwise
	case q.View.Range().NewestCommit == 0:
		return "The lake has no commit yet: dealflow run makes the first one."
	}
	return "The lake had no commit yet. It begins at " + asof.Path(q.View.Range().First) + ": choose that instant, or a later one."
}

// base returns the way from the page to its base: all links are relative to it, so that a pinned reader stays pinned.
func (q *Request) base() string {
	below := strings.TrimPrefix(q.http.URL.Path, "/")
	if q.View.Pinned() {
		_, below, _ = strings.Cut(strings.TrimPrefix(below, "as-of/"), "/")
	}
	return cmp.Or(strings.Repeat("../", strings.Count(below, "/")), "./")
}

// site returns the way from the page to the unpinned base.
func (q *Request) site() string {
	if q.View != nil && q.View.Pinned() {
		return strings.TrimPrefix(q.base(), "./") + "../../"
	}
	return q.base()
}

// Link returns the address of a page below the base.
func (q *Request) Link(below string) string { return q.base() + below }

// DealLink returns the address of a deal's page. It returns "" for values that are no deal's.
func (q *Request) DealLink(service, market, kind string, id int64) string {
	feed, err := api.ParseFeed(service + "/" + market + "/" + kind)
	if err != nil {
		return ""
	}
	return q.Link(fmt.Sprintf("deals/%s/%d", feed, id))
}

// With returns the address of the same page with other values of its parameters; "" takes one away. The number of the page of
// a list goes with any of them.
func (q *Request) With(pairs ...string) string {
	values := url.Values{}
	for name, all := range q.Values {
		values[name] = all
	}
	values.Del("page")
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			values.Del(pairs[i])
			continue
		}
		values.Set(pairs[i], pairs[i+1])
	}
	last := path.Base("/" + q.path)
	if q.path == "" {
		last = ""
	}
	address := "./" + strings.TrimPrefix(last, "/")
	if len(values) > 0 {
		address += "?" + values.Encode()
	}
	return address
}

// here returns the page below the base, with its parameters. Of a list it is the first page: as of another instant the list may be shorter.
func (q *Request) here() string {
	values := q.http.URL.Query()
	values.Del("page")
	if len(values) == 0 {
		return q.path
	}
	return q.path + "?" + values.Encode()
}

// Save returns the address of the main table of the page as a file.
func (q *Request) Save(format string) string {
	last := path.Base(q.path)
	address := "./" + last + "." + format
	if values := q.Values; len(values) > 0 {
		address += "?" + values.Encode()
	}
	return address
}

// Number returns a parameter that is a whole number from 1 to most; otherwise if it is absent.
func (q *Request) Number(name string, otherwise, most int64) (int64, error) {
	text := q.Values.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, Errorf(http.StatusBadRequest, "%s=%s: want a number from 1 to %d", name, text, most)
	}
	return n, nil
}

// PastEnd is the error for a page of a list that ends before it. Pages are numbered from 1.
func PastEnd(number int64) error {
	return Errorf(http.StatusNotFound, "page=%d: the list ends before this page: begin with page=1", number)
}

// Choice returns a parameter that is one of some words; "" if it is absent.
func (q *Request) Choice(name string, words ...string) (string, error) {
	text := q.Values.Get(name)
	if text != "" && !slices.Contains(words, text) {
		return "", Errorf(http.StatusBadRequest, "%s=%s: want one of %s", name, text, strings.Join(words, ", "))
	}
	return text, nil
}

// evidence is a statement that a page has asked.
type evidence struct {
	Name, Title, SQL string
	Took             time.Duration
}

// Shows puts a query into the page's list of statements in place of one with the same name, which was asked without filters that the page applies
// itself: so the statement gives the rows of the page.
func (q *Request) Shows(query asof.Query) {
	text, err := q.View.SQL(query)
	if i := slices.IndexFunc(q.asked, func(e evidence) bool { return e.Name == query.Name }); i >= 0 && err == nil {
		q.asked[i].SQL = text
	}
}

// Ask answers a query, and keeps it for the page's list of statements.
func (q *Request) Ask(query asof.Query) (*asof.Answer, error) {
	found, err := q.AskAll(query)
	return found[0], err
}

// AskAll answers queries side by side, and keeps them for the page's list of statements. The answers are in the order of the queries;
// one that failed is nil, and the error is that of the first of them.
func (q *Request) AskAll(queries ...asof.Query) ([]*asof.Answer, error) {
	found, errs := make([]*asof.Answer, len(queries)), make([]error, len(queries))
	var group sync.WaitGroup
	for i := range queries {
		group.Go(func() { found[i], errs[i] = q.View.Ask(q.Ctx, queries[i]) })
	}
	group.Wait()
	var failed error
	for i, query := range queries {
		if cause := context.Cause(q.Ctx); errs[i] != nil && cause != nil {
			errs[i] = fmt.Errorf("%s: %w", query.Name, cause)
		}
		failed = cmp.Or(failed, errs[i])
		statement, unknown := q.View.Statement(query.Name)
		text, unbound := q.View.SQL(query)
		if unknown != nil || unbound != nil {
			continue
		}
		e := evidence{Name: query.Name, Title: statement.Title, SQL: text}
		if found[i] != nil {
			e.Took = found[i].Took
		}
		q.asked = append(q.asked, e)
	}
	return found, failed
}
