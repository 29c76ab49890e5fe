package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"dealflow/extract"
	"dealflow/internal/pull"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
	"dealflow/sql"
)

// demoMark is the name of the file that marks a folder as created by the demo. The demo may delete such a folder.
const demoMark = ".dealflow-demo"

// The explanations before and after the table of nights, in the words of the README.
const (
	demoIntro = `A simulated market (seed %d) is served at %s.
Each night at 22:00 of its clock, one ` + "`dealflow run`" + ` pulls it into %s. The run takes a
snapshot of each of the twelve lists, all deals of that day, and makes them visible in one commit.
A deal that is new, changed or removed gets a new version. The version is known from the instant of
the commit on: its known_at.

`
	demoAfterNights = `
Queries can now ask for the state as of any instant t: after the last commit with known_at <= t.
`
)

// demoEpoch is the first day of the demonstration. It is fixed, so that a seed gives the same market on any day.
var demoEpoch = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// demoYears is the history of the demonstration's market, which goes on at the same rate: the two years of the report's
// charts.
const demoYears = 2

type demoOptions struct {
	nights int
	seed   uint64
	deals  int
	dir    string
}

func newDemo(a *app) *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show a lake on this machine: a simulated market, ten nights of runs, first queries",
		Long: `demo builds a lake from a simulated market and runs three queries on it.

It serves the market over HTTP on this machine. ` + "Each night is one `dealflow run`" + ` against that
server. You need no account and no network. All names are invented. The same --seed gives the
same market.`,
		Example: "  dealflow demo\n  dealflow demo --nights 30 --seed 7 --deals 1000 --dir my-demo",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	flags.IntVar(&o.nights, "nights", 10, "number of nights, at least 3")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the simulated market")
	flags.IntVar(&o.deals, "deals", 400, "number of priced deals in each of the six markets at the start, in its two years of history")
	flags.StringVar(&o.dir, "dir", "demo-lake", "folder of the lake; the lake of an earlier demo is replaced")
	return cmd
}

func runDemo(ctx context.Context, a *app, o demoOptions) (err error) {
	lakeStore, err := dirstore.New(o.dir)
	if err != nil {
		return &usageError{err}
	}
	if err := clearDemo(o.dir); err != nil {
		return err
	}
	clock := sim.NewManualClock(demoEpoch)
	market := sim.New(sim.Config{Seed: o.seed, Deals: o.deals, Years: demoYears, Epoch: demoEpoch, Clock: clock.Now})
	address, stop, err := serveMarket(ctx, market)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	fmt.Fprintf(a.Stdout, demoIntro, o.seed, address, o.dir)
	if err := a.demoNights(ctx, o, clock, address, lakeStore); err != nil {
		return err
	}
	fmt.Fprint(a.Stdout, demoAfterNights)
	l, err := load.Open(ctx, lakeStore)
	if err != nil {
		return err
	}
	if err := a.withCatalog(ctx, l, func(db *stdsql.DB) error { return a.demoQueries(ctx, db) }); err != nil {
		return err
	}
	a.demoNext(o)
	return nil
}

// clearDemo removes the lake of an earlier demo, or creates the folder. It refuses a folder that no demo created.
func clearDemo(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case len(entries) > 0:
		if _, err := os.Stat(filepath.Join(dir, demoMark)); err != nil {
			return usagef("--dir %s: the folder is not empty and not of a demo; name another folder", dir)
		}
		// The folder itself stays: dir may be a link to it.
		for _, e := range entries {
			if e.Name() == demoMark {
				continue
			}
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, demoMark), nil, 0o666)
}

// serveMarket serves a market on a free port of this machine until stop is called.
func serveMarket(ctx context.Context, market serve.Source) (url string, stop func() error, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server, err := serve.New(serve.Config{Source: market})
	if err != nil {
		return "", nil, errors.Join(err, listener.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, listener) }()
	return "http://" + listener.Addr().String(), func() error {
		cancel()
		return <-done
	}, nil
}

// demoNights runs the nights in order and prints a line for each.
func (a *app) demoNights(ctx context.Context, o demoOptions, clock *sim.ManualClock, address string, s store.Store) error {
	base, err := api.ParseBase(address)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%5s  %-10s %8s %8s %8s %8s %9s %9s\n", "night", "day", "deals", "new", "changed", "removed", "unchanged", "seconds")
	for night := range o.nights {
		clock.Set(demoEpoch.AddDate(0, 0, night).Add(22 * time.Hour))
		r, err := a.demoNight(ctx, base, s)
		if err != nil {
			return fmt.Errorf("night %d: %w", night+1, err)
		}
		sum := func(figure func(*lake.FeedRun) int64) int64 { return r.Count(figure) }
		fmt.Fprintf(a.Stdout, "%5d  %-10s %8d %8d %8d %8d %9d %9.2f\n", night+1, r.SnapshotDate,
			sum(func(f *lake.FeedRun) int64 { return f.Deals }), sum(func(f *lake.FeedRun) int64 { return f.Added + f.Reappeared }),
			sum(func(f *lake.FeedRun) int64 { return f.Changed }), sum(func(f *lake.FeedRun) int64 { return f.Removed }),
			sum(func(f *lake.FeedRun) int64 { return f.Unchanged }), r.Seconds)
	}
	return nil
}

func (a *app) demoNight(ctx context.Context, base api.Base, s store.Store) (*pull.Result, error) {
	client, err := extract.New(extract.Config{Base: base, ClientID: "demo", ClientSecret: api.NewSecret("demo"), Log: a.logger()})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("run id: %w", err)
	}
	return pull.Run(ctx, a.complete(pull.Config{RunID: id.String(), Client: client, Base: base, Store: s, ServerClock: true}))
}

// demoExamples are the names of the queries that the demo runs.
var demoExamples = []string{"newest_deals", "pipeline_then", "deal_changes"}

func (a *app) demoQueries(ctx context.Context, db *stdsql.DB) error {
	for _, name := range demoExamples {
		example := sql.ExampleByName(name)
		fmt.Fprintf(a.Stdout, "\n%s\n(sql/examples/%s.sql)\n\n", example.Title(), name)
		if err := printQuery(ctx, db, example.Text, "table", a.Stdout); err != nil {
			return fmt.Errorf("example %s: %w", name, err)
		}
	}
	return nil
}

// demoNext prints commands to try next.
func (a *app) demoNext(o demoOptions) {
	binary := os.Args[0]
	after := func(night int) string {
		return demoEpoch.AddDate(0, 0, night-1).Add(23 * time.Hour).Format(time.RFC3339)
	}
	lines := []string{
		fmt.Sprintf("%s status --lake %s --now %s", binary, o.dir, after(o.nights)), // today, its snapshots are stale
		fmt.Sprintf(`%s query --lake %s "SELECT market, count(*) AS deals, sum(nominal_usd) AS usd FROM bond_priced_deals GROUP BY ALL"`, binary, o.dir),
		fmt.Sprintf(`%s query --lake %s "SELECT market, stage, count(*) AS deals FROM loan_expected_deals_as_of('%s') GROUP BY ALL ORDER BY ALL"`, binary, o.dir, after(3)),
		fmt.Sprintf("%s serve --sim", binary),
		fmt.Sprintf("%s ui --lake %s --now %s", binary, o.dir, after(o.nights)), // then open http://127.0.0.1:8910/
	}
	fmt.Fprintf(a.Stdout, "\nNext:\n  %s\n", strings.Join(lines, "\n  "))
}
