package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"dealflow/internal/config"
	"dealflow/internal/exitcode"
	"dealflow/internal/logs"
	"dealflow/internal/process"
	"dealflow/internal/pull"
	"dealflow/internal/watch"
	"dealflow/internal/watch/schedule"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// watchOptions are the flags of watch.
type watchOptions struct {
	feeds       string
	runAt       string
	syncEvery   time.Duration
	maintainAt  string
	maintenance string
	jitter      time.Duration
	limit       time.Duration
	listen      string
}

// none is the value of a flag that turns something off.
const none = "none"

// upkeep are the commands of maintenance, in their order.
var upkeep = []string{"verify", "compact", "expire"}

func newWatch(a *app) *cobra.Command {
	var o watchOptions
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Run, sync and maintain on a schedule, in one process, until it is stopped",
		Long: `watch does what a schedule of run, sync, verify and compact does: a run each night, a sync every five
minutes, maintenance once a week. One command is at work at a time. It ends when it is stopped (SIGTERM,
SIGINT), with exit code 0; a command that is at work is cancelled.

The time of the run is in the lake's day zone, and its snapshot is of the day of that time, however
late it begins; with --clock=server it is the source's. A night that the machine slept through is made up for when it wakes: of several nights
the last one. What failed is tried again, after 15 minutes at first, until the next night; credentials
that are refused after an hour. What waits for a person (exit codes 5 and 6) is not tried again.

What is done is read from the lake, so a watch can be stopped and started at any time, and a run by
hand counts. On a lake without a snapshot it begins with a run.

The commands have their own settings (DEALFLOW_RUN_…, the section run of the settings file), read again
each time. Flags of watch that they have too are passed on to them. Without a --deadline of its own, a run
gets two thirds of --command-limit, and a sync its interval or half an hour, whichever is longer.

A second watch on the same lake ends with exit code 13; ` + "`dealflow status`" + ` says which one is at work. With
--listen it answers /healthz, which says whether the watch is alive and nothing about the data; /status,
which says what ` + "`dealflow status --json`" + ` says, with 503 if that is a problem; and /metrics. Under systemd
it tells when it is ready, and feeds the watchdog.`,
		Example: `  dealflow watch --api https://api.example.com --lake /data/deals --run-at 22:00 --day-zone America/New_York
  dealflow watch --sync-every 0 --maintain-at "Sun 03:00" --maintenance verify,compact,expire
  curl -s http://127.0.0.1:8901/status | jq .state`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runWatch(cmd, a, o) },
	}
	flags := cmd.Flags()
	shared(flags, func(flags *pflag.FlagSet) {
		a.settings.addAPI(flags)
		flags.StringVar(&o.feeds, "feeds", "", "feeds to pull, comma-separated, such as bond/ig/priced (default: all twelve)")
		annotate(flags.Lookup("feeds"), listFlag)
	})
	a.settings.addDayZone(flags)
	a.settings.addRequireLake(flags)
	flags.StringVar(&o.runAt, "run-at", "22:00", "time of the run, in the lake's day zone")
	flags.DurationVar(&o.syncEvery, "sync-every", 5*time.Minute, "time between two syncs; 0 for no syncs")
	flags.StringVar(&o.maintainAt, "maintain-at", "Sat 06:00", "weekday and time of maintenance, in the lake's day zone; none for no maintenance")
	flags.StringVar(&o.maintenance, "maintenance", "verify,compact", "what maintenance does: verify, compact, expire; each only if those before it succeed, expire with --apply and its own settings")
	annotate(flags.Lookup("maintenance"), listFlag)
	flags.DurationVar(&o.jitter, "jitter", 2*time.Minute, "longest delay of a run or maintenance, so that not all lakes ask at the same second")
	flags.DurationVar(&o.limit, "command-limit", 6*time.Hour, "time after which a command is cancelled")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8901", "address of /healthz, /status and /metrics, which need no token; none for no address")
	return cmd
}

// watcher is one execution of watch.
type watcher struct {
	app         *app
	cmd         *cobra.Command
	options     watchOptions
	store       store.Store
	feeds       []api.Feed
	maintenance []string
	root        *cobra.Command // of the commands, to see which flags they have
}

func runWatch(cmd *cobra.Command, a *app, o watchOptions) (err error) {
	ctx := cmd.Context()
	a.sink.Terminal = false // lines have their times, and commands draw no bars
	w := &watcher{app: a, cmd: cmd, options: o, root: (&app{environment: a.environment}).root()}
	plan, err := w.plan(ctx)
	if err != nil {
		return err
	}
	if err := watch.CheckFree(ctx, w.store, a.Now()); err != nil {
		return err
	}
	cfg, err := w.config(plan)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	running := watch.New(cfg)
	address := none
	if o.listen != none {
		health, err := newWatchHealth(a, w.store, running)
		if err != nil {
			return err
		}
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.listen)
		if err != nil {
			return fmt.Errorf("--listen %s: %w; name another address, or --listen none", o.listen, err)
		}
		address = listener.Addr().String()
		group.Go(func() error { return health.serve(ctx, listener) })
	}
	s := cfg.Presence.Schedule
	a.say().Info("watching", "lake", w.store.URL(), "run_at", s.RunAt, "day_zone", s.DayZone, "sync_every", s.SyncEvery, "maintain_at", s.MaintainAt, "health", address,
		logs.Text("watching %s: a run each night at %s %s, a sync every %s, maintenance at %s; health: %s", w.store.URL(), s.RunAt, s.DayZone, cmp.Or(s.SyncEvery, "(none)"), cmp.Or(s.MaintainAt, none), address))
	group.Go(func() error {
		defer stop()
		return running.Run(ctx)
	})
	return group.Wait()
}

// plan checks the flags against each other and the lake, and returns the schedule.
func (w *watcher) plan(ctx context.Context) (p schedule.Plan, err error) {
	a, o := w.app, &w.options
	if p.Run, err = schedule.ParseTimeOfDay(o.runAt); err != nil {
		return p, usagef("--run-at %w", err)
	}
	if o.maintainAt != none {
		weekly, err := schedule.ParseTimeOfWeek(o.maintainAt)
		if err != nil {
			return p, usagef("--maintain-at %w; or none", err)
		}
		p.Maintain = &weekly
	}
	if w.maintenance = entriesOf(o.maintenance); p.Maintain != nil {
		w.maintenance = slices.DeleteFunc(slices.Clone(upkeep), func(name string) bool { return !slices.Contains(w.maintenance, name) })
	}
	if w.feeds, err = api.ParseFeeds(o.feeds); err != nil {
		return p, usagef("--feeds: %w", err)
	}
	if err := w.rehearse(p.Maintain != nil); err != nil {
		return p, err
	}
	if _, err := a.account(ctx); err != nil {
		return p, err
	}
	if w.store, err = a.settings.store(ctx); err != nil {
		return p, err
	}
	if err := a.checkRequired(ctx, w.store); err != nil {
		return p, err
	}
	l, err := a.openToRead(ctx, w.store)
	if err != nil && !errors.Is(err, load.ErrNoLake) {
		return p, err
	}
	name := cmp.Or(a.settings.dayZone, lake.UTC)
	if err == nil {
		// A lost commit may be brought back, or accepted, while the watch is at work.
		if err := l.CheckWritable(); err != nil && !errors.Is(err, load.ErrLostCommit) {
			return p, err
		}
		if zone := l.Log().DayZone(); zone != "" && a.settings.dayZone != "" && a.settings.dayZone != zone {
			return p, fmt.Errorf("%w: the lake counts days in %s, and --day-zone is %s: leave it out, or change the lake's by `dealflow run --accept-day-zone`", pull.ErrDayZone, zone, a.settings.dayZone)
		}
		name = cmp.Or(l.Log().DayZone(), name)
	}
	p.Sync, p.Jitter, p.Seed = o.syncEvery, o.jitter, w.store.URL()
	p.Zone, err = lake.Zone(name)
	return p, err
}

// rehearse refuses now what the commands would refuse when they begin, and commands of another lake. The days and the clock are those of run.
func (w *watcher) rehearse(maintains bool) error {
	a, names := w.app, []string{"run"}
	if w.options.syncEvery > 0 {
		names = append(names, "sync")
	}
	if maintains {
		names = append(names, w.maintenance...)
	}
	for _, name := range names {
		r, err := rehearse(w.environment(), slices.Concat([]string{name}, w.passedOn(name)), nil)
		if err == nil {
			err = r.checkPlaces()
		}
		if err != nil {
			return fmt.Errorf("%s, which watch starts: %w", name, err)
		}
		if !sameAddress(r.settings.lake, a.settings.lake) {
			return usagef("watch is of the lake %s, and %s, which it starts, of %s (%s): name one lake for all commands, in no section",
				shownAddress(a.settings.lake), name, shownAddress(r.settings.lake), cmp.Or(r.settings.from(lakeSetting.Name), "the default"))
		}
		if name == lake.CommandRun {
			a.settings.dayZone, a.settings.clock = r.settings.dayZone, r.settings.clock
			a.settings.requireLake = a.settings.requireLake || r.settings.requireLake
		}
	}
	return nil
}

// checkPlaces refuses an API that may not be asked, and a work folder that is not there or may not be written. A folder on a full disk
// passes: maintenance makes room.
func (r *rehearsed) checkPlaces() error {
	if r.cmd.Flags().Lookup("api") != nil {
		if _, err := r.reachable(); err != nil {
			return err
		}
	}
	err := tryWorkFolder(r.settings.workDir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%w: %s", err, workAdvice)
	}
	return nil
}

// sameAddress reports whether two addresses of lakes are spellings of one.
func sameAddress(x, y string) bool {
	if strings.Contains(x+y, "://") {
		return strings.TrimRight(x, "/") == strings.TrimRight(y, "/")
	}
	x, errX := filepath.Abs(x)
	y, errY := filepath.Abs(y)
	return errX == nil && errY == nil && x == y
}

func (w *watcher) config(p schedule.Plan) (watch.Config, error) {
	a, o := w.app, w.options
	id, err := uuid.NewV7()
	if err != nil {
		return watch.Config{}, fmt.Errorf("watch id: %w", err)
	}
	shown := watch.Schedule{DayZone: p.Zone.String(), RunAt: p.Run.String(), Jitter: p.Jitter.String()}
	if p.Sync > 0 {
		shown.SyncEvery = p.Sync.String()
	}
	if p.Maintain != nil {
		shown.MaintainAt = p.Maintain.String()
	}
	wait := a.Wait
	if wait == nil {
		wait = waitAwake
	}
	return watch.Config{
		Plan: p, Store: w.store, Clock: a.Now, Wait: wait, Execute: w.execute, Read: w.known, Limit: o.limit, Log: a.say(),
		Presence: watch.Presence{ID: id.String(), Owner: owner(), Process: process.Current(), DealflowVersion: version(), Schedule: shown},
		Notify: func(state string) {
			_, _ = daemon.SdNotify(false, state) // without systemd there is no one to tell
		},
	}, nil
}

// waitAwake waits for a time, but not longer than a watch may: the machine may sleep while a timer runs.
func waitAwake(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(min(d, watch.Tick))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// execute carries out a command as a command line of its own, in this process: it reads the settings again.
func (w *watcher) execute(ctx context.Context, due schedule.Due) int {
	switch due.Command {
	case schedule.Run:
		if w.app.settings.clock == "server" { // the days are those of the source
			return w.main(ctx, "run")
		}
		return w.main(ctx, "run", "--snapshot-date", due.Slot.Day)
	case schedule.Sync:
		return w.main(ctx, "sync")
	}
	for _, name := range w.maintenance {
		line := []string{name}
		if name == lake.CommandExpire {
			line = append(line, "--apply")
		}
		if code := w.main(ctx, line...); !exitcode.Succeeded(code) {
			return code
		}
	}
	return 0
}

// main carries out a command line.
func (w *watcher) main(ctx context.Context, line ...string) int {
	return Main(ctx, slices.Concat(line, w.passedOn(line[0])), w.environment())
}

// environment returns that of the commands.
func (w *watcher) environment() environment {
	env := w.app.environment
	env.Stderr = w.app.sink
	unknown := w.app.settings.sources.Unknown() // said once, when the watch began
	env.Environ = slices.DeleteFunc(slices.Clone(env.Environ), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(unknown, func(u config.Unknown) bool { return u.Name == name })
	})
	return env
}

// passedOn returns the flags that a command gets from the watch, and a deadline if it has none.
func (w *watcher) passedOn(name string) []string {
	command, err := commandNamed(w.root, []string{name})
	if err != nil { // all names are in this file
		panic(err)
	}
	line := w.app.passedOn(w.cmd, command, true)
	if _, set := w.app.settings.sources.Find(config.Setting{Command: name, Name: "deadline", Shared: true}); !set && command.Flags().Lookup("deadline") != nil {
		deadline := w.options.limit * 2 / 3
		if name == lake.CommandSync {
			deadline = min(deadline, max(w.options.syncEvery, 30*time.Minute))
		}
		line = append(line, "--deadline="+deadline.String())
	}
	return line
}
