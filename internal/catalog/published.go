package catalog

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql"
	"dealflow/sql/sealed"
)

// ErrWAL means that another program's unfinished changes are next to the published catalog. DuckDB would apply them to
// whatever catalog has the name, also to one that was published later.
var ErrWAL = errors.New(lake.CatalogWALKey + " is next to it: another program has opened it for writing, and any DuckDB that opens it now applies that file")

// published is the catalog in a lake as a reader finds it.
type published struct {
	path  string // a local file; "" if the lake has no catalog
	shown sql.Shown
	flaw  error      // why it must not answer: sealed.ErrChanged, ErrWAL, or it is no catalog; nil for none
	db    *stdsql.DB // from which shown was read; nil for none
}

// close closes the database from which the state was read.
func (p *published) close() error {
	if p.db == nil {
		return nil
	}
	db := p.db
	p.db = nil
	return db.Close()
}

// readPublished reads the state of the lake's catalog. end is as in mirror.PublishedCatalog. It never opens one next to
// which a write-ahead log is. The caller closes it.
func readPublished(ctx context.Context, local *mirror.Mirror, end lake.CatalogEnd) (p published, err error) {
	if p.path, err = local.PublishedCatalog(ctx, end); err != nil || p.path == "" {
		return p, err
	}
	if _, err := os.Stat(p.path + walSuffix); err == nil {
		p.flaw = ErrWAL
		return p, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	if p.flaw = sealed.Intact(p.path); p.flaw != nil && !errors.Is(p.flaw, sealed.ErrChanged) {
		return p, p.flaw
	}
	var unreadable error
	if p.db, unreadable = sql.Open(ctx, p.path, local.Root()); unreadable == nil {
		p.shown, unreadable = sql.ShownBy(ctx, p.db)
	}
	if unreadable != nil {
		p.flaw = errors.Join(p.flaw, unreadable)
	}
	if ctx.Err() != nil {
		return p, errors.Join(ctx.Err(), p.close())
	}
	return p, nil
}

const walSuffix = ".wal"

// checkWAL looks for a write-ahead log next to the catalog in a store.
func (p *published) checkWAL(ctx context.Context, s store.Store) error {
	found, err := hasWAL(ctx, s)
	if found && p.flaw == nil {
		p.flaw = ErrWAL
	}
	return err
}

// Published is the state of a lake's published catalog.
type Published struct {
	Shows lake.NamedCommit // Number is 0 if there is no catalog, or none that can be read
	Flaw  error            // why it must not be used: sealed.ErrChanged, ErrWAL, or it is no catalog; nil for none
}

// ReadPublished reads the state of the published catalog. Its end names the commit. Of one that is no local file it reads
// no more: whether its other bytes are as they were made is found by Inspect. workDir is a local folder for unfinished
// files; "" means the system's.
func ReadPublished(ctx context.Context, l *load.Lake, workDir string) (state Published, err error) {
	folder := store.LocalPath(l.Store())
	if end := l.PublishedCatalog(); end.Checksum != "" && (folder == "" || sealed.Intact(filepath.Join(folder, lake.CatalogKey)) == nil) {
		p := published{shown: sql.Shown{Commit: end.NamedCommit}}
		err := p.checkWAL(ctx, l.Store())
		return Published{p.shown.Commit, p.flaw}, err
	}
	local, err := mirror.Open(l.Store(), nil, workDir)
	if err != nil {
		return state, err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	found, err := readPublished(ctx, local, lake.CatalogEnd{})
	if err == nil && found.path != "" {
		err = found.checkWAL(ctx, l.Store())
	}
	err = errors.Join(err, found.close())
	return Published{found.shown.Commit, found.flaw}, err
}

// hasWAL says whether a write-ahead log is next to the catalog in a store: another program left it, or a folder was
// copied there with one. Our own readers open a copy of a remote catalog without it, other programs do not.
func hasWAL(ctx context.Context, s store.Store) (bool, error) {
	r, err := s.Get(ctx, lake.CatalogWALKey)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for %s: %w", lake.CatalogWALKey, err)
	}
	return true, r.Close()
}

// removeWAL removes what another program has left next to the catalog that is replaced.
func removeWAL(ctx context.Context, s store.Store) error {
	found, err := hasWAL(ctx, s)
	if err != nil || !found {
		return err
	}
	if err := s.Delete(ctx, lake.CatalogWALKey); err != nil {
		return fmt.Errorf("%w; it must be removed before a catalog is published: %w", ErrWAL, err)
	}
	return nil
}

// Inspected is the published catalog, opened to be compared with the lake (verify.Catalog).
type Inspected struct {
	Published
	db    *stdsql.DB
	close []func() error
}

// Inspect opens the published catalog of the lake in a store, so that it can be compared with the lake. It returns nil
// if there is none. workDir is as in ReadPublished.
func Inspect(ctx context.Context, s store.Store, workDir string) (c *Inspected, err error) {
	local, err := mirror.Open(s, nil, workDir)
	if err != nil {
		return nil, err
	}
	c = &Inspected{close: []func() error{local.Close}}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
			c = nil
		}
	}()
	for range mostReplaced {
		found, err := readPublished(ctx, local, lake.CatalogEnd{})
		if err = errors.Join(err, found.close()); err != nil {
			return c, err
		}
		if found.path == "" {
			return nil, local.Close()
		}
		if opened, err := c.open(ctx, s, local, &found, workDir); opened || err != nil {
			return c, errors.Join(err, ctx.Err())
		}
	}
	return c, fmt.Errorf("the catalog of %s was replaced %d times while it was opened; run the command again when fewer others write", s.URL(), mostReplaced)
}

// mostReplaced is how often Inspect opens the catalog again that was replaced between its check and its opening. A commit takes longer.
const mostReplaced = 10

// open opens the catalog whose state was read. It returns false if another one has its name by then.
func (c *Inspected) open(ctx context.Context, s store.Store, local *mirror.Mirror, found *published, workDir string) (opened bool, err error) {
	if err := found.checkWAL(ctx, s); err != nil {
		return false, err
	}
	if found.flaw == nil && !local.IsLake() {
		if found.flaw, err = mirror.CheckPacked(ctx, s, found.path); err != nil {
			return false, err
		}
	}
	c.Published = Published{found.shown.Commit, found.flaw}
	if !found.shown.Current {
		return true, nil // its tables may be others
	}
	db, done, err := sql.OpenApart(ctx, found.path, local.Root(), workDir)
	if errors.Is(err, sql.ErrWorkFolder) {
		return false, err
	}
	if err != nil {
		if c.Flaw == nil {
			c.Flaw = err
		}
		return true, nil
	}
	shown, err := sql.ShownBy(ctx, db)
	if err == nil && (shown.RunID != found.shown.RunID || shown.AliasVersion != found.shown.AliasVersion) {
		return false, done()
	}
	c.db, c.close = db, append(c.close, done)
	return true, err
}

// State returns the commit that the catalog shows, and why it must not be used; nil for no reason.
func (c *Inspected) State() (lake.NamedCommit, error) { return c.Shows, c.Flaw }

// Versions yields the version index of a feed, by deal and version; ok is false if it cannot be read: an older program
// made the catalog.
func (c *Inspected) Versions(ctx context.Context, feed api.Feed) (index iter.Seq2[lake.IndexedVersion, error], ok bool) {
	if c.db == nil {
		return nil, false
	}
	return sql.IndexedVersions(ctx, c.db, feed), true
}

// Close closes what Inspect opened.
func (c *Inspected) Close() error {
	var faults []error
	for i := len(c.close) - 1; i >= 0; i-- {
		faults = append(faults, c.close[i]())
	}
	return errors.Join(faults...)
}
