package frame

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/login"
)

// Config says what the explorer shows.
type Config struct {
	Lake      *asof.Lake // required; the caller closes it after the last request
	URL       string     // of the lake, without credentials
	Version   string     // of the program
	Pages     []Page     // in the order of the navigation
	Templates []fs.FS    // of the pages: each has a folder templates
	// State says in a word whether the lake is well, for /-/healthz. said is what that answers as JSON. Required.
	State func(context.Context) (good bool, said any)
	Clock func() time.Time // clock for ages. Required.
	// Timeout is for all statements of a page; 0: 30 seconds.
	Timeout time.Duration
	// Patience is how long a reader waits before the top of a page is sent, although its content is not known; 0: one second.
	Patience time.Duration
	// Login admits those who know a token; nil: all who reach the server.
	Login *login.Door
	// Hosts are names under which the server is asked, besides those of the loopback interface.
	Hosts []string
	// AnyHost accepts every name: the socket is a file, which no name leads to.
	AnyHost bool
	WorkDir string       // for downloads as Parquet; "" means the system's
	Log     *slog.Logger // required
}

// Server answers the requests of the explorer. It is safe for concurrent use.
type Server struct {
	config    Config
	assets    *assets
	templates map[string]*template.Template
}

// New returns a server.
func New(config Config) (*Server, error) {
	assets, err := newAssets()
	if err != nil {
		return nil, fmt.Errorf("explorer: %w", err)
	}
	templates, err := parseTemplates(config.Templates)
	if err != nil {
		return nil, fmt.Errorf("explorer: %w", err)
	}
	return &Server{config: config, assets: assets, templates: templates}, nil
}

const (
	maxURL     = 16 << 10
	askTimeout = 30 * time.Second // of all statements of a page, unless Config says otherwise
	saveBudget = 5 * time.Minute  // of a download
)

// retryAfter is in how many seconds a reader may ask again.
const retryAfter = "5"

var errDeadline = errors.New("the page took too long; try again in a few seconds")

// securityHeaders are in every answer. Nothing inline runs or styles, and no request leaves the host.
var securityHeaders = map[string]string{
	"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "private, no-cache",
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	for name, value := range securityHeaders {
		w.Header().Set(name, value)
	}
	counted := &statusWriter{ResponseWriter: w}
	refused := s.refuse(r)
	switch {
	case refused != nil:
		http.Error(counted, refused.text, refused.status)
	case r.URL.Path == loginPath && s.config.Login != nil:
		s.config.Login.ServeHTTP(counted, r)
	case !s.admits(r):
		s.turnAway(counted, r)
	default:
		s.route(counted, r)
	}
	// Without the query: what a person searches for is no affair of the log.
	s.config.Log.Debug("page of the explorer", "method", r.Method, "path", r.URL.Path, "status", counted.status, "dur", time.Since(began))
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// pageError is an answer that is no page of the lake.
type pageError struct {
	status int
	text   string
	err    error // the reason, if it is more than the text
}

func (e *pageError) Error() string { return e.text }
func (e *pageError) Unwrap() error { return e.err }

// Errorf returns an error of a page, which says what is wrong with the request, with a status of HTTP.
func Errorf(status int, format string, args ...any) error { return errorf(status, format, args...) }

func errorf(status int, format string, args ...any) *pageError {
	return &pageError{status: status, text: fmt.Sprintf(format, args...)}
}

// refuse returns why a request is refused before it is looked at; nil if it is not.
func (s *Server) refuse(r *http.Request) *pageError {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip, err := netip.ParseAddr(host)
	loopback := host == "localhost" || err == nil && ip.Unmap().IsLoopback()
	known := s.config.AnyHost || loopback || slices.Contains(s.config.Hosts, host)
	switch {
	case !known:
		// A page of another site can make its own name lead to this address: the name tells.
		return errorf(http.StatusMisdirectedRequest, "the explorer is not asked under the name %q; --host adds a name", r.Host)
	case r.Method != http.MethodGet && r.Method != http.MethodHead && (r.Method != http.MethodPost || r.URL.Path != loginPath || s.config.Login == nil):
		return errorf(http.StatusMethodNotAllowed, "want GET or HEAD: the explorer changes nothing")
	case len(r.RequestURI) > maxURL:
		return errorf(http.StatusRequestURITooLong, "the address has more than %d bytes", maxURL)
	case r.URL.Path == "" || strings.Contains(r.URL.Path, "//") || path.Clean(r.URL.Path) != strings.TrimSuffix(r.URL.Path, "/") && r.URL.Path != "/":
		return errorf(http.StatusNotFound, "no page has this address")
	}
	return nil
}

// loginPath is the address of the form, and assetsPath begins those of files, which the form has, too.
const (
	loginPath  = "/-/login"
	assetsPath = "/-/assets/"
)

// admits says whether a request may see the lake.
func (s *Server) admits(r *http.Request) bool {
	return s.config.Login == nil || strings.HasPrefix(r.URL.Path, assetsPath) || s.config.Login.Admits(r)
}

// turnAway sends a browser to the form, and tells a program what is missing.
func (s *Server) turnAway(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Set("WWW-Authenticate", `Bearer realm="dealflow"`)
		http.Error(w, "want the token: Authorization: Bearer …", http.StatusUnauthorized)
		return
	}
	below := strings.TrimPrefix(r.URL.RequestURI(), "/")
	path, _, _ := strings.Cut(below, "?")
	w.Header().Set("Location", cmp.Or(strings.Repeat("../", strings.Count(path, "/")), "./")+"-/login?next="+url.QueryEscape(below))
	w.WriteHeader(http.StatusSeeOther)
}

// Style returns the address of the style, relative to /-/.
func Style() (string, error) {
	a, err := newAssets()
	if err != nil {
		return "", err
	}
	return "assets/" + a.hash + "/style.css", nil
}

// route answers a request that is not refused.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	below := strings.TrimPrefix(r.URL.Path, "/")
	if machinery, ok := strings.CutPrefix(below, "-/"); ok {
		s.machinery(w, r, machinery)
		return
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), cmp.Or(s.config.Timeout, askTimeout), errDeadline)
	defer cancel()
	q, redirect, err := s.read(ctx, r, below)
	defer s.release(q)
	switch {
	case err != nil:
	case redirect != "":
		w.Header().Set("Location", redirect) // relative: the server may be under a path of a proxy
		w.WriteHeader(http.StatusFound)
		return
	case q.format != "":
		err = s.save(w, r, q)
	default:
		err = s.show(w, r, q)
	}
	if err != nil {
		s.showError(w, r, q, err)
	}
}

// release ends the use of a request's view. q may be nil, or have none.
func (s *Server) release(q *Request) {
	if q == nil || q.View == nil {
		return
	}
	if err := q.View.Release(); err != nil {
		s.config.Log.Warn("an older catalog could not be closed", "error", err)
	}
}

// machinery answers what is no page: files, the newest commit, the verdict, the as-of control.
func (s *Server) machinery(w http.ResponseWriter, r *http.Request, name string) {
	switch {
	case strings.HasPrefix(name, "assets/"):
		s.assets.serve(w, r, strings.TrimPrefix(name, "assets/"))
	case name == "newest":
		v, err := s.config.Lake.Newest(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		newest := v.Range()
		if err := v.Release(); err != nil {
			s.config.Log.Warn("an older catalog could not be closed", "error", err)
		}
		writeJSON(w, http.StatusOK, map[string]any{"commit": newest.NewestCommit, "known_at": newest.Newest})
	case name == "healthz":
		status := http.StatusOK
		good, said := s.config.State(r.Context())
		if !good {
			status = http.StatusServiceUnavailable
		}
		writeJSON(w, status, said)
	case name == "go":
		s.move(w, r)
	default:
		http.Error(w, "no page has this address", http.StatusNotFound)
	}
}

// move redirects from the form of the as-of control to the page as of the instant that it names.
func (s *Server) move(w http.ResponseWriter, r *http.Request) {
	values := r.URL.Query()
	page := values.Get("page")
	if !login.Local(page) {
		http.Error(w, "page: want the address of a page", http.StatusBadRequest)
		return
	}
	if values.Get("at") == "" {
		w.Header().Set("Location", "../"+page)
		w.WriteHeader(http.StatusFound)
		return
	}
	at, err := s.config.Lake.Resolve(values.Get("at"))
	if err != nil {
		asked := r.Clone(r.Context())
		asked.URL.RawQuery = "" // which is of the form
		q := s.unresolved(r.Context(), asked, page)
		defer s.release(q)
		s.showError(w, r, q, Errorf(http.StatusBadRequest, "Instant: %v", err))
		return
	}
	w.Header().Set("Location", "../as-of/"+asof.Path(at)+"/"+page)
	w.WriteHeader(http.StatusFound)
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(value) // the reader has gone
}

// save answers with the main table of a page as a file.
func (s *Server) save(w http.ResponseWriter, r *http.Request, q *Request) error {
	var query asof.Query
	var err error
	if q.page.Save == nil {
		if query, err = q.page.Main(q); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.Ctx), saveBudget)
	defer cancel()
	defer context.AfterFunc(r.Context(), cancel)()
	name := strings.NewReplacer("/", "-", " ", "-").Replace(strings.Trim(q.path, "/"))
	types := map[string]string{asof.CSV: "text/csv; charset=utf-8", asof.JSON: "application/json", asof.Parquet: "application/vnd.apache.parquet"}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", types[q.format])
		w.WriteHeader(http.StatusOK)
		return nil
	}
	out := &lateWriter{w: w, begin: func() {
		w.Header().Set("Content-Type", types[q.format])
		w.Header().Set("Content-Disposition", `attachment; filename="`+name+"."+q.format+`"`)
		w.WriteHeader(http.StatusOK)
	}}
	if q.page.Save != nil {
		q.Ctx = ctx
		err = q.page.Save(q, q.format, out)
	} else {
		err = q.View.Write(ctx, query, q.format, s.config.WorkDir, out)
	}
	if err != nil && out.begun {
		// A cut connection is the only way to say that what came is not all.
		s.config.Log.Warn("a download was cut off", "error", err)
		panic(http.ErrAbortHandler)
	}
	return err
}

// lateWriter calls begin before the first byte, so that an error before it can still have a status.
type lateWriter struct {
	w     http.ResponseWriter
	begin func()
	begun bool
}

// Write implements io.Writer.
func (l *lateWriter) Write(p []byte) (int, error) {
	if !l.begun {
		l.begun = true
		l.begin()
	}
	return l.w.Write(p)
}

// show answers with a page.
func (s *Server) show(w http.ResponseWriter, r *http.Request, q *Request) error {
	tag := s.tag(q)
	if tag != "" {
		w.Header().Set("ETag", tag)
		if slices.Contains(strings.Split(r.Header.Get("If-None-Match"), ", "), tag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	q.askAliases()
	q.stream = newStream(w, r)
	if !q.page.Whole && r.Method != http.MethodHead {
		q.stream.startAfter(cmp.Or(s.config.Patience, patience), func() string { return s.topOf(q) })
		defer q.stream.stop() // if Show panics, the timer must not send
	}
	content, err := q.page.Show(q)
	if err != nil {
		return err
	}
	if f := content.File; f != nil {
		w.Header().Set("Content-Type", f.Type)
		w.Header().Set("Content-Disposition", `attachment; filename="`+f.Name+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.Data))
		return nil
	}
	return s.write(w, r, q, content, cmp.Or(content.Status, http.StatusOK))
}

// topOf returns the top of a page whose content is not known yet, with its heading if that is. It runs while the page asks its statements: of the
// request it uses nothing that changes.
func (s *Server) topOf(q *Request) string {
	var page strings.Builder
	title := cmp.Or(q.page.Title, q.page.Word)
	if q.page.Title == "" && len(q.Vars) > 0 {
		title = q.path // which says more than the word that all these pages share
	}
	all := s.shell(q, &Content{Title: title, Template: "error"})
	all.Headed = q.page.Title
	for _, part := range []string{"top", "wait"} {
		if err := s.render(&page, part, all); err != nil {
			s.config.Log.Error("a page of the explorer failed", "path", q.http.URL.Path, "error", err)
		}
	}
	return page.String()
}

// tag identifies a page: the state of the lake, the program, the address, and what the strip says of the time. It returns
// "" for a page that says what is so now.
func (s *Server) tag(q *Request) string {
	if q.page.Live && !q.View.Pinned() {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%s\x00%s\x00%t", s.config.Version, s.assets.hash, q.View.State(), q.View.Instant(), q.http.URL.RequestURI(), q.strip().Said, q.FromElsewhere()))
	return fmt.Sprintf(`W/"%x"`, sum[:12])
}

// write renders a page into its stream, and sends it: whole, compressed if the reader can read that, or, if it has begun, the rest of it. Then the
// status is 200 already. A part that failed has its own.
func (s *Server) write(w http.ResponseWriter, r *http.Request, q *Request, c *Content, status int) error {
	if q.stream == nil {
		q.stream = newStream(w, r)
	}
	t, template, all := q.stream, "layout", s.shell(q, c)
	if status >= http.StatusBadRequest {
		t.stop() // a page that has not begun keeps its status
	}
	if t.take() {
		template, all.Headed = "rest", q.page.Title
	}
	err := s.render(t, template, all)
	switch begun := t.stop(); {
	case begun && err != nil:
		// A cut connection is the only way to say that what came is not all.
		s.config.Log.Error("a page of the explorer was cut off", "path", r.URL.Path, "error", err)
		panic(http.ErrAbortHandler)
	case begun:
		t.finish()
		return nil
	case err != nil:
		t.ready.Reset()
		return err
	}
	if status < http.StatusBadRequest {
		status = cmp.Or(q.status, status)
	}
	body := visible(t.ready.Bytes())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Add("Vary", "Accept-Encoding")
	if len(body) > 1<<10 && t.isGzip {
		if body, err = packed(body); err != nil {
			return err
		}
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	if status >= http.StatusBadRequest {
		w.Header().Del("ETag") // it may be answered the next time
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the reader has gone
	}
	return nil
}

func readsGzip(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
}

// inputError begins what the engine says of a value of a form that an analysis refuses. So does what it says of a damaged file,
// which it names.
const inputError = "Invalid Input Error: "

// refusedValue reports whether a statement failed because an analysis refuses a value of its form.
func (q *Request) refusedValue(text string) bool {
	return q != nil && strings.HasPrefix(strings.TrimPrefix(q.path, "/"), "analyses/") && strings.HasPrefix(text, inputError) && !strings.Contains(text, ".parquet")
}

// fault says what was wrong with a page, or with a part of it.
type fault struct {
	Title, Text string
	IsPicture   bool   // a mark below a line of the text shows a place
	Statement   string // address of the statement that failed, below on the page; "" for none
	status      int    // of HTTP; 0 if the reader has gone
}

// faultOf says what was wrong, and logs what is no fault of the reader. q is nil if the request could not be read.
func (s *Server) faultOf(r *http.Request, q *Request, err error) *fault {
	f := &fault{Text: err.Error(), status: http.StatusInternalServerError}
	var page *pageError
	var failed *asof.StatementError
	switch {
	case errors.As(err, &page):
		f.status = page.status
	case errors.Is(err, asof.ErrBroken):
		f.status, f.Text = http.StatusServiceUnavailable, asof.ErrBroken.Error()
		s.config.Log.Error("the engine of the explorer failed, and is opened again", "path", r.URL.Path, "error", err)
	case errors.Is(err, asof.ErrBusy), errors.Is(err, asof.ErrCutting), errors.Is(err, errDeadline):
		f.status = http.StatusServiceUnavailable
	case r.Context().Err() != nil:
		f.status = 0
	case errors.As(err, &failed) && q.refusedValue(f.Text):
		f.status, f.Text = http.StatusBadRequest, strings.TrimPrefix(f.Text, inputError)
	case errors.As(err, &failed):
		s.config.Log.Error("a statement of the explorer failed", "path", r.URL.Path, "error", err)
	default:
		s.config.Log.Error("a page of the explorer failed", "path", r.URL.Path, "error", err)
	}
	f.Title = http.StatusText(f.status)
	switch {
	case failed != nil:
		f.Title = "This could not be answered"
		if q != nil {
			f.Statement = anchorOf(slices.IndexFunc(q.asked, func(e evidence) bool { return e.SQL == failed.SQL }))
		}
	case f.status == http.StatusNotFound:
		f.Title = "Not found"
	}
	f.IsPicture = strings.Contains(f.Text, "\n")
	return f
}

// flawOf says what was wrong with a part of a page. The page has the status of the first of them.
func (q *Request) flawOf(err error) *fault {
	f := q.server.faultOf(q.http, q, err)
	q.status = cmp.Or(q.status, f.status)
	return f
}

// showError answers with a page that says what was wrong.
func (s *Server) showError(w http.ResponseWriter, r *http.Request, q *Request, err error) {
	f := s.faultOf(r, q, err)
	w.Header().Del("ETag")
	if f.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	switch {
	case f.status == 0:
		return // the reader has gone
	case q == nil || q.View == nil:
		http.Error(w, f.Text, f.status)
		return
	}
	if q.aliases == "" {
		q.askAliases()
	}
	if err := s.write(w, r, q, &Content{Title: f.Title, Template: "error", Data: f}, f.status); err != nil {
		http.Error(w, f.Text, f.status)
	}
}

// query returns the parameters of a request. A parameter that the page does not know is an error: it would show the answer
// to another question.
func query(r *http.Request, known []string) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, Errorf(http.StatusBadRequest, "the address cannot be read: %v", err)
	}
	for name, all := range values {
		if !slices.Contains(known, name) {
			return nil, Errorf(http.StatusBadRequest, "the parameter %q is none of this page: want %s", name, orNone(known))
		}
		if len(all) > 1 {
			return nil, Errorf(http.StatusBadRequest, "the parameter %q is there %d times, want it once", name, len(all))
		}
		if text := strings.Join(all, ""); !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil, Errorf(http.StatusBadRequest, "%s=%q: want UTF-8 without U+0000", name, text)
		}
	}
	return values, nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
