package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Errors that callers branch on; compare with errors.Is.
var (
	ErrNoLake   = errors.New("no lake there")
	ErrConflict = errors.New("another run committed first")
)

// Log is what the commits of a lake add up to. It is a value: committing gives a new one.
type Log struct {
	Number  int64        // of the newest commit; 0 for a lake without any
	KnownAt lake.Instant // of the newest commit
	SHA256  string       // of the newest commit's bytes: the chain's head
	Runs    []lake.Commit

	files      map[string]lake.File
	sorted     []lake.File     // the same by path, where index has made them
	checkpoint int64           // newest commit that a readable checkpoint sums up
	since      map[string]bool // paths of live files that commits behind it have added
}

// Lake is an open lake. It is not safe for concurrent use, but its readers may run side by side.
type Lake struct {
	store store.Store
	log   Log
}

// Open reads the log of the lake in a store. A store without a commit gives ErrNoLake, together with
// a Lake that a first run may use.
func Open(ctx context.Context, s store.Store) (*Lake, error) {
	l := &Lake{store: s}
	if err := l.refresh(ctx); err != nil {
		return nil, fmt.Errorf("open lake %s: %w", s.URL(), err)
	}
	if l.log.Number == 0 {
		return l, fmt.Errorf("%w: %s has no commit; `dealflow run` or `dealflow demo` makes one", ErrNoLake, s.URL())
	}
	return l, nil
}

// Log is what the commits add up to. The caller must not change it.
func (l *Lake) Log() *Log { return &l.log }

// Store is where the lake lies.
func (l *Lake) Store() store.Store { return l.store }

// Through returns the same lake with its files read through another store, such as local copies of them.
func (l *Lake) Through(s store.Store) *Lake { return &Lake{store: s, log: l.log} }

// Refresh reads the log anew: another run may have committed.
func (l *Lake) Refresh(ctx context.Context) error {
	if err := l.refresh(ctx); err != nil {
		return fmt.Errorf("read the log of %s again: %w", l.store.URL(), err)
	}
	return nil
}

// refresh reads the newest checkpoint and the commits after it, by number until one is absent.
func (l *Lake) refresh(ctx context.Context) error {
	log, err := l.newestCheckpoint(ctx)
	if err != nil {
		return err
	}
	for {
		if err := l.readCommits(ctx, log); err != nil {
			return err
		}
		later, err := l.laterCommit(ctx, log.Number)
		if err != nil {
			return err
		}
		if later == 0 {
			break
		}
		// Others may have committed since; if not, the log has a hole, and going on from before it would
		// begin another history.
		found, err := l.HasCommit(ctx, log.Number+1)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("the log is damaged: commit %d is missing, but commit %d is there; restore it from a copy, and run `dealflow verify`", log.Number+1, later)
		}
	}
	log.index()
	l.log = *log
	return nil
}

// readCommits adds the commits to a log that follow it.
func (l *Lake) readCommits(ctx context.Context, log *Log) error {
	for {
		key := lake.CommitKey(log.Number + 1)
		data, err := store.Read(ctx, l.store, key)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := log.append(data); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
}

// laterCommit looks behind the end of a log: at the next number but one, and at the one that the hint
// names. 0: there is nothing.
func (l *Lake) laterCommit(ctx context.Context, end int64) (int64, error) {
	for _, number := range []int64{end + 2, ReadHint(ctx, l.store).Commit} {
		if number <= end+1 {
			continue
		}
		if found, err := l.HasCommit(ctx, number); err != nil || found {
			return number, err
		}
	}
	return 0, nil
}

// append adds a commit's bytes to what the log adds up to.
func (g *Log) append(data []byte) error {
	commit, err := lake.DecodeCommit(data)
	if err != nil {
		return err
	}
	switch {
	case commit.Number != g.Number+1:
		return fmt.Errorf("the log is damaged: the commit calls itself %d", commit.Number)
	case commit.PreviousSHA256 != g.SHA256:
		return fmt.Errorf("the log is damaged: the commit follows %.12s, but the one before it is %.12s; restore the log from a copy", commit.PreviousSHA256, g.SHA256)
	}
	if g.files == nil {
		g.files = map[string]lake.File{}
	}
	if g.since == nil {
		g.since = map[string]bool{}
	}
	for _, path := range commit.Remove {
		delete(g.files, path)
		delete(g.since, path)
	}
	for _, file := range commit.Add {
		g.files[file.Path] = file
		g.since[file.Path] = true
	}
	g.sorted = nil
	g.Number, g.KnownAt, g.SHA256 = commit.Number, commit.KnownAt, lake.SHA256(data)
	commit.Add, commit.Remove = nil, nil
	g.Runs = append(g.Runs, *commit)
	return nil
}

// Files returns the live files of a table, as a commit names it ("history.bond_priced_deals"), by
// path.
func (g *Log) Files(table string) []lake.File {
	var found []lake.File
	for _, file := range g.byPath() {
		if file.Table == table {
			found = append(found, file)
		}
	}
	return found
}

// AllFiles returns all live files, by path. The caller owns the slice.
func (g *Log) AllFiles() []lake.File { return slices.Clone(g.byPath()) }

// byPath is AllFiles for those who only look.
func (g *Log) byPath() []lake.File {
	if g.sorted != nil {
		return g.sorted
	}
	sorted := make([]lake.File, 0, len(g.files))
	for _, path := range slices.Sorted(maps.Keys(g.files)) {
		sorted = append(sorted, g.files[path])
	}
	return sorted
}

// index sorts the files ahead: a lake of many years has some hundred thousand, and they are asked for by table,
// also by feeds side by side.
func (g *Log) index() { g.sorted = g.byPath() }

// Replaced returns the live snapshot files of a feed and day: those that a new snapshot replaces.
func (g *Log) Replaced(feed api.Feed, date string) []string {
	names := map[string]bool{}
	for _, table := range lake.FeedTables(feed) {
		names[lake.SnapshotTable(table.Name)] = true
	}
	var paths []string
	for path, file := range g.files {
		if names[file.Table] && file.Partition["market"] == string(feed.Market) && file.Partition["snapshot_date"] == date {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Live says whether a file is part of the lake.
func (g *Log) Live(path string) bool {
	_, live := g.files[path]
	return live
}

// LiveFile finds a file that is part of the lake.
func (g *Log) LiveFile(path string) (lake.File, bool) {
	file, live := g.files[path]
	return file, live
}

// SnapshotFiles finds the live snapshot files of each feed and day.
func (g *Log) SnapshotFiles() map[api.Feed]map[string][]lake.File {
	found := map[api.Feed]map[string][]lake.File{}
	for _, f := range g.AllFiles() {
		name, ok := strings.CutPrefix(f.Table, lake.SnapshotTable(""))
		table, known := lake.TableByName(name)
		if !ok || !known {
			continue
		}
		feed := api.Feed{Service: table.Service, Market: api.Market(f.Partition["market"]), Kind: table.Kind}
		if found[feed] == nil {
			found[feed] = map[string][]lake.File{}
		}
		day := f.Partition["snapshot_date"]
		found[feed][day] = append(found[feed][day], f)
	}
	return found
}

// SnapshotInstants gives, for each day of which a snapshot of the feed was committed, the instant as of
// which it holds: that of the last commit that took it. A snapshot that was replayed keeps its instant.
func (g *Log) SnapshotInstants(feed api.Feed) map[string]lake.Instant {
	taken := map[string]lake.Instant{}
	for run := range g.FeedRuns(feed, lake.OutcomeDone) {
		if _, newer := taken[run.SnapshotDate]; !newer {
			taken[run.SnapshotDate] = run.KnownAt
		}
	}
	return taken
}

// Held says whether the lake has ever held a snapshot of the feed.
func (g *Log) Held(feed api.Feed) bool {
	for range g.FeedRuns(feed, lake.OutcomeDone) {
		return true
	}
	return false
}

// SnapshotDay returns the day of the newest snapshot, YYYY-MM-DD; "" for none.
func (g *Log) SnapshotDay() string {
	day := ""
	for i := range g.Runs {
		day = max(day, g.Runs[i].SnapshotDate)
	}
	return day
}

// HasSnapshot says whether a feed's snapshot of a day was committed.
func (g *Log) HasSnapshot(feed api.Feed, day string) bool {
	return g.ended(feed, day, lake.OutcomeDone)
}

// Skipped says whether a committed run of a day found that the feed is no part of the account.
func (g *Log) Skipped(feed api.Feed, day string) bool {
	return g.ended(feed, day, lake.OutcomeSkipped)
}

func (g *Log) ended(feed api.Feed, day, outcome string) bool {
	for run := range g.FeedRuns(feed, outcome) {
		if run.SnapshotDate == day {
			return true
		}
	}
	return false
}

// FeedRuns yields the runs that took snapshots and in which the feed had the outcome, newest first.
func (g *Log) FeedRuns(feed api.Feed, outcome string) iter.Seq[*lake.Commit] {
	return func(yield func(*lake.Commit) bool) {
		for run := range g.pulls(feed, outcome) {
			if run.SnapshotDate != "" && !yield(run) {
				return
			}
		}
	}
}

// pulls yields the runs of any command in which the feed had the outcome, newest first.
func (g *Log) pulls(feed api.Feed, outcome string) iter.Seq[*lake.Commit] {
	return func(yield func(*lake.Commit) bool) {
		for i := len(g.Runs) - 1; i >= 0; i-- {
			f := g.Runs[i].Feed(feed)
			if f != nil && f.Outcome == outcome && !yield(&g.Runs[i]) {
				return
			}
		}
	}
}

// SinceSnapshot returns the runs that pulled a feed since its last complete snapshot: the one that took
// it first, then those of syncs. Nil for a feed that the lake does not hold.
func (g *Log) SinceSnapshot(feed api.Feed) []*lake.Commit {
	var found []*lake.Commit
	for run := range g.pulls(feed, lake.OutcomeDone) {
		found = append(found, run)
		if run.SnapshotDate != "" {
			slices.Reverse(found)
			return found
		}
	}
	return nil
}

// RunsSinceSnapshot gives the ids of these runs. What one of them has put into quarantine is open: the
// feed has not been pulled whole since. The caller owns the map.
func (g *Log) RunsSinceSnapshot(feed api.Feed) map[string]bool {
	runs := map[string]bool{}
	for _, run := range g.SinceSnapshot(feed) {
		runs[run.RunID] = true
	}
	return runs
}

// UpdatedSince is the link from which a feed's next sync goes on, relative to the API's base URL; "" if
// the feed has offered none.
func (g *Log) UpdatedSince(feed api.Feed) string {
	for run := range g.pulls(feed, lake.OutcomeDone) {
		if link := run.Feed(feed).UpdatedSince; link != "" {
			return link
		}
	}
	return ""
}

// HasCommit says whether the lake has a commit of that number, also one made since the lake was opened.
func (l *Lake) HasCommit(ctx context.Context, number int64) (bool, error) {
	r, err := l.store.Get(ctx, lake.CommitKey(number))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, r.Close()
}

// Object reads a whole object of the lake. One that is not there is store.ErrNotFound.
func (l *Lake) Object(ctx context.Context, key string) ([]byte, error) {
	return store.Read(ctx, l.store, key)
}

// Garbage is what lies in the data folders and is not part of the lake: files that a commit removed, or
// that no commit has named, such as those of a run under way. `dealflow expire` removes them after the
// grace period.
type Garbage struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// Hint is latest.json: where to start looking. It may be out of date, so nothing depends on it alone.
type Hint struct {
	Commit     int64 `json:"commit"`
	Checkpoint int64 `json:"checkpoint"`
}

// ReadHint reads the hint of the lake in a store; the zero Hint if it is absent or unreadable.
func ReadHint(ctx context.Context, s store.Store) Hint {
	var h Hint
	if data, err := store.Read(ctx, s, lake.LatestKey); err == nil {
		if json.Unmarshal(data, &h) != nil {
			return Hint{}
		}
	}
	return h
}
