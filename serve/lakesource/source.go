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

// Catalog is an open catalog of the lake (package sql). No other code of the process may open the same file under the
// same path: DuckDB would return the database that was opened first.
type Catalog struct {
	DB    *stdsql.DB
	Close func() error // closes DB and releases all that was opened with it
}

// Reads returns a text that names the tables that a Source queries, as a statement does. Their files must be local
// when the catalog is opened.
func Reads() string {
	text := "FROM files." + lake.DealVersions + ", files." + loanTranches
	for _, feed := range api.Feeds() {
		text += ", files." + lake.FeedTables(feed)[0].Name
	}
	return text
}

// Config says where the lake is.
type Config struct {
	// IndexDeals limits the deals in the indexes that are kept in memory, at about 40 bytes per deal. The last used
	// index is kept even if it is larger. Defaults to 1,000,000.
	IndexDeals int

	// Newer opens the catalog of the lake's newest commit if its number is greater than the given one, and returns
	// nil otherwise. It is called on every request for a first page, so it must be cheap if there is no newer commit.
	// It is never called concurrently. Required.
	Newer func(ctx context.Context, than int64) (*Catalog, error)
}

// Source is a market that shows a lake as of its newest commit. Its methods may be called concurrently.
type Source struct {
	config  Config
	indexes indexes
	turn    chan struct{} // has a value while a goroutine looks for a newer catalog

	mu     sync.Mutex
	newest *openCatalog // nil once the Source is closed
	known  instant      // known_at of the newest commit; stays after Close
}

var _ serve.TimeTraveler = (*Source)(nil)

// New opens a lake, which must have a commit. The caller closes the Source.
func New(ctx context.Context, config Config) (*Source, error) {
	if config.Newer == nil {
		return nil, errors.New("lakesource: Newer is not set")
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
	if s.newest, err = newOpenCatalog(ctx, catalog); err != nil {
		return nil, err
	}
	s.known = s.newest.known
	return s, nil
}

// Close closes the catalog after the last request that reads it. Later requests fail. A second Close does nothing.
func (s *Source) Close() error {
	s.mu.Lock()
	e := s.newest
	s.newest = nil
	s.mu.Unlock()
	if e == nil {
		return nil
	}
	return s.release(e)
}

// Now returns the known_at of the newest commit: the lake knows nothing about later instants. A client that uses the
// Date header as its clock therefore pulls on the days on which the lake was pulled.
func (s *Source) Now() time.Time {
	s.pollIfFree()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known.time()
}

// pollIfFree looks for a newer commit unless another goroutine does so now. An error changes nothing here: the next
// request for a page finds and returns it.
func (s *Source) pollIfFree() {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	default:
		return
	}
	if e, err := s.poll(context.Background()); err == nil {
		_ = s.release(e) // an older catalog that was only read
	}
}

// List implements serve.Source.
func (s *Source) List(ctx context.Context, q serve.Query) (serve.Page, error) {
	if q.State != "" {
		return s.listState(ctx, q)
	}
	e, err := s.acquireNewest(ctx)
	if err != nil {
		return serve.Page{}, err
	}
	page, err := s.list(ctx, e, e.known, q)
	return page, errors.Join(err, s.release(e))
}

// listState continues a walk on the state on which it began.
func (s *Source) listState(ctx context.Context, q serve.Query) (serve.Page, error) {
	at, err := parseState(q.State)
	if err != nil {
		return serve.Page{}, err
	}
	e, err := s.acquire()
	if err == nil && at > e.known { // the walk began at another server of this lake, which has seen a later commit
		err = s.release(e)
		if err == nil {
			e, err = s.acquireNewest(ctx)
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
	return page, errors.Join(err, s.release(e))
}

// Get implements serve.Source.
func (s *Source) Get(ctx context.Context, feed api.Feed, id int64) (serve.Record, error) {
	e, err := s.acquireNewest(ctx)
	if err != nil {
		return serve.Record{}, err
	}
	record, err := s.get(ctx, e, e.known, feed, id)
	return record, errors.Join(err, s.release(e))
}

// AsOf returns the lake as of the last commit that was known at an instant. Later commits do not change it. Before the
// first commit it fails with serve.ErrNotFound: an empty market would claim that there were no deals. The result
// cannot be used after Close.
func (s *Source) AsOf(ctx context.Context, at time.Time) (serve.Source, error) {
	e, err := s.acquireNewest(ctx)
	if err != nil {
		return nil, err
	}
	state, err := e.stateAt(ctx, instantOf(at))
	if err = errors.Join(err, s.release(e)); err != nil {
		return nil, err
	}
	return &asOfSource{source: s, limit: instantOf(at), at: state}, nil
}

// asOfSource is a lake as of an instant. It reads through its Source, which must stay open.
type asOfSource struct {
	source *Source
	limit  instant // instant of the request
	at     instant // known_at of the last commit at or before limit
}

var _ serve.TimeTraveler = (*asOfSource)(nil)

// Now returns the known_at of the last commit at or before the instant of the request.
func (p *asOfSource) Now() time.Time { return p.at.time() }

// List implements serve.Source.
func (p *asOfSource) List(ctx context.Context, q serve.Query) (serve.Page, error) {
	if q.State == "" {
		q.State = p.at.state()
	}
	if at, err := parseState(q.State); err == nil && at > p.limit {
		return serve.Page{}, fmt.Errorf("a walk of the commit known at %s cannot continue as of %s, which is earlier: %w", at, p.limit, serve.ErrNotFound)
	}
	return p.source.listState(ctx, q)
}

// Get implements serve.Source.
func (p *asOfSource) Get(ctx context.Context, feed api.Feed, id int64) (serve.Record, error) {
	e, err := p.source.acquire()
	if err != nil {
		return serve.Record{}, err
	}
	record, err := p.source.get(ctx, e, p.at, feed, id)
	return record, errors.Join(err, p.source.release(e))
}

// AsOf returns an earlier state. A later instant gives this state: later commits are not known here.
func (p *asOfSource) AsOf(ctx context.Context, at time.Time) (serve.Source, error) {
	if instantOf(at) >= p.at {
		return &asOfSource{source: p.source, limit: min(instantOf(at), p.limit), at: p.at}, nil
	}
	return p.source.AsOf(ctx, at)
}

// instant is a point in time with the resolution of the lake: microseconds since 1970, UTC.
type instant int64

func instantOf(t time.Time) instant { return instant(t.UnixMicro()) }
func (i instant) time() time.Time   { return time.UnixMicro(int64(i)).UTC() }
func (i instant) String() string    { return lake.At(i.time()).String() }
func (i instant) literal() string   { return "TIMESTAMPTZ '" + i.String() + "'" }
func (i instant) state() string     { return strconv.FormatInt(int64(i), 36) }

// parseState reads a Page.State: the known_at of a commit, which identifies the commit in every server of the lake.
func parseState(text string) (instant, error) {
	n, err := strconv.ParseInt(text, 36, 64)
	if err != nil {
		return 0, fmt.Errorf("state %q of a walk is not valid: %w", text, serve.ErrNotFound)
	}
	return instant(n), nil
}
