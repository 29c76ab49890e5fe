package main

import (
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dealflow/internal/advice"
	"dealflow/internal/attempts"
	"dealflow/internal/config"
	"dealflow/internal/logs"
	"dealflow/internal/pull"
	"dealflow/internal/runlist"
	"dealflow/internal/status"
	"dealflow/internal/testkit/world"
	"dealflow/internal/ui/operator"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestExplorerSaysStatus compares the verdict of the explorer with what status finds: each kind of problem has its word, and
// a run that waits for a person names what releases it.
func TestExplorerSaysStatus(t *testing.T) {
	verdict := func(kinds ...string) string {
		h := &operator.Health{}
		for _, kind := range kinds {
			h.Findings = append(h.Findings, operator.Finding{Kind: kind})
		}
		return h.Verdict()
	}
	for kind, severity := range status.Kinds() {
		bad := map[string]bool{"failed": true, "held": true, "stale": true}[verdict(kind)]
		if bad != (severity == status.Problem) {
			t.Errorf("%s is a %s, and the verdict is %s", kind, severity, verdict(kind))
		}
	}
	for _, c := range []struct {
		kinds []string
		want  string
	}{
		{nil, "good"}, {[]string{"drift"}, "warned"}, {[]string{"drift", "partial"}, "partial"}, {[]string{"stale", "held"}, "held"}, {[]string{"stale", "lost", "held"}, "failed"},
	} {
		if got := verdict(c.kinds...); got != c.want {
			t.Errorf("%v: the verdict is %s, want %s", c.kinds, got, c.want)
		}
	}
	feeds := []attempts.Feed{ // no removals are accepted of a feed that failed
		{Feed: api.Feed{Service: api.Bond, Market: api.HY, Kind: api.Priced}, Outcome: lake.OutcomeFailed},
		{Feed: api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}, Outcome: lake.OutcomeHeld},
		{Feed: api.Feed{Service: api.Loan, Market: api.LL, Kind: api.Expected}, Outcome: lake.OutcomeHeld},
	}
	for _, c := range []struct {
		name, command string
		code          int
		message       string
		reported      attempts.Result
		over          bool
		kind, todo    string
	}{
		{"held by a check", "run", 5, "a quality check holds the run:\n  duplicate_deals: 3\n  emptied_columns: 3 columns\nnothing was committed", attempts.Result{Held: lake.Held{Checks: []string{"duplicate_deals", "emptied_columns"}}}, false, "held", "look at the source; if the data is right, `dealflow run --accept-checks duplicate_deals,emptied_columns`"},
		{"held by a check that could not be run", "run", 5, "a quality check holds the run: emptied_columns could not be run: no space left", attempts.Result{Held: lake.Held{Unasked: []string{"emptied_columns"}}}, false, "held", "correct the cause that the message names, then `dealflow run`; or commit without what could not be checked: `dealflow run --accept-checks all`"},
		{"held by drift", "run", 5, "the data has schema drift that the lake has not seen before:\n  unknown at /x\nnothing was committed", attempts.Result{Held: lake.Held{Contract: true}}, false, "held", "look at the source; if the data is right, `dealflow run --contract report`"},
		{"held by the guard", "run", 6, "the removal guard held some feeds:\n  bond/ig/priced: 9 of 10 deals vanished\n  loan/ll/expected: the list is empty\nsome feeds failed:\n  bond/hy/priced: page 1: 500", attempts.Result{Feeds: feeds}, false, "held", "look at the source; if the deals are gone, `dealflow run --feeds bond/ig/priced,loan/ll/expected --accept-removals`"},
		{"held by the guard, of feeds that are not recorded", "run", 6, "the removal guard held some feeds", attempts.Result{}, false, "held", "look at the source; if the deals are gone, `dealflow run --accept-removals`"},
		{"held by a check of an older program", "run", 5, "a quality check holds the run:\n  duplicate_deals: 3", attempts.Result{}, false, "held", "look at the source; if the data is right, run once with --accept-checks and the names of the checks, or with --contract=report for drift"},
		{"refused credentials", "run", 4, "credentials refused: emptied_columns", attempts.Result{Held: lake.Held{Checks: []string{"emptied_columns"}}}, false, "failed", "check DEALFLOW_CLIENT_ID and DEALFLOW_CLIENT_SECRET with `dealflow doctor`, then `dealflow run`"},
		{"failed", "sync", 1, "emptied_columns", attempts.Result{Held: lake.Held{Checks: []string{"emptied_columns"}}}, false, "failed", "`dealflow doctor` says what a run lacks; then `dealflow sync`"},
		{"succeeded since", "run", 5, "a quality check holds the run:\n  duplicate_deals: 3\nnothing was committed", attempts.Result{Held: lake.Held{Checks: []string{"duplicate_deals"}}}, true, "failed", "look at the source; if the data is right, `dealflow run --accept-checks duplicate_deals`"},
	} {
		ended := attemptOf(c.command, c.code, c.message, c.reported)
		s := &status.Result{}
		s.LastFailure = new(status.ShortOf(ended))
		s.LastFailure.Open = !c.over
		if got := heldFinding(s, status.Finding{Kind: "failed", Severity: status.Problem, Reason: status.FailureText(ended), Todo: advice.AfterAttempt(ended)}); got.Kind != c.kind || got.Todo != c.todo {
			t.Errorf("%s: got %s and %q, want %s and %q", c.name, got.Kind, got.Todo, c.kind, c.todo)
		}
	}
}

// attemptOf returns what is recorded of a command that ended with an error and made no commit.
func attemptOf(command string, code int, message string, reported attempts.Result) *attempts.Attempt {
	reported.Outcome = lake.OutcomeFailed
	at := &attempt{result: reported}
	at.conclude(code, errors.New(message))
	return &attempts.Attempt{RunID: "01a2", Command: command, Result: at.result}
}

// TestExplorerSaysWhatHolds checks that a held run says what its checks found, leads to the attempt, and names the command that
// releases it, on Health and on the page of the attempt.
func TestExplorerSaysWhatHolds(t *testing.T) {
	const message = "a quality check holds the run:\n  emptied_columns: bond/ig/priced: 112 (spread of 429 deals, such as 100412)\n  emptied_lists: loan/af/priced: 9 (banks)\nnothing was committed; check the source"
	const todo = "look at the source; if the data is right, `dealflow run --accept-checks emptied_columns,emptied_lists --snapshot-date 2026-03-11`"
	s := &status.Result{}
	ended := attemptOf("run", 5, message, attempts.Result{Held: lake.Held{Checks: []string{"emptied_columns", "emptied_lists"}}})
	ended.SnapshotDate = "2026-03-11"
	s.LastFailure = new(status.ShortOf(ended))
	s.LastFailure.Open = true
	got := heldFinding(s, status.Finding{Kind: "failed", Reason: status.FailureText(ended), Todo: advice.AfterAttempt(ended)})
	want := []string{"emptied_columns: bond/ig/priced: 112 (spread of 429 deals, such as 100412)", "emptied_lists: loan/af/priced: 9 (banks)"}
	if !slices.Equal(got.Details, want) || got.RunID != "01a2" || got.Todo != todo {
		t.Errorf("got %q of %s, and %s", got.Details, got.RunID, got.Todo)
	}
	if strings.Contains(got.Reason, "failed") || !strings.Contains(got.Reason, "committed nothing") {
		t.Errorf("a held run: %s", got.Reason)
	}
	runs := runsOf(runlist.Merge(nil, new(load.Log), []attempts.Attempt{*ended}))
	if runs[0].Todo != todo || runs[0].Commit.Outcome != lake.OutcomeHeld {
		t.Errorf("the page of the attempt says %s: %s", runs[0].Commit.Outcome, runs[0].Todo)
	}
}

// TestGoneLake asks for a lake of which nothing is left: the explorer does not say that a run begins one, which would hide that the disk is
// not mounted.
func TestGoneLake(t *testing.T) {
	where, err := dirstore.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := &app{environment: environment{Now: time.Now}, sink: logs.NewSink(io.Discard, "dealflow")}
	e := &explorer{app: a, where: where, begun: new(atomic.Bool)}
	e.begun.Store(true)
	_, err = e.runs(t.Context(), 1)
	if err == nil || !strings.Contains(err.Error(), "has no commit any more") || strings.Contains(err.Error(), "dealflow run") {
		t.Errorf("got %v", err)
	}
}

// TestExplorerBeginsEmpty opens the explorer on a lake without a commit: Health says so, and what was tried from this machine;
// every page answers; the first commit is there when it has come; and a lake that is gone after it is no empty one.
func TestExplorerBeginsEmpty(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	var seconds atomic.Int64
	now := func() time.Time { return world.Epoch.Add(time.Duration(seconds.Add(3)) * time.Second) } // each request looks for a commit
	a := &app{environment: environment{Now: now}, sink: logs.NewSink(io.Discard, "dealflow"), work: new(workFolder)}
	var err error
	if a.settings.sources.Sources, err = config.Read(config.Config{}); err != nil {
		t.Fatal(err)
	}
	a.settings.workDir = t.TempDir()
	defer func() {
		if err := a.work.close(); err != nil {
			t.Error(err)
		}
	}()
	empty, err := load.Open(t.Context(), w.Store)
	if !errors.Is(err, load.ErrNoLake) {
		t.Fatalf("want a lake without a commit, got %v", err)
	}
	pages, done, err := a.pages(t.Context(), empty, uiOptions{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := done(); err != nil {
			t.Error(err)
		}
	}()
	get := func(path string) (int, string) {
		answer := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Host = "localhost"
		pages.ServeHTTP(answer, r)
		return answer.Code, html.UnescapeString(answer.Body.String())
	}
	want := func(path string, code int, texts ...string) {
		t.Helper()
		got, page := get(path)
		if got != code {
			t.Errorf("%s: status %d, want %d: %.300s", path, got, code, page)
		}
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("%s lacks %q", path, text)
			}
		}
	}
	want("/", 200, "There is no snapshot yet", "dealflow run makes the first one", "<strong>stale</strong>", "no commit yet")
	want("/-/healthz", 503, `"verdict": "stale"`, `"kind": "empty"`)
	want("/-/newest", 200, `"commit": 0`)
	if answer, code := (&watchHealth{app: a, store: w.Store}).inspect(t.Context()); code != 503 || !strings.Contains(string(answer), `"kind": "empty"`) || strings.Contains(string(answer), "unreadable") {
		t.Errorf("/status of a watch answers %d, and does not say that the lake is empty:\n%s", code, answer)
	}
	want("/as-of/commit-1/", 400, "the lake has no commit yet")
	for _, page := range []string{"pipeline", "deals", "deals?q=x", "changes", "analyses", "analyses/league_table", "tables", "tables/bond_priced_deals", "sql", "runs", "feeds", "deals.csv"} {
		want("/"+page, 200)
		want("/as-of/2026-01-08T06:00:00Z/"+page, 200)
	}
	want("/deals", 200, "The lake has no commit yet: dealflow run makes the first one.")
	if _, form := get("/analyses/league_table"); strings.Contains(form, `value="00`) {
		t.Error("the form of an analysis has a day of before all days")
	}
	want("/as-of/2026-01-08T06:00:00Z/deals", 200, "The lake has no commit yet")

	failedRun(t, a, w.Store)
	want("/", 200, "<strong>failed</strong>", "credentials refused", "dealflow doctor", "runs/"+failedID)
	want("/runs", 200, "credentials refused")
	want("/runs/"+failedID, 200, "credentials refused")

	w.Night(t, 0)
	for page := ""; !strings.Contains(page, `"commit": 1`); { // each answer waits a moment for the catalog
		_, page = get("/-/newest")
	}
	want("/", 200, "of 12 feeds, 3 deals", "Commit 1")
	want("/deals", 200, "3 deals")
	want("/as-of/2020-01-01T00:00:00Z/deals", 200, "The lake had no commit yet. It begins at")
	if err := errors.Join(os.Rename(w.Root, w.Root+"-elsewhere"), os.Mkdir(w.Root, 0o755)); err != nil {
		t.Fatal(err)
	}
	want("/", 503, "has no commit any more: see whether its disk is mounted", "of 12 feeds, 3 deals")
	want("/deals", 200, "3 deals")
}

// TestCheckPlace checks that the explorer does not begin on a folder that is not there, whose name is most likely wrong, unless a
// command has failed there.
func TestCheckPlace(t *testing.T) {
	a := &app{environment: environment{Now: time.Now}, sink: logs.NewSink(io.Discard, "dealflow")}
	a.settings.workDir = t.TempDir()
	root := filepath.Join(t.TempDir(), "lake")
	where, err := dirstore.New(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.checkPlace(where); !errors.Is(err, load.ErrNoLake) || !strings.Contains(err.Error(), "there is no folder "+root) {
		t.Errorf("without a folder: %v", err)
	}
	failedRun(t, a, where)
	if err := a.checkPlace(where); err != nil {
		t.Errorf("after a failure: %v", err)
	}
	other, err := dirstore.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.checkPlace(other); err != nil {
		t.Errorf("of an empty folder: %v", err)
	}
}

// failedID is the run of failedRun.
const failedID = "01a21408-121b-7ba6-a265-39d169d6e55b"

// failedRun records that a run failed on a place.
func failedRun(t *testing.T, a *app, where store.Store) {
	t.Helper()
	failed := attempts.Begin(t.Context(), attempts.Config{
		Store: where, Identity: a.lakeIdentity(where), RunID: failedID, Command: "run", Owner: "test", Version: "1", Clock: time.Now, WorkDir: a.settings.workDir, Log: a.logger(),
	})
	failed.End(t.Context(), attemptOf("run", 4, "credentials refused", attempts.Result{}).Result)
}

// refused says whether a listener was refused, and closes it otherwise.
func refused(l net.Listener, err error) bool {
	if err == nil {
		l.Close()
	}
	return err != nil
}

// TestListenUI checks that the explorer listens where other machines do not reach it, and nowhere else: with a token, and with TLS or without by wish, on any address.
func TestListenUI(t *testing.T) {
	l, err := uiOptions{listen: "0.0.0.0:0", tokenFile: "token", insecureHTTP: true}.binding().listen(t.Context())
	if err != nil {
		t.Errorf("with a token: %v", err)
	} else {
		l.Close()
	}
	for _, o := range []uiOptions{{tokenFile: "token"}, {insecureHTTP: true}, {tlsCert: "cert"}, {proxy: "https://lake.example"}} {
		if o.listen = "0.0.0.0:0"; !refused(o.binding().listen(t.Context())) {
			t.Errorf("%+v listens", o)
		}
	}
	for address, want := range map[string]bool{"127.0.0.1:0": true, "[::1]:0": true, "localhost:0": true, "unix:" + t.TempDir() + "/s": true, "0.0.0.0:0": false, ":0": false, "192.0.2.1:0": false, "example.com:80": false, "x": false} {
		l, err := uiOptions{listen: address}.binding().listen(t.Context())
		if err == nil {
			l.Close()
		}
		if (err == nil) != want && address != "[::1]:0" { // a machine may lack IPv6
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestListenUnix checks that a socket is its user's alone from its first moment, whatever the umask.
func TestListenUnix(t *testing.T) {
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	path := filepath.Join(t.TempDir(), "s")
	l, err := uiOptions{listen: "unix:" + path}.binding().listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if others := info.Mode().Perm() & 0o077; others != 0 {
		t.Errorf("others have %o on the socket", others)
	}
	if after := syscall.Umask(0); after != 0 {
		t.Errorf("the umask is %o afterwards", after)
	}
	if l, err := (serveOptions{listen: "unix:" + path + "2", accounts: "accounts.json"}).binding().listen(t.Context()); !refused(l, err) {
		t.Error("serve listens on a socket file")
	}
}

// TestOpenQuarantine puts a record into quarantine in two nights, and mends it in a third: Health has it once, with what
// `dealflow quarantine show` needs, and then no more.
func TestOpenQuarantine(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	w.Night(t, 0)
	found := func() []operator.Quarantined {
		t.Helper()
		all, err := openQuarantine(t.Context(), w.Lake(t))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := found(); len(all) != 0 {
		t.Errorf("of a sound lake: %+v", all)
	}
	b.Write(world.Priced, 2, `"message":"a","message":"b"`)
	w.Night(t, 1)
	first := w.Log(t).KnownAt
	w.Night(t, 2)
	old := w.Log(t).Files(lake.QuarantineTable)[0].Path
	if err := w.Store.Delete(t.Context(), old); err != nil { // what earlier pulls met is not read
		t.Fatal(err)
	}
	all := found()
	if len(all) != 1 {
		t.Fatalf("got %+v, want one record", all)
	}
	q := all[0]
	if q.Feed != world.Priced || q.DealID == nil || *q.DealID != 2 || q.Reason != "duplicate_member" || len(q.ID) != 12 || q.Bytes == 0 || !q.ObservedAt.After(first.Time) {
		t.Errorf("got %+v", q)
	}
	if data, err := recordIn(t.Context(), w.Lake(t), q.ID); err != nil || int64(len(data)) != q.Bytes || !strings.Contains(string(data), `"message":"b"`) {
		t.Errorf("its bytes are %q, %v", data, err)
	}
	if data, err := recordIn(t.Context(), w.Lake(t), q.ID[:6]); err != nil || data != nil {
		t.Errorf("the beginning of an id: %q, %v", data, err)
	}
	b.Write(world.Priced, 2, "")
	b.Write(world.Priced, 3, `"message":"a","message":"b"`)
	w.Night(t, 3)
	if all := found(); len(all) != 1 || *all[0].DealID != 3 {
		t.Errorf("after another one took its place: %+v", all)
	}
	b.Write(world.Priced, 3, "")
	w.Night(t, 4)
	if all := found(); len(all) != 0 {
		t.Errorf("after it was mended: %+v", all)
	}
}

// TestRemovedBytes compacts a lake: the size of what the commit removed is that of the files that earlier commits added. Without
// the object of such a commit it is not known.
func TestRemovedBytes(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	for night := range 3 {
		b.WriteAll(world.Priced, 1, int64(3+night), fmt.Sprintf(`"message":"%d"`, night))
		w.Night(t, night)
	}
	before := map[string]int64{}
	for _, f := range w.Log(t).AllFiles() {
		before[f.Path] = f.Bytes
	}
	w.MustCompact(t)
	for _, f := range w.Log(t).AllFiles() {
		delete(before, f.Path)
	}
	want := int64(0)
	for _, size := range before {
		want += size
	}
	l := w.Lake(t)
	files := func() operator.FileChange {
		t.Helper()
		found, err := new(explorer).filesIn(t.Context(), l, l.Log().Number)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if got := files(); want == 0 || got.RemovedBytes != want || got.Removed != len(before) {
		t.Errorf("got %+v, want %d files of %d bytes removed", got, len(before), want)
	}
	if err := w.Store.Delete(t.Context(), lake.CommitKey(1)); err != nil {
		t.Fatal(err)
	}
	if got := files(); got.RemovedBytes != -1 {
		t.Errorf("without commit 1: got %+v", got)
	}
}

// TestPullIsRecorded checks that the attempt of a pull with a commit says how long its stages took, and that of one that is held what holds it.
func TestPullIsRecorded(t *testing.T) {
	took := pull.StageSeconds{Open: 1, Feeds: 2, Commit: 3, Catalog: 4}
	var at attempt
	at.pulled(&pull.Result{Commit: 7, Stages: took})
	if s := at.result.StageSeconds; s == nil || *s != attempts.StageSeconds(took) {
		t.Errorf("got %+v", s)
	}
	at.pulled(&pull.Result{Stages: took, Held: lake.Held{Checks: []string{"duplicate_deals"}}})
	if s := at.result.StageSeconds; s != nil {
		t.Errorf("without a commit: got %+v", s)
	}
	if held := at.result.Held.Checks; len(held) != 1 {
		t.Errorf("held by %v", held)
	}
}
