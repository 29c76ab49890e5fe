package catalog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/schemas/lake"
	"dealflow/sql"
	"dealflow/sql/names"
)

// Maker builds catalogs of a lake. Lake and Log must be set. It is not safe for concurrent use.
type Maker struct {
	Lake        *load.Lake
	Cache       *mirror.Cache // for a lake that is no local folder; default: a new one for each catalog
	WorkDir     string        // local folder for unfinished files; default: the system's
	FromScratch bool          // extend no earlier catalog
	Log         *slog.Logger

	declared *names.Declared // the aliases, if they have been read
}

// Made is a catalog file that is not yet published. Close removes it. It is not safe for concurrent use.
type Made struct {
	path   string
	commit int64
	open   *sql.Unfinished // until Finish; nil if the commit was made before the catalog
	folder string
	cache  *mirror.Cache // nil for none
}

// Finish completes a catalog that MakeAndCheck has made: its commit is shown now. It does nothing for nil.
func (m *Made) Finish(ctx context.Context, shown lake.NamedCommit) error {
	if m == nil || m.open == nil {
		return nil
	}
	open := m.open
	m.open = nil
	return open.Finish(ctx, shown)
}

// Close removes the file. It does nothing for nil.
func (m *Made) Close() (err error) {
	if m == nil {
		return nil
	}
	if m.open != nil {
		err = m.open.Close()
		m.open = nil
	}
	return errors.Join(err, os.RemoveAll(m.folder))
}

// MakeAndCheck builds the catalog as it will be after a commit that is not yet made, and runs the quality checks on it.
// After the commit Made.Finish completes it. accepted names checks that hold nothing this time. With an error, checks has the results of the checks that were asked.
func (m *Maker) MakeAndCheck(ctx context.Context, pending *lake.Commit, accepted []string) (made *Made, checks []lake.Check, err error) {
	var open *sql.Unfinished
	build := func(c *sql.Catalog, ctx context.Context, path string) (err error) {
		open, checks, err = c.BuildAndCheck(ctx, path, pending.Add, accepted)
		return err
	}
	made, err = m.make(ctx, stateOf(m.Lake.Log()).with(pending), "", build)
	switch {
	case err == nil:
		made.open = open
	case open != nil:
		err = errors.Join(err, open.Close())
	}
	return made, checks, err
}

// make builds a catalog with the given build function. previous is a local file; "" means the published catalog.
func (m *Maker) make(ctx context.Context, s state, previous string, build func(*sql.Catalog, context.Context, string) error) (made *Made, err error) {
	folder, err := os.MkdirTemp(m.WorkDir, "dealflow-catalog-*")
	if err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	made = &Made{path: filepath.Join(folder, lake.CatalogKey), commit: s.commit, folder: folder, cache: m.Cache}
	defer func() {
		if err != nil {
			err = errors.Join(err, made.Close())
			made = nil
		}
	}()
	local, err := mirror.Open(m.Lake.Store(), m.Cache, folder)
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	var aliases names.Declared
	reading, readingCtx := errgroup.WithContext(ctx)
	reading.Go(func() (err error) {
		aliases, err = m.aliases(readingCtx)
		return err
	})
	if previous == "" && !m.FromScratch {
		reading.Go(func() (err error) {
			previous, err = local.PublishedCatalog(readingCtx, m.Lake.PublishedCatalog())
			return err
		})
	}
	if err := reading.Wait(); err != nil {
		return made, err
	}
	c := &sql.Catalog{
		Root: m.Lake.Store().URL(), Commit: s.commit, SHA256: s.sha256, Known: s.knownAt, Files: s.files, Runs: s.commits,
		RunsAfter: func(ctx context.Context, commit int64) iter.Seq2[*lake.Commit, error] {
			return s.runsAfter(ctx, m.Lake, commit)
		},
		Previous: previous, Local: local, Aliases: aliases, Diff: m.diff(s, local), Log: m.Log,
	}
	return made, build(c, ctx, made.path)
}
