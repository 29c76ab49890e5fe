package arch_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestOtherVersions builds this program, and a copy of it at the next schema version, with further columns and a further table,
// whose rows the market has shown before. On a lake
// that one of them wrote, every command of the other gives the right answer, or stops with exit code 1, names the version
// to use, and has changed nothing. It runs only with TEST_FULL, because it compiles the program twice.
func TestOtherVersions(t *testing.T) {
	if os.Getenv("TEST_FULL") == "" { //nolint:forbidigo // test support: it sets how much is tried
		t.Skip("TEST_FULL is not set")
	}
	t.Parallel()
	dir, _ := copied(t)
	schema := regexp.MustCompile(`const SchemaVersion = (\d+)`).FindStringSubmatch(text(t, "../../schemas/lake/table.go"))[1]
	next := schema + "1" // any later number will do
	declare(t, dir, next)
	edit(t, dir, "schemas/lake/bond_expected_deals.go", `(?m)^(\t\t\t\{Number: 23, .*)$`, "$1\n\t\t\t"+
		`{Number: 24, Name: "again_href", Type: Text, Pointer: "/_links/self/href", Part: Href, Since: SchemaVersion, Doc: "The link once more."},`)
	edit(t, dir, "schemas/api/bond.go", `(?m)^\tDealHistory .*DealHistoryEntry .*$`, "$0\n\tNotes []DealHistoryEntry `json:\"notes\"`")
	edit(t, dir, "serve/sim/bondexpected.go", `DealHistory: story.history,`, "$0 Notes: story.history,")
	programs := t.TempDir()
	now, later := program(filepath.Join(programs, "now")), program(filepath.Join(programs, "later"))
	// Without paths of the machine, the copy shares what is compiled already; without tables for debuggers, it is linked in half the time.
	build := []string{"build", "-trimpath", "-ldflags", "-s -w"}
	run(t, "../..", "go", append(build, "-o", string(now), "./cmd/dealflow")...)
	run(t, dir, "go", append(build, "-o", string(later), "./cmd/dealflow")...)
	api := later.serve(t)

	// What is read is the same with both, whatever wrote it.
	answers := func(p program, lake string) string {
		return p.must(t, lake, "query", "--format", "csv", `SELECT (SELECT count(*) FROM deals), (SELECT count(*) FROM bond_priced_deals), (SELECT count(*) FROM bond_expected_deal_history),
			(SELECT count(*) FROM bond_expected_deal_history_as_of((SELECT min(known_at) FROM runs))), (SELECT count(*) FROM snapshots.loan_priced_tranches), (SELECT sum(hash(message)) FROM bond_expected_deal_history)`)
	}

	t.Run("an older program on the lake of a later one", func(t *testing.T) {
		lake := filepath.Join(t.TempDir(), "lake")
		later.must(t, lake, "run", "--api", api, "--clock", "server")
		want, before := answers(later, lake), listing(t, lake)
		if got := answers(now, lake); got != want || strings.HasPrefix(want, "0,") {
			t.Errorf("answers: got %s, want %s", got, want)
		}
		for _, reading := range [][]string{{"runs"}, {"runs", "show", "last"}, {"verify", "--read-data"}, {"quarantine", "list"}, {"expire", "--keep-days", "3"}} {
			now.must(t, lake, reading...)
		}
		if out, _, code := now.run(t, lake, "status"); code != 8 || !strings.Contains(out, "schema-"+next) || !strings.Contains(out, "or a later version") {
			t.Errorf("status: exit code %d, want 8 and what the next run needs:\n%s", code, out)
		}
		for _, writing := range [][]string{
			{"run", "--api", api, "--clock", "server"}, {"sync", "--api", api, "--clock", "server"}, {"quarantine", "retry", "--api", api, "--clock", "server"},
			{"compact"}, {"expire", "--keep-days", "3", "--apply"}, {"replay"}, {"catalog"},
		} {
			_, out, code := now.run(t, lake, writing...)
			if code != 1 || !strings.Contains(out, "schema-"+next) || !strings.Contains(out, "or a later version") {
				t.Errorf("%s: exit code %d, want 1 and what the lake needs:\n%s", strings.Join(writing, " "), code, out)
			}
		}
		if after := listing(t, lake); !slices.Equal(before, after) {
			t.Errorf("the older program changed the lake:\n%s\nwas\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
		}
	})

	t.Run("a later program on the lake of an older one", func(t *testing.T) {
		lake := filepath.Join(t.TempDir(), "lake")
		now.must(t, lake, "run", "--api", api, "--clock", "server")
		want := answers(now, lake)
		if got := answers(later, lake); got != want {
			t.Errorf("answers: got %s, want %s", got, want)
		}
		later.must(t, lake, "run", "--api", api, "--clock", "server")
		later.must(t, lake, "verify", "--read-data")
		for _, replay := range [][]string{{"replay"}, {"replay", "--snapshots"}} {
			if out := later.must(t, lake, replay...); !strings.Contains(out, newTable) || strings.Contains(out, "differ") {
				t.Errorf("%s: want equal rows, also of the further table:\n%s", strings.Join(replay, " "), out)
			}
			later.must(t, lake, "verify", "--read-data")
		}
		want = answers(later, lake)
		if got := answers(now, lake); got != want {
			t.Errorf("answers after a run and a replay of the later one: got %s, want %s", got, want)
		}
		now.must(t, lake, "verify", "--read-data")
	})
}

// program is the path of a built dealflow.
type program string

// run runs a command on a lake, and returns what it printed, errors apart, and its exit code.
func (p program) run(t *testing.T, lake string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), string(p), append(args, "--lake", lake)...)
	c.Env = append(os.Environ(), "DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo")
	var errors strings.Builder
	c.Stderr = &errors
	out, err := c.Output()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), errors.String(), c.ProcessState.ExitCode()
}

// must is run for a command that must end with 0. It returns its standard output.
func (p program) must(t *testing.T, lake string, args ...string) string {
	t.Helper()
	out, errors, code := p.run(t, lake, args...)
	if code != 0 {
		t.Fatalf("%s %s: exit code %d\n%s%s", filepath.Base(string(p)), strings.Join(args, " "), code, out, errors)
	}
	return out
}

// serve serves a simulated market until the test ends, and returns its address.
func (p program) serve(t *testing.T) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), string(p), "serve", "--sim", "--listen", "127.0.0.1:0")
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	out, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Wait() }) //nolint:errcheck // the test's context ends it
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if found := regexp.MustCompile(` at (http://\S+),`).FindStringSubmatch(lines.Text()); found != nil {
			return found[1]
		}
	}
	t.Fatal("the server printed no address")
	return ""
}

// listing lists the files of a lake with their sizes.
func listing(t *testing.T, lake string) (all []string) {
	t.Helper()
	for _, name := range files(t, lake) {
		info, err := os.Stat(filepath.Join(lake, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %d", name, info.Size()))
	}
	return all
}
