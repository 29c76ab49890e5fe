package ui_test

import (
	"cmp"
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"dealflow/internal/catalog"
	"dealflow/internal/safesql"
	"dealflow/internal/testkit/world"
	"dealflow/internal/ui"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/console"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/login"
	"dealflow/internal/ui/operator"
	"dealflow/internal/ui/study"
	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql"
	"dealflow/sql/answer"
	"dealflow/sql/engine"
)

// answerStatement is the argument that makes the test's binary the process of a statement.
const answerStatement = "answer-statement"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == answerStatement {
		formats := map[string]safesql.Format{"csv": (*answer.Rows).WriteCSV, "json": (*answer.Rows).WriteJSON}
		if err := safesql.Serve(os.Stdin, os.Stdout, os.Stderr, formats); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	world.Main(m)
}

// explorer is the explorer of a World's lake.
type explorer struct {
	*httptest.Server
	lake *asof.Lake
	db   *stdsql.DB // of the newest edition
	now  time.Time

	patience time.Duration // of readers; 0: more than any page takes
	gone     error         // why the lake cannot be read any more; nil if it can
}

// serve serves the explorer of a lake until the test ends, or until it is closed.
func serve(t *testing.T, w *world.World) *explorer {
	t.Helper()
	e := &explorer{now: w.Clock.Now().Add(9 * time.Hour)}
	var err error
	if e.lake, err = asof.Open(t.Context(), asof.Config{Newer: e.newer(t, w), Clock: time.Now}); err != nil {
		t.Fatal(err)
	}
	e.Server = httptest.NewServer(e.server(t, w, nil))
	t.Cleanup(func() {
		e.Close()
		if err := e.lake.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// quarantined is the number of records in quarantine that Health of the tests' servers has.
const quarantined = 23

// server returns a server of the lake, with a door or without one.
func (e *explorer) server(t *testing.T, w *world.World, door *login.Door) *frame.Server {
	t.Helper()
	optional, err := sql.OptionalParameters()
	if err != nil {
		t.Fatal(err)
	}
	server, err := ui.New(frame.Config{
		Lake: e.lake, URL: "folder", Version: "test", WorkDir: t.TempDir(), Clock: func() time.Time { return e.now }, Login: door, Timeout: time.Hour, Patience: cmp.Or(e.patience, time.Hour),
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}, operator.Source{
		Health: func(context.Context) (*operator.Health, error) {
			if e.gone != nil {
				return nil, e.gone
			}
			log := w.Log(t)
			h := &operator.Health{Now: e.now, Findings: []operator.Finding{{Kind: "drift", Severity: "warning", Reason: "some", Todo: "`dealflow runs show last` lists it"}}}
			h.Checks = log.Commits[len(log.Commits)-1].Checks
			for id := range int64(quarantined) {
				q := operator.Quarantined{ID: fmt.Sprintf("5f2a%d", id), Feed: api.Feeds()[0], Reason: "duplicate_member", Detail: "<b>message</b>", Bytes: 2048}
				if id > 0 {
					q.DealID = &id
				}
				h.Quarantine = append(h.Quarantine, q)
			}
			for i := range log.Commits[len(log.Commits)-1].Feeds {
				f := &log.Commits[len(log.Commits)-1].Feeds[i]
				h.Feeds = append(h.Feeds, operator.FeedHealth{Feed: f.Feed, Deals: f.Deals, Last: f})
			}
			return h, nil
		},
		Runs: func(_ context.Context, most int) (*operator.Listing, error) {
			if e.gone != nil {
				return nil, e.gone
			}
			found := &operator.Listing{Flaw: "the store hangs"}
			for _, c := range slices.Backward(w.Log(t).Commits) {
				if len(found.Runs) < most {
					found.Runs = append(found.Runs, operator.Run{Commit: c})
				}
			}
			return found, nil
		},
		Run: func(_ context.Context, name string) (*operator.Run, error) {
			for _, c := range w.Log(t).Commits {
				if fmt.Sprint(c.Number) == name {
					return &operator.Run{Commit: c}, nil
				}
			}
			return nil, nil
		},
		Files: func(context.Context, int64) (operator.FileChange, error) {
			return operator.FileChange{Known: true, Added: 3}, nil
		},
		Record: func(_ context.Context, id string) ([]byte, error) {
			if id == "5f2aff" {
				return nil, nil
			}
			return []byte("{\"id\":<b>\xff" + id), nil
		},
	}, described(t), console.Source{
		Runner:   &safesql.Runner{Command: []string{"/proc/self/exe", answerStatement}, WorkDir: t.TempDir(), Time: time.Minute},
		Examples: []console.Example{{Title: "Commits", SQL: `SELECT "commit", command FROM runs ORDER BY ALL`}},
		Optional: optional,
	})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// described is what the analyses say of themselves.
func described(t *testing.T) (all []study.Analysis) {
	found, err := sql.Analyses()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range found {
		all = append(all, study.Analysis{Name: a.Name, Title: a.Title, Definition: a.Definition, Parameters: a.Parameters, Units: a.Units, Caveats: a.Caveats})
	}
	return all
}

// newer opens the newest edition of a World's lake.
func (e *explorer) newer(t *testing.T, w *world.World) func(context.Context, int64) (*asof.Edition, error) {
	cache, err := mirror.NewCache(filepath.Join(t.TempDir(), "cache"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	return func(ctx context.Context, than int64) (*asof.Edition, error) {
		l, err := load.Open(ctx, w.Store)
		if err != nil || l.Log().Number <= than {
			return nil, err
		}
		opened, err := openEdition(ctx, l, work, cache)
		if err != nil {
			return nil, err
		}
		// Tests ask many small statements: DuckDB's threads cost more than they save.
		if _, err := opened.DB.ExecContext(ctx, engine.Threads(1)); err != nil {
			return nil, errors.Join(err, opened.Close())
		}
		e.db = opened.DB
		return opened, nil
	}
}

// openEdition opens the edition of a lake.
func openEdition(ctx context.Context, l *load.Lake, work string, cache *mirror.Cache) (*asof.Edition, error) {
	c, err := catalog.Open(ctx, l, work, cache)
	if err != nil {
		return nil, err
	}
	db, done, err := c.Apart(ctx, work)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	path, err := sql.FileOf(ctx, db)
	if err != nil {
		return nil, errors.Join(err, done(), c.Close())
	}
	return &asof.Edition{
		Log: l.Log(), DB: db, Close: func() error { return errors.Join(done(), c.Close()) },
		Fetch: func(ctx context.Context, statement string) error { return c.Fetch(ctx, db, statement) },
		Path:  path, Root: c.Root(),
		Cut: func(ctx context.Context, to string, shown lake.NamedCommit) error {
			return c.Cut(ctx, path, to, shown.KnownAt, shown)
		},
	}, nil
}

// get returns an answer.
func (e *explorer) get(t *testing.T, path string, headers ...string) (status int, body string, header http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if request.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			request.Host = headers[i+1]
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(data), answer.Header
}

// said is what an answer says of an error.
func said(body string) string {
	if found := regexp.MustCompile(`(?s)<p class="empty">(.*?)</p>`).FindStringSubmatch(body); found != nil {
		return found[1]
	}
	return body
}

// page returns a page that must be there.
func (e *explorer) page(t *testing.T, path string) string {
	t.Helper()
	status, body, _ := e.get(t, path)
	if status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", path, status, said(body))
	}
	return body
}

// aside is what a page says of the time, and of what came after its instant: the strip, and how long statements took.
var aside = regexp.MustCompile(`(?s)<section id="asof".*?</section>|\d+ ms`)

// links returns the targets of a page's links, as paths with their parameters.
func links(t *testing.T, at, page string) (all []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(aside.ReplaceAllString(page, "")))
	if err != nil {
		t.Fatal(err)
	}
	from, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if n.Data != "a" || a.Key != "href" || strings.HasPrefix(a.Val, "#") {
				continue
			}
			to, err := from.Parse(a.Val)
			if err != nil || to.Host != "" {
				t.Errorf("%s: the link %s", at, a.Val)
				continue
			}
			all = append(all, to.RequestURI())
		}
	}
	return all
}

// shape is a path without what is special to a deal or a value: of each shape a crawl visits a few.
func shape(path string) string {
	bare, query, _ := strings.Cut(strings.TrimPrefix(path, "/"), "?")
	bare = regexp.MustCompile(`^as-of/[^/]*/`).ReplaceAllString(bare, "")
	bare = regexp.MustCompile(`/(bond|loan)/[a-z]+/`).ReplaceAllString(bare, "/feed/")
	bare = regexp.MustCompile(`analyses/[a-z0-9_]+`).ReplaceAllString(bare, "analyses/name")
	bare = regexp.MustCompile(`tables/[a-z0-9_]+/[a-z0-9_]+`).ReplaceAllString(bare, "tables/name/column")
	bare = regexp.MustCompile(`tables/[a-z0-9_]+`).ReplaceAllString(bare, "tables/name")
	bare = regexp.MustCompile(`\d+`).ReplaceAllString(bare, "N")
	return bare + regexp.MustCompile(`tab=[a-z]+`).FindString(query)
}

// crawl visits the pages that links lead to from a base, a few of each shape, and returns their texts. All links must stay
// under the base, and lead to something.
func (e *explorer) crawl(t *testing.T, base string, most int) map[string]string {
	t.Helper()
	found, waiting, shapes := map[string]string{}, []string{base}, map[string]int{}
	for len(waiting) > 0 {
		path := waiting[0]
		waiting = waiting[1:]
		if _, done := found[path]; done || shapes[shape(path)] >= most {
			continue
		}
		shapes[shape(path)]++
		status, body, header := e.get(t, path)
		if status != http.StatusOK {
			t.Errorf("%s: status %d: %s", path, status, said(body))
			continue
		}
		if !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
			if !strings.HasSuffix(strings.Split(path, "?")[0], ".parquet") {
				found[path] = body
			}
			continue
		}
		found[path] = aside.ReplaceAllString(body, "")
		for _, to := range links(t, path, body) {
			if !strings.HasPrefix(to, base) {
				t.Errorf("%s: the link %s leaves %s", path, to, base)
				continue
			}
			waiting = append(waiting, to)
		}
	}
	return found
}

// compare fails for pages that are not the same as before.
func compare(t *testing.T, before, after map[string]string) {
	t.Helper()
	for path, was := range before {
		is, ok := after[path]
		if !ok {
			t.Errorf("%s is not there any more", path)
			continue
		}
		if was == is {
			continue
		}
		a, b := strings.Split(was, "\n"), strings.Split(is, "\n")
		for i := range a {
			if i >= len(b) || a[i] != b[i] {
				t.Errorf("%s, line %d: was\n%.600s\nis\n%.600s", path, i+1, a[i], b[min(i, len(b)-1)])
				break
			}
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			t.Errorf("%s was not there before", path)
		}
	}
}

// diffOf compares a version of a deal with the one before it by their payloads. Each line is what a difference says: the
// name of its column, or the key of its row.
func (e *explorer) diffOf(t *testing.T, deal, version string) ([]string, error) {
	t.Helper()
	v, err := e.lake.Newest(t.Context())
	if err != nil {
		return nil, err
	}
	defer v.Release()
	at := strings.LastIndex(deal, "/")
	feed, err := api.ParseFeed(deal[:at])
	if err != nil {
		return nil, err
	}
	found, err := v.Ask(t.Context(), asof.Query{Name: "deal_versions", Args: asof.Args{
		"service": string(feed.Service), "market": string(feed.Market), "kind": string(feed.Kind), "deal_id": deal[at+1:],
	}})
	if err != nil {
		return nil, err
	}
	var before, after asof.Version
	for _, r := range found.All() {
		if r.Text("change") == lake.Removed {
			continue
		}
		before, after = after, asof.Version{Number: r.Int("version"), KnownAt: r.Text("known_at")}
		if r.Text("version") == version {
			break
		}
	}
	id, err := strconv.ParseInt(deal[at+1:], 10, 64)
	if err != nil {
		return nil, err
	}
	changes, readable, err := v.Diff(t.Context(), feed, id, before, after)
	if err != nil || !readable {
		return nil, fmt.Errorf("%s: readable %v, %w", deal, readable, err)
	}
	var lines []string
	for _, c := range changes {
		lines = append(lines, cmp.Or(c.Field, c.RowKey))
	}
	return lines, nil
}
