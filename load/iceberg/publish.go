package iceberg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"dealflow/load"
	"dealflow/load/iceberg/known"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Config says how to publish. Clock must be set.
type Config struct {
	Clock  func() time.Time // the machine's
	Memory memory.Allocator // default: Go's
}

// Result says what a publication did. `--json` prints this object; fields are only ever added.
type Result struct {
	Commit  int64   `json:"commit"`
	Kept    int     `json:"kept"`    // snapshots of each table of Current
	Rebuilt int     `json:"rebuilt"` // tables that were built from all of their files
	Objects int     `json:"objects"` // that were put, without the last three kinds: metadata, hints, and what is published
	Bytes   int64   `json:"bytes"`   // of all objects that were put, except hints
	Seconds float64 `json:"seconds"`
}

// How much is done at once, so that a store far away takes as long for many objects as for one, and memory has room for them.
const (
	largeAtOnce = 4                // tables of many rows, which they hold
	tableAtOnce = 16               // tables of few rows
	filesAtOnce = 4                // files of a table of which all rows are read
	someAtOnce  = 32               // files of all tables of which some rows are read: of each it may hold a megabyte
	atOnce      = store.SideBySide // small objects that are read or put
)

// manyRows is the number of deleted rows from which on a table has many.
const manyRows = 100_000

// publication is one call of Publish.
type publication struct {
	ctx    context.Context // of the puts
	store  store.Store
	mem    memory.Allocator
	log    *load.Log
	root   string
	reader *known.Reader
	old    *stored // the state that is continued from; nil for none
	known  known.Versions
	closed known.Versions // versions that were replaced or removed since the commit of old
	puts   *errgroup.Group
	some   *semaphore.Weighted // the files of all tables of which some rows are read
	by     store.Replacer      // of what is published; nil if the store gives no tags
	tag    string              // of what is published, from before it was read; "" for nothing
	last   int64               // the newest version of metadata that was removed
	dry    bool                // nothing is put: objects have no keys, and entries have their positions

	mu     sync.Mutex
	put    map[string]bool // keys of the objects that putNew was given
	result Result
}

// putTable is a table to publish.
type putTable struct {
	Table
	PublishedTable
	state    *tableState
	metadata []byte
}

// Publish publishes the lake's tables for its newest commit. It continues from what is published, and builds what it
// cannot continue from its files. The caller holds the lease: expire must not work at the same time.
// The result is nil if a later commit is published, or another command has published this one since the call.
//
// An error leaves the tables as they were, except that some may show a later commit than others. Publish again.
func Publish(ctx context.Context, l *load.Lake, cfg Config) (*Result, error) {
	began := cfg.Clock()
	if cfg.Memory == nil {
		cfg.Memory = memory.DefaultAllocator
	}
	p := &publication{store: l.Store(), mem: cfg.Memory, log: l.Log(), root: l.Store().URL(), put: map[string]bool{}, some: semaphore.NewWeighted(someAtOnce)}
	var settings Settings
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.findTag(groupCtx) })
	group.Go(func() (err error) {
		settings, err = ReadSettings(groupCtx, p.store)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	p.last = settings.LastVersion
	before, err := ReadPublished(ctx, l.Store())
	if err != nil {
		return nil, err
	}
	if before == nil {
		before = &Published{}
	}
	if p.reader, err = known.New(ctx, l, cfg.Memory); err != nil {
		return nil, err
	}
	if before.Number > p.log.Number && !p.log.RecordsLoss(before.NamedCommit) {
		later, err := l.HasCommit(ctx, before.Number)
		if err == nil && !later {
			err = fmt.Errorf("commit %d is published, but the lake does not have it; run `dealflow verify`", before.Number)
		}
		return nil, err // another command has published its later commit
	}
	tables, err := p.tables(ctx, before, keptCommits(p.reader.Names(), settings.KeepAll))
	if err != nil {
		return nil, err
	}
	if done, err := p.putTables(ctx, before, tables, cfg.Clock); err != nil || !done {
		return nil, err
	}
	p.result.Commit, p.result.Seconds = p.log.Number, cfg.Clock().Sub(began).Seconds()
	return &p.result, nil
}

// tables makes the states of all tables. When it returns, all that they name has been put.
func (p *publication) tables(ctx context.Context, before *Published, kept []int64) ([]putTable, error) {
	p.result.Kept = len(kept)
	builders, err := p.builders(ctx, before, kept)
	if err != nil {
		return nil, err
	}
	if err := p.readVersions(ctx, builders); err != nil {
		return nil, err
	}
	p.puts, p.ctx = errgroup.WithContext(ctx)
	p.puts.SetLimit(atOnce)
	made := make([]putTable, len(builders))
	group, tableCtx := errgroup.WithContext(p.ctx)
	room := semaphore.NewWeighted(tableAtOnce)
	for i, b := range builders {
		group.Go(func() (err error) {
			weight := b.weight()
			if err := room.Acquire(tableCtx, weight); err != nil {
				return err
			}
			defer room.Release(weight)
			if made[i], err = b.make(tableCtx); err != nil {
				return fmt.Errorf("table %s: %w", b.table, err)
			}
			return nil
		})
	}
	err, unput := group.Wait(), p.puts.Wait()
	if unput != nil && errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return made, unput // a table whose object could not be put has ended the others
	}
	return made, errors.Join(err, unput)
}

// builders returns a builder for each table, in the order of Tables.
func (p *publication) builders(ctx context.Context, before *Published, kept []int64) ([]*builder, error) {
	builders := make([]*builder, len(Tables()))
	files := map[string]map[string]lake.File{}
	for _, file := range p.log.AllFiles() {
		if files[file.Table] == nil {
			files[file.Table] = map[string]lake.File{}
		}
		files[file.Table][file.Path] = file
	}
	var old *stored
	if before.State != "" {
		var err error
		if old, err = readState(ctx, p.store, before.State); ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || !old.isOf(p.reader, p.root) {
			old = nil // all tables are built again
		}
		p.old = old
	}
	for i, t := range Tables() {
		schema, err := schemaOfTable(t)
		if err != nil {
			return nil, err
		}
		b := &builder{
			publication: p, table: t, schema: schema, kept: kept, files: files[t.source], first: map[string]int64{},
			closed: map[string][]known.Event{}, later: map[string][]known.Event{}, blocks: map[blockKey]*block{}, named: map[string]object{},
		}
		if t.Namespace != Current {
			b.kept = []int64{p.log.Number}
		}
		if old != nil && old.Tables[t.String()] != nil && b.canContinue(old.Tables[t.String()], old.Number) {
			b.continueFrom(old.Tables[t.String()], old.Number)
		}
		builders[i] = b
	}
	for _, b := range builders {
		if b.previous == nil {
			p.result.Rebuilt++
		}
	}
	return builders, nil
}

// readVersions reads what the tables of Current need to know of versions: of all, or of those that are new.
func (p *publication) readVersions(ctx context.Context, builders []*builder) (err error) {
	since := p.log.Number
	for _, b := range builders {
		if b.table.Namespace == Current {
			since = min(since, b.from)
		}
	}
	if p.known, err = p.reader.Since(ctx, since); err == nil && p.old != nil {
		p.closed, err = p.reader.Closed(ctx, p.known, p.old.Number)
	}
	return err
}

// find returns what is published of a table; nil for nothing.
func (p *Published) find(t Table) *PublishedTable {
	i := slices.IndexFunc(p.Tables, func(at PublishedTable) bool { return at.Namespace == t.Namespace && at.Name == t.Name })
	if i < 0 {
		return nil
	}
	return &p.Tables[i]
}

// make builds the table's state, and puts what it names.
func (b *builder) make(ctx context.Context) (made putTable, err error) {
	made = putTable{Table: b.table, PublishedTable: PublishedTable{Namespace: b.table.Namespace, Name: b.table.Name}}
	if made.state, err = b.build(ctx); err != nil {
		return made, err
	}
	made.Snapshots = len(made.state.Snapshots)
	made.state.objects(func(o object) {
		made.Objects++
		made.Bytes += o.Bytes
	})
	return made, nil
}

// putState puts the state of all tables, and returns its key. before is the key of the state that is continued from.
func (p *publication) putState(ctx context.Context, tables []putTable, before string) (string, error) {
	s := &state{FormatVersion: stateVersion, Location: location(p.root, ""), Schema: lake.SchemaVersion, NamedCommit: p.log.Newest(), Tables: map[string]*tableState{}}
	for i := range tables {
		s.Tables[tables[i].String()] = tables[i].state
	}
	if p.old != nil && s.isSame(p.old.state) {
		return before, nil // of the same commit, with the same tables
	}
	packed, err := s.pack(p.old)
	if err != nil {
		return "", err
	}
	key := fmt.Sprintf("%s%d-%.24s.json.zst", statesPrefix, p.log.Number, lake.SHA256(packed))
	p.count(len(packed))
	return key, putOnce(ctx, p.store, key, packed)
}

// putTables puts the state and the metadata of all tables and what they replace, then what is published, then the hints. It is
// not done if another command has published the same commit or a later one.
func (p *publication) putTables(ctx context.Context, before *Published, tables []putTable, clock func() time.Time) (done bool, err error) {
	now := &Published{FormatVersion: formatVersion, NamedCommit: p.log.Newest(), At: lake.At(clock()), Location: location(p.root, ""), Kept: p.result.Kept}
	if now.State, err = p.putState(ctx, tables, before.State); err != nil {
		return false, err
	}
	for i := range tables {
		t := &tables[i]
		if t.metadata, err = t.Table.metadata(p.root, p.reader.HashOf(1), t.state, now.State); err != nil {
			return false, fmt.Errorf("table %s: %w", t.Table, err)
		}
		t.Objects++
		t.Bytes += int64(len(t.metadata))
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range tables {
		group.Go(func() error { return p.putMetadata(groupCtx, before, &tables[i]) })
	}
	group.Go(func() error { return p.recordReplaced(groupCtx, before, now.State) })
	if err := group.Wait(); err != nil {
		return false, err
	}
	for i := range tables {
		now.Tables = append(now.Tables, tables[i].PublishedTable)
	}
	if done, err = p.putPublished(ctx, before, now); err != nil || !done {
		return false, err
	}
	group, groupCtx = errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	last := len(tables) - 1
	for i := range last {
		group.Go(func() error { return p.putHint(groupCtx, &tables[i]) })
	}
	if err := group.Wait(); err != nil {
		return false, err
	}
	return true, p.putHint(ctx, &tables[last]) // recordReplaced goes by it
}

func (p *publication) putHint(ctx context.Context, t *putTable) error {
	return p.store.Put(ctx, t.hintKey(), strings.NewReader(strconv.FormatInt(t.Version, 10)), store.Replace)
}

// findTag finds the tag of what is published.
func (p *publication) findTag(ctx context.Context) (err error) {
	replacer, ok := p.store.(store.Replacer)
	if !ok {
		return nil
	}
	if p.tag, err = replacer.Tag(ctx, PublishedKey); errors.Is(err, store.ErrNoTag) {
		return nil
	}
	p.by = replacer
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// putPublished replaces what is published, if it is still what was there before. If not, a command that lost its lease has
// gone on: it gives way if the same commit or a later one is published.
func (p *publication) putPublished(ctx context.Context, before, now *Published) (done bool, err error) {
	err = p.replacePublished(ctx, before, now)
	if !errors.Is(err, store.ErrChanged) && !isExists(err) {
		return err == nil, err
	}
	again, readErr := ReadPublished(ctx, p.store)
	if readErr == nil && again != nil && again.Number >= p.log.Number && !p.log.RecordsLoss(again.NamedCommit) {
		return false, nil
	}
	return false, errors.Join(fmt.Errorf("another command has replaced or removed the tables since the publication began; run `dealflow iceberg publish`: %w", err), readErr)
}

func (p *publication) replacePublished(ctx context.Context, before, now *Published) error {
	if p.by == nil {
		again, err := ReadPublished(ctx, p.store)
		if err != nil {
			return err
		}
		if again == nil {
			again = &Published{}
		}
		if again.State != before.State || !again.At.Equal(before.At.Time) {
			return store.ErrChanged
		}
		return putJSON(ctx, p.store, PublishedKey, now)
	}
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	body := bytes.NewReader(append(data, '\n'))
	if p.tag == "" {
		return p.store.Put(ctx, PublishedKey, body, store.CreateOnly)
	}
	return p.by.ReplaceIf(ctx, PublishedKey, body, p.tag)
}

// versionTries is how many versions of metadata are tried: those that failed publications have left are passed over.
const versionTries = 1000

// putMetadata puts a table's metadata under the next version. Metadata that is published already keeps its version: that can
// only be metadata of the same commit, with which the state of each names it.
func (p *publication) putMetadata(ctx context.Context, before *Published, t *putTable) error {
	t.Version = p.last + 1
	if old := before.find(t.Table); old != nil {
		t.Version = old.Version + 1
		if before.Number == p.log.Number {
			if found, err := store.Read(ctx, p.store, t.metadataKey(old.Version)); err == nil && bytes.Equal(found, t.metadata) {
				t.Version = old.Version
				return nil
			}
		}
	}
	for range versionTries {
		err := putOnce(ctx, p.store, t.metadataKey(t.Version), t.metadata)
		if !isExists(err) {
			p.count(len(t.metadata))
			return err
		}
		t.Version++
	}
	return fmt.Errorf("table %s: the metadata of %d versions exists already: another program has written it", t.Table, versionTries)
}

func isExists(err error) bool { return errors.Is(err, store.ErrExists) }

// count adds the bytes of an object that was put.
func (p *publication) count(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result.Bytes += int64(n)
}

// putNew stores an object under a name that its content determines, in the background. Two tables may share one.
func (p *publication) putNew(key string, data []byte) {
	p.mu.Lock()
	known := p.put[key]
	if !known {
		p.put[key] = true
		p.result.Objects++
	}
	p.mu.Unlock()
	if known {
		return
	}
	p.count(len(data))
	p.puts.Go(func() error { return putOnce(p.ctx, p.store, key, data) })
}

// putOnce creates an object. One with the same bytes may exist: an earlier publication has put it, and then failed.
func putOnce(ctx context.Context, s store.Store, key string, data []byte) error {
	err := s.Put(ctx, key, bytes.NewReader(data), store.CreateOnly)
	if !isExists(err) {
		return err
	}
	found, err := store.Read(ctx, s, key)
	if err == nil && !bytes.Equal(found, data) {
		err = fmt.Errorf("%s: %w, with other bytes", key, store.ErrExists)
	}
	return err
}

// IsOn says whether the lake is set to publish its tables.
func IsOn(ctx context.Context, l *load.Lake) (bool, Settings, error) {
	if needs := l.Log().Needs(); !slices.Contains(needs.RequiresToWrite, lake.NeedIceberg) {
		return false, Settings{FormatVersion: formatVersion, Every: DefaultEvery}, nil // each lake with tables has a commit that says so
	}
	settings, err := ReadSettings(ctx, l.Store())
	return err == nil && settings.On, settings, err
}

// AfterCommit publishes the tables after a commit, if the lake is set to publish them. With rarely, it does so only if the
// last publication is as long ago as the settings say. The result is nil if nothing was published. The caller holds the
// lease.
func AfterCommit(ctx context.Context, l *load.Lake, cfg Config, rarely bool) (*Result, error) {
	on, settings, err := IsOn(ctx, l)
	if err != nil || !on {
		return nil, err
	}
	if rarely {
		last, err := ReadPublished(ctx, l.Store())
		if err != nil {
			return nil, err
		}
		if last != nil && cfg.Clock().Sub(last.At.Time).Abs() < settings.Every {
			return nil, nil
		}
	}
	return Publish(ctx, l, cfg)
}

// Follow publishes or removes the tables, as the settings say: for a lake that was made from another one, with its
// settings. The result is nil if nothing was published. No other command may write to the lake.
func Follow(ctx context.Context, l *load.Lake, cfg Config) (*Result, error) {
	on, _, err := IsOn(ctx, l)
	switch {
	case err != nil:
		return nil, err
	case on:
		return Publish(ctx, l, cfg)
	}
	published, err := ReadPublished(ctx, l.Store())
	if err != nil || published == nil {
		return nil, err
	}
	return nil, Off(ctx, l.Store())
}
