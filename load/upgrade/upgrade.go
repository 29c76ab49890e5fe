package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// ErrOwnCommits is the error for a new lake with a commit that the older lake does not have.
var ErrOwnCommits = errors.New("the new lake has commits of its own")

// copies is the number of files that are copied at a time.
const copies = 8

// Config says what to upgrade. All fields must be set.
type Config struct {
	From   store.Store // the older lake; nothing in it changes
	To     store.Store // an empty store, or an upgrade of From that was begun or that lacks From's later commits
	Memory memory.Allocator
}

// Result says what an upgrade did. `--json` prints it; fields are only ever added.
type Result struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Commits int64  `json:"commits"`       // number of the newest commit of both lakes
	Added   int64  `json:"commits_added"` // by this call
	Files   int64  `json:"files"`         // data files of the new lake
	Copied  int64  `json:"files_copied"`  // by this call
	Bytes   int64  `json:"bytes"`         // of all data files
}

// upgrade is one call of Lake.
type upgrade struct {
	Config
	old    *load.Lake
	hashes []string // hashes[n] is the SHA-256 of commit n in the new lake; hashes[0] is ""
	made   int64    // commits 1 to made are in the new lake already; 0 if its first commit is not
	result Result
}

// Lake makes a lake of the present format version from an older one. It may be run again after any failure, and goes on
// where it ended. A later call adds the commits that the older lake has made since, as long as the new lake has made
// none of its own: ErrOwnCommits.
//
// The order is that of a run: data files first, then commits. The first commit of a new lake is put last, and until then
// there is no lake for readers and writers, only an upgrade under way.
func Lake(ctx context.Context, cfg Config) (*Result, error) {
	old, err := load.Open(ctx, cfg.From)
	if err != nil {
		return nil, err
	}
	u := &upgrade{Config: cfg, old: old, result: Result{From: cfg.From.URL(), To: cfg.To.URL(), Commits: old.Log().Number}}
	if format := old.Log().Format; format == lake.FormatVersion {
		return nil, fmt.Errorf("upgrade %s: the lake is of format version %d already: nothing to do", cfg.From.URL(), format)
	}
	if cfg.From.URL() == cfg.To.URL() {
		return nil, fmt.Errorf("upgrade %s: a lake cannot be upgraded in place; name another folder or prefix with --to", cfg.From.URL())
	}
	for _, step := range []func(context.Context) error{u.begin, u.convertAll, u.copyFiles, u.copyAliases, u.copyAttempts, u.putCommits, u.finish} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("upgrade %s to %s: %w", cfg.From.URL(), cfg.To.URL(), err)
		}
	}
	return &u.result, nil
}

// begin makes sure that the new lake's store can hold a lake, and marks it: no other command may begin a lake there.
func (u *upgrade) begin(ctx context.Context) error {
	marker, err := json.Marshal(load.UpgradeMarker{From: u.From.URL()})
	if err != nil {
		return err
	}
	found, err := store.Read(ctx, u.To, lake.UpgradeKey)
	switch {
	case err == nil:
		var m load.UpgradeMarker
		if json.Unmarshal(found, &m) != nil || m.From != u.From.URL() {
			return fmt.Errorf("the new lake was begun from %s, not from this one; name an empty folder or prefix with --to", m.From)
		}
		return nil
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	for object, err := range u.To.List(ctx, "") {
		if err != nil {
			return err
		}
		if strings.HasPrefix(object.Key, store.ProbePrefix) {
			continue // of an earlier call whose probe could not delete it
		}
		return fmt.Errorf("the new lake's folder is not empty: it contains %s; name an empty folder or prefix with --to", object.Key)
	}
	if err := store.Probe(ctx, u.To); err != nil {
		return err
	}
	return u.To.Put(ctx, lake.UpgradeKey, bytes.NewReader(append(marker, '\n')), store.CreateOnly)
}

// convertAll converts all commits of the older lake for their hashes, and compares them with those of the new lake.
func (u *upgrade) convertAll(ctx context.Context) error {
	present := map[int64]bool{}
	last := int64(0)
	for object, err := range u.To.List(ctx, lake.CommitsPrefix) {
		if err != nil {
			return err
		}
		if n, ok := lake.CommitNumber(object.Key); ok {
			present[n], last = true, n
		}
	}
	if last > u.result.Commits {
		return fmt.Errorf("%w: commit %d", ErrOwnCommits, last)
	}
	u.hashes = []string{""}
	for n := int64(1); n <= u.result.Commits; n++ {
		data, err := convert(ctx, u.From, n, u.hashes[n-1])
		if err != nil {
			return err
		}
		if present[n] {
			made, err := store.Read(ctx, u.To, lake.CommitKey(n))
			if err != nil {
				return err
			}
			if !bytes.Equal(made, data) {
				return fmt.Errorf("%w: commit %d is another one than in the older lake", ErrOwnCommits, n)
			}
		}
		u.hashes = append(u.hashes, lake.SHA256(data))
	}
	if present[1] {
		u.made = last
	}
	return nil
}

// copyFiles copies the data files that the new lake lacks: those that are live in the older lake.
func (u *upgrade) copyFiles(ctx context.Context) error {
	present := map[string]int64{}
	for _, prefix := range lake.DataPrefixes() {
		for object, err := range u.To.List(ctx, prefix) {
			if err != nil {
				return err
			}
			present[object.Key] = object.Size
		}
	}
	var copied atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(copies)
	for _, file := range u.old.Log().AllFiles() {
		u.result.Files++
		u.result.Bytes += file.Bytes
		to := newPath(file.Path)
		if size, exists := present[to]; exists {
			if size != file.Bytes {
				return errors.Join(fmt.Errorf("%s has %d bytes, want %d: delete it, and run again", to, size, file.Bytes), group.Wait())
			}
			continue
		}
		group.Go(func() error {
			copied.Add(1)
			return store.Copy(ctx, u.From, file.Path, u.To, to)
		})
	}
	err := group.Wait()
	u.result.Copied = copied.Load()
	return err
}

// copyAliases copies the user's files.
func (u *upgrade) copyAliases(ctx context.Context) error {
	for _, key := range []string{lake.BankAliasesKey, lake.BorrowerAliasesKey} {
		err := store.Copy(ctx, u.From, key, u.To, key)
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrExists) {
			return err
		}
	}
	return nil
}

// copyAttempts copies the records of attempts, so that the new lake can say what happened before it was made. A program
// that does not upgrade writes none into a lake of an older format.
func (u *upgrade) copyAttempts(ctx context.Context) error {
	for object, err := range u.From.List(ctx, lake.AttemptsPrefix) {
		if err != nil {
			return err
		}
		if err := store.Copy(ctx, u.From, object.Key, u.To, object.Key); err != nil && !errors.Is(err, store.ErrExists) && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// putCommits puts the commits that the new lake lacks. If it has none yet they go in from the last to the first, so that
// the lake appears all at once. Otherwise they go in by number.
func (u *upgrade) putCommits(ctx context.Context) error {
	put := func(n int64) error {
		data, err := convert(ctx, u.From, n, u.hashes[n-1])
		if err != nil {
			return err
		}
		if lake.SHA256(data) != u.hashes[n] {
			return fmt.Errorf("commit %d of the older lake changed while it was read", n)
		}
		err = u.To.Put(ctx, lake.CommitKey(n), bytes.NewReader(data), store.CreateOnly)
		if errors.Is(err, store.ErrExists) { // of an earlier call, which convertAll has compared; or of another writer
			var made []byte
			if made, err = store.Read(ctx, u.To, lake.CommitKey(n)); err == nil && !bytes.Equal(made, data) {
				err = fmt.Errorf("%w: commit %d", ErrOwnCommits, n)
			}
			return err
		}
		u.result.Added++
		return err
	}
	if u.made == 0 {
		for n := u.result.Commits; n >= 1; n-- {
			if err := put(n); err != nil {
				return err
			}
		}
		return nil
	}
	for n := u.made + 1; n <= u.result.Commits; n++ {
		if err := put(n); err != nil {
			return err
		}
	}
	return nil
}

// finish writes what is derived from the commits: the hint, and a checkpoint if one is due.
func (u *upgrade) finish(ctx context.Context) error {
	made, err := load.Open(ctx, u.To)
	if err != nil {
		return err
	}
	return made.Derive(ctx, u.Memory)
}
