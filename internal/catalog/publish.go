package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/store"
	"dealflow/schemas/lake"
	"dealflow/sql"
)

// maxPublications is how often publishing a catalog is tried while others publish theirs.
const maxPublications = 5

// Publish builds the catalog of the lake's present state from scratch and puts it into the lake. If a newer commit was
// made in that time, it puts nothing: that commit's writer publishes. It never replaces a newer catalog. Aliases that
// cannot be parsed are an error. workDir and cache are as in Open.
func Publish(ctx context.Context, l *load.Lake, workDir string, cache *mirror.Cache) (err error) {
	if err := l.CheckWritable(); err != nil {
		return err
	}
	aliases, err := readAliases(ctx, l)
	if err != nil {
		return err
	}
	maker := &Maker{Lake: l, Cache: cache, WorkDir: workDir, FromScratch: true, Log: slog.New(slog.DiscardHandler), declared: &aliases}
	made, err := maker.make(ctx, stateOf(l.Log()), "", (*sql.Catalog).Build)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	return made.publish(ctx, l)
}

// PublishCurrent publishes the catalog of the lake's present state: made if it shows that, or else a new one that
// extends made. made is finished, or nil; the caller closes it in either case.
func (m *Maker) PublishCurrent(ctx context.Context, made *Made) (err error) {
	if made != nil && made.commit == m.Lake.Log().Number {
		return made.publish(ctx, m.Lake)
	}
	previous := ""
	if made != nil {
		previous = made.path
	}
	current, err := m.make(ctx, stateOf(m.Lake.Log()), previous, (*sql.Catalog).Build)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, current.Close()) }()
	return current.publish(ctx, m.Lake)
}

// publish puts the catalog into the lake, unless a newer commit was made.
func (m *Made) publish(ctx context.Context, l *load.Lake) (err error) {
	file, err := os.Open(m.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	p := publication{lake: l, plain: file}
	if store.LocalPath(l.Store()) == "" {
		if m.cache != nil {
			m.cache.KeepCatalog(m.path)
		}
		var packed bytes.Buffer
		if err := mirror.PackCatalog(m.path, &packed); err != nil {
			return err
		}
		p.packed = packed.Bytes()
	}
	for range maxPublications {
		if err = p.try(ctx); !errors.Is(err, store.ErrChanged) && !errors.Is(err, store.ErrExists) {
			return err
		}
	}
	return fmt.Errorf("other runs replaced the catalog during every attempt; run `dealflow catalog`: %w", err)
}

// publication is a catalog that is being put into a lake.
type publication struct {
	lake   *load.Lake
	plain  io.ReadSeeker
	packed []byte // nil for a lake that is a local folder
}

// try replaces the published catalog only if it is still the one from before the check for a newer commit. The
// writer of a later commit publishes after that check, so its catalog is not overwritten. Before that it removes a
// write-ahead log, which DuckDB would apply to the new catalog.
func (p *publication) try(ctx context.Context) error {
	s := p.lake.Store()
	tag, tagErr := "", store.ErrNotFound
	replacer, canReplaceIf := s.(store.Replacer)
	looking, lookCtx := errgroup.WithContext(ctx)
	looking.Go(func() error { return removeWAL(lookCtx, s) })
	if canReplaceIf {
		tag, tagErr = replacer.Tag(ctx, lake.CatalogKey)
	}
	newer, err := p.lake.HasCommit(ctx, p.lake.Log().Number+1)
	if err := errors.Join(err, looking.Wait()); err != nil || newer {
		return err
	}
	if _, err := p.plain.Seek(0, io.SeekStart); err != nil {
		return err
	}
	putting, ctx := errgroup.WithContext(ctx)
	if p.packed != nil {
		// It names the plain one that it is of. If another command replaces one of them, readers go by the plain one.
		putting.Go(func() error { return s.Put(ctx, lake.PackedCatalogKey, bytes.NewReader(p.packed), store.Replace) })
	}
	putting.Go(func() error {
		switch {
		case !canReplaceIf, errors.Is(tagErr, store.ErrNoTag): // a catalog that may be replaced by an older one is better than none
			return s.Put(ctx, lake.CatalogKey, p.plain, store.Replace)
		case errors.Is(tagErr, store.ErrNotFound):
			return s.Put(ctx, lake.CatalogKey, p.plain, store.CreateOnly)
		case tagErr != nil:
			return tagErr
		}
		return replacer.ReplaceIf(ctx, lake.CatalogKey, p.plain, tag)
	})
	return putting.Wait()
}

// KnowsChecks returns an error for a name that no quality check has.
func KnowsChecks(names []string) error {
	known := []string{sql.AcceptAll}
	for _, c := range sql.QualityChecks() {
		known = append(known, c.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("check %q: no such check, want one of %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// WithUnasked is sql.WithUnasked for callers that cannot import sql.
func WithUnasked(asked []lake.Check, why string, accepted []string) (all []lake.Check, held []string) {
	return sql.WithUnasked(asked, why, accepted)
}
