package pipeline

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
	"dealflow/sql"
)

// shown is the state of a lake that a catalog shows.
type shown struct {
	number int64
	known  lake.Instant
	files  []lake.File
	runs   []lake.Commit
}

func shownBy(log *load.Log) shown {
	return shown{log.Number, log.KnownAt, log.AllFiles(), log.Runs}
}

// with is the state after one more commit.
func (s shown) with(c *lake.Commit) shown {
	files := slices.DeleteFunc(slices.Clone(s.files), func(f lake.File) bool { return slices.Contains(c.Remove, f.Path) })
	return shown{c.Number, c.KnownAt, append(files, c.Add...), append(slices.Clone(s.runs), *c)}
}

// catalogMaker makes catalogs of a lake.
type catalogMaker struct {
	lake    *load.Lake
	cache   *load.Cache // of a lake that is no folder of this machine; nil: one for this maker alone
	workDir string
	afresh  bool // no earlier catalog is gone on from
	log     *slog.Logger
}

// madeCatalog is a catalog that was made and may be published. close removes it.
type madeCatalog struct {
	path   string
	number int64
	folder string
	linked string // a folder in the cache; "" where there is none
}

func (m *madeCatalog) close() error {
	if m == nil {
		return nil
	}
	err := os.RemoveAll(m.folder)
	if m.linked != "" {
		err = errors.Join(err, os.RemoveAll(m.linked))
	}
	return err
}

// make makes the catalog of a state, going on from an earlier one: that at previous, or the published one where
// that is "".
func (m *catalogMaker) make(ctx context.Context, s shown, previous string) (*madeCatalog, error) {
	return m.makeBy(ctx, s, previous, (*sql.Catalog).Build)
}

// makeBy is make for who builds in another way.
func (m *catalogMaker) makeBy(ctx context.Context, s shown, previous string, build func(*sql.Catalog, context.Context, string) error) (made *madeCatalog, err error) {
	folder, err := os.MkdirTemp(m.workDir, "dealflow-catalog-*")
	if err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	made = &madeCatalog{path: filepath.Join(folder, lake.CatalogKey), number: s.number, folder: folder}
	defer func() {
		if err != nil {
			err = errors.Join(err, made.close())
			made = nil
		}
	}()
	c := &sql.Catalog{Root: m.lake.Store().URL(), Commit: s.number, Known: s.known, Files: s.files, Runs: s.runs, Previous: previous, Diff: m.diff(s), Log: m.log}
	if c.Aliases, err = m.aliases(ctx); err != nil {
		return made, err
	}
	if !isLocal(m.lake) {
		if c.Near, err = m.near(made); err != nil {
			return made, err
		}
	}
	if c.Previous == "" && !m.afresh {
		if c.Previous, err = publishedCatalog(ctx, m.lake, filepath.Join(folder, "previous.duckdb")); err != nil {
			return made, err
		}
	}
	return made, build(c, ctx, made.path)
}

// near fetches what DuckDB reads while a catalog is made.
func (m *catalogMaker) near(made *madeCatalog) (near *sql.Near, err error) {
	cache := m.cache
	if cache == nil {
		if cache, err = load.NewCache(filepath.Join(made.folder, "cache"), 0); err != nil {
			return nil, err
		}
	}
	if made.linked, err = cache.Scratch(); err != nil {
		return nil, err
	}
	return &sql.Near{
		Folder: made.linked,
		Fetch: func(ctx context.Context, files []lake.File) error {
			return cache.Fetch(ctx, m.lake.Store(), files, made.linked)
		},
		Index: func(ctx context.Context, files []lake.File) (string, error) {
			path := filepath.Join(made.folder, "index.parquet")
			return path, m.lake.WriteIndex(ctx, memory.DefaultAllocator, files, path)
		},
	}, nil
}

// aliases reads the user's files of names. Files that cannot be understood change nothing: a wrong letter
// there must not keep a run from its checks.
func (m *catalogMaker) aliases(ctx context.Context) (sql.Aliases, error) {
	aliases, err := readAliases(ctx, m.lake)
	var wrong *aliasError
	if errors.As(err, &wrong) {
		m.log.Warn("the aliases cannot be read; those of the last catalog stay, where it serves", "err", wrong)
		return sql.Aliases{Keep: true}, nil
	}
	return aliases, err
}

// aliasError says what is wrong with a lake's files of aliases.
type aliasError struct{ err error }

func (e *aliasError) Error() string { return e.err.Error() }
func (e *aliasError) Unwrap() error { return e.err }

func readAliases(ctx context.Context, l *load.Lake) (sql.Aliases, error) {
	var files [2][]byte
	for i, key := range []string{lake.BankAliasesKey, lake.BorrowerAliasesKey} {
		data, err := l.Object(ctx, key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return sql.Aliases{}, err
		}
		files[i] = data
	}
	aliases, err := sql.ParseAliases(files[0], files[1])
	if err != nil {
		return aliases, &aliasError{fmt.Errorf("aliases in %s: %w", l.Store().URL(), err)}
	}
	return aliases, nil
}

// publishedCatalog gives a local file with the published catalog; "" where there is none. One that lies
// elsewhere is downloaded to path.
func publishedCatalog(ctx context.Context, l *load.Lake, path string) (string, error) {
	if isLocal(l) {
		path = filepath.Join(l.Store().URL(), lake.CatalogKey)
	} else if err := download(ctx, l, path); err != nil {
		return "", err
	}
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil // then there is nothing to begin with
	}
	return path, err
}

// isLocal says whether the lake is a folder of this machine, whose files DuckDB reads where they lie.
func isLocal(l *load.Lake) bool { return filepath.IsAbs(l.Store().URL()) }

// maxPublications bounds the tries to publish a catalog while others publish theirs.
const maxPublications = 5

// Publish makes the catalog, all of it anew, and puts it into the lake, unless a newer commit has come in between: then its
// writer publishes. It never takes the place of a newer one. workDir is a local folder; "" means the
// system's. cache is as in OpenCatalog; nil will do.
func Publish(ctx context.Context, l *load.Lake, workDir string, cache *load.Cache) (err error) {
	// Whoever publishes by hand is told what is wrong with the aliases.
	if _, err := readAliases(ctx, l); err != nil {
		return err
	}
	maker := &catalogMaker{lake: l, cache: cache, workDir: workDir, afresh: true, log: slog.New(slog.DiscardHandler)}
	made, err := maker.make(ctx, shownBy(l.Log()), "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.close()) }()
	return made.publish(ctx, l)
}

// publish puts the catalog into the lake.
func (m *madeCatalog) publish(ctx context.Context, l *load.Lake) (err error) {
	file, err := os.Open(m.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for range maxPublications {
		if err = publishOnce(ctx, l, file); !errors.Is(err, store.ErrChanged) && !errors.Is(err, store.ErrExists) {
			return err
		}
	}
	return fmt.Errorf("the catalog changes faster than it can be replaced: %w", err)
}

// publishOnce replaces the catalog that stood before the look for a newer commit: whoever commits later
// publishes later, and is then not overwritten.
func publishOnce(ctx context.Context, l *load.Lake, file io.ReadSeeker) error {
	replacer, careful := l.Store().(store.Replacer)
	tag, tagErr := "", store.ErrNotFound
	if careful {
		tag, tagErr = replacer.Tag(ctx, lake.CatalogKey)
	}
	newer, err := l.HasCommit(ctx, l.Log().Number+1)
	if err != nil || newer {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	switch {
	case !careful:
		return l.Store().Put(ctx, lake.CatalogKey, file, store.Replace)
	case errors.Is(tagErr, store.ErrNotFound):
		return l.Store().Put(ctx, lake.CatalogKey, file, store.CreateOnly)
	case tagErr != nil:
		return tagErr
	}
	return replacer.ReplaceIf(ctx, lake.CatalogKey, file, tag)
}

// Catalog is a catalog file for reading. Close removes what is private.
type Catalog struct {
	Path    string
	Root    string // where its files lie: the lake's, or a folder with copies of those that were fetched
	Private bool   // built for the caller because the published one is absent or behind the log

	lake    *load.Lake
	cache   *load.Cache
	folders []string
	made    *madeCatalog // the private one; nil for none
}

// OpenCatalog gives the catalog of the lake's present state: the published one, or a private one where
// that is behind. cache serves lakes that are no folder of this machine; nil will do for others.
func OpenCatalog(ctx context.Context, l *load.Lake, workDir string, cache *load.Cache) (*Catalog, error) {
	c := &Catalog{Root: l.Store().URL(), lake: l, cache: cache}
	if err := c.open(ctx, workDir); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Catalog) open(ctx context.Context, workDir string) error {
	if isLocal(c.lake) {
		c.Path = filepath.Join(c.Root, lake.CatalogKey)
		if c.isCurrent(ctx) {
			return nil
		}
	}
	if !isLocal(c.lake) {
		folder, err := os.MkdirTemp(workDir, "dealflow-catalog-*")
		if err != nil {
			return fmt.Errorf("work folder: %w", err)
		}
		c.folders = append(c.folders, folder)
		if c.Root, err = c.cache.Folder(); err != nil {
			return err
		}
		c.folders = append(c.folders, c.Root)
		c.Path = filepath.Join(folder, lake.CatalogKey)
		if err := download(ctx, c.lake, c.Path); err != nil || c.isCurrent(ctx) {
			return err
		}
	}
	maker := &catalogMaker{lake: c.lake, cache: c.cache, workDir: workDir, log: slog.New(slog.DiscardHandler)}
	previous := ""
	if _, err := os.Stat(c.Path); err == nil {
		previous = c.Path
	}
	var err error
	if c.made, err = maker.make(ctx, shownBy(c.lake.Log()), previous); err != nil {
		return err
	}
	c.Private, c.Path = true, c.made.path
	return nil
}

// PublishedCommit reads which commit the published catalog shows; 0 where there is none that can be read.
func PublishedCommit(ctx context.Context, l *load.Lake, workDir string) (number int64, err error) {
	c := &Catalog{lake: l, Path: filepath.Join(l.Store().URL(), lake.CatalogKey)}
	if !isLocal(l) {
		folder, err := os.MkdirTemp(workDir, "dealflow-catalog-*")
		if err != nil {
			return 0, fmt.Errorf("work folder: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		c.Path = filepath.Join(folder, lake.CatalogKey)
		if err := download(ctx, l, c.Path); err != nil {
			return 0, err
		}
	}
	shown, err := sql.ShownBy(ctx, c.Path)
	if err != nil {
		return 0, ctx.Err()
	}
	return shown.Commit, nil
}

// isCurrent says whether the catalog at Path shows the lake's present state, names included, and all that
// this program's catalogs have.
func (c *Catalog) isCurrent(ctx context.Context) bool {
	shown, err := sql.ShownBy(ctx, c.Path)
	log := c.lake.Log()
	if err != nil || !shown.Current || shown.Commit != log.Number || len(log.Runs) == 0 || shown.RunID != log.Runs[len(log.Runs)-1].RunID {
		return false
	}
	aliases, err := readAliases(ctx, c.lake)
	return err != nil || aliases.Version == shown.AliasVersion // unreadable ones change nothing
}

// download fetches the published catalog to path, if there is one.
func download(ctx context.Context, l *load.Lake, path string) (err error) {
	from, err := l.Store().Get(ctx, lake.CatalogKey)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// Fetch brings the files that statements may read to where DuckDB finds them. db is the catalog, opened
// with this Root. For a lake in a folder there is nothing to do.
func (c *Catalog) Fetch(ctx context.Context, db *stdsql.DB, statements ...string) error {
	if isLocal(c.lake) {
		return nil
	}
	paths, err := sql.Paths(ctx, db, statements...)
	if err != nil {
		return err
	}
	files := slices.DeleteFunc(c.lake.Log().AllFiles(), func(f lake.File) bool {
		_, wanted := slices.BinarySearch(paths, f.Path)
		return !wanted
	})
	return c.cache.Fetch(ctx, c.lake.Store(), files, c.Root)
}

// Close removes what is private.
func (c *Catalog) Close() error {
	errs := []error{c.made.close()}
	for _, folder := range c.folders {
		errs = append(errs, os.RemoveAll(folder))
	}
	return errors.Join(errs...)
}
