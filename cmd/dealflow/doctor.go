package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dealflow/extract"
	"dealflow/internal/advice"
	"dealflow/internal/attempts"
	"dealflow/internal/catalog"
	"dealflow/internal/pull"
	"dealflow/internal/words"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql/engine"
)

// The verdicts of doctor.
const (
	verdictOK      = "ok"
	verdictProblem = "problem"
	verdictSkipped = "skipped"
)

// diagnosis is one line of doctor's output; --json prints a list of them.
type diagnosis struct {
	Check   string `json:"check"`
	Verdict string `json:"verdict"` // ok, problem or skipped
	Found   string `json:"found"`
	Todo    string `json:"todo"` // what to do about a problem
}

// errProblems is the error if doctor found problems, which are already printed.
var errProblems = errors.New("doctor found problems")

const (
	doctorTimeout = time.Minute // for the API, and for the store
	maxSkew       = 2 * time.Minute
	minFree       = 2 << 30 // bytes
)

func newDoctor(a *app) *cobra.Command {
	var o pullOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that a run needs, and say what to do about what is missing",
		Long: `doctor checks everything that a run needs, and says what to do about each problem. The exit code is
0 if all is well, else 1.

Its settings are those of run, except those on its own command line or in its own section. It requests
a token and one page from the API, compares clocks, and inspects the lake, its catalog, and the free
space of the disks of lake, work folder and cache. It looks at whom a run tells how it ended
(--metrics-file, --openlineage, --on-success, --on-failure, and their tokens), and sends nothing. It tries the operations of the lake's
store on objects of its own: list, write, create only once, replace, read back, delete. It removes
those objects again, and the folders that they needed, and changes nothing else.`,
		Example: "  dealflow doctor\n  dealflow doctor --lake s3://bucket/deals --api https://api.example.com",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd, a, o) },
	}
	o.add(a, cmd.Flags())
	a.settings.addDayZone(cmd.Flags())
	a.settings.addRequireLake(cmd.Flags())
	return cmd
}

func runDoctor(cmd *cobra.Command, a *app, o pullOptions) error {
	ctx := cmd.Context()
	all := []diagnosis{a.diagnoseProgram(ctx)}
	r, err := a.rehearseRun(cmd)
	if err != nil {
		all = append(all, problem("settings of run", "correct this setting; until then a run is refused", err))
	}
	if r != nil {
		a.takeOver(r, &o)
		all = append(all, a.diagnoseTelling(ctx)...)
	}
	all = append(all, a.diagnoseDisks()...)
	server, answers := a.diagnoseAPI(ctx, o)
	now := a.Now()
	if a.settings.clock == "server" {
		now = server
	}
	all = append(append(all, answers...), a.diagnoseStore(ctx, now)...)
	problems := 0
	var rows [][]string
	for _, d := range all {
		if d.Verdict == verdictProblem {
			problems++
		}
		rows = append(rows, []string{d.Check, d.Verdict, words.Printable(d.Found)})
		if d.Todo != "" {
			rows = append(rows, []string{"", "", "→ " + d.Todo})
		}
	}
	if a.settings.json {
		err = printJSON(a.Stdout, all)
	} else {
		err = printTable(a.Stdout, []string{"check", "verdict", "found"}, rows)
	}
	if err == nil && problems > 0 {
		err = &silentError{errProblems}
	}
	return err
}

func found(check, format string, args ...any) diagnosis {
	return diagnosis{Check: check, Verdict: verdictOK, Found: fmt.Sprintf(format, args...)}
}

func skipped(check, why string) diagnosis {
	return diagnosis{Check: check, Verdict: verdictSkipped, Found: why}
}

func problem(check, todo string, err error) diagnosis {
	return diagnosis{Check: check, Verdict: verdictProblem, Found: err.Error(), Todo: todo}
}

func (a *app) diagnoseProgram(ctx context.Context) diagnosis {
	duckdb, err := engine.Version(ctx)
	if err != nil {
		return problem("program", "install dealflow again", err)
	}
	return found("program", "dealflow %s, DuckDB %s, %s %s/%s", version(), duckdb, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// diagnoseDisks checks the free space of the disks of the work folder, of the lake if it is a folder, and of the cache
// if it is not.
func (a *app) diagnoseDisks() []diagnosis {
	work := a.settings.workDir
	if work == "" {
		work = os.TempDir()
	}
	all := []diagnosis{diagnoseWork(work)}
	if a.settings.lake == "" { // none is chosen, as the check of the lake says
		return all
	}
	if !strings.Contains(a.settings.lake, "://") {
		return append(all, diagnoseDisk("disk, lake", a.settings.lake, "make room; `dealflow expire --apply` deletes garbage even on a full disk, and drops old snapshots"))
	}
	const check = "disk, cache"
	cache, err := a.settings.cacheFolder()
	if err != nil {
		return append(all, problem(check, "name a folder with --cache-dir", err))
	}
	return append(all, diagnoseDisk(check, cache, "name another folder with --cache-dir, or allow it less with --cache-gb"))
}

// workAdvice says what to do if files cannot be made in the work folder.
const workAdvice = "name another folder with --work-dir: the payloads of a night are there until it is committed"

func diagnoseWork(work string) diagnosis {
	const check = "disk, work"
	if err := tryWorkFolder(work); err != nil {
		return problem(check, workAdvice, err)
	}
	return diagnoseDisk(check, work, workAdvice)
}

// tryWorkFolder creates a folder in the work folder, as a run does, and removes it.
func tryWorkFolder(work string) error {
	folder, err := os.MkdirTemp(work, "dealflow-try-*")
	if err != nil {
		return err
	}
	return os.Remove(folder)
}

func diagnoseDisk(check, folder, todo string) diagnosis {
	free, err := freeBytes(folder)
	switch {
	case err != nil:
		return problem(check, todo, err)
	case free < minFree:
		return problem(check, todo, fmt.Errorf("%s free in %s, want %s or more", words.Size(free), folder, words.Size(minFree)))
	}
	kind := fileSystem(folder)
	if kind == "" {
		return found(check, "%s free in %s", words.Size(free), folder)
	}
	if note := fileSystemNote(kind); note != "" {
		return found(check, "%s free in %s, on %s; warning: %s", words.Size(free), folder, kind, note)
	}
	return found(check, "%s free in %s, on %s", words.Size(free), folder, kind)
}

// fileSystemNote says what is to be known of a kind of file system; "" if nothing is.
func fileSystemNote(kind string) string {
	switch kind {
	case "tmpfs", "ramfs":
		return "it is in memory, and gone with the next start of the machine"
	case "nfs":
		return "mount it hard (not soft), and write from one machine; other machines see a commit some seconds later (docs/how-to/operate.md#nfs)"
	case "smb", "smb2", "cifs", "afs", "9p", "fuse", "ceph":
		return "nothing was tried on it; it must keep hard links and fsync, which the check `lake, write` tries in part (docs/how-to/operate.md#nfs)"
	}
	return ""
}

// diagnoseAPI requests a token, compares clocks, and reads a page of the first selected feed. It returns also the
// server's time; zero if the server gave none.
func (a *app) diagnoseAPI(ctx context.Context, o pullOptions) (server time.Time, all []diagnosis) {
	if a.settings.api == "" {
		return server, []diagnosis{skipped("API", "neither --api nor DEALFLOW_API is set")}
	}
	cfg, account, err := a.pullConfig(ctx, o)
	if err != nil {
		return server, []diagnosis{problem("API", "correct this setting", err)}
	}
	o.attempts = 2
	client, err := a.client(cfg.Base, account, o, 0, nil)
	if err != nil {
		return server, []diagnosis{problem("API", "correct this setting", err)}
	}
	defer client.Close()
	if a.settings.clock != "server" {
		client.SetClock(machineClock(a.Now))
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	server, err = client.ServerTime(ctx)
	if err != nil {
		return server, []diagnosis{problem("token", "check that the address is right and reachable from here, and that the credentials are those of the account", err)}
	}
	return server, []diagnosis{found("token", "%s issued a token", cfg.Base), a.diagnoseClock(server), diagnoseList(ctx, client, cfg.Feeds)}
}

func (a *app) diagnoseClock(server time.Time) diagnosis {
	const check = "clock"
	apart := a.Now().Sub(server)
	switch {
	case server.IsZero():
		return found(check, "warning: the API's answers have no readable Date header to compare this machine's clock with")
	case a.settings.clock == "server":
		return found(check, "instants come from the server's clock: %s", server.Format(time.RFC3339))
	case apart.Abs() > maxSkew:
		return problem(check, "correct the clock of this machine (NTP); a run refuses a clock that is ten minutes off", fmt.Errorf("%s off the server's clock, want %s at most", apart.Round(time.Second), maxSkew))
	}
	return found(check, "%s off the server's clock", apart.Round(time.Second))
}

// diagnoseList reads a page of the first feed that the account may see: after a 403 or 404 it tries the next feed.
func diagnoseList(ctx context.Context, client *extract.Client, feeds []api.Feed) diagnosis {
	const check = "list"
	var err error
	for _, feed := range feeds {
		var n int
		if n, _, err = client.Peek(ctx, feed); err == nil {
			return found(check, "the first page of %s has %d deals", feed, n)
		} else if !extract.IsForbiddenOrMissing(err) {
			break
		}
	}
	return problem(check, "ask the API's support; name the errorId if one is shown", err)
}

// diagnoseStore tests the operations of the store, and checks the lake in it. now is by the clock of the next run; zero if
// it is not known.
func (a *app) diagnoseStore(ctx context.Context, now time.Time) []diagnosis {
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	s, err := a.settings.store(ctx)
	if err != nil {
		return []diagnosis{problem("lake", "correct --lake or DEALFLOW_LAKE", err)}
	}
	if err := a.checkRequired(ctx, s); err != nil {
		return []diagnosis{problem("lake", "correct --lake or DEALFLOW_LAKE, or mount the disk", err)}
	}
	for _, err := range s.List(ctx, "_dealflow/") {
		if err != nil {
			return []diagnosis{problem("lake, list", "check that the folder or bucket exists, and that the account may list it", err)}
		}
		break
	}
	writes := make(chan diagnosis, 1)
	go func() { writes <- diagnoseWrites(ctx, s) }() // its requests are one after another: so the rest is side by side
	log := a.diagnoseLog(ctx, s, now)
	return append([]diagnosis{found("lake, list", "%s", s.URL()), <-writes}, log...)
}

// diagnoseLog checks the lake's log, and what is derived from it.
func (a *app) diagnoseLog(ctx context.Context, s store.Store, now time.Time) []diagnosis {
	l, err := load.Open(ctx, s)
	switch {
	case errors.Is(err, load.ErrNoLake):
		return []diagnosis{found("lake, log", "no commit yet: the first run creates the lake")}
	case err != nil:
		return []diagnosis{problem("lake, log", "run `dealflow verify`", err)}
	}
	log := l.Log()
	return []diagnosis{found("lake, log", "%d commits, the last one known at %s", log.Number, log.KnownAt), a.diagnoseHolds(ctx, l), a.diagnoseNextRun(l, now), a.diagnoseCatalog(ctx, l)}
}

// diagnoseNextRun says whether the next run would be refused.
func (a *app) diagnoseNextRun(l *load.Lake, now time.Time) diagnosis {
	const check = "next run"
	log := l.Log()
	if _, err := pull.NextRun(l, now, a.settings.dayZone, !now.IsZero()); err != nil {
		return problem(check, "do what the finding says; until then a run is refused", err)
	}
	if now.IsZero() {
		return skipped(check, "the server's time is not known")
	}
	return found(check, "the newest snapshot is of %s, in %s", cmp.Or(log.SnapshotDay(), "no day"), cmp.Or(log.DayZone(), lake.UTC))
}

// diagnoseHolds looks for feeds that the removal guard holds, and for deals that are kept without evidence.
func (a *app) diagnoseHolds(ctx context.Context, l *load.Lake) diagnosis {
	const check = "removals"
	holds, err := l.Holds(ctx)
	if err != nil {
		return problem(check, "check that the account may read objects there", err)
	}
	made, err := a.heldAttempts(ctx, l, holds)
	if err != nil {
		return problem(check, "check that the account may read objects there", err)
	}
	var held []string
	var feeds []api.Feed
	day := ""
	for n, hold := range holds {
		if its := advice.HeldDay(l.Log(), made, &hold); n == 0 || its == day {
			day = its
		} else {
			day = "" // one run takes one day
		}
		held, feeds = append(held, fmt.Sprintf("%s is held since %s: %s", hold.Feed, hold.Since, pull.HeldBy(hold.Reason))), append(feeds, hold.Feed)
	}
	if len(held) > 0 {
		todo := "check the source; if the deals are gone, run " + pull.RemovalCommand(day, feeds...)
		return problem(check, advice.IfWritable(l, todo), errors.New(strings.Join(held, "; ")))
	}
	kept := 0
	for _, feed := range api.Feeds() {
		unproved, _ := l.Log().Absent(feed)
		kept += len(unproved)
	}
	if kept > 0 {
		return found(check, "no feed is held; %d deals are kept without evidence that they are gone (`dealflow status`)", kept)
	}
	return found(check, "no feed is held, and no deal is kept without evidence")
}

// heldAttempts returns the attempts that held feeds: a run that was held completely has no commit.
func (a *app) heldAttempts(ctx context.Context, l *load.Lake, holds []load.Hold) ([]attempts.Attempt, error) {
	if len(holds) == 0 {
		return nil, nil
	}
	entries, err := attempts.List(ctx, l.Store())
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e attempts.Entry) bool {
		return !slices.ContainsFunc(holds, func(h load.Hold) bool { return h.RunID == e.RunID })
	})
	all := a.attemptsOn(l)
	made, err := all.Resolve(ctx, entries)
	return append(made, all.Waiting(entries)...), err
}

// clearFolder returns a function that removes the folders and the lock that a probe of a store creates in, and above, the folder
// of a lake that does not exist yet. root is "" for a store that is no folder.
func clearFolder(root string) func() {
	absent := func(path string) bool {
		_, err := os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist)
	}
	lock := filepath.Join(root, store.TempPrefix+"lock") // of dirstore
	locked := !absent(lock)
	var created []string // from the inside outwards
	for folder := filepath.Join(root, "_dealflow"); root != "" && absent(folder); folder = filepath.Dir(folder) {
		created = append(created, folder)
	}
	return func() {
		for i, folder := range created {
			if os.Remove(folder) != nil { // such as one in which a command has begun a lake
				return
			}
			if i == 0 && !locked {
				_ = os.Remove(lock)
			}
		}
	}
}

func diagnoseWrites(ctx context.Context, s store.Store) diagnosis {
	const check = "lake, write"
	defer clearFolder(store.LocalPath(s))()
	switch err := store.Probe(ctx, s); {
	case errors.Is(err, store.ErrIgnoresCreateOnly):
		return problem(check, "use a store that honours If-None-Match; with this one, only a single writer is safe (`dealflow run --single-writer`)", err)
	case errors.Is(err, store.ErrIgnoresReplaceIf):
		return found(check, "can create only once, read and delete; warning: %v", err) // commits are safe
	case err != nil:
		return problem(check, "check that the account may put, get and delete objects there", err)
	}
	return found(check, "can create only once, replace only an unchanged object, read and delete")
}

func (a *app) diagnoseCatalog(ctx context.Context, l *load.Lake) diagnosis {
	const check = "catalog"
	state, err := catalog.ReadPublished(ctx, l, a.workDir())
	switch {
	case err != nil:
	case state.Flaw != nil:
		err = fmt.Errorf("catalog.duckdb: %w", state.Flaw)
	case state.Shows.Number == 0:
		err = errors.New("catalog.duckdb is absent")
	case state.Shows.Number != l.Log().Number:
		err = fmt.Errorf("the catalog shows commit %d, want %d", state.Shows.Number, l.Log().Number)
	}
	if err != nil {
		return problem(check, advice.IfWritable(l, "run `dealflow catalog`"), err)
	}
	return found(check, "%s shows commit %d", strings.TrimPrefix(filepath.ToSlash(l.Store().URL()), "file://")+"/catalog.duckdb", state.Shows.Number)
}

// machineClock is an extract.Clock that goes by this machine's clock.
type machineClock func() time.Time

// Dated implements extract.Clock.
func (machineClock) Dated(date time.Time) time.Time { return date }

// Now implements extract.Clock.
func (c machineClock) Now() time.Time { return c() }
