package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"dealflow/load/begun"
	"dealflow/load/live"
	"dealflow/load/runs"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Errors that callers branch on; compare with errors.Is.
var (
	ErrNoLake   = errors.New("no lake found")
	ErrConflict = errors.New("another run committed first")
)

// Log is the sum of a lake's commits up to the newest one that the Lake has read or made.
type Log struct {
	Number  int64        // of the newest commit; 0 for a lake without a commit
	KnownAt lake.Instant // of the newest commit
	SHA256  string       // of the newest commit's bytes: the next commit names it
	Format  int          // format version of all commits; that of this program for a lake without a commit

	// Commits are the commits, those of maintenance too, oldest first; Add and Remove are nil. A long log has all of the
	// newest, and of those before only the ones that decisions need: Lake.Runs and Lake.Names have all.
	Commits []lake.Commit

	segments   runs.Segments // of the commits that Commits need not have, without a gap
	files      live.Files
	needs      lake.Needs      // of the commits, without those of their files
	all        *lake.Needs     // of the commits and the live files; nil before index
	checkpoint int64           // number of the newest commit that a readable checkpoint includes; 0 for none
	addedSince map[string]bool // paths of live files that commits after the checkpoint added
}

// Lake is an open lake. It is not safe for concurrent use, except that any number of goroutines may read it at once.
type Lake struct {
	store store.Store
	log   Log

	names      *runs.Cache
	lost       []lake.LostCommit // that no commit records; the next commit does
	acceptLost bool              // a person has accepted that
	published  lake.CatalogEnd   // of the catalog that was published when the log was read; zero for none
}

// Open reads the log of the lake in a store. For a store without a commit it returns ErrNoLake together with a Lake
// that a first run may use. For a lake that has lost commits it returns ErrLostCommit together with a Lake that can be
// read up to the newest commit that is there.
func Open(ctx context.Context, s store.Store) (*Lake, error) {
	l := &Lake{store: s, names: new(runs.Cache)}
	if err := l.refresh(ctx); err != nil {
		return nil, fmt.Errorf("open lake %s: %w", s.URL(), err)
	}
	if err := l.checkLost(); err != nil {
		return l, fmt.Errorf("open lake %s: %w", s.URL(), err)
	}
	return l, l.requireCommit()
}

// requireCommit returns ErrNoLake for a lake without a commit.
func (l *Lake) requireCommit() error {
	if l.log.Number == 0 {
		return noCommit(l.store)
	}
	return nil
}

// NoLake returns the error for a store without a commit: that a copy or an upgrade there has not finished, or that there is no lake.
func NoLake(ctx context.Context, s store.Store) error {
	if err := begun.Check(ctx, s, 0); err != nil {
		return err
	}
	return noCommit(s)
}

// noCommit returns the ErrNoLake for a store without a commit. It does not say to run: after a mistyped address, or while
// a disk is not mounted, a run would begin another lake.
func noCommit(s store.Store) error {
	return fmt.Errorf("%w: %s has no commit; correct --lake, or mount the disk; the first `dealflow run` of all begins a lake", ErrNoLake, s.URL())
}

// Log returns the lake's log. Refresh and commits change it in place; the caller must not change it.
func (l *Lake) Log() *Log { return &l.log }

// Store returns the store that contains the lake.
func (l *Lake) Store() store.Store { return l.store }

// Through returns the same lake, but with its files read through another store, such as one with local copies.
func (l *Lake) Through(s store.Store) *Lake {
	return &Lake{store: s, log: l.log, names: l.names, lost: l.lost, acceptLost: l.acceptLost, published: l.published}
}

// PublishedCatalog returns the end of the catalog that was published when the log was read. It is zero for a lake without
// one, or with one of an older program.
func (l *Lake) PublishedCatalog() lake.CatalogEnd { return l.published }

// Refresh reads the log again: another run may have committed.
func (l *Lake) Refresh(ctx context.Context) error {
	err := l.refresh(ctx)
	if err == nil {
		err = l.checkLost()
	}
	if err != nil {
		return fmt.Errorf("read the log of %s again: %w", l.store.URL(), err)
	}
	return nil
}

// refresh reads the newest checkpoint and the commits after it, by number until one is absent.
//
// Before it decodes anything else it looks at what the hint, the checkpoint and each commit say that a reader must know.
func (l *Lake) refresh(ctx context.Context) error {
	hint, published, named, err := hintAndClaims(ctx, l.store)
	if err != nil {
		return err
	}
	log, ahead, err := l.checkpointAndTail(ctx, hint)
	if err != nil {
		return err
	}
	var lost []lake.LostCommit
	for ; ; ahead = nil { // what was read ahead is too old for a second look
		if err := l.readCommits(ctx, log, ahead, hint.Commit, math.MaxInt64); err != nil {
			return err
		}
		if log.Number == 0 {
			if err := begun.Check(ctx, l.store, 0); err != nil {
				return err
			}
		}
		replaced, err := l.isReplaced(ctx, log, ahead)
		if err != nil {
			return err
		}
		if replaced {
			named = append(named, claim{log.Newest(), lake.CheckpointKey(log.Number)})
			if log, err = l.newestCheckpoint(ctx, hint, log.Number); err != nil {
				return err
			}
			continue
		}
		later, err := l.laterCommit(ctx, log.Number, named, ahead)
		if err != nil {
			return err
		}
		if later == 0 {
			var appeared bool
			lost, appeared, err = findLost(ctx, l.store, log, named)
			if err != nil {
				return err
			}
			if appeared {
				continue
			}
			break
		}
		// Another run may have committed since. If not, the log has a hole: a commit that takes the missing number
		// would begin a second history.
		found, err := l.HasCommit(ctx, log.Number+1)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("the log is damaged: commit %d is missing, but commit %d exists; restore the missing one from a copy, then run `dealflow verify`", log.Number+1, later)
		}
	}
	log.index()
	needs := log.Needs()
	if err := needs.CheckRead(log.writer()); err != nil {
		return err
	}
	l.log, l.lost, l.published = *log, lost, published
	return nil
}

// CheckWritable returns an error if this program may only read the lake: a *lake.OldFormatError, a *lake.NeedsError, or
// ErrLostCommit.
func (l *Lake) CheckWritable() error {
	if l.log.Number > 0 && l.log.Format < lake.FormatVersion {
		return &lake.OldFormatError{Lake: l.store.URL(), Found: l.log.Format}
	}
	if err := l.checkLost(); err != nil {
		return fmt.Errorf("write to %s: %w", l.store.URL(), err)
	}
	needs := l.log.Needs()
	if err := needs.CheckWrite(l.log.writer()); err != nil {
		return fmt.Errorf("write to %s: %w", l.store.URL(), err)
	}
	return nil
}

// Needs returns the union of what the commits and the live files need.
func (g *Log) Needs() lake.Needs {
	if g.all != nil {
		return *g.all
	}
	needs := g.needs
	needs.Merge(g.segments.Needs())
	for _, file := range g.files.All() {
		if file.Requires != nil || file.RequiresToWrite != nil {
			needs.Merge(file.Needs)
		}
	}
	return needs
}

// writer returns the version of the program that made the newest commit. It knows all that the lake needs.
func (g *Log) writer() string {
	if len(g.Commits) == 0 {
		return ""
	}
	return g.Commits[len(g.Commits)-1].DealflowVersion
}

// readCommits adds to a log the commits that follow its last one, up to number last or until one is absent. It takes those
// that were read ahead; ahead may be nil. Of the others, those up to number named, which are probably there, are requested
// side by side.
func (l *Lake) readCommits(ctx context.Context, log *Log, ahead *tail, named, last int64) error {
	for log.Number < last {
		next := log.Number + 1
		found := ahead.from(next)
		if found == nil {
			var err error
			if found, err = runs.ReadObjects(ctx, l.store, next, min(last, max(next, min(named, log.Number+store.SideBySide)))); err != nil {
				return err
			}
		}
		found = found[:min(int64(len(found)), last-log.Number)]
		for _, data := range found {
			if data == nil {
				return nil
			}
			if err := log.append(data); err != nil {
				return fmt.Errorf("%s: %w", lake.CommitKey(log.Number+1), err)
			}
		}
	}
	return nil
}

// laterCommit checks for commits after a hole at number end+1: it tries the next number, and those that the hint and the
// catalog name. It returns the number of the commit that it found; 0 for none.
func (l *Lake) laterCommit(ctx context.Context, end int64, named []claim, ahead *tail) (int64, error) {
	numbers := []int64{end + 2}
	for i := range named {
		numbers = append(numbers, named[i].Number)
	}
	for _, number := range numbers {
		if number <= end+1 {
			continue
		}
		if found := ahead.from(number); found != nil {
			if found[0] != nil {
				return number, nil
			}
			continue
		}
		if found, err := l.HasCommit(ctx, number); err != nil || found {
			return number, err
		}
	}
	return 0, nil
}

// Newest names the newest commit.
func (g *Log) Newest() lake.NamedCommit {
	return lake.NamedCommit{Number: g.Number, SHA256: g.SHA256, KnownAt: g.KnownAt}
}

// Named names a commit of the log by its number and its hash; false if the log does not have it. Lake.Named has the
// oldest ones of a long log, too.
func (g *Log) Named(number int64) (lake.NamedCommit, bool) {
	if number == g.Number && number > 0 {
		return g.Newest(), true
	}
	i := g.placeOf(number)
	if i+1 >= len(g.Commits) || g.Commits[i].Number != number || g.Commits[i+1].Number != number+1 {
		return lake.NamedCommit{}, false
	}
	return lake.NamedCommit{Number: number, SHA256: g.Commits[i+1].PreviousSHA256, KnownAt: g.Commits[i].KnownAt}, true
}

// LogAt returns the log as it was after a commit of the lake. Its files may be deleted since.
func (l *Lake) LogAt(ctx context.Context, number int64) (*Log, error) {
	if number < 1 || number > l.log.Number {
		return nil, fmt.Errorf("commit %d does not exist: want one from 1 to %d", number, l.log.Number)
	}
	log, err := l.newestCheckpoint(ctx, ReadHint(ctx, l.store), number+1)
	if err != nil {
		return nil, err
	}
	if err := l.readCommits(ctx, log, nil, number, number); err != nil {
		return nil, err
	}
	log.index()
	return log, nil
}

// append adds a commit to the log. data is the bytes of the commit's object.
func (g *Log) append(data []byte) error {
	commit, err := lake.DecodeCommit(data)
	switch {
	case err != nil && !lake.IsLater(err):
		return fmt.Errorf("the log is damaged: the commit cannot be read (%w); restore it from a copy, and run `dealflow verify`", err)
	case err != nil:
		return err
	case commit.Number != g.Number+1:
		return fmt.Errorf("the log is damaged: the commit's number is %d, want %d; run `dealflow verify`", commit.Number, g.Number+1)
	case commit.PreviousSHA256 != g.SHA256:
		return fmt.Errorf("the log is damaged: previous_sha256 is %.12s, want %.12s, the SHA-256 of the commit before; restore the log from a copy", commit.PreviousSHA256, g.SHA256)
	case !commit.KnownAt.After(g.KnownAt.Time):
		return fmt.Errorf("the log is damaged: the commit says known_at %s, want an instant later than that of the commit before it, %s; restore the log from a copy, and run `dealflow verify`", commit.KnownAt, g.KnownAt)
	}
	if g.Number > 0 && commit.FormatVersion != g.Format {
		return fmt.Errorf("the log is damaged: the commit is of format version %d, those before it of %d", commit.FormatVersion, g.Format)
	}
	if err := commit.CheckPaths(); err != nil {
		return fmt.Errorf("the log is damaged: %w; restore the log from a copy, and run `dealflow verify`", err)
	}
	g.Format = commit.FormatVersion
	g.needs.Merge(commit.Needs)
	if g.addedSince == nil {
		g.addedSince = map[string]bool{}
	}
	for _, path := range commit.Remove {
		g.files.Remove(path)
		delete(g.addedSince, path)
	}
	for i := range commit.Add {
		g.files.Put(&commit.Add[i])
		g.addedSince[commit.Add[i].Path] = true
	}
	g.all = nil
	g.Number, g.KnownAt, g.SHA256 = commit.Number, commit.KnownAt, lake.SHA256(data)
	commit.Add, commit.Remove = nil, nil
	g.Commits = append(g.Commits, *commit)
	return g.fold()
}

// Files returns the live files of a table, sorted by path. The table is named as in a commit:
// "history.bond_priced_deals". The caller owns the slice.
func (g *Log) Files(table string) []lake.File { return lake.ValuesOf(g.files.Of(table)) }

// AllFiles returns all live files, sorted by path. The caller owns the slice.
func (g *Log) AllFiles() []lake.File { return lake.ValuesOf(g.files.All()) }

// index orders the files and sums up their needs once: feeds that are read concurrently ask for them by table again and again.
func (g *Log) index() {
	g.files.Index()
	needs := g.Needs()
	g.all = &needs
}

// Snapshot returns the live files of a feed's snapshot of a day, which a new snapshot of that day replaces, sorted by path. A shared
// file among them may have rows of other feeds. The caller owns the slice.
func (g *Log) Snapshot(feed api.Feed, day string) []lake.File {
	var found []lake.File
	for _, table := range lake.FeedTables(feed) {
		for _, file := range g.files.Of(lake.SnapshotTable(table.Name)) {
			if file.Day() == day && file.HasMarket(feed.Market) {
				found = append(found, *file)
			}
		}
	}
	slices.SortFunc(found, func(a, b lake.File) int { return strings.Compare(a.Path, b.Path) })
	return found
}

// Live says whether the lake contains a file.
func (g *Log) Live(path string) bool { return g.files.Get(path) != nil }

// LiveFile returns the live file with a path; false if the lake does not contain it.
func (g *Log) LiveFile(path string) (lake.File, bool) {
	if file := g.files.Get(path); file != nil {
		return *file, true
	}
	return lake.File{}, false
}

// SnapshotFiles returns the live snapshot files of each feed and day (YYYY-MM-DD). A shared file is one of each of its
// feeds.
func (g *Log) SnapshotFiles() map[api.Feed]map[string][]lake.File {
	found := map[api.Feed]map[string][]lake.File{}
	for _, f := range g.files.All() {
		name, ok := strings.CutPrefix(f.Table, lake.SnapshotTable(""))
		table, known := lake.TableByName(name)
		if !ok || !known {
			continue
		}
		for _, market := range f.Markets() {
			feed := api.Feed{Service: table.Service, Market: market, Kind: table.Kind}
			if found[feed] == nil {
				found[feed] = map[string][]lake.File{}
			}
			found[feed][f.Day()] = append(found[feed][f.Day()], *f)
		}
	}
	return found
}

// SnapshotInstants returns, for each day with a committed snapshot of the feed, the instant as of which the snapshot
// holds: known_at of the last run that wrote it. A snapshot that was replayed keeps its instant.
func (g *Log) SnapshotInstants(feed api.Feed) map[string]lake.Instant {
	taken := map[string]lake.Instant{}
	for run := range g.FeedRuns(feed, lake.OutcomeDone) {
		if _, newer := taken[run.SnapshotDate]; !newer {
			taken[run.SnapshotDate] = run.KnownAt
		}
	}
	return taken
}

// EverTaken says whether a snapshot of the feed was ever committed, also if it was taken back: history has its deals.
func (g *Log) EverTaken(feed api.Feed) bool { return g.SinceSnapshot(feed) != nil }

// HasSnapshot says whether a snapshot of a feed and day was committed.
func (g *Log) HasSnapshot(feed api.Feed, day string) bool {
	return g.ended(feed, day, lake.OutcomeDone)
}

// Skipped says whether a committed run of a day found that the account does not include the feed.
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

// FeedRuns yields the runs that write snapshots and in which the feed had the outcome, newest first. It leaves out runs
// whose snapshot of the feed a later commit took back. A failure or a hold is not taken back.
func (g *Log) FeedRuns(feed api.Feed, outcome string) iter.Seq[*lake.Commit] {
	return func(yield func(*lake.Commit) bool) {
		dropped := feedDays{}
		for n := range slices.Backward(g.Commits) {
			run := &g.Commits[n]
			f := run.Feed(feed)
			if run.SnapshotDate != "" && f != nil && f.Outcome == outcome && !dropped.has(f, run.SnapshotDate) && !yield(run) {
				return
			}
			dropped.add(run)
		}
	}
}

// pulls yields the runs of all commands in which the feed had the outcome, newest first.
func (g *Log) pulls(feed api.Feed, outcome string) iter.Seq[*lake.Commit] {
	return func(yield func(*lake.Commit) bool) {
		for i := len(g.Commits) - 1; i >= 0; i-- {
			f := g.Commits[i].Feed(feed)
			if f != nil && f.Outcome == outcome && !yield(&g.Commits[i]) {
				return
			}
		}
	}
}

// SinceSnapshot returns the runs that pulled a feed since its last complete snapshot, oldest first: the run of that
// snapshot, then syncs. It returns nil for a feed without a snapshot.
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

// RunsSinceSnapshot returns the ids of the runs that SinceSnapshot returns. Records that such a run put into quarantine
// are open, unless their deal could be read since (Lake.Unread): no complete snapshot of the feed came after them. The
// caller owns the map.
func (g *Log) RunsSinceSnapshot(feed api.Feed) map[string]bool {
	runs := map[string]bool{}
	for _, run := range g.SinceSnapshot(feed) {
		runs[run.RunID] = true
	}
	return runs
}

// UpdatedSince returns the link from which the feed's next sync continues, relative to the API's base URL; "" if the
// feed has offered none.
func (g *Log) UpdatedSince(feed api.Feed) string {
	for run := range g.pulls(feed, lake.OutcomeDone) {
		if link := run.Feed(feed).UpdatedSince; link != "" {
			return link
		}
	}
	return ""
}

// HasCommit asks the store whether a commit with that number exists, so it also finds one made after the lake was
// opened.
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

// Object reads an object of the lake. An absent object is store.ErrNotFound.
func (l *Lake) Object(ctx context.Context, key string) ([]byte, error) {
	return store.Read(ctx, l.store, key)
}

// Garbage counts the files in the data folders that are not live: a commit removed them, or no commit names them (yet),
// such as those of a run under way. `dealflow expire` removes them after Grace.
type Garbage struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// Hint is latest.json: the numbers of the newest commit and checkpoint when it was written, and what the lake needed. It
// may be out of date, so nothing depends on it alone.
type Hint struct {
	FormatVersion   int    `json:"format_version"` // 0 in a lake of format version 1
	DealflowVersion string `json:"dealflow_version"`
	lake.Needs
	Commit     int64        `json:"commit"`
	SHA256     string       `json:"sha256,omitempty"`  // of the commit's bytes; "" in a hint of an older program
	KnownAt    lake.Instant `json:"known_at,omitzero"` // of the commit; zero in a hint of an older program
	Checkpoint int64        `json:"checkpoint"`
}

// ReadHint reads the hint of the lake in a store. An absent or unreadable hint gives the zero Hint.
func ReadHint(ctx context.Context, s store.Store) Hint {
	hint, err := checkedHint(ctx, s)
	if err != nil {
		return Hint{}
	}
	return hint
}

// checkedHint reads the hint. It returns a *lake.FormatError or *lake.NeedsError if the hint says that this program must
// not read the lake. An absent or unreadable hint gives the zero Hint.
func checkedHint(ctx context.Context, s store.Store) (Hint, error) {
	data, err := store.Read(ctx, s, lake.LatestKey)
	if err != nil {
		return Hint{}, nil //nolint:nilerr // the hint only saves time
	}
	return parseHint(data)
}

// mostCommits is more commits than a lake can have: the numbers of JSON are exact below it.
const mostCommits = 1 << 53

// parseHint is checkedHint for the bytes of a hint.
func parseHint(data []byte) (Hint, error) {
	if err := lake.CheckPreface(data); lake.IsLater(err) {
		return Hint{}, fmt.Errorf("%s: %w", lake.LatestKey, err)
	}
	var h Hint
	err := json.Unmarshal(data, &h)
	isNumber := func(n int64) bool { return 0 <= n && n < mostCommits }
	if damaged := err != nil || h.SHA256 != "" && !lake.IsSHA256(h.SHA256) || !isNumber(h.Commit) || !isNumber(h.Checkpoint); damaged {
		return Hint{}, nil //nolint:nilerr // a damaged hint says nothing
	}
	return h, nil
}
