package asof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Catalog is a catalog file, for a process that opens it itself, with the local folder of the lake's files.
type Catalog struct{ Path, Root string }

// mostCuts is the number of cuts that an edition keeps besides those that are in use. Each has the size of a catalog.
const mostCuts = 4

// cuts are the catalogs of an edition as they were known at earlier commits. They are files next to the edition's own.
type cuts struct {
	mu     sync.Mutex
	all    []*cut // the one used last at the end
	making bool   // in the background
	failed map[int64]error
}

// largeCatalog is the usual Config.LargeCatalog.
const largeCatalog = 100_000_000

// ErrCutting is the error while the catalog as of an instant is being made.
var ErrCutting = errors.New("the catalog is large: the one as of this instant is being made; ask again in a few seconds")

type cut struct {
	commit int64 // 0: before the first
	path   string
	users  int
	made   chan struct{} // closed when path or err is there
	err    error
}

// Catalog returns a catalog that has nothing that was learned after the view's instant, with the files that a statement reads.
// The caller calls done after its use, and before it releases the view. The error is ErrCutting while it is being made.
func (v *View) Catalog(ctx context.Context, statement string) (c Catalog, done func(), err error) {
	e := v.edition
	if err := e.Fetch(ctx, statement); err != nil {
		return Catalog{}, nil, err
	}
	if v.Later() == 0 {
		return Catalog{e.Path, e.Root}, func() {}, nil
	}
	get := e.cuts.get
	if info, err := os.Stat(e.Path); err == nil && info.Size() >= cmp.Or(v.lake.config.LargeCatalog, largeCatalog) {
		get = e.cuts.getLater
	}
	found, err := get(v)
	if err != nil {
		return Catalog{}, nil, err
	}
	return Catalog{found.path, e.Root}, func() { e.cuts.release(found) }, nil
}

// get returns the cut of a view, and makes it if it is not there.
func (c *cuts) get(v *View) (*cut, error) {
	shown := v.shown()
	c.mu.Lock()
	i := c.index(shown.Number)
	if i >= 0 {
		found := c.all[i]
		c.all = append(slices.Delete(c.all, i, i+1), found)
		found.users++
		c.mu.Unlock()
		<-found.made
		if found.err != nil {
			c.release(found)
		}
		return found, found.err
	}
	found := &cut{commit: shown.Number, users: 1, made: make(chan struct{})}
	found.path = filepath.Join(filepath.Dir(v.edition.Path), fmt.Sprintf("cut-%d.duckdb", shown.Number))
	c.all = append(c.all, found)
	c.mu.Unlock()
	// Others may wait for it, so it does not end with the reader who came first.
	found.err = v.edition.Cut(v.lake.ctx, found.path, shown)
	if found.err != nil {
		c.release(found) // before it is made: of a failure one reader is told, and the next one has it made again
	}
	close(found.made)
	return found, found.err
}

// getLater returns the cut of a view if it is there. If not, it has the cut made in the background, one at a time, and returns
// ErrCutting. The next reader is told of a failure.
func (c *cuts) getLater(v *View) (*cut, error) {
	number := v.shown().Number
	c.mu.Lock()
	err, failed := c.failed[number]
	delete(c.failed, number)
	i := c.index(number)
	begins := i < 0 && !c.making && !failed
	if begins {
		c.making = true
	}
	isMade := i >= 0 && c.all[i].isMade()
	c.mu.Unlock()
	switch {
	case failed:
		return nil, err
	case isMade:
		return c.get(v)
	case begins && !v.edition.aside(v.lake, func() { c.makeFor(v) }):
		return nil, errClosed
	}
	return nil, ErrCutting
}

func (k *cut) isMade() bool {
	select {
	case <-k.made:
		return true
	default:
		return false
	}
}

// makeFor makes the cut of a view for those who ask later.
func (c *cuts) makeFor(v *View) {
	found, err := c.get(v)
	c.mu.Lock()
	c.making = false
	if err != nil {
		c.failed = map[int64]error{v.shown().Number: err}
	}
	c.mu.Unlock()
	if err == nil {
		c.release(found)
	}
}

// index returns the place of the cut at a commit; -1 if there is none. The caller has locked c.
func (c *cuts) index(commit int64) int {
	return slices.IndexFunc(c.all, func(k *cut) bool { return k.commit == commit })
}

// release ends one use of a cut, and removes those that are too many, the one used longest ago first.
func (c *cuts) release(used *cut) {
	c.mu.Lock()
	defer c.mu.Unlock()
	used.users--
	if used.err != nil {
		c.all = slices.DeleteFunc(c.all, func(k *cut) bool { return k == used })
		return
	}
	for extra := len(c.all) - mostCuts; extra > 0; extra-- {
		i := slices.IndexFunc(c.all, func(k *cut) bool { return k.users == 0 })
		if i < 0 {
			return
		}
		// What cannot be removed now goes with the folder, when the edition is closed.
		_ = os.Remove(c.all[i].path)
		c.all = slices.Delete(c.all, i, i+1)
	}
}
