package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// verifiedLog is what the commits add up to as far as they can be read, and what is known of the rest.
type verifiedLog struct {
	load.Log                         // without its files
	files       map[string]lake.File // live files by path
	read        int64                // commits that were read
	next        int64                // the first number that is not yet accounted for
	intact      bool                 // the commit before next was read, so that the chain can be followed on
	broken      bool                 // a commit is missing or unreadable, and no checkpoint has made up for it
	added       map[string]int64     // commit by path, of all files ever added
	runs        map[string]int64     // commit by run id
	checkpoints []int64              // that were read and agree with the log, in order
}

// readLog reads the log by its commits alone, over gaps; checkpoints are held against it.
func (v *verifier) readLog(ctx context.Context) error {
	v.log = verifiedLog{next: 1, intact: true, files: map[string]lake.File{}, added: map[string]int64{}, runs: map[string]int64{}}
	before := load.ReadHint(ctx, v.store) // before the listing: a hint ahead of it lies
	commits, err := v.numbers(ctx, lake.CommitsPrefix, lake.CommitKey)
	if err != nil {
		return err
	}
	checkpoints, err := v.numbers(ctx, lake.CheckpointsPrefix, lake.CheckpointKey)
	if err != nil {
		return err
	}
	if len(commits)+len(checkpoints) == 0 {
		return fmt.Errorf("%w: there is no commit; `dealflow run` or `dealflow demo` makes one", load.ErrNoLake)
	}
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(commits, checkpoints))))
	for _, n := range all {
		if _, made := slices.BinarySearch(commits, n); made {
			if err := v.readCommit(ctx, n, n == commits[len(commits)-1]); err != nil {
				return err
			}
		} else if n >= v.log.next {
			v.missing(n)
		}
		if _, made := slices.BinarySearch(checkpoints, n); made && v.wantsCheckpoint(n, before, checkpoints) {
			if err := v.checkCheckpoint(ctx, n); err != nil {
				return err
			}
		}
	}
	v.checkHint(ctx, before, checkpoints)
	return ctx.Err()
}

// numbers lists the commits or checkpoints that exist, in order.
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

// missing notes that the commits from the next one up to last are not there.
func (v *verifier) missing(last int64) {
	g := &v.log
	what := fmt.Sprintf("commit %d is missing", g.next)
	if last > g.next {
		what = fmt.Sprintf("commits %d to %d are missing", g.next, last)
	}
	v.find(Finding{Check: LogNumbers, Path: lake.CommitKey(g.next), Detail: fmt.Sprintf(
		"%s: readers stop at commit %d, unless a later checkpoint helps them over, and nobody knows what was added", what, g.next-1)})
	g.next, g.intact, g.broken = last+1, false, true
}

// readCommit reads one commit and adds it up. newest says that there is none after it.
func (v *verifier) readCommit(ctx context.Context, n int64, newest bool) error {
	g := &v.log
	if n > g.next {
		v.missing(n - 1)
	}
	key := lake.CommitKey(n)
	data, err := store.Read(ctx, v.store, key)
	if errors.Is(err, store.ErrNotFound) {
		v.missing(n)
		return nil
	}
	if err != nil {
		return err
	}
	g.next = n + 1
	commit, err := lake.DecodeCommit(data)
	if err != nil {
		return v.unreadableCommit(n, newest, err)
	}
	g.read++
	v.checkCommit(n, commit)
	v.addUp(n, commit, lake.SHA256(data))
	return nil
}

// unreadableCommit notes a commit that cannot be read, and what follows from it. A newest commit of
// another format is an error: the lake is a later program's.
func (v *verifier) unreadableCommit(n int64, newest bool, err error) error {
	v.log.intact, v.log.broken = false, true
	f := Finding{Check: LogReadable, Path: lake.CommitKey(n), Detail: fmt.Sprintf("commit %d cannot be read (%v), so nothing can be read or committed after commit %d", n, err, n-1)}
	var format *lake.FormatError
	switch {
	case errors.As(err, &format) && newest:
		return fmt.Errorf("%s: %w", f.Path, err)
	case errors.As(err, &format):
		f.Check, f.Detail = LogFormat, err.Error()
	case newest && n > 1:
		f.Todo = fmt.Sprintf("%s; it is the newest one: if there is no copy, deleting it takes the lake back to commit %d, and the next run makes up for it", restoreCommit, n-1)
	}
	v.find(f)
	return nil
}

// checkCommit holds a commit against those before it.
func (v *verifier) checkCommit(n int64, c *lake.Commit) {
	g, key := &v.log, lake.CommitKey(n)
	fault := func(check Check, format string, args ...any) {
		v.find(Finding{Check: check, Path: key, Detail: fmt.Sprintf(format, args...)})
	}
	if c.Number != n {
		fault(LogNumbers, "the commit calls itself %d", c.Number)
	}
	if g.intact && c.PreviousSHA256 != g.SHA256 {
		fault(LogChain, "the commit follows one with SHA-256 %.12s, but commit %d has %.12s", c.PreviousSHA256, n-1, g.SHA256)
	}
	if !c.KnownAt.After(g.KnownAt.Time) {
		fault(LogKnownAt, "known_at %s is not later than %s of the commit before it", c.KnownAt, g.KnownAt)
	}
	if other, taken := g.runs[c.RunID]; taken {
		fault(LogRunID, "run %s has made commit %d too", c.RunID, other)
	}
	// Where a commit is lost, nobody knows what it added.
	removed := map[string]bool{}
	for _, path := range c.Remove {
		if _, live := g.files[path]; (!live || removed[path]) && !g.broken {
			fault(LogFiles, "it removes %s, which is not part of the lake", path)
		}
		removed[path] = true
	}
	for _, f := range c.Add {
		if other, twice := g.added[f.Path]; twice {
			fault(LogFiles, "it adds %s, which commit %d has added", f.Path, other)
		}
		g.added[f.Path] = n
	}
}

// addUp takes a commit into the log, as Log.append does with a sound one.
func (v *verifier) addUp(n int64, c *lake.Commit, sha string) {
	g := &v.log
	for _, path := range c.Remove {
		delete(g.files, path)
	}
	for _, f := range c.Add {
		g.files[f.Path] = f
	}
	g.runs[c.RunID] = n
	g.Number, g.KnownAt, g.SHA256, g.intact = n, c.KnownAt, sha, true
	c.Add, c.Remove = nil, nil
	g.Runs = append(g.Runs, *c)
}

// wantsCheckpoint says whether a checkpoint is looked at: those that readers start from, and all of them
// where all data is read.
func (v *verifier) wantsCheckpoint(n int64, h load.Hint, all []int64) bool {
	return v.cfg.ReadData || n == all[len(all)-1] || n == h.Checkpoint
}

// checkCheckpoint holds a checkpoint against the commits up to it. Where one of these is lost, the
// checkpoint takes their place.
func (v *verifier) checkCheckpoint(ctx context.Context, n int64) error {
	g := &v.log
	watch := watchStore(v.store)
	summed, err := load.ReadCheckpoint(ctx, watch, n)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if fault := watch.fault(); fault != nil {
		return fault
	}
	f := Finding{Check: Checkpoint, Path: lake.CheckpointKey(n)}
	switch {
	case err != nil && g.broken:
		f.Todo = restoreCommit
		f.Detail = err.Error()
		v.find(f)
	case err != nil:
		f.Detail = err.Error()
		v.find(f)
	case g.broken && g.intact && summed.SHA256 != g.SHA256:
		f.Detail = g.differs(summed)
		v.find(f)
	case g.broken:
		g.standIn(n, summed)
	default:
		if f.Detail = g.differs(summed); f.Detail != "" {
			v.find(f)
			return nil
		}
		g.checkpoints = append(g.checkpoints, n)
	}
	return nil
}

// standIn puts what a checkpoint says in the place of commits that are lost.
func (g *verifiedLog) standIn(n int64, summed *load.Log) {
	g.Log, g.broken = *summed, false
	clear(g.files)
	for _, f := range summed.AllFiles() {
		g.files[f.Path] = f
	}
	g.next, g.intact = n+1, true
	g.checkpoints = append(g.checkpoints, n)
	for i := range g.Runs {
		g.runs[g.Runs[i].RunID] = g.Runs[i].Number
	}
}

// differs says in what a checkpoint is not what the commits add up to; "" where it is.
func (g *verifiedLog) differs(summed *load.Log) string {
	switch {
	case summed.SHA256 != g.SHA256:
		return fmt.Sprintf("the checkpoint says that the commit has SHA-256 %.12s, but it has %.12s", summed.SHA256, g.SHA256)
	case !summed.KnownAt.Equal(g.KnownAt.Time):
		return fmt.Sprintf("the checkpoint says that the commit was known at %s, the commit says %s", summed.KnownAt, g.KnownAt)
	case !reflect.DeepEqual(summed.Runs, g.Runs):
		return fmt.Sprintf("the checkpoint's %d runs are not those of the %d commits up to it", len(summed.Runs), len(g.Runs))
	}
	for _, path := range slices.Sorted(maps.Keys(g.files)) {
		if stated, ok := summed.LiveFile(path); !ok {
			return fmt.Sprintf("the checkpoint lacks %s", path)
		} else if !reflect.DeepEqual(stated, g.files[path]) {
			return fmt.Sprintf("the checkpoint says of %s what its commit does not", path)
		}
	}
	for _, f := range summed.AllFiles() {
		if _, ok := g.files[f.Path]; !ok {
			return fmt.Sprintf("the checkpoint names %s, which is not part of the lake", f.Path)
		}
	}
	return ""
}

// checkHint holds the hint against what is there. One behind the log is read again: a commit may have
// come in between.
func (v *verifier) checkHint(ctx context.Context, before load.Hint, checkpoints []int64) {
	h := before
	if h.Commit < v.log.next-1 {
		h = load.ReadHint(ctx, v.store)
	}
	fault := ""
	_, exists := slices.BinarySearch(checkpoints, before.Checkpoint)
	switch {
	case h == load.Hint{}:
		fault = "it is absent or cannot be read"
	case h.Commit < v.log.next-1:
		fault = fmt.Sprintf("it names commit %d, but the log ends with commit %d", h.Commit, v.log.next-1)
	case before.Commit > v.log.next-1:
		fault = fmt.Sprintf("it names commit %d, but the log ends with commit %d", before.Commit, v.log.next-1)
	case before.Checkpoint != 0 && !exists:
		fault = fmt.Sprintf("it names checkpoint %d, which is not there", before.Checkpoint)
	case before.Checkpoint == 0 && len(checkpoints) > 0 && checkpoints[len(checkpoints)-1] <= before.Commit:
		fault = "it names no checkpoint, but there are some"
	}
	if fault != "" {
		v.find(Finding{Check: Hint, Path: lake.LatestKey, Detail: fault})
	}
}

// liveFiles lists the live files by path.
func (g *verifiedLog) liveFiles() []lake.File {
	files := make([]lake.File, 0, len(g.files))
	for _, path := range slices.Sorted(maps.Keys(g.files)) {
		files = append(files, g.files[path])
	}
	return files
}

// instants gives known_at of the commit that each run made, in microseconds.
func (g *verifiedLog) instants() map[string]int64 {
	instants := make(map[string]int64, len(g.Runs))
	for i := range g.Runs {
		instants[g.Runs[i].RunID] = g.Runs[i].KnownAt.UnixMicro()
	}
	return instants
}
