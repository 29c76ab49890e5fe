package iceberg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/hamba/avro/v2/ocf"
	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/iceberg/known"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Fault is something published that is not what a publication of the lake's commits makes.
type Fault struct {
	Key    string // of the object
	Table  string // as Table.String; "" for all tables
	Detail string // what was found, and what was expected
	Moved  bool   // the tables name the lake's files at another place; nothing is damaged
	Note   bool   // something was not checked, as Detail says; nothing is damaged
	Todo   string // what to do about a note; "" to use a newer program
}

// verification is one call of Verify.
type verification struct {
	store   store.Store
	mem     memory.Allocator
	log     *load.Log
	reader  *known.Reader
	root    string
	state   *state
	present map[string]int64 // bytes of the objects that exist, by key
	now     bool             // the tables show the newest commit
	rows    bool             // objects are read

	mu     sync.Mutex
	faults []Fault
}

// Verify compares the published tables with the lake's commits: all that they name exists and has its size, metadata
// and hints agree, instants and hashes are those of the commits, and data files those of the commit that is shown. With
// rows it reads each object too: its bytes are those that its name was made of, manifests and lists say what the state
// says, and data files and deleted rows are those that a publication from nothing would name for each kept commit. The last
// is done if the newest commit is shown: files of an earlier one may be replaced. The lake's own files must be sound. It changes nothing; other commands may work at the same time.
//
// What cannot be read is a fault. The error is the context's.
func Verify(ctx context.Context, l *load.Lake, mem memory.Allocator, rows bool) ([]Fault, error) {
	reader, err := known.New(ctx, l, mem)
	if err != nil {
		return nil, err
	}
	v := &verification{store: l.Store(), mem: mem, log: l.Log(), reader: reader, root: l.Store().URL(), present: map[string]int64{}, rows: rows}
	published, err := ReadPublished(ctx, v.store)
	if err != nil {
		v.unread(PublishedKey, err)
	}
	if published != nil {
		v.now = published.Number == v.log.Number
		err = v.verify(ctx, published)
	}
	if err != nil && ctx.Err() == nil && len(v.faults) == 0 {
		v.fault(PublishedKey, "", "%v", err)
	}
	if published != nil && len(v.faults) > 0 {
		if again, err := ReadPublished(ctx, v.store); err == nil && (again == nil || again.State != published.State) {
			return nil, ctx.Err() // they were replaced or removed while they were checked
		}
	}
	return v.faults, ctx.Err()
}

func (v *verification) fault(key, table, format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.faults = append(v.faults, Fault{Key: key, Table: table, Detail: fmt.Sprintf(format, args...)})
}

// unread adds that an object cannot be read, which is a note if a newer program wrote it.
func (v *verification) unread(key string, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := Fault{Key: key, Detail: err.Error()}
	if errors.Is(err, errNewer) {
		f.Note, f.Detail = true, "the Iceberg tables were not checked, because a newer program wrote them: "+f.Detail
	}
	v.faults = append(v.faults, f)
}

func (v *verification) verify(ctx context.Context, published *Published) (err error) {
	switch here := location(v.root, ""); {
	case published.Location != here:
		v.faults = append(v.faults, Fault{Key: PublishedKey, Moved: true, Detail: fmt.Sprintf("the tables name files under %s, but the lake is at %s", published.Location, here)})
		return nil
	case published.Number > v.log.Number:
		return nil // another command has published its commit since the log was read
	case published.Number < 1:
		v.fault(PublishedKey, "", "the tables show commit %d, which the lake does not have", published.Number)
		return nil
	case published.SHA256 != v.reader.HashOf(published.Number):
		v.fault(PublishedKey, "", "the tables show commit %d with SHA-256 %.12s, but the lake's has %.12s", published.Number, published.SHA256, v.reader.HashOf(published.Number))
		return nil
	}
	read, err := readState(ctx, v.store, published.State)
	if err != nil {
		v.unread(published.State, err)
		return nil
	}
	v.state = read.state
	if err := v.list(ctx); err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, t := range Tables() {
		group.Go(func() error {
			at, state := published.find(t), v.state.Tables[t.String()]
			if at == nil || state == nil {
				v.fault(PublishedKey, t.String(), "the table is not published")
				return nil
			}
			return v.checkTable(groupCtx, t, at, state, published.State)
		})
	}
	if err := group.Wait(); err != nil || !v.rows || len(v.faults) > 0 {
		return err
	}
	why := fmt.Sprintf("they show commit %d, and the newest is %d", published.Number, v.log.Number)
	switch {
	case !v.isOurs():
		why = "another version of the program published them"
	case v.now:
		return v.compareRows(ctx)
	}
	v.faults = append(v.faults, Fault{
		Key: PublishedKey, Note: true, Detail: "the rows of the Iceberg tables were not compared with history: " + why,
		Todo: "run `dealflow iceberg publish`, then `dealflow verify --read-data` again",
	})
	return nil
}

// isOurs says whether this program publishes the same tables for these commits.
func (v *verification) isOurs() bool { return v.state.isOf(v.reader, v.root) }

// list finds the objects that exist: those of the tables, and data files.
func (v *verification) list(ctx context.Context) error {
	for _, prefix := range append(lake.DataPrefixes(), lake.IcebergPrefix) {
		for object, err := range v.store.List(ctx, prefix) {
			if err != nil {
				return err
			}
			v.present[object.Key] = object.Size
		}
	}
	return nil
}

func (v *verification) checkTable(ctx context.Context, t Table, at *PublishedTable, s *tableState, stateKey string) error {
	if err := v.checkMetadata(ctx, t, at, s, stateKey); err != nil {
		return err
	}
	for i := range s.Snapshots {
		kept := &s.Snapshots[i]
		switch {
		case kept.Commit < 1 || kept.Commit > v.log.Number:
			v.fault(stateKey, t.String(), "the table can be read as of commit %d, which the lake does not have", kept.Commit)
		case kept.SHA256 != v.reader.HashOf(kept.Commit) || !kept.KnownAt.Equal(v.reader.KnownAt(kept.Commit).Time):
			v.fault(stateKey, t.String(), "commit %d is named by SHA-256 %.12s and known_at %s, but has %.12s and %s",
				kept.Commit, kept.SHA256, kept.KnownAt, v.reader.HashOf(kept.Commit), v.reader.KnownAt(kept.Commit))
		}
	}
	var objects []object
	s.objects(func(o object) { objects = append(objects, o) })
	for _, o := range objects {
		if err := v.checkObject(ctx, t, o); err != nil {
			return err
		}
	}
	v.checkData(t, s, stateKey)
	if !v.rows || !v.isOurs() {
		return nil
	}
	return v.checkLists(ctx, t, s)
}

// checkMetadata compares the table's metadata with the state, and its hint.
func (v *verification) checkMetadata(ctx context.Context, t Table, at *PublishedTable, s *tableState, stateKey string) error {
	found, err := store.Read(ctx, v.store, at.Metadata())
	if err != nil {
		v.fault(at.Metadata(), t.String(), "published metadata: %v", err)
		return ctx.Err()
	}
	want, err := t.metadata(v.root, v.reader.HashOf(1), s, stateKey)
	if v.isOurs() && v.state.FormatVersion == stateVersion && (err != nil || !equalJSON(found, want)) {
		v.fault(at.Metadata(), t.String(), "the metadata is not what the state %s says", stateKey)
	}
	hint, err := store.Read(ctx, v.store, t.hintKey())
	if err != nil {
		v.fault(t.hintKey(), t.String(), "%v", err)
		return ctx.Err()
	}
	// After a publication that was killed a hint names an earlier version, which is complete.
	if metadata, ok := hinted(t.hintKey(), hint); !ok || v.present[metadata] == 0 {
		v.fault(t.hintKey(), t.String(), "got %q, want the number of a version whose metadata exists", hint)
	}
	return nil
}

func equalJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// checkObject checks that an object exists, and with rows that its bytes are those that its name was made of.
func (v *verification) checkObject(ctx context.Context, t Table, o object) error {
	size, exists := v.present[o.Key]
	if !exists || size != o.Bytes {
		v.fault(o.Key, t.String(), "got %d bytes, want %d (0: absent)", size, o.Bytes)
		return nil
	}
	if !v.rows {
		return nil
	}
	data, err := store.Read(ctx, v.store, o.Key)
	if err != nil {
		v.fault(o.Key, t.String(), "%v", err)
		return ctx.Err()
	}
	_, digits, _ := strings.Cut(suffix(o.Key), "-")
	if digits, _, _ = strings.Cut(digits, "."); len(digits) < nameDigits || !strings.HasPrefix(lake.SHA256(data), digits) {
		v.fault(o.Key, t.String(), "got SHA-256 %.24s, want that in the object's name", lake.SHA256(data))
	}
	return nil
}

// checkData checks the data files that the table names. If it shows the newest commit, they are the lake's files of the
// table; if not, maintenance may have replaced some since, which stay until the next publication.
func (v *verification) checkData(t Table, s *tableState, stateKey string) {
	live := map[string]lake.File{}
	for _, file := range v.log.Files(t.source) {
		live[file.Path] = file
	}
	named := map[string]bool{}
	for _, b := range s.Blocks {
		for i := range b.Entries {
			e := &b.Entries[i]
			file, isLive := live[e.Data]
			switch {
			case b.Kind != dataFiles:
			case isLive && !reflect.DeepEqual(*e, entryOf(&file)):
				v.fault(stateKey, t.String(), "%s: the table says %+v, the commit %+v", e.Data, *e, file)
			case !isLive && (v.now || v.present[e.Data] != e.Bytes):
				v.fault(stateKey, t.String(), "%s: the table names the file, which the lake does not have", e.Data)
			}
			named[e.Data] = named[e.Data] || b.Kind == dataFiles
		}
	}
	for path := range live {
		if v.now && !named[path] {
			v.fault(stateKey, t.String(), "%s: the table does not name the file, which the lake has", path)
		}
	}
}

// checkLists compares what the table's manifests and manifest lists say with the state.
func (v *verification) checkLists(ctx context.Context, t Table, s *tableState) error {
	schema, err := schemaOfTable(t)
	if err != nil {
		return err
	}
	for _, b := range s.Blocks {
		if err := compareRecords(ctx, v, t, b.Manifest.Key, b.manifestEntries(v.root, schema)); err != nil {
			return err
		}
	}
	for i := range s.Snapshots {
		if err := compareRecords(ctx, v, t, s.Snapshots[i].List.Key, listEntries(v.root, s.blocksOf(&s.Snapshots[i]))); err != nil {
			return err
		}
	}
	return nil
}

// blocksOf returns the blocks of a snapshot.
func (s *tableState) blocksOf(kept *snapshot) []*block {
	blocks := make([]*block, len(kept.Blocks))
	for i, n := range kept.Blocks {
		blocks[i] = s.Blocks[n]
	}
	return blocks
}

// compareRecords compares the records of an Avro file.
func compareRecords[T any](ctx context.Context, v *verification, t Table, key string, want []T) error {
	data, err := store.Read(ctx, v.store, key)
	if err != nil {
		v.fault(key, t.String(), "%v", err)
		return ctx.Err()
	}
	got := []T{}
	dec, err := ocf.NewDecoder(bytes.NewReader(data))
	for err == nil && dec.HasNext() {
		var record T
		if err = dec.Decode(&record); err == nil {
			got = append(got, record)
		}
	}
	if err == nil {
		err = dec.Error()
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		v.fault(key, t.String(), "the %d entries are not the %d that the state says (%v)", len(got), len(want), err)
	}
	return nil
}

// compareRows builds the tables from the lake's files alone, and compares which rows they have as of each kept commit.
func (v *verification) compareRows(ctx context.Context) error {
	kept := make([]int64, 0)
	for _, s := range v.state.Tables[Tables()[0].String()].Snapshots {
		kept = append(kept, s.Commit)
	}
	p := &publication{store: v.store, mem: v.mem, log: v.log, root: v.root, reader: v.reader, dry: true}
	made, err := p.tables(ctx, &Published{}, kept)
	if err != nil {
		return err
	}
	for i := range made {
		if err := v.compareTable(ctx, made[i].Table, v.state.Tables[made[i].String()], made[i].state); err != nil {
			return err
		}
	}
	return nil
}

// compareTable compares the published state of a table with the one that was built from the files.
func (v *verification) compareTable(ctx context.Context, t Table, got, want *tableState) error {
	if len(got.Snapshots) != len(want.Snapshots) {
		v.fault(t.folder(), t.String(), "the table can be read as of %d commits, others of its namespace as of %d", len(got.Snapshots), len(want.Snapshots))
		return nil
	}
	compared := map[*block]bool{}
	for i := range want.Snapshots {
		key, commit := got.Snapshots[i].List.Key, got.Snapshots[i].Commit
		both, g, w := matched(got.blocksOf(&got.Snapshots[i]), want.blocksOf(&want.Snapshots[i]))
		differ := commit != want.Snapshots[i].Commit
		for _, pair := range both {
			if differ = differ || !sameBlock(pair[0], pair[1]); differ || compared[pair[0]] || pair[0].Kind == dataFiles {
				continue
			}
			compared[pair[0]] = true
			for e := range pair[1].Entries {
				if err := v.comparePositions(ctx, t, &pair[0].Entries[e], pair[1].Entries[e].positions); err != nil {
					return err
				}
			}
		}
		// What continued from earlier tables divides the same rows into other blocks.
		have, wanted := v.contents(ctx, t, g), v.contents(ctx, t, w)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if differ || !maps.EqualFunc(have, wanted, slices.Equal) {
			v.fault(key, t.String(), "as of commit %d the table has other files, or other deleted rows, than history", commit)
		}
	}
	return nil
}

// matched returns the blocks of the same kind and span in two lists, in pairs, and the others of each.
func matched(a, b []*block) (both [][2]*block, onlyA, onlyB []*block) {
	places := map[blockKey]*block{}
	for _, y := range b {
		places[blockKey{y.Kind, y.Span}] = y
	}
	for _, x := range a {
		key := blockKey{x.Kind, x.Span}
		if y := places[key]; y != nil {
			both = append(both, [2]*block{x, y})
			delete(places, key)
		} else {
			onlyA = append(onlyA, x)
		}
	}
	return both, onlyA, slices.Collect(maps.Values(places))
}

// contents returns what blocks have together: by data file the deleted rows, sorted, and for each data file the number of its rows.
func (v *verification) contents(ctx context.Context, t Table, blocks []*block) map[string][]int64 {
	found := map[string][]int64{}
	for _, b := range blocks {
		for i := range b.Entries {
			e := &b.Entries[i]
			if b.Kind == dataFiles {
				found["rows of "+e.Data] = []int64{e.Rows}
				continue
			}
			if e.positions == nil && e.Deletes.Key != "" { // once, although many snapshots share a block
				e.positions, _ = readDeletes(ctx, v.store, v.mem, e.Deletes)
				_ = v.comparePositions(ctx, t, e, e.positions) // a fault if that failed, or if a row names another data file
			}
			found[e.Data] = append(found[e.Data], e.positions...)
		}
	}
	for _, rows := range found {
		slices.Sort(rows)
	}
	return found
}

// sameBlock says whether two blocks of a kind and span name the same data files, each with the same number of rows.
func sameBlock(a, b *block) bool {
	return slices.EqualFunc(a.Entries, b.Entries, func(x, y entry) bool { return x.Data == y.Data && x.Rows == y.Rows })
}

// comparePositions compares the rows that a file of position deletes names.
func (v *verification) comparePositions(ctx context.Context, t Table, e *entry, want []int64) error {
	next, target := 0, location(v.root, e.Data)
	columns := []string{parquet.DeletePath, parquet.DeletePosition}
	err := parquet.Scan(ctx, v.store, v.mem, e.Deletes.Key, columns, nil, func(rec arrow.Record) error {
		positions, ok := rec.Column(1).(*array.Int64)
		if !ok {
			return fmt.Errorf("column %s is of type %s", parquet.DeletePosition, rec.Column(1).DataType())
		}
		for row := range int(rec.NumRows()) {
			if next == len(want) || positions.Value(row) != want[next] || rec.Column(0).ValueStr(row) != target {
				return fmt.Errorf("deleted row %d is %d of %s, want the rows of %s that history says", next+1, positions.Value(row), rec.Column(0).ValueStr(row), target)
			}
			next++
		}
		return nil
	})
	if err == nil && next < len(want) {
		err = fmt.Errorf("%d deleted rows, want %d", next, len(want))
	}
	if err != nil {
		v.fault(e.Deletes.Key, t.String(), "%v", err)
	}
	return ctx.Err()
}
