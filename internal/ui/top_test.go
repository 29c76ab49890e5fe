package ui_test

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"dealflow/internal/testkit/world"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/grid"
	"dealflow/schemas/api"
)

// oneNight returns a lake of one night with a deal.
func oneNight(t *testing.T) *world.World {
	w, b := world.NewBook(t)
	feed := api.Feeds()[0]
	b.Write(feed, 1, `"message":"A"`)
	w.Night(t, 0, world.Feeds(feed), world.Quiet)
	return w
}

// TestBeforeFirstCommit asks for pages as of an instant before the lake: they say where it begins, and do not propose to take filters away.
func TestBeforeFirstCommit(t *testing.T) {
	w := oneNight(t)
	e := serve(t, w)
	begins := "It begins at " + asof.Path(w.Log(t).KnownAt)
	for _, path := range []string{"", "feeds", "pipeline", "deals", "deals?state=removed", "changes", "runs", "analyses/league_table"} {
		page := e.page(t, "/as-of/2020-01-01T00:00:00Z/"+path)
		if !strings.Contains(page, begins) || strings.Contains(page, "Take a filter away") {
			t.Errorf("%s: want %q, and no proposal to take a filter away: %s", path, begins, said(page))
		}
	}
}

// TestGoneLake asks for the pages of an operator after the lake has gone: they say so, what to type, and what was known before.
func TestGoneLake(t *testing.T) {
	w := oneNight(t)
	e := serve(t, w)
	gone := &explorer{lake: e.lake, now: e.now, gone: errors.New("the folder has no commit any more")}
	gone.Server = httptest.NewServer(gone.server(t, w, nil))
	defer gone.Close()
	status, body, _ := gone.get(t, "/")
	if status != http.StatusServiceUnavailable {
		t.Errorf("Health: status %d, want 503", status)
	}
	wantParts(t, body, "The lake cannot be read. Committed last: ", "<strong>failed</strong>", "the folder has no commit any more", `data-copy="dealflow doctor"`, `<h2 id="feeds">`, ">"+api.Feeds()[0].String()+"</bdi>")
	wantParts(t, gone.page(t, "/runs"), "are not among them: the folder has no commit any more.", `runs/1">`)
	if status, body, _ = gone.get(t, "/-/healthz"); status != http.StatusServiceUnavailable || !strings.Contains(body, `"verdict": "failed"`) {
		t.Errorf("healthz: status %d, %s", status, body)
	}
}

// TestTopOfSlowPage reads the top of a page while its content is being asked, and then the rest: the content, or why there is none. A
// page that was begun so has no ETag, so that a failure is not kept.
func TestTopOfSlowPage(t *testing.T) {
	e := serve(t, oneNight(t))
	answers := make(chan error)
	show := func(q *frame.Request) (*frame.Content, error) {
		if _, err := q.Ask(asof.Query{Name: "feeds"}); err != nil {
			return nil, err
		}
		return &frame.Content{Title: "The content", Template: "list", Data: &frame.List{Table: &grid.Table{}, Empty: "Nothing."}}, <-answers
	}
	server, err := frame.New(frame.Config{
		Lake: e.lake, URL: "folder", Clock: func() time.Time { return e.now }, Patience: time.Nanosecond, Log: slog.New(slog.DiscardHandler),
		Pages: []frame.Page{
			{Path: "slow", Word: "Slow", Key: "s", Show: show},
			{Path: "titled", Word: "Slow", Title: "The content", Show: show}, // its heading is known before its content
			{Path: "slow/{id}", Word: "Slow", Show: show},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	for name, test := range map[string]struct {
		path      string
		answer    error
		gzip      bool
		top, rest []string
	}{
		"answered":          {"/slow", nil, false, nil, []string{"<h1><bdi>The content", "Nothing."}},
		"compressed":        {"/slow", nil, true, nil, []string{"<h1><bdi>The content", "Nothing."}},
		"failed":            {"/slow", errors.New("the engine said no"), false, nil, []string{"<h1><bdi>Internal Server Error", "the engine said no"}},
		"wrong parameter":   {"/slow", frame.Errorf(http.StatusNotFound, "no such deal"), true, nil, []string{"<h1><bdi>Not found", "no such deal"}},
		"with a heading":    {"/titled", nil, false, []string{"<title>The content", "<h1><bdi>The content"}, []string{"Nothing."}},
		"of one thing":      {"/slow/7", nil, false, []string{"<title>slow/7 "}, []string{"<h1><bdi>The content"}},
		"failed beneath it": {"/titled", errors.New("the engine said no"), true, []string{"<h1><bdi>The content"}, []string{"<h2><bdi>Internal Server Error", "the engine said no"}},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+test.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Accept-Encoding", map[bool]string{true: "gzip", false: "identity"}[test.gzip])
			response, err := web.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusOK || response.Header.Get("ETag") != "" {
				t.Errorf("got status %d and ETag %q, want 200 and none", response.StatusCode, response.Header.Get("ETag"))
			}
			body := io.Reader(response.Body)
			if test.gzip {
				if body, err = gzip.NewReader(body); err != nil {
					t.Fatal(err)
				}
			}
			lines := bufio.NewReader(body)
			var top strings.Builder
			for !strings.Contains(top.String(), `class="wait`) {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Fatalf("the page ended after %q: %v", top.String(), err)
				}
				top.WriteString(line)
			}
			for _, want := range append(test.top, "Newest: commit") { // the as-of control
				if !strings.Contains(top.String(), want) {
					t.Errorf("the top of the page lacks %q:\n%s", want, top.String())
				}
			}
			answers <- test.answer
			rest, err := io.ReadAll(lines)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range append(test.rest, "known_at", "</html>") { // the statement, and the end
				if !strings.Contains(string(rest), want) {
					t.Errorf("the rest of the page lacks %q:\n%s", want, rest)
				}
			}
			if n := strings.Count(top.String()+string(rest), "<h1>"); n != 1 {
				t.Errorf("the page has %d headings, want one", n)
			}
		})
	}
}

// TestFastPageIsWhole asks for a page within the reader's patience: it has a length, a status and an ETag.
func TestFastPageIsWhole(t *testing.T) {
	e := serve(t, oneNight(t))
	for path, want := range map[string]int{"/deals": http.StatusOK, "/deals/bond/ig/priced/999999999": http.StatusNotFound} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept-Encoding", "identity") // a compressed page has no length for the client
		response, err := e.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want || response.ContentLength < 0 {
			t.Errorf("%s: got status %d and %d bytes, want status %d and their number", path, response.StatusCode, response.ContentLength, want)
		}
		if got := response.Header.Get("ETag") != ""; got != (want == http.StatusOK) {
			t.Errorf("%s: ETag %q", path, response.Header.Get("ETag"))
		}
	}
}

// sections is a page of three parts; the second of them waits for what answer sends.
func sections(t *testing.T, patience time.Duration, answer <-chan error) *httptest.Server {
	t.Helper()
	e := serve(t, oneNight(t))
	part := func(id string) string {
		return `<section aria-labelledby="` + id + `"><h2 id="` + id + `">Part ` + id + `</h2>
{{with .` + id + `}}{{with .Flaw}}{{template "flaw" .}}{{else}}<p>{{.Value}}</p>{{end}}{{end}}</section>
`
	}
	templates := fstest.MapFS{"templates/parts.html": &fstest.MapFile{Data: []byte(`{{define "body"}}{{with .Data}}` + part("First") + part("Second") + part("Third") + `{{end}}{{end}}`)}}
	server, err := frame.New(frame.Config{
		Lake: e.lake, URL: "folder", Clock: func() time.Time { return e.now }, Patience: patience, Log: slog.New(slog.DiscardHandler), Templates: []fs.FS{templates},
		Pages: []frame.Page{
			{Path: "parts", Word: "Parts", Key: "p", Show: func(q *frame.Request) (*frame.Content, error) {
				value := func(text string) func() (string, error) { return func() (string, error) { return text, nil } }
				return &frame.Content{Title: "Parts", Template: "parts", Data: struct{ First, Second, Third *frame.Part[string] }{
					frame.Later(q, value("value 1")),
					frame.Later(q, func() (string, error) { return "value 2", <-answer }),
					frame.Later(q, value("value 3")),
				}}, nil
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	return web
}

// TestSectionsOfSlowPage reads a page of which the second section takes long: the first one and the heading of the second are there before its
// content is, and then the content, or why there is none, and the third.
func TestSectionsOfSlowPage(t *testing.T) {
	answers := make(chan error)
	web := sections(t, time.Nanosecond, answers)
	for name, test := range map[string]struct {
		answer         error
		want, excluded string
	}{
		"answered":  {nil, "value 2", "could not be answered"},
		"failed":    {errors.New("the engine said no"), "the engine said no", "value 2"},
		"not found": {frame.Errorf(http.StatusNotFound, "no such deal"), "<h3>Not found</h3>", "value 2"},
	} {
		for _, encoding := range []string{"identity", "gzip"} {
			t.Run(name+"/"+encoding, func(t *testing.T) {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+"/parts", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Accept-Encoding", encoding)
				response, err := web.Client().Do(request)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				body := io.Reader(response.Body)
				if encoding == "gzip" {
					if body, err = gzip.NewReader(body); err != nil {
						t.Fatal(err)
					}
				}
				lines := bufio.NewReader(body)
				var before strings.Builder
				for !strings.Contains(before.String(), "Part Second") {
					line, err := lines.ReadString('\n')
					if err != nil {
						t.Fatalf("the page ended after %q: %v", before.String(), err)
					}
					before.WriteString(line)
				}
				if !strings.Contains(before.String(), "value 1") {
					t.Error("the first section is not before the second")
				}
				answers <- test.answer
				after, err := io.ReadAll(lines)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(after), test.want) || strings.Contains(string(after), test.excluded) || !strings.Contains(string(after), "value 3") || !strings.HasSuffix(string(after), "</html>\n") {
					t.Errorf("want %q, not %q, then the third section and the end:\n%s", test.want, test.excluded, after)
				}
			})
		}
	}
}

// TestSectionsOfFastPage asks for the same page within the reader's patience: it is sent whole, with the status of a section that failed, and
// what failed has no ETag, so that it is asked again.
func TestSectionsOfFastPage(t *testing.T) {
	answers := make(chan error, 1)
	web := sections(t, time.Hour, answers)
	for name, test := range map[string]struct {
		answer error
		status int
		want   string
	}{
		"answered": {nil, http.StatusOK, "value 2"},
		"failed":   {errors.New("the engine said no"), http.StatusInternalServerError, "the engine said no"},
		"busy":     {asof.ErrBusy, http.StatusServiceUnavailable, "try again"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			t.Run(name+"/"+method, func(t *testing.T) {
				request, err := http.NewRequestWithContext(t.Context(), method, web.URL+"/parts", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Accept-Encoding", "identity")
				answers <- test.answer
				response, err := web.Client().Do(request)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				if tag := response.Header.Get("ETag"); response.StatusCode != test.status || response.ContentLength < 1000 || (tag != "") != (test.status == http.StatusOK) {
					t.Errorf("got status %d, %d bytes and ETag %q, want status %d, the length, and a tag only if nothing failed", response.StatusCode, response.ContentLength, tag, test.status)
				}
				if got := response.Header.Get("Retry-After") != ""; got != (test.status == http.StatusServiceUnavailable) {
					t.Errorf("Retry-After: got %t", got)
				}
				body, err := io.ReadAll(response.Body)
				if err != nil {
					t.Fatal(err)
				}
				if method == http.MethodHead {
					return
				}
				for _, want := range []string{"value 1", test.want, "value 3", "</html>"} {
					if !strings.Contains(string(body), want) {
						t.Errorf("the page lacks %q:\n%s", want, body)
					}
				}
			})
		}
	}
}
