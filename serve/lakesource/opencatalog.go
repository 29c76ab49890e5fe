package lakesource

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"

	"dealflow/serve"
)

// maxConns limits the concurrent queries: each uses a share of DuckDB's memory.
const maxConns = 4

var errClosed = errors.New("the lake is closed")

// openCatalog is a Catalog with a count of its users. The newest catalog answers as of every earlier state, so requests
// always begin on the newest. An older one is closed when its last user releases it.
type openCatalog struct {
	catalog *Catalog
	commit  int64
	known   instant // known_at of that commit
	users   int     // requests that read it, plus 1 while it is Source.newest; guarded by Source.mu
}

func newOpenCatalog(ctx context.Context, catalog *Catalog) (*openCatalog, error) {
	e := &openCatalog{catalog: catalog, users: 1}
	catalog.DB.SetMaxOpenConns(maxConns)
	row := catalog.DB.QueryRowContext(ctx, `SELECT "commit", epoch_us(known_at) FROM catalog_info`)
	if err := row.Scan(&e.commit, &e.known); err != nil {
		return nil, errors.Join(fmt.Errorf("catalog: %w", err), catalog.Close())
	}
	return e, nil
}

// stateAt returns the known_at of the last commit at or before an instant.
func (e *openCatalog) stateAt(ctx context.Context, at instant) (instant, error) {
	var known stdsql.NullInt64
	err := e.catalog.DB.QueryRowContext(ctx, "SELECT max(epoch_us(known_at)) FROM runs WHERE known_at <= "+at.literal()).Scan(&known)
	if err != nil {
		return 0, fmt.Errorf("commits until %s: %w", at, err)
	}
	if !known.Valid {
		return 0, fmt.Errorf("the lake has no commit up to %s: %w", at, serve.ErrNotFound)
	}
	return instant(known.Int64), nil
}

// acquire returns the open catalog, without looking for a newer one. The caller releases it.
func (s *Source) acquire() (*openCatalog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest == nil {
		return nil, errClosed
	}
	s.newest.users++
	return s.newest, nil
}

// release ends a use of a catalog. After the last use it closes the catalog.
func (s *Source) release(e *openCatalog) error {
	s.mu.Lock()
	e.users--
	last := e.users == 0
	s.mu.Unlock()
	if last {
		return e.catalog.Close()
	}
	return nil
}

// acquireNewest looks for a newer commit and returns the newest catalog. The caller releases it.
func (s *Source) acquireNewest(ctx context.Context) (*openCatalog, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return s.poll(ctx)
}

// poll is acquireNewest without waiting for the turn, which the caller must have.
func (s *Source) poll(ctx context.Context) (*openCatalog, error) {
	old, err := s.acquire()
	if err != nil {
		return nil, err
	}
	catalog, err := s.config.Newer(ctx, old.commit)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look for a newer commit: %w", err), s.release(old))
	}
	if catalog == nil {
		return old, nil
	}
	next, err := newOpenCatalog(ctx, catalog)
	if err != nil {
		return nil, errors.Join(err, s.release(old))
	}
	return s.replace(old, next)
}

// replace makes next the newest catalog and releases old. If the Source was closed in between, it closes next.
func (s *Source) replace(old, next *openCatalog) (*openCatalog, error) {
	s.mu.Lock()
	closed := s.newest == nil
	if !closed {
		s.newest, s.known = next, next.known
		next.users++ // the caller
		old.users--  // no longer the newest
	}
	s.mu.Unlock()
	err := s.release(old)
	if closed {
		return nil, errors.Join(errClosed, err, s.release(next))
	}
	return next, err
}
