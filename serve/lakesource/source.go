package lakesource

import (
	"cmp"
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
)

// Catalog is an open catalog of the lake (package sql). Nothing else may have the same file open under
// the same path: DuckDB would give the one that was opened first.
type Catalog struct {
	DB    *stdsql.DB
	Close func() error // closes DB, and frees what else opening it took
}

// Reads names the tables that a Source asks, as a statement does: their files must be at hand when the
// catalog is opened.
func Reads() string {
	text := "FROM files." + lake.DealVersions
	for _, feed := range api.Feeds() {
		text += ", files." + lake.FeedTables(feed)[0].Name
	}
	return text
}

// Config says where the lake is.
type Config struct {
	// IndexDeals bounds the deals in the indexes that are kept in memory, at about 40 bytes each: the
	// index that is used last stays whatever its size. Defaults to 1,000,000.
	IndexDeals int

	// Newer opens the catalog of the lake's newest commit if that is newer than the given one, and
	// gives nil otherwise. It is asked at every request for a first page, so a lake without news must
	// be cheap. It is never called concurrently. Required.
	Newer func(ctx context.Context, than int64) (*Catalog, error)
}

// Source is a lake as a market, as of its newest commit. Its methods may be called concurrently.
type Source struct {
	config  Config
	indexes indexes
	turn    chan struct{} // held by whoever asks for a newer catalog

	mu     sync.Mutex
	newest *edition // nil once the Source is closed
	known  instant  // of newest
}

var _ serve.TimeTraveler = (*Source)(nil)

// New opens a lake. The caller closes the Source.
func New(ctx context.Context, config Config) (*Source, error) {
	if config.Newer == nil {
		return nil, errors.New("lakesource: Newer is required")
	}
	config.IndexDeals = cmp.Or(config.IndexDeals, 1_000_000)
	s := &Source{config: config, turn: make(chan struct{}, 1), indexes: indexes{limit: config.IndexDeals, turn: make(chan struct{}, 1)}}
	catalog, err := config.Newer(ctx, 0)
	if err != nil {
		return nil, err
	}
	if catalog == nil {
		return nil, errors.New("lakesource: the lake has no commit yet")
	}
	if s.newest, err = newEdition(ctx, catalog); err != nil {
		return nil, err
	}
	s.known = s.newest.known
	return s, nil
}

// Close closes the catalog when the last request that reads it has ended; later ones fail.
func (s *Source) Close() error {
	s.mu.Lock()
	e := s.newest
	s.newest = nil
	s.mu.Unlock()
	if e == nil {
		return nil
	}
	return s.leave(e)
}

// Now is the known_at of the newest commit: the lake knows nothing of any later time. So a client that
// takes its instants from the Date header pulls on the days on which the lake was pulled.
func (s *Source) Now() time.Time {
	s.lookAside()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known.time()
}

// lookAside looks for a newer commit unless somebody is looking. Where it fails, the present stays what
// it was, and the next request for a page tells why.
func (s *Source) lookAside() {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	default:
		return
	}
	if e, err := s.look(context.Background()); err == nil {
		_ = s.leave(e) // an older catalog that was only read
	}
}

// List implements serve.Source.
func (s *Source) List(ctx context.Context, q serve.Query) (serve.Page, error) {
	if q.State != "" {
		return s.listState(ctx, q)
	}
	e, err := s.fresh(ctx)
	if err != nil {
		return serve.Page{}, err
	}
	page, err := s.list(ctx, e, e.known, q)
	return page, errors.Join(err, s.leave(e))
}

// listState goes on with a walk on the state that it began on.
func (s *Source) listState(ctx context.Context, q serve.Query) (serve.Page, error) {
	at, err := parseState(q.State)
	if err != nil {
		return serve.Page{}, err
	}
	e, err := s.enter()
	if err == nil && at > e.known { // it began at another server of this lake, which has looked later
		err = s.leave(e)
		if err == nil {
			e, err = s.fresh(ctx)
		}
	}
	if err != nil {
		return serve.Page{}, err
	}
	var page serve.Page
	if at > e.known {
		err = fmt.Errorf("the lake has no commit known at %s: %w", at, serve.ErrNotFound)
	} else {
		page, err = s.list(ctx, e, at, q)
	}
	return page, errors.Join(err, s.leave(e))
}

// Get implements serve.Source.
func (s *Source) Get(ctx context.Context, feed api.Feed, id int64) (serve.Record, error) {
	e, err := s.fresh(ctx)
	if err != nil {
		return serve.Record{}, err
	}
	record, err := s.get(ctx, e, e.known, feed, id)
	return record, errors.Join(err, s.leave(e))
}

// AsOf gives the lake as of the last commit that was known at an instant. Later commits do not change
// it. Before the first commit it fails with serve.ErrNotFound: an empty market would be a claim.
func (s *Source) AsOf(ctx context.Context, at time.Time) (serve.Source, error) {
	e, err := s.fresh(ctx)
	if err != nil {
		return nil, err
	}
	state, err := e.stateAt(ctx, instantOf(at))
	if err = errors.Join(err, s.leave(e)); err != nil {
		return nil, err
	}
	return &past{source: s, limit: instantOf(at), at: state}, nil
}

// past is a lake as of an instant. It lives from its Source, which must stay open.
type past struct {
	source *Source
	limit  instant // that was asked for
	at     instant // known_at of the last commit until then
}

var _ serve.TimeTraveler = (*past)(nil)

// Now is the known_at of the commit shown, as it was Now when that was the newest.
func (p *past) Now() time.Time { return p.at.time() }

// List implements serve.Source.
func (p *past) List(ctx context.Context, q serve.Query) (serve.Page, error) {
	if q.State == "" {
		q.State = p.at.state()
	}
	if at, err := parseState(q.State); err == nil && at > p.limit {
		return serve.Page{}, fmt.Errorf("a walk on a commit known at %s does not go on as of %s: %w", at, p.limit, serve.ErrNotFound)
	}
	return p.source.listState(ctx, q)
}

// Get implements serve.Source.
func (p *past) Get(ctx context.Context, feed api.Feed, id int64) (serve.Record, error) {
	e, err := p.source.enter()
	if err != nil {
		return serve.Record{}, err
	}
	record, err := p.source.get(ctx, e, p.at, feed, id)
	return record, errors.Join(err, p.source.leave(e))
}

// AsOf goes further back; what lies after this past is not known in it.
func (p *past) AsOf(ctx context.Context, at time.Time) (serve.Source, error) {
	if instantOf(at) >= p.at {
		return &past{source: p.source, limit: min(instantOf(at), p.limit), at: p.at}, nil
	}
	return p.source.AsOf(ctx, at)
}

// instant is a point in time as the lake keeps it: microseconds since 1970.
type instant int64

func instantOf(t time.Time) instant { return instant(t.UnixMicro()) }
func (i instant) time() time.Time   { return time.UnixMicro(int64(i)).UTC() }
func (i instant) String() string    { return lake.At(i.time()).String() }
func (i instant) literal() string   { return "TIMESTAMPTZ '" + i.String() + "'" }
func (i instant) state() string     { return strconv.FormatInt(int64(i), 36) }

// parseState reads what Page.State gave: the known_at of a commit names it in every server of the lake.
func parseState(text string) (instant, error) {
	n, err := strconv.ParseInt(text, 36, 64)
	if err != nil {
		return 0, fmt.Errorf("state %q of a walk: %w", text, serve.ErrNotFound)
	}
	return instant(n), nil
}
