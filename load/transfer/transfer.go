package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"dealflow/load"
	"dealflow/load/begun"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Errors that callers branch on; compare with errors.Is.
var (
	// ErrOwnCommits is the error for a target with a commit that the source does not have.
	ErrOwnCommits = errors.New("the new lake has commits of its own")
	// ErrGone is the error for a data file that the source should have and has not.
	ErrGone = errors.New("a data file is gone")
)

// ownCommits returns an ErrOwnCommits with what is wrong and what to do.
func ownCommits(form string, args ...any) error {
	return fmt.Errorf("%w: %s; its commits stay: name an empty folder or prefix", ErrOwnCommits, fmt.Sprintf(form, args...))
}

const (
	atATime   = 16        // files or commits that are copied or read side by side
	fileBytes = 512 << 20 // of files that are copied side by side; a larger one goes alone
)

// Config says what to transfer. From, To and Memory must be set.
type Config struct {
	From   store.Store // the source; nothing in it changes
	To     store.Store // an empty store, or a transfer of From that was begun or that lacks From's later commits
	Until  int64       // number of the last commit that Copy copies; 0 for the newest
	Memory memory.Allocator
	Clock  func() time.Time // default time.Now
}

// Result says what a transfer did. `--json` prints it; fields are only ever added.
type Result struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Commits int64  `json:"commits"`       // number of the newest commit of the new lake
	Added   int64  `json:"commits_added"` // by this call
	Files   int64  `json:"files"`         // data files that the newest commit needs
	Copied  int64  `json:"files_copied"`  // by this call
	Bytes   int64  `json:"bytes"`         // of the files that the newest commit needs
}

// transfer is one call of Copy or Upgrade.
type transfer struct {
	Config
	command    string // that a person runs again after a failure
	convert    func(data []byte, c *lake.Commit, previous string) ([]byte, error)
	path       func(string) string // of a file in the new lake, from that in the source
	copyFile   func(ctx context.Context, file *lake.File, to string) error
	refreshes  bool // user's files that differ are replaced
	from       *load.Lake
	hashes     map[int64]string     // of the new lake's commits made to last
	made       int64                // commits 1 to made are in the new lake already
	live       map[string]lake.File // files of the source that the last commit needs, by path
	passing    map[string]lake.File // files that commits after made add, and later ones up to the last remove
	incomplete bool                 // the source no longer has all passing files
	result     Result
}

func newTransfer(cfg Config, from *load.Lake) *transfer {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	last := cfg.Until
	if last == 0 {
		last = from.Log().Number
	}
	return &transfer{
		Config: cfg, from: from, hashes: map[int64]string{}, live: map[string]lake.File{}, passing: map[string]lake.File{},
		result: Result{From: cfg.From.URL(), To: cfg.To.URL(), Commits: last},
	}
}

func (t *transfer) do(ctx context.Context) error {
	if store.Overlap(t.From, t.To) {
		return errors.New("one lake cannot be made inside the other, or in its place; name another folder or prefix")
	}
	for _, step := range []func(context.Context) error{t.checkFree, t.begin, t.readCommits, t.copyFiles, t.copyUserFiles, t.copySettings, t.copyAttempts, t.putCommits, t.finish} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// checkFree returns an error if another command is at work on the new lake.
func (t *transfer) checkFree(ctx context.Context) error {
	lease, state, err := load.ReadLease(ctx, t.To, t.Clock())
	if err == nil && state == load.LeaseHeld {
		err = fmt.Errorf("%s (run %s of %s) is at work on the new lake: end it, or wait for its end, and run `dealflow %s` again", lease.Command, lease.RunID, lease.Owner, t.command)
	}
	return err
}

// begin finds what an earlier call made. If that is nothing, it makes sure that the target can hold a lake, and marks it:
// no other command may begin a lake there.
func (t *transfer) begin(ctx context.Context) error {
	first, err := t.findMade(ctx)
	if err != nil || first {
		return err
	}
	if marked, err := t.isMarked(ctx); err != nil || marked {
		return err
	}
	for object, err := range t.To.List(ctx, "") {
		if err != nil {
			return err
		}
		if strings.HasPrefix(object.Key, store.ProbePrefix) {
			continue // of an earlier call whose probe could not delete it, or of one next to this
		}
		if marked, err := t.isMarked(ctx); err != nil || marked {
			return err // by another call since
		}
		return fmt.Errorf("the new lake's folder is not empty: it contains %s; name an empty folder or prefix", object.Key)
	}
	if err := store.Probe(ctx, t.To); err != nil {
		return err
	}
	mark := begun.Mark{Command: t.command, From: t.From.URL()}
	if err = mark.Write(ctx, t.To, store.CreateOnly); errors.Is(err, store.ErrExists) {
		_, err = t.isMarked(ctx)
	}
	return err
}

// isMarked says whether a call of this command has begun to make the target from this source. A target that another command has begun
// is an error. Two calls side by side make one lake: each takes what the other has put.
func (t *transfer) isMarked(ctx context.Context) (bool, error) {
	found, err := begun.Read(ctx, t.To)
	if err == nil && found != nil && (found.From != t.From.URL() || found.Command != t.command) {
		err = fmt.Errorf("the new lake was begun by `dealflow %s` from %s, not by this command from this lake; name an empty folder or prefix", found.Command, found.From)
	}
	return found != nil, err
}

// findMade finds the commits that are in the target from the first on, and compares the last of them. It says whether
// there is a first one: then the target is a lake.
func (t *transfer) findMade(ctx context.Context) (first bool, err error) {
	for object, err := range t.To.List(ctx, lake.CommitsPrefix) {
		if err != nil {
			return false, err
		}
		switch n, ok := lake.CommitNumber(object.Key); {
		case !ok:
		case n > t.from.Log().Number:
			return false, ownCommits("commit %d", n)
		case n > t.result.Commits:
			return false, fmt.Errorf("the new lake has commit %d already, later than the last one to copy, %d", n, t.result.Commits)
		case n == t.made+1:
			t.made = n
		}
	}
	if t.made == 0 {
		t.hashes[0] = ""
		return false, nil
	}
	made, err := store.Read(ctx, t.To, lake.CommitKey(t.made))
	if err != nil {
		return true, err
	}
	c, err := lake.DecodeCommit(made)
	if err != nil {
		return true, fmt.Errorf("%s of the new lake: %w", lake.CommitKey(t.made), err)
	}
	want, err := t.converted(ctx, t.made, c.PreviousSHA256)
	if err != nil {
		return true, err
	}
	if !bytes.Equal(made, want.data) {
		return true, ownCommits("commit %d is another one than in the source", t.made)
	}
	t.hashes[t.made] = lake.SHA256(made)
	return true, nil
}

// commit is a commit of the source.
type commit struct {
	data []byte // of the commit in the new lake
	add  []lake.File
	gone []string // paths
}

// converted reads a commit of the source and converts it. previous is the hash of the new lake's commit before it.
func (t *transfer) converted(ctx context.Context, n int64, previous string) (*commit, error) {
	data, err := store.Read(ctx, t.From, lake.CommitKey(n))
	if err != nil {
		return nil, fmt.Errorf("read commit %d: %w", n, err)
	}
	return t.convertData(data, n, previous)
}

func (t *transfer) convertData(data []byte, n int64, previous string) (*commit, error) {
	c, err := lake.DecodeCommit(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", lake.CommitKey(n), err)
	}
	made := &commit{add: slices.Clone(c.Add), gone: slices.Clone(c.Remove)}
	if made.data, err = t.convert(data, c, previous); err != nil {
		return nil, fmt.Errorf("convert %s: %w", lake.CommitKey(n), err)
	}
	return made, nil
}

// readCommits finds the hashes of the commits that the new lake lacks, and the files that they need. If the last commit
// is not the source's newest, it reads all commits for that.
func (t *transfer) readCommits(ctx context.Context) error {
	log := t.from.Log()
	from := t.made + 1
	if t.result.Commits == log.Number {
		for _, file := range log.AllFiles() {
			t.live[file.Path] = file
		}
	} else {
		from = 1
	}
	added := map[string]lake.File{}
	for first := from; first <= t.result.Commits; first += atATime {
		batch, err := t.readBatch(ctx, first, min(first+atATime-1, t.result.Commits))
		if err != nil {
			return err
		}
		for i, data := range batch {
			n := first + int64(i)
			c, err := t.convertData(data, n, t.hashes[n-1])
			if err != nil {
				return err
			}
			for _, path := range c.gone {
				if t.result.Commits != log.Number {
					delete(t.live, path)
				}
			}
			for _, file := range c.add {
				if t.result.Commits != log.Number {
					t.live[file.Path] = file
				}
				if n > t.made {
					added[file.Path] = file
				}
			}
			if n > t.made {
				t.hashes[n] = lake.SHA256(c.data)
			}
		}
	}
	maps.DeleteFunc(added, func(path string, _ lake.File) bool { _, live := t.live[path]; return live })
	t.passing = added
	return nil
}

// readBatch reads the commits first to last of the source side by side.
func (t *transfer) readBatch(ctx context.Context, first, last int64) ([][]byte, error) {
	batch := make([][]byte, last-first+1)
	group, ctx := errgroup.WithContext(ctx)
	for i := range batch {
		group.Go(func() (err error) {
			n := first + int64(i)
			if batch[i], err = store.Read(ctx, t.From, lake.CommitKey(n)); err != nil {
				return fmt.Errorf("read commit %d: %w", n, err)
			}
			return nil
		})
	}
	return batch, group.Wait()
}

// copyFiles copies the data files that the new lake lacks: those that the last commit needs, and those that only the
// commits before it need, as far as the source still has them.
func (t *transfer) copyFiles(ctx context.Context) error {
	present := map[string]int64{}
	for _, prefix := range lake.DataPrefixes() {
		for object, err := range t.To.List(ctx, prefix) {
			if err != nil {
				return err
			}
			present[object.Key] = object.Size
		}
	}
	var copied atomic.Int64
	var incomplete atomic.Bool
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atATime)
	room := semaphore.NewWeighted(fileBytes)
	enqueue := func(file *lake.File, needed bool) error {
		to := t.path(file.Path)
		if size, exists := present[to]; exists {
			if size != file.Bytes {
				return fmt.Errorf("%s has %d bytes, want %d: delete it, and run again", to, size, file.Bytes)
			}
			return nil
		}
		weight := min(file.Bytes, fileBytes)
		if err := room.Acquire(ctx, weight); err != nil {
			return context.Cause(ctx)
		}
		group.Go(func() error {
			defer room.Release(weight)
			err := t.copyFile(ctx, file, to)
			switch {
			case errors.Is(err, store.ErrExists):
				return nil // another call has put it since the listing: its name is of the run that made it
			case errors.Is(err, store.ErrNotFound) && needed:
				return fmt.Errorf("%w: commit %d needs %s: %w; run `dealflow verify` on the source", ErrGone, t.result.Commits, file.Path, err)
			case errors.Is(err, store.ErrNotFound):
				incomplete.Store(true) // expired; no commit that stays the newest needs it
				return nil
			case err == nil:
				copied.Add(1)
			}
			return err
		})
		return nil
	}
	var err error
	for _, path := range slices.Sorted(maps.Keys(t.live)) {
		file := t.live[path]
		t.result.Files++
		t.result.Bytes += file.Bytes
		if err = enqueue(&file, true); err != nil {
			break
		}
	}
	if err == nil && t.made > 0 { // a new lake appears at its last commit
		for _, path := range slices.Sorted(maps.Keys(t.passing)) {
			file := t.passing[path]
			if err = enqueue(&file, false); err != nil {
				break
			}
		}
	}
	if failed := group.Wait(); failed != nil {
		err = failed
	}
	t.result.Copied, t.incomplete = copied.Load(), incomplete.Load()
	return err
}

// copyUserFiles copies the user's files.
func (t *transfer) copyUserFiles(ctx context.Context) error {
	for _, key := range lake.UserFiles() {
		if err := t.copyOwn(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// copySettings copies how the lake's Iceberg tables are published. The tables themselves name files by their place, so
// the caller publishes them again. In an older state of the lake no commit may say yet that it has tables.
func (t *transfer) copySettings(ctx context.Context) error {
	if t.result.Commits != t.from.Log().Number {
		return nil
	}
	return t.copyOwn(ctx, lake.IcebergSettings)
}

// copyOwn copies an object that no commit names, if the source has it. A copy that is made again takes the source's
// present one.
func (t *transfer) copyOwn(ctx context.Context, key string) error {
	data, err := store.Read(ctx, t.From, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	old, err := store.Read(ctx, t.To, key)
	if err == nil && (!t.refreshes || bytes.Equal(old, data)) {
		return nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return t.To.Put(ctx, key, bytes.NewReader(data), store.Replace)
}

// copyAttempts copies the records of attempts that the new lake lacks, so that it can say what happened before it was
// made. An older state of the lake has none of them: most are of later nights.
func (t *transfer) copyAttempts(ctx context.Context) error {
	if t.result.Commits != t.from.Log().Number {
		return nil
	}
	present := map[string]bool{}
	for object, err := range t.To.List(ctx, lake.AttemptsPrefix) {
		if err != nil {
			return err
		}
		present[object.Key] = true
	}
	group, bounded := errgroup.WithContext(ctx)
	group.SetLimit(atATime)
	for object, err := range t.From.List(ctx, lake.AttemptsPrefix) {
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		if present[object.Key] {
			continue
		}
		group.Go(func() error {
			data, err := store.Read(bounded, t.From, object.Key)
			if err == nil {
				err = t.To.Put(bounded, object.Key, bytes.NewReader(data), store.CreateOnly)
			}
			if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrExists) {
				return nil // expired since the listing; or copied by another call
			}
			return err
		})
	}
	return group.Wait()
}

// putCommits puts the commits that the new lake lacks. They go in by number, if the files of each are there. Otherwise
// they go in from the last to the first: a new lake must appear all at once, and commits in between that need files
// which expiry has deleted must never be the newest. Before the last put of a lake that was copied before, a reader finds
// a hole and is refused; before the others it stays at the commit that it knows, and the mark refuses a writer.
func (t *transfer) putCommits(ctx context.Context) error {
	if t.made > 0 && !t.incomplete {
		for n := t.made + 1; n <= t.result.Commits; n++ {
			if err := t.put(ctx, n); err != nil {
				return err
			}
		}
		return nil
	}
	if t.made > 0 {
		if err := t.markContinued(ctx); err != nil {
			return err
		}
	}
	for n := t.result.Commits; n > t.made; n-- {
		if err := t.put(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// markContinued marks a lake that was copied before, so that other commands do not write to it. If one of them has written its lease by then, the
// mark is put back as it was, and the copy ends: it has put no commit yet. A command whose lease comes later finds the mark
// (load.Transaction.Settle).
func (t *transfer) markContinued(ctx context.Context) error {
	before, err := begun.Read(ctx, t.To)
	if err != nil {
		return err
	}
	mark := begun.Mark{Command: t.command, From: t.From.URL(), Until: t.result.Commits}
	if err := mark.Write(ctx, t.To, store.Replace); err != nil {
		return err
	}
	refused := t.checkFree(ctx)
	switch {
	case refused == nil:
		return nil
	case before == nil:
		return errors.Join(refused, t.To.Delete(ctx, lake.BegunKey))
	}
	return errors.Join(refused, before.Write(ctx, t.To, store.Replace))
}

func (t *transfer) put(ctx context.Context, n int64) error {
	c, err := t.converted(ctx, n, t.hashes[n-1])
	if err != nil {
		return err
	}
	if lake.SHA256(c.data) != t.hashes[n] {
		return fmt.Errorf("commit %d of the source changed while it was read", n)
	}
	err = t.To.Put(ctx, lake.CommitKey(n), bytes.NewReader(c.data), store.CreateOnly)
	if errors.Is(err, store.ErrExists) { // of an earlier call, or of another writer
		var made []byte
		if made, err = store.Read(ctx, t.To, lake.CommitKey(n)); err == nil && !bytes.Equal(made, c.data) {
			err = ownCommits("commit %d", n)
		}
		return err
	}
	if err == nil {
		t.result.Added++
	}
	return err
}

// finish opens the new lake, which checks its log, and writes what is derived from the commits: the hint, and a
// checkpoint if one is due. A lake of an older format, or of a newer program, gets neither: only their own programs write into it.
func (t *transfer) finish(ctx context.Context) error {
	made, err := load.Open(ctx, t.To)
	if err != nil || made.CheckWritable() != nil {
		return err
	}
	return made.Derive(ctx, t.Memory)
}
