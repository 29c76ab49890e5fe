package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dealflow/extract"
	"dealflow/internal/catalog"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/sql"
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
		Short: "Look whether everything that a run needs is there, and say what to do where it is not",
		Long: `doctor asks the API for a token and a page, compares clocks, tries out the lake's store (list, write,
write once only, replace, read back, delete; its objects are removed again), and looks at disk, lake
and catalog. It changes nothing else. It ends with 0 where all is well, else with 1.`,
		Example: "  dealflow doctor --lake s3://bucket/deals --api https://api.example.com",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), a, o) },
	}
	o.add(a, cmd.Flags())
	return cmd
}

func runDoctor(ctx context.Context, a *app, o pullOptions) error {
	all := []diagnosis{a.diagnoseProgram(ctx), a.diagnoseDisk()}
	all = append(all, a.diagnoseAPI(ctx, o)...)
	all = append(all, a.diagnoseStore(ctx)...)
	problems := 0
	var rows [][]string
	for _, d := range all {
		if d.Verdict == verdictProblem {
			problems++
		}
		rows = append(rows, []string{d.Check, d.Verdict, printable(d.Found)})
		if d.Todo != "" {
			rows = append(rows, []string{"", "", "→ " + d.Todo})
		}
	}
	var err error
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
	engine, err := sql.EngineVersion(ctx)
	if err != nil {
		return problem("program", "install dealflow anew", err)
	}
	return found("program", "dealflow %s, DuckDB %s, %s %s/%s", version(), engine, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func (a *app) diagnoseDisk() diagnosis {
	const check = "free disk"
	folder := a.settings.workDir
	if folder == "" {
		folder = os.TempDir()
	}
	free, err := freeBytes(folder)
	switch {
	case err != nil:
		return problem(check, "name another folder with --work-dir", err)
	case free < minFree:
		return problem(check, "make room, or name another folder with --work-dir: the payloads of a night lie there until it is committed",
			fmt.Errorf("%s left in %s", size(free), folder))
	}
	return found(check, "%s in %s", size(free), folder)
}

// diagnoseAPI requests a token, compares clocks, and reads a page of the first selected feed.
func (a *app) diagnoseAPI(ctx context.Context, o pullOptions) []diagnosis {
	if a.settings.api == "" {
		return []diagnosis{skipped("API", "no --api or DEALFLOW_API is set")}
	}
	cfg, err := a.pullConfig(ctx, o)
	if err != nil {
		return []diagnosis{problem("API", "set it right", err)}
	}
	client, err := extract.New(extract.Config{
		Base: cfg.Base, ClientID: a.settings.clientID, ClientSecret: a.settings.secret,
		AuthEncoding: extract.AuthEncoding(o.authEncoding), MaxAttempts: 2, Log: a.logger(),
	})
	if err != nil {
		return []diagnosis{problem("API", "set it right", err)}
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	server, err := client.ServerTime(ctx)
	if err != nil {
		return []diagnosis{problem("token", "see whether the address is right and reachable from here, and the credentials are those of the account", err)}
	}
	return []diagnosis{found("token", "%s issues one", cfg.Base), a.diagnoseClock(server), diagnoseList(ctx, client, cfg.Feeds)}
}

func (a *app) diagnoseClock(server time.Time) diagnosis {
	const check = "clock"
	apart := a.Now().Sub(server)
	switch {
	case a.settings.clock == "server":
		return found(check, "instants come from the server's: %s", server.Format(time.RFC3339))
	case apart.Abs() > maxSkew:
		return problem(check, "set the clock of this machine right (NTP); a run refuses one that is ten minutes off", fmt.Errorf("%s off the server's", apart.Round(time.Second)))
	}
	return found(check, "%s off the server's", apart.Round(time.Second))
}

// diagnoseList reads a page of the first feed that the account may see: after a 403 or 404 it tries the next feed.
func diagnoseList(ctx context.Context, client *extract.Client, feeds []api.Feed) diagnosis {
	const check = "list"
	var err error
	for _, feed := range feeds {
		var n int
		if n, err = client.Peek(ctx, feed); err == nil {
			return found(check, "the first page of %s has %d deals", feed, n)
		} else if !extract.IsForbiddenOrMissing(err) {
			break
		}
	}
	return problem(check, "ask the API's support, with the errorId if there is one", err)
}

// diagnoseStore tests the operations of the store, and checks the lake in it.
func (a *app) diagnoseStore(ctx context.Context) []diagnosis {
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	s, err := a.settings.store(ctx)
	if err != nil {
		return []diagnosis{problem("lake", "set --lake right", err)}
	}
	for _, err := range s.List(ctx, "_dealflow/") {
		if err != nil {
			return []diagnosis{problem("lake, list", "see whether the place exists, and the account may list it", err)}
		}
		break
	}
	all := []diagnosis{found("lake, list", "%s", s.URL()), diagnoseWrites(ctx, s)}
	l, err := load.Open(ctx, s)
	switch {
	case errors.Is(err, load.ErrNoLake):
		return append(all, found("lake, log", "no commit yet: the first run makes a lake"))
	case err != nil:
		return append(all, problem("lake, log", "run `dealflow verify`", err))
	}
	log := l.Log()
	return append(all, found("lake, log", "%d commits, the last known at %s", log.Number, log.KnownAt), a.diagnoseCatalog(ctx, l))
}

func diagnoseWrites(ctx context.Context, s store.Store) diagnosis {
	const check = "lake, write"
	switch err := store.Probe(ctx, s); {
	case errors.Is(err, store.ErrIgnoresCreateOnly):
		return problem(check, "use a store that honours If-None-Match; with this one only a single writer is safe (run --single-writer)", err)
	case errors.Is(err, store.ErrIgnoresReplaceIf):
		return problem(check, "commits are safe; after two runs at once, run `dealflow catalog`", err)
	case err != nil:
		return problem(check, "see whether the account may put, get and delete objects there", err)
	}
	return found(check, "creates once only, replaces what it has seen, reads back, deletes")
}

func (a *app) diagnoseCatalog(ctx context.Context, l *load.Lake) diagnosis {
	const check = "catalog"
	number, err := catalog.PublishedCommit(ctx, l, a.settings.workDir)
	if err == nil && number != l.Log().Number {
		err = fmt.Errorf("it shows commit %d of %d", number, l.Log().Number)
	}
	if err != nil {
		return problem(check, "run `dealflow catalog`", err)
	}
	return found(check, "%s shows commit %d", strings.TrimPrefix(filepath.ToSlash(l.Store().URL()), "file://")+"/catalog.duckdb", number)
}
