package asof

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"sync"
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
	// otherwise. It is never called concurrently. Required.
	Newer func(ctx context.Context, than int64) (*Edition, error)
	// Every is the least time between two calls of Newer. 0: each View looks for a newer commit.
	Every time.Duration
	// Now is the clock for Every. Required.
	Now func() time.Time
}

// Lake follows the commits of a lake. Its methods may be called concurrently.
type Lake struct {
	config     Config
	statements map[string]explorer.Statement
	turns      *turns
	answers    *answers
	look       chan struct{} // has a value while a goroutine looks for a newer commit

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
}

// Day is a day of which the lake has a snapshot, with the newest commit that took one.
type Day struct {
	Date    string // YYYY-MM-DD
	Commit  int64
	KnownAt lake.Instant
}

// errClosed is the error of a Lake that is closed.
var errClosed = errors.New("the explorer ends")

// Open opens a lake, which must have a commit. The caller closes it.
func Open(ctx context.Context, config Config) (*Lake, error) {
	statements, err := explorer.Statements()
	if err != nil {
		return nil, err
	}
	l := &Lake{config: config, statements: statements, turns: newTurns(), answers: newAnswers(), look: make(chan struct{}, 1)}
	if err := l.follow(ctx); err != nil {
		return nil, err
	}
	if l.newest == nil {
		return nil, fmt.Errorf("explorer: %w", load.ErrNoLake)
	}
	return l, nil
}

// Close closes the newest edition after the last View of it is released. Later Views fail.
func (l *Lake) Close() error {
	l.mu.Lock()
	last := l.newest
	l.newest, l.closed = nil, true
	l.mu.Unlock()
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
	now, than := l.config.Now(), int64(0)
	if l.closed {
		l.mu.Unlock()
		return errClosed
	}
	if l.newest != nil {
		than = l.newest.Log.Number
		if since := now.Sub(l.looked); since >= 0 && since < l.config.Every {
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

// acquire returns the newest edition for one more user. If it cannot be told whether there is a newer one, the one that is
// open goes on to answer: the strip says of which commit it is.
func (l *Lake) acquire(ctx context.Context) (*edition, error) {
	failed := l.follow(ctx)
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
