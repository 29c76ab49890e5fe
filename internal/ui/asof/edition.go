package asof

import (
	"context"
	stdsql "database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"dealflow/load"
	"dealflow/schemas/lake"
	"dealflow/sql/explorer"
)

// Edition is a lake at one commit, with its catalog open. Nothing of it changes.
type Edition struct {
	Log  *load.Log
	Runs []lake.Commit // all commits, oldest first; nil: Log has them
	DB   *stdsql.DB
	// Fetch makes the lake's files that a statement reads local. It may be called concurrently.
	Fetch func(ctx context.Context, statement string) error
	// Path is the catalog file of DB, in a folder that Close removes. Root is the local folder with the files that Fetch adds.
	Path, Root string
	// Cut writes the catalog as it was known at the instant of a commit, with the number 0 for none, to a new file.
	Cut func(ctx context.Context, path string, shown lake.NamedCommit) error
	// Close closes DB and releases all that was opened with it.
	Close func() error
}

// Config says where the editions of a lake come from.
type Config struct {
	// Newer opens the edition of the lake's newest commit if its number is greater than the given one, and returns nil
	// otherwise. It is called with -1 while no edition is open; a lake without a commit has one, too, with the number 0. It is never
	// called concurrently. Required.
	Newer func(ctx context.Context, than int64) (*Edition, error)
	// Every is the least time between two calls of Newer. A View waits a moment for a newer edition, and then is of the one that
	// is open. 0: each View looks for a newer commit, and waits until it is open.
	Every time.Duration
	// LargeCatalog is the size in bytes from which a catalog is cut in the background; 0: 100 MB.
	LargeCatalog int64
	// Clock is for Every. Required.
	Clock func() time.Time
	// Opened is called in the background for each edition that is opened, to ask what readers will ask first. The view is valid until it
	// returns. nil: nothing is asked.
	Opened func(ctx context.Context, v *View)
}

// Lake follows the commits of a lake. Its methods may be called concurrently.
type Lake struct {
	config     Config
	statements map[string]explorer.Statement
	turns      *turns
	answers    *answers
	look       chan struct{}   // has a value while a goroutine looks for a newer commit
	patience   time.Duration   // in which a View waits for a newer edition
	ctx        context.Context // of what goes on after the request that began it; ends with Close
	stop       context.CancelFunc
	background sync.WaitGroup

	mu     sync.Mutex
	newest *edition // nil before Open and after Close
	closed bool
	looked time.Time
}

// edition is an Edition with the number of its users: the Lake is one while it is the newest.
type edition struct {
	Edition
	users int
	days  []Day
	cuts  cuts

	broken atomic.Bool // DB answers nothing more
}

// Day is a day of which the lake has a snapshot, with the newest commit that took one.
type Day struct {
	Date    string // YYYY-MM-DD
	Commit  int64
	KnownAt lake.Instant
}

// errClosed is the error of a Lake that is closed.
var errClosed = errors.New("the explorer ends")

// Open opens a lake. The caller closes it.
func Open(ctx context.Context, config Config) (*Lake, error) {
	statements, err := explorer.Statements()
	if err != nil {
		return nil, err
	}
	l := &Lake{config: config, statements: statements, turns: newTurns(), answers: newAnswers(), look: make(chan struct{}, 1), patience: usualPatience}
	l.ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	err = l.follow(ctx)
	if err == nil && l.newest == nil {
		err = errors.New("explorer: no catalog was opened")
	}
	if err != nil {
		l.stop()
		return nil, err
	}
	return l, nil
}

// usualPatience is enough to see that there is no newer commit, and often to open one.
const usualPatience = 250 * time.Millisecond

// Close closes the newest edition after the last View of it is released, and ends what goes on in the background. Later Views
// fail.
func (l *Lake) Close() error {
	l.mu.Lock()
	last := l.newest
	l.newest, l.closed = nil, true
	l.mu.Unlock()
	l.stop()
	l.background.Wait()
	if last == nil {
		return nil
	}
	return l.release(last)
}

// follow opens the edition of a newer commit, if there is one. Only one goroutine does so; the others use the newest
// edition that is open.
func (l *Lake) follow(ctx context.Context) error {
	select {
	case l.look <- struct{}{}:
		defer func() { <-l.look }()
	default:
		return nil
	}
	l.mu.Lock()
	now, than := l.config.Clock(), int64(-1)
	if l.closed {
		l.mu.Unlock()
		return errClosed
	}
	if l.newest != nil {
		than = l.newest.Log.Number
		switch {
		case l.newest.broken.Load():
			than-- // the same commit again, if there is no newer one
		case !l.isTime(now):
			l.mu.Unlock()
			return nil
		}
	}
	l.looked = now
	l.mu.Unlock()
	found, err := l.config.Newer(ctx, than)
	if err != nil || found == nil {
		return err
	}
	if found.Runs == nil {
		found.Runs = found.Log.Commits
	}
	next := &edition{Edition: *found, users: 1, days: daysOf(found.Log)}
	if l.config.Opened != nil {
		next.users++
		defer next.inBackground(l, func() { l.config.Opened(l.ctx, l.newestOf(next)) })
	}
	l.mu.Lock()
	last := l.newest
	if l.newest = next; l.closed {
		last, l.newest = next, nil
	}
	l.mu.Unlock()
	if last == nil {
		return nil
	}
	return l.release(last)
}

// aside runs a function in the background. It returns false if the Lake is closed.
func (l *Lake) aside(do func(context.Context)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.background.Go(func() { do(l.ctx) })
	return true
}

// aside runs a function in the background, and keeps the edition open until its end.
func (e *edition) aside(l *Lake, do func()) bool {
	l.mu.Lock()
	e.users++
	l.mu.Unlock()
	return e.inBackground(l, do)
}

// inBackground is aside for a caller who is a user of the edition, and ceases to be one.
func (e *edition) inBackground(l *Lake, do func()) bool {
	// What cannot be closed or removed at its end is the affair of the system's own folder.
	if !l.aside(func(context.Context) { do(); _ = l.release(e) }) {
		_ = l.release(e)
		return false
	}
	return true
}

// followAside is follow in the background, for which it waits a moment: a reader who has gone does not end it, and none waits for
// a catalog that is fetched and opened.
func (l *Lake) followAside(ctx context.Context) error {
	l.mu.Lock()
	isTime, broken := l.isTime(l.config.Clock()), l.newest != nil && l.newest.broken.Load()
	l.mu.Unlock()
	if !isTime && !broken || len(l.look) > 0 {
		return nil
	}
	ended := make(chan error, 1)
	if !l.aside(func(ctx context.Context) { ended <- l.follow(ctx) }) {
		return errClosed
	}
	enough := time.NewTimer(l.patience)
	defer enough.Stop()
	late := enough.C
	if broken {
		late = nil // there is no other to go on with
	}
	select {
	case err := <-ended:
		return err
	case <-late:
	case <-ctx.Done():
	}
	return nil
}

// isTime says whether Newer may be called again. The caller has locked l.
func (l *Lake) isTime(now time.Time) bool {
	since := now.Sub(l.looked)
	return since < 0 || since >= l.config.Every
}

// acquire returns the newest edition for one more user. If it cannot be told whether there is a newer one, or it is still being
// opened, the one that is open goes on to answer: the strip says of which commit it is.
func (l *Lake) acquire(ctx context.Context) (*edition, error) {
	follow := l.followAside
	if l.config.Every == 0 {
		follow = l.follow
	}
	failed := follow(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.newest == nil {
		return nil, errors.Join(errClosed, failed)
	}
	l.newest.users++
	return l.newest, nil
}

// release ends one use of an edition, and closes it after the last one.
func (l *Lake) release(e *edition) error {
	l.mu.Lock()
	e.users--
	last := e.users == 0
	l.mu.Unlock()
	if !last {
		return nil
	}
	l.answers.forget(e)
	return e.Close()
}

// daysOf returns the days of which a lake has snapshots, oldest first.
func daysOf(log *load.Log) (days []Day) {
	for i := range log.Commits {
		c := &log.Commits[i]
		if c.SnapshotDate == "" {
			continue
		}
		day := Day{c.SnapshotDate, c.Number, c.KnownAt}
		if n := len(days); n > 0 && days[n-1].Date == day.Date {
			days[n-1] = day
			continue
		}
		days = append(days, day)
	}
	return days
}
