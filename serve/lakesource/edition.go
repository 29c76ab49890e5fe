package lakesource

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"

	"dealflow/serve"
)

// maxConns bounds the queries that run side by side: each has a share of DuckDB's memory.
const maxConns = 4

var errClosed = errors.New("the lake is closed")

// edition is an open catalog. As-of queries make every earlier state exact in the newest one, so no
// more than the newest is needed; an older one lives on until its last reader leaves.
type edition struct {
	catalog *Catalog
	commit  int64
	known   instant // of that commit
	users   int     // under Source.mu: readers, and one for being the newest
}

func newEdition(ctx context.Context, catalog *Catalog) (*edition, error) {
	e := &edition{catalog: catalog, users: 1}
	catalog.DB.SetMaxOpenConns(maxConns)
	row := catalog.DB.QueryRowContext(ctx, `SELECT "commit", epoch_us(known_at) FROM catalog_info`)
	if err := row.Scan(&e.commit, &e.known); err != nil {
		return nil, errors.Join(fmt.Errorf("catalog: %w", err), catalog.Close())
	}
	return e, nil
}

// stateAt is the known_at of the last commit until an instant.
func (e *edition) stateAt(ctx context.Context, at instant) (instant, error) {
	var known stdsql.NullInt64
	err := e.catalog.DB.QueryRowContext(ctx, "SELECT max(epoch_us(known_at)) FROM runs WHERE known_at <= "+at.literal()).Scan(&known)
	if err != nil {
		return 0, fmt.Errorf("commits until %s: %w", at, err)
	}
	if !known.Valid {
		return 0, fmt.Errorf("the lake knows of nothing until %s: %w", at, serve.ErrNotFound)
	}
	return instant(known.Int64), nil
}

// enter gives the catalog that is open; the caller leaves it.
func (s *Source) enter() (*edition, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest == nil {
		return nil, errClosed
	}
	s.newest.users++
	return s.newest, nil
}

// leave closes a catalog behind its last user.
func (s *Source) leave(e *edition) error {
	s.mu.Lock()
	e.users--
	last := e.users == 0
	s.mu.Unlock()
	if last {
		return e.catalog.Close()
	}
	return nil
}

// fresh is enter after a look for a newer commit.
func (s *Source) fresh(ctx context.Context) (*edition, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return s.look(ctx)
}

// look is fresh for whoever holds the turn.
func (s *Source) look(ctx context.Context) (*edition, error) {
	old, err := s.enter()
	if err != nil {
		return nil, err
	}
	catalog, err := s.config.Newer(ctx, old.commit)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look for a newer commit: %w", err), s.leave(old))
	}
	if catalog == nil {
		return old, nil
	}
	next, err := newEdition(ctx, catalog)
	if err != nil {
		return nil, errors.Join(err, s.leave(old))
	}
	return s.replace(old, next)
}

// replace makes next the newest, unless the Source was closed meanwhile, and leaves old.
func (s *Source) replace(old, next *edition) (*edition, error) {
	s.mu.Lock()
	closed := s.newest == nil
	if !closed {
		s.newest, s.known = next, next.known
		next.users++ // the caller
		old.users--  // no longer the newest
	}
	s.mu.Unlock()
	err := s.leave(old)
	if closed {
		return nil, errors.Join(errClosed, err, s.leave(next))
	}
	return next, err
}
