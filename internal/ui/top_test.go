package ui_test

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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

// TestTopOfSlowPage reads the top of a page while its content is being asked, and then the rest: the content, or why there is none. A
// page that was begun so has no ETag, so that a failure is not kept.
func TestTopOfSlowPage(t *testing.T) {
	e := serve(t, oneNight(t))
	answers := make(chan error)
	server, err := frame.New(frame.Config{
		Lake: e.lake, URL: "folder", Now: func() time.Time { return e.now }, Patience: time.Nanosecond, Log: slog.New(slog.DiscardHandler),
		Pages: []frame.Page{
			{Path: "slow", Word: "Slow", Key: "s", Show: func(q *frame.Request) (*frame.Content, error) {
				if _, err := q.Ask(asof.Query{Name: "feeds"}); err != nil {
					return nil, err
				}
				return &frame.Content{Title: "The content", Template: "list", Data: &frame.List{Table: &grid.Table{}, Empty: "Nothing."}}, <-answers
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	for name, test := range map[string]struct {
		answer error
		gzip   bool
		want   []string
	}{
		"answered":        {nil, false, []string{"The content", "Nothing."}},
		"compressed":      {nil, true, []string{"The content", "Nothing."}},
		"failed":          {errors.New("the engine said no"), false, []string{"Internal Server Error", "the engine said no"}},
		"wrong parameter": {frame.Errorf(http.StatusNotFound, "no such deal"), true, []string{"Not found", "no such deal"}},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+"/slow", http.NoBody)
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
			if !strings.Contains(top.String(), "Newest: commit") {
				t.Error("the top of the page has no as-of control")
			}
			answers <- test.answer
			rest, err := io.ReadAll(lines)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range append(test.want, "known_at", "</html>") { // the statement, and the end
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
