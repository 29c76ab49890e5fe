package asof

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"dealflow/schemas/lake"
)

// Catalog is a catalog file, for a process that opens it itself, with the local folder of the lake's files.
type Catalog struct{ Path, Root string }

// mostCuts is the number of cuts that an edition keeps besides those that are in use. Each has the size of a catalog.
const mostCuts = 4

// cuts are the catalogs of an edition as they were known at earlier commits. They are files next to the edition's own.
type cuts struct {
	mu  sync.Mutex
	all []*cut // the one used last at the end
}

type cut struct {
	commit int64 // 0: before the first
	path   string
	users  int
	made   chan struct{} // closed when path or err is there
	err    error
}

// Catalog returns a catalog that has nothing that was learned after the view's instant, with the files that a statement reads.
// The caller calls done after its use, and before it releases the view.
func (v *View) Catalog(ctx context.Context, statement string) (c Catalog, done func(), err error) {
	e := v.edition
	if err := e.Fetch(ctx, statement); err != nil {
		return Catalog{}, nil, err
	}
	if v.Later() == 0 {
		return Catalog{e.Path, e.Root}, func() {}, nil
	}
	found, err := e.cuts.get(v)
	if err != nil {
		return Catalog{}, nil, err
	}
	return Catalog{found.path, e.Root}, func() { e.cuts.release(found) }, nil
}

// get returns the cut of a view, and makes it if it is not there.
func (c *cuts) get(v *View) (*cut, error) {
	shown := lake.NamedCommit{KnownAt: v.instant}
	if last := v.Commit(); last != nil {
		shown = lake.NamedCommit{Number: last.Number, KnownAt: last.KnownAt}
	}
	c.mu.Lock()
	i := slices.IndexFunc(c.all, func(k *cut) bool { return k.commit == shown.Number })
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
	found.err = v.edition.Cut(context.Background(), found.path, shown)
	close(found.made)
	if found.err != nil {
		c.release(found)
	}
	return found, found.err
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
