package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"dealflow/internal/metrics"
)

var night = time.Date(2026, 1, 7, 22, 0, 9, 500_000_000, time.UTC)

// health is that of a lake with two feeds, after a night.
func health() *metrics.Health {
	return &metrics.Health{
		State:    "warning",
		Findings: []metrics.Finding{{Kind: "failed", Severity: "problem"}, {Kind: "check", Severity: "warning", Count: 2}},
		MaxAge:   26 * time.Hour, LastSuccess: night,
		Succeeded: map[string]time.Time{"run": night},
		Size:      metrics.Size{Commit: 3, CatalogCommit: 3, Files: 40, Bytes: 1 << 20},
		Night:     metrics.Night{KnownAt: night, Seconds: 9.5, Requests: 120, BytesReceived: 5000, BytesAdded: 4000, FilesAdded: 20},
		Feeds:     []metrics.Feed{{Name: "bond/ig/priced", SnapshotAt: night, Deals: 200}, {Name: "loan/ll/priced", Held: true}},
	}
}

func ending(command string, after time.Duration, code int) metrics.Ending {
	end := night.Add(after)
	return metrics.Ending{Command: command, StartedAt: end.Add(-10 * time.Second), EndedAt: end, ExitCode: code, Requests: 12}
}

// text returns the metrics of a lake as a scrape shows them.
func text(t *testing.T, c prometheus.Collector) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scrape")
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	if err := prometheus.WriteToTextfile(path, registry); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// want checks that a text has lines, and "!" that it has not.
func want(t *testing.T, what, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		line, absent := strings.CutPrefix(line, "!")
		if strings.Contains("\n"+text, "\n"+line+"\n") == absent {
			t.Errorf("%s: the line %q: want it absent: %t; got\n%s", what, line, absent, text)
		}
	}
}

// TestLake checks what a scrape shows: of a lake that nothing is known of, of one that was read, and of one that can no
// longer be read, which keeps its numbers.
func TestLake(t *testing.T) {
	l := metrics.New("s3://bucket/deals")
	want(t, "nothing known", text(t, l), `dealflow_lake_readable{lake="s3://bucket/deals"} 0`, `dealflow_lake_state{lake="s3://bucket/deals",state="unknown"} 1`)
	l.Set(health())
	l.Ended(ending("sync", time.Hour, 12))
	known := []string{
		`dealflow_lake_findings{kind="failed",lake="s3://bucket/deals",severity="problem"} 0`,
		`dealflow_lake_findings{kind="check",lake="s3://bucket/deals",severity="warning"} 2`,
		`dealflow_lake_max_age_seconds{lake="s3://bucket/deals"} 93600`,
		`dealflow_lake_last_success_timestamp_seconds{lake="s3://bucket/deals"} 1.7678232095e+09`,
		`dealflow_lake_last_failure_timestamp_seconds{lake="s3://bucket/deals"} 0`,
		`dealflow_lake_bytes{lake="s3://bucket/deals"} 1.048576e+06`,
		`dealflow_night_requests{lake="s3://bucket/deals"} 120`,
		`dealflow_feed_deals{feed="bond/ig/priced",lake="s3://bucket/deals"} 200`,
		`dealflow_feed_held{feed="loan/ll/priced",lake="s3://bucket/deals"} 1`,
		`dealflow_feed_snapshot_timestamp_seconds{feed="loan/ll/priced",lake="s3://bucket/deals"} 0`,
		`dealflow_command_success_timestamp_seconds{command="run",lake="s3://bucket/deals"} 1.7678232095e+09`,
		`dealflow_command_exit_code{command="sync",lake="s3://bucket/deals"} 12`,
		`dealflow_command_duration_seconds{command="sync",lake="s3://bucket/deals"} 10`,
	}
	want(t, "known", text(t, l), append(known, `dealflow_lake_readable{lake="s3://bucket/deals"} 1`,
		`dealflow_lake_state{lake="s3://bucket/deals",state="warning"} 1`, `dealflow_lake_state{lake="s3://bucket/deals",state="ok"} 0`)...)
	l.Set(nil)
	want(t, "unreadable", text(t, l), append(known, `dealflow_lake_readable{lake="s3://bucket/deals"} 0`,
		`dealflow_lake_state{lake="s3://bucket/deals",state="warning"} 0`, `dealflow_lake_state{lake="s3://bucket/deals",state="unknown"} 1`)...)
}

// TestNamesKeepTheRules checks the metrics with the linter of the Prometheus project, and that the list for the
// documentation is what a scrape shows.
func TestNamesKeepTheRules(t *testing.T) {
	l := metrics.New("lake")
	l.Set(health())
	l.Ended(ending("run", 0, 0))
	problems, err := testutil.CollectAndLint(l)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	shown := text(t, l)
	for _, d := range metrics.Describe() {
		if !strings.Contains(shown, "# TYPE "+d.Name+" gauge\n") || !strings.Contains(shown, "# HELP "+d.Name+" "+d.Help+"\n") {
			t.Errorf("%s is described, but not shown", d.Name)
		}
	}
	if described, n := len(metrics.Describe()), strings.Count(shown, "# TYPE "); described != n {
		t.Errorf("%d metrics are described, %d are shown", described, n)
	}
}

// TestFollow checks that a collection reads the health, again only after the time, and that an error is a lake that
// cannot be read.
func TestFollow(t *testing.T) {
	reads, broken := 0, false
	follow := func(every time.Duration) *metrics.Lake {
		l := metrics.New("l")
		l.Follow(func(ctx context.Context) (*metrics.Health, error) {
			if _, limited := ctx.Deadline(); !limited {
				t.Error("the reading has no time limit")
			}
			reads++
			if broken {
				return nil, errors.New("no answer")
			}
			return health(), nil
		}, every)
		return l
	}
	l := follow(time.Hour)
	for range 3 {
		want(t, "followed", text(t, l), `dealflow_lake_commit{lake="l"} 3`)
	}
	if reads != 1 {
		t.Errorf("three scrapes in an hour read %d times, want 1", reads)
	}
	l, reads = follow(0), 0
	text(t, l)
	broken = true
	want(t, "broken", text(t, l), `dealflow_lake_readable{lake="l"} 0`, `dealflow_lake_commit{lake="l"} 3`)
	if reads != 2 {
		t.Errorf("two scrapes read %d times, want 2", reads)
	}
}

// TestFileKeepsSuccess writes the file again and again, as commands do that know less than those before: what is known of
// the last success stays.
func TestFileKeepsSuccess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dealflow.prom")
	write := func(url string, h *metrics.Health, e metrics.Ending) string {
		t.Helper()
		l := metrics.New(url)
		l.Set(h)
		l.Ended(e)
		if err := metrics.WriteFile(path, l); err != nil {
			t.Fatal(err)
		}
		return read(t, path)
	}
	first := write("a", health(), ending("run", 10*time.Second, 0))
	const success = `dealflow_command_success_timestamp_seconds{command="run",lake="a"} 1.7678232195e+09`
	want(t, "a night", first, success, `dealflow_command_exit_code{command="run",lake="a"} 0`)

	second := write("a", nil, ending("run", 24*time.Hour, 1))
	want(t, "a night whose store is down", second, success, `dealflow_command_exit_code{command="run",lake="a"} 1`,
		`dealflow_lake_last_success_timestamp_seconds{lake="a"} 1.7678232095e+09`, `dealflow_lake_readable{lake="a"} 0`, `dealflow_lake_state{lake="a",state="warning"} 0`,
		`dealflow_feed_snapshot_timestamp_seconds{feed="bond/ig/priced",lake="a"} 1.7678232095e+09`)

	third := write("a", health(), ending("sync", 25*time.Hour, 0))
	want(t, "a sync", third, success, `dealflow_command_exit_code{command="run",lake="a"} 1`, `dealflow_command_exit_code{command="sync",lake="a"} 0`,
		`dealflow_command_success_timestamp_seconds{command="sync",lake="a"} 1.7679132095e+09`, `dealflow_lake_readable{lake="a"} 1`)

	h := health()
	h.Feeds = h.Feeds[:1]
	fourth := write("a", h, ending("sync", 26*time.Hour, 4))
	want(t, "a feed that is gone", fourth, `!dealflow_feed_held{feed="loan/ll/priced",lake="a"} 1`, `dealflow_command_success_timestamp_seconds{command="sync",lake="a"} 1.7679132095e+09`)

	fifth := write("b", health(), ending("run", 0, 0))
	want(t, "another lake", fifth, success, `dealflow_command_exit_code{command="run",lake="b"} 0`, `dealflow_lake_commit{lake="a"} 3`, `dealflow_lake_commit{lake="b"} 3`)

	gaveWay := ending("sync", 27*time.Hour, 0)
	gaveWay.Skipped = true
	want(t, "a sync that gave way", write("a", h, gaveWay), `dealflow_command_success_timestamp_seconds{command="sync",lake="a"} 1.7679132095e+09`)

	write("a", nil, ending("run", 26*time.Hour, 0))
	want(t, "a newer success", read(t, path), `dealflow_command_success_timestamp_seconds{command="run",lake="a"} 1.7679168095e+09`)
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("the folder has %q, want the file alone", left)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v %v: want mode 0644, for node_exporter", info, err)
	}
}

// TestDamagedFile checks that a file that cannot be read is replaced and reported, and that one that cannot be replaced is
// an error.
func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dealflow.prom")
	if err := os.WriteFile(path, []byte("dealflow_lake_commit{lake=\"a\"} 1\ndealflow_lake_comm"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := metrics.New("a")
	l.Set(health())
	if err := metrics.WriteFile(path, l); !errors.Is(err, metrics.ErrPrevious) {
		t.Errorf("got %v, want ErrPrevious", err)
	}
	want(t, "replaced", read(t, path), `dealflow_lake_commit{lake="a"} 3`, `dealflow_command_success_timestamp_seconds{command="run",lake="a"} 1.7678232095e+09`)
	if err := metrics.WriteFile(filepath.Join(path, "x"), l); err == nil || errors.Is(err, metrics.ErrPrevious) {
		t.Errorf("a folder that does not exist: %v", err)
	}
}

// TestNotItsFile names as metrics file what is no metrics file: another program's, a folder, a pipe. WriteFile refuses it and
// leaves it as it is. What a crash leaves of a new file, and a link, are written to.
func TestNotItsFile(t *testing.T) {
	dir := t.TempDir()
	l := metrics.New("/data/deals")
	l.Set(health())
	for name, content := range map[string]string{
		"dealflow.yaml": "lake: /data/deals\n", "comment.yaml": "# lake: /data/deals\n", "latest.json": `{"commit":1,"checkpoint":900}`, "program": "\x7fELF\x00\x01",
		"node.prom": "# HELP node_x x\n# TYPE node_x gauge\nnode_x 1\n", "mixed.prom": "dealflow_lake_commit{lake=\"a\"} 1\nnode_x 1\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := metrics.WriteFile(path, l); !errors.Is(err, metrics.ErrNotMetrics) {
			t.Errorf("%s: got %v, want ErrNotMetrics", name, err)
		}
		if got := read(t, path); got != content {
			t.Errorf("%s was changed: %q", name, got)
		}
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir} {
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := metrics.WriteFile(path, l); !errors.Is(err, metrics.ErrNotMetrics) {
			t.Errorf("%s: got %v, want ErrNotMetrics", path, err)
		}
		if after, err := os.Stat(path); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s: %v, its mode is %v, want %v", path, err, after, before.Mode())
		}
	}
	for name, content := range map[string]string{"empty": "", "zeros": "\x00\x00\x00\x00"} {
		path, link := filepath.Join(dir, name), filepath.Join(dir, name+"-link")
		if err := errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Symlink(path, link)); err != nil {
			t.Fatal(err)
		}
		if err := metrics.WriteFile(link, l); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want(t, name, read(t, path), `dealflow_lake_commit{lake="/data/deals"} 3`)
	}
}

// TestFileOfManyCommands lets commands of one lake write the file at the same time: none is lost.
func TestFileOfManyCommands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dealflow.prom")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			l := metrics.New("a")
			l.Ended(ending(fmt.Sprintf("c%02d", i), time.Duration(i)*time.Second, i))
			if err := metrics.WriteFile(path, l); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 16 {
		want(t, "together", read(t, path), fmt.Sprintf(`dealflow_command_exit_code{command="c%02d",lake="a"} %d`, i, i))
	}
}
