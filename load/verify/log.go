package verify

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/runs"
	"dealflow/load/store"
	"dealflow/load/verify/watchstore"
	"dealflow/schemas/lake"
)

// verifiedLog is the sum of the commits that can be read, and what is known about the others.
type verifiedLog struct {
	load.Log                         // without its files
	files       map[string]lake.File // live files by path
	read        int64                // commits that were read
	next        int64                // the first number that was not yet checked
	intact      bool                 // the commit before next was read, so the next one's chain hash can be checked
	broken      bool                 // a commit is missing or unreadable, and no checkpoint has replaced it
	added       map[pathHash]int64   // commit by path, of all files ever added
	runs        map[string]int64     // commit by run id
	known       []int64              // known_at of commit n in µs, at n; 0 for none
	years       []int16              // the UTC year in which the run of commit n began, at n; 0 if it is not known
	checkpoints []int64              // numbers of those that were read and agree with the log, in order
}

// pathHash is in the place of a path: a lake of many years has had millions of files.
type pathHash [16]byte

func hashOf(path string) pathHash {
	sum := sha256.Sum256([]byte(path))
	return pathHash(sum[:16])
}

// readLog reads the log from its commits, also after gaps, and compares checkpoints with it.
func (v *verifier) readLog(ctx context.Context) error {
	v.log = verifiedLog{next: 1, intact: true, files: map[string]lake.File{}, added: map[pathHash]int64{}, runs: map[string]int64{}}
	before := load.ReadHint(ctx, v.store) // before the listing: then a hint that names a later commit is wrong
	commits, err := v.numbers(ctx, lake.CommitsPrefix, lake.CommitKey)
	if err != nil {
		return err
	}
	checkpoints, err := v.numbers(ctx, lake.CheckpointsPrefix, lake.CheckpointKey)
	if err != nil {
		return err
	}
	if len(commits)+len(checkpoints) == 0 {
		if err := v.checkLost(ctx); err != nil || len(v.findings) > 0 {
			return err
		}
		return load.NoLake(ctx, v.store)
	}
	objects := objectReader{store: v.store, numbers: commits}
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(commits, checkpoints))))
	for _, n := range all {
		if _, made := slices.BinarySearch(commits, n); made {
			if err := v.readCommit(ctx, n, n == commits[len(commits)-1], &objects); err != nil {
				return err
			}
		} else if n >= v.log.next {
			v.reportMissing(n)
		}
		if _, made := slices.BinarySearch(checkpoints, n); made && v.wantsCheckpoint(n, before, checkpoints) {
			if err := v.checkCheckpoint(ctx, n); err != nil {
				return err
			}
		}
	}
	v.checkHint(ctx, before, checkpoints)
	return v.checkLost(ctx)
}

// checkLost reports the commits that an object outside the log names and that the log does not have. A log with holes,
// which are reported already, cannot be compared.
func (v *verifier) checkLost(ctx context.Context) error {
	if v.log.broken {
		return nil
	}
	lost, err := load.FindLost(ctx, v.store, &v.log.Log)
	if err != nil {
		return err
	}
	for i := range lost {
		v.report(Finding{Check: LostCommit, Path: lake.CommitKey(lost[i].Number), Detail: v.log.LossText(&lost[i])})
	}
	return nil
}

// numbers lists the numbers of the commits or checkpoints that exist, in order.
func (v *verifier) numbers(ctx context.Context, prefix string, key func(int64) string) ([]int64, error) {
	var found []int64
	for object, err := range v.store.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		if n, ok := lake.CommitNumber(object.Key); ok && object.Key == key(n) {
			found = append(found, n)
		}
	}
	return found, nil
}

// reportMissing reports that the commits from the next number up to last are absent.
func (v *verifier) reportMissing(last int64) {
	g := &v.log
	what := fmt.Sprintf("commit %d is missing", g.next)
	if last > g.next {
		what = fmt.Sprintf("commits %d to %d are missing", g.next, last)
	}
	v.report(Finding{Check: LogNumbers, Path: lake.CommitKey(g.next), Detail: fmt.Sprintf(
		"%s: readers stop at commit %d, unless a later checkpoint replaces the gap; what it added is unknown", what, g.next-1)})
	g.next, g.intact, g.broken = last+1, false, true
}

// readCommit checks one commit and adds it to the log. newest says that no commit comes after it.
func (v *verifier) readCommit(ctx context.Context, n int64, newest bool, objects *objectReader) error {
	g := &v.log
	if n > g.next {
		v.reportMissing(n - 1)
	}
	read, err := objects.read(ctx, n)
	if err != nil {
		return err
	}
	if read.absent {
		v.reportMissing(n)
		return nil
	}
	g.next = n + 1
	if read.err != nil {
		return v.reportUnreadable(n, newest, read.err)
	}
	g.read++
	v.checkCommit(n, read.commit)
	return v.apply(n, read.commit, read.sha256)
}

// readObject is a commit's object as it was found.
type readObject struct {
	absent bool
	commit *lake.Commit
	sha256 string
	err    error // why it is no commit
}

// objectReader reads the objects of commits by number, many side by side.
type objectReader struct {
	store   store.Store
	numbers []int64 // that are not read yet
	ahead   map[int64]readObject
}

// read returns the object of the next number.
func (r *objectReader) read(ctx context.Context, n int64) (readObject, error) {
	if _, read := r.ahead[n]; !read {
		next := r.numbers[:min(len(r.numbers), store.SideBySide)]
		r.numbers = r.numbers[len(next):]
		found := make([]readObject, len(next))
		reading, ctx := errgroup.WithContext(ctx)
		for i, number := range next {
			reading.Go(func() (err error) {
				found[i], err = r.readOne(ctx, number)
				return err
			})
		}
		if err := reading.Wait(); err != nil {
			return readObject{}, err
		}
		r.ahead = make(map[int64]readObject, len(next))
		for i, number := range next {
			r.ahead[number] = found[i]
		}
	}
	return r.ahead[n], nil
}

func (r *objectReader) readOne(ctx context.Context, number int64) (o readObject, err error) {
	data, err := store.Read(ctx, r.store, lake.CommitKey(number))
	if errors.Is(err, store.ErrNotFound) {
		return readObject{absent: true}, nil
	}
	if err != nil {
		return o, err
	}
	o.sha256 = lake.SHA256(data)
	o.commit, o.err = lake.DecodeCommit(data)
	return o, nil
}

// reportUnreadable reports a commit that cannot be read. If a later program wrote the newest
// commit, that is an error.
func (v *verifier) reportUnreadable(n int64, newest bool, err error) error {
	v.log.intact, v.log.broken = false, true
	f := Finding{Check: LogReadable, Path: lake.CommitKey(n), Detail: fmt.Sprintf("commit %d cannot be read (%v), so nothing can be read or committed after commit %d", n, err, n-1)}
	var format *lake.FormatError
	var needs *lake.NeedsError
	later := errors.As(err, &format) || errors.As(err, &needs)
	switch {
	case later && newest:
		return fmt.Errorf("%s: %w", f.Path, err)
	case later:
		f.Check, f.Detail = LogFormat, err.Error()
	case newest && n > 1:
		f.Todo = fmt.Sprintf("%s; if no copy exists, delete it: as it is the newest, the lake is then at commit %d, and `dealflow run --accept-lost-commit` pulls again what it added", restoreCommit, n-1)
	}
	v.report(f)
	return nil
}

// checkCommit compares a commit with those before it.
func (v *verifier) checkCommit(n int64, c *lake.Commit) {
	g, key := &v.log, lake.CommitKey(n)
	fault := func(check Check, format string, args ...any) {
		v.report(Finding{Check: check, Path: key, Detail: fmt.Sprintf(format, args...)})
	}
	if len(g.Commits) > 0 && c.FormatVersion != g.Format {
		fault(LogFormat, "commit %d: format version %d, want %d, that of the commits before it", n, c.FormatVersion, g.Format)
	}
	if c.Number != n {
		fault(LogNumbers, "the commit's number is %d, want %d", c.Number, n)
	}
	if g.intact && c.PreviousSHA256 != g.SHA256 {
		fault(LogChain, "previous_sha256 is %.12s, but the SHA-256 of commit %d is %.12s", c.PreviousSHA256, n-1, g.SHA256)
	}
	if !c.KnownAt.After(g.KnownAt.Time) {
		fault(LogKnownAt, "known_at is %s, want an instant after the previous commit's, %s", c.KnownAt, g.KnownAt)
	}
	if other, taken := g.runs[c.RunID]; taken {
		fault(LogRunID, "run id %s is also that of commit %d", c.RunID, other)
	}
	// After a lost commit we do not know which files are live.
	removed := map[string]bool{}
	for _, path := range c.Remove {
		if _, live := g.files[path]; (!live || removed[path]) && !g.broken {
			fault(LogFiles, "it removes %s, which is not part of the lake", path)
		}
		removed[path] = true
	}
	for _, f := range c.Add {
		hash := hashOf(f.Path)
		if other, twice := g.added[hash]; twice {
			fault(LogFiles, "it adds %s, which commit %d added before", f.Path, other)
		}
		g.added[hash] = n
	}
}

// apply adds a commit to the log, as Log.append does with a sound one.
func (v *verifier) apply(n int64, c *lake.Commit, sha string) error {
	g := &v.log
	for _, path := range c.Remove {
		delete(g.files, path)
	}
	for _, f := range c.Add {
		g.files[f.Path] = f
	}
	g.name(n, c.RunID, c.KnownAt, c.StartedAt.UTC().Year())
	g.Number, g.KnownAt, g.SHA256, g.Format, g.intact = n, c.KnownAt, sha, c.FormatVersion, true
	c.Add, c.Remove = nil, nil
	return g.AppendRun(c)
}

// name remembers a run of a commit, and the year in which it began; 0 if that is not known.
func (g *verifiedLog) name(n int64, runID string, known lake.Instant, year int) {
	g.runs[runID] = n
	if missing := n + 1 - int64(len(g.known)); missing > 0 {
		g.known = append(g.known, make([]int64, missing)...)
		g.years = append(g.years, make([]int16, missing)...)
	}
	g.known[n], g.years[n] = known.UnixMicro(), int16(year)
}

// wantsCheckpoint says whether to check a checkpoint: those that readers start from, and all of them if all data is
// read.
func (v *verifier) wantsCheckpoint(n int64, h load.Hint, all []int64) bool {
	return v.cfg.ReadData || n == all[len(all)-1] || n == h.Checkpoint
}

// checkCheckpoint compares a checkpoint with the commits up to it. If one of these is lost, the checkpoint replaces
// them.
func (v *verifier) checkCheckpoint(ctx context.Context, n int64) error {
	g := &v.log
	watch := watchstore.New(v.store)
	summed, err := load.ReadCheckpoint(ctx, watch, n)
	if errors.Is(err, store.ErrNotFound) {
		return ctx.Err() // expire has deleted it since the listing
	}
	var named []runs.Name
	if err == nil && g.broken {
		named, err = summed.Names(ctx, watch, new(runs.Cache)) // they are all that is left of lost commits
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if fault := watch.Fault(); fault != nil {
		return fault
	}
	f := Finding{Check: Checkpoint, Path: lake.CheckpointKey(n)}
	switch {
	case err != nil && g.broken:
		f.Todo = restoreCommit
		f.Detail = err.Error()
		v.report(f)
	case err != nil:
		f.Detail = err.Error()
		v.report(f)
	case g.broken && g.intact && summed.SHA256 != g.SHA256:
		f.Detail = g.difference(summed)
		v.report(f)
	case g.broken:
		g.replaceLostCommits(n, summed, named)
	default:
		if f.Detail = g.difference(summed); f.Detail != "" {
			v.report(f)
			return nil
		}
		g.checkpoints = append(g.checkpoints, n)
		return v.checkSegments(ctx, summed.Segments())
	}
	return nil
}

// checkSegments compares the segments that a checkpoint names with the commits.
func (v *verifier) checkSegments(ctx context.Context, stated runs.Segments) error {
	own := v.log.Segments()
	return v.each(ctx, min(len(stated), len(own)), func(ctx context.Context, i int) error {
		watch := watchstore.New(v.store)
		detail := ""
		switch err := stated[i].Compare(ctx, watch, &own[i]); {
		case ctx.Err() != nil:
			return ctx.Err()
		case watch.Fault() != nil:
			return watch.Fault()
		case err != nil:
			detail = err.Error()
		}
		if detail != "" {
			v.report(Finding{Check: Checkpoint, Path: lake.SegmentKey(stated[i].Last), Detail: detail})
		}
		return nil
	})
}

// replaceLostCommits makes the log what a checkpoint says, because a commit before it is lost.
func (g *verifiedLog) replaceLostCommits(n int64, summed *load.Log, named []runs.Name) {
	g.Log, g.broken = *summed, false
	clear(g.files)
	for _, f := range summed.AllFiles() {
		g.files[f.Path] = f
	}
	g.next, g.intact = n+1, true
	g.checkpoints = append(g.checkpoints, n)
	for i := range named {
		g.name(named[i].Number, named[i].RunID, named[i].KnownAt, 0)
	}
}

// difference says how a checkpoint differs from the sum of the commits; "" if it does not.
func (g *verifiedLog) difference(summed *load.Log) string {
	switch {
	case summed.SHA256 != g.SHA256:
		return fmt.Sprintf("the checkpoint names SHA-256 %.12s for its commit, want %.12s", summed.SHA256, g.SHA256)
	case !summed.KnownAt.Equal(g.KnownAt.Time):
		return fmt.Sprintf("the checkpoint names known_at %s for its commit, want %s", summed.KnownAt, g.KnownAt)
	case !reflect.DeepEqual(summed.Commits, g.Commits):
		return fmt.Sprintf("the checkpoint's %d runs differ from those of the %d commits up to it", len(summed.Commits), len(g.Commits))
	}
	for _, path := range slices.Sorted(maps.Keys(g.files)) {
		if stated, ok := summed.LiveFile(path); !ok {
			return fmt.Sprintf("the checkpoint lacks %s", path)
		} else if !reflect.DeepEqual(stated, g.files[path]) {
			return fmt.Sprintf("the checkpoint's entry of %s differs from its commit's", path)
		}
	}
	for _, f := range summed.AllFiles() {
		if _, ok := g.files[f.Path]; !ok {
			return fmt.Sprintf("the checkpoint names %s, which is not part of the lake", f.Path)
		}
	}
	return ""
}

// checkHint compares the hint with the log. If the hint is older than the log, it reads it again: a commit may have
// been made since.
func (v *verifier) checkHint(ctx context.Context, before load.Hint, checkpoints []int64) {
	h := before
	if h.Commit < v.log.next-1 {
		h = load.ReadHint(ctx, v.store)
	}
	fault := ""
	_, exists := slices.BinarySearch(checkpoints, before.Checkpoint)
	switch {
	case h.Commit == 0:
		fault = "it is absent or cannot be read"
	case h.Commit < v.log.next-1:
		fault = fmt.Sprintf("it names commit %d, but the log ends with commit %d", h.Commit, v.log.next-1)
	case before.Checkpoint != 0 && !exists:
		fault = fmt.Sprintf("it names checkpoint %d, which does not exist", before.Checkpoint)
	case before.Checkpoint == 0 && len(checkpoints) > 0 && checkpoints[len(checkpoints)-1] <= before.Commit:
		fault = "it names no checkpoint, but checkpoints exist"
	}
	if fault != "" {
		v.report(Finding{Check: Hint, Path: lake.LatestKey, Detail: fault})
	}
}

// liveFiles lists the live files, sorted by path.
func (g *verifiedLog) liveFiles() []lake.File {
	files := make([]lake.File, 0, len(g.files))
	for _, path := range slices.Sorted(maps.Keys(g.files)) {
		files = append(files, g.files[path])
	}
	return files
}

// instantOf returns known_at of a run's commit, in microseconds; false for a run without a commit.
func (g *verifiedLog) instantOf(runID string) (int64, bool) {
	n, ok := g.runs[runID]
	if !ok {
		return 0, false
	}
	return g.known[n], true
}

// yearOf returns the UTC year in which a run began; 0 if it is not known.
func (g *verifiedLog) yearOf(runID string) int16 {
	if n, ok := g.runs[runID]; ok {
		return g.years[n]
	}
	return 0
}
