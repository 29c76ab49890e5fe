package iceberg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"dealflow/load/iceberg/known"
	"dealflow/load/iceberg/spans"
	"dealflow/load/parquet"
	"dealflow/schemas/lake"
)

// stateVersion is the version of a state. It rises if the same commits give other entries of manifests, lists or metadata:
// verify does not compare older ones with what this program would write, and if manifests or lists are others, all tables
// are built again. The statistics of version 1's position deletes stopped DataFusion.
const stateVersion = 4

// longMetadata is the version of states whose metadata had the complete hash of each commit, and what each column means in
// all namespaces. Manifests and lists are the same, so that a publication continues from it.
const longMetadata = 2

// state is what a publication remembers, so that the next one continues from it, and expire knows what the tables need.
type state struct {
	FormatVersion int    `json:"format_version"`
	Location      string `json:"location"`
	Schema        int    `json:"schema_version"`
	lake.NamedCommit
	Tables map[string]*tableState `json:"tables"` // by Table.String
}

// tableState is what a state has of one table.
type tableState struct {
	Blocks    []*block   `json:"blocks"`    // that snapshots are made of
	Snapshots []snapshot `json:"snapshots"` // oldest first
}

// snapshot is a commit as of which the table can be read.
type snapshot struct {
	Commit  int64        `json:"commit"`
	SHA256  string       `json:"sha256"`
	KnownAt lake.Instant `json:"known_at"`
	List    object       `json:"list"`
	Blocks  []int        `json:"blocks"` // indices in the state's
}

// check returns an error if a snapshot names a block that is not there.
func (s *tableState) check() error {
	if s == nil || slices.Contains(s.Blocks, nil) {
		return errors.New("a block, or all of them, is null")
	}
	for i := range s.Snapshots {
		for _, n := range s.Snapshots[i].Blocks {
			if n < 0 || n >= len(s.Blocks) {
				return fmt.Errorf("snapshot %d names block %d of %d", s.Snapshots[i].Commit, n, len(s.Blocks))
			}
		}
	}
	return nil
}

// objects yields all objects that the snapshots are made of.
func (s *tableState) objects(yield func(object)) {
	for _, b := range s.Blocks {
		yield(b.Manifest)
		for i := range b.Entries {
			if b.Kind != dataFiles {
				yield(b.Entries[i].Deletes)
			}
		}
	}
	lists := map[string]bool{}
	for i := range s.Snapshots {
		if list := s.Snapshots[i].List; !lists[list.Key] {
			lists[list.Key] = true
			yield(list)
		}
	}
}

// dataFiles returns the keys of the data files that the table reads.
func (s *tableState) dataFiles() map[string]bool {
	keys := map[string]bool{}
	for _, b := range s.Blocks {
		if b.Kind == dataFiles {
			for i := range b.Entries {
				keys[b.Entries[i].Data] = true
			}
		}
	}
	return keys
}

type blockKey struct {
	kind string
	span spans.Span
}

// builder makes the blocks and snapshots of one table. It continues from a state, or builds all of them from the files. It
// is used by one goroutine.
type builder struct {
	*publication
	table    Table
	schema   *tableSchema
	previous *tableState              // that it continues from; nil for none
	from     int64                    // commit of previous; 0 for none
	kept     []int64                  // commits of the snapshots
	files    map[string]lake.File     // live files
	first    map[string]int64         // of the files that are not in previous: the commit at which the first row became known
	closed   map[string][]known.Event // by data file; only those after the previous commit
	later    map[string][]known.Event
	last     int64               // the last commit in later
	blocks   map[blockKey]*block // nil: the block has no entries
	named    map[string]object   // objects of the previous state, by the part of the name that their content determines
}

// isOf says whether a state is of this lake, where it is now, and has this program's columns, manifests and lists.
func (s *state) isOf(r *known.Reader, root string) bool {
	return (s.FormatVersion == stateVersion || s.FormatVersion == longMetadata) && s.Location == location(root, "") && s.Schema == lake.SchemaVersion && 0 < s.Number && s.Number <= int64(len(r.Names())) && s.SHA256 == r.HashOf(s.Number)
}

// canContinue says whether the state of a commit can be continued from: no file was removed since, and each new file has
// the rows of one commit after it.
func (b *builder) canContinue(s *tableState, from int64) bool {
	old := s.dataFiles()
	for key := range old {
		if _, live := b.files[key]; !live {
			return false
		}
	}
	for key := range b.files {
		file := b.files[key]
		adder := b.reader.AdderOf(&file)
		if !old[key] && (adder <= from || b.table.Namespace == Current && !b.reader.IsPull(adder)) {
			return false
		}
	}
	for _, commit := range b.kept {
		if commit <= from && !slices.ContainsFunc(s.Snapshots, func(kept snapshot) bool { return kept.Commit == commit }) {
			return false
		}
	}
	return true
}

// continueFrom takes over what the state of a commit has.
func (b *builder) continueFrom(s *tableState, from int64) {
	b.previous, b.from = s, from
	for _, old := range s.Blocks {
		b.blocks[blockKey{old.Kind, old.Span}] = old
	}
	s.objects(func(o object) { b.named[suffix(o.Key)] = o })
}

// suffix returns the part of an object's key that its content determines.
func suffix(key string) string {
	name := key[strings.LastIndexByte(key, '/')+1:]
	_, rest, _ := strings.Cut(name, "-")
	return rest
}

// nameDigits is the number of digits of its hash in an object's name: metadata has the keys of all lists, so they are short.
const nameDigits = 12

// put stores an object, unless the previous state names one with the same content. what is a word for its name.
func (b *builder) put(what, extension string, data []byte) object {
	if b.dry {
		return object{}
	}
	name := fmt.Sprintf("%s-%.*s%s", what, nameDigits, lake.SHA256(data), extension)
	if o, ok := b.named[name]; ok {
		return o
	}
	home := b.table
	if what == dataFiles && home.Namespace == Current {
		home.Namespace = History // whose manifest of a night's files has the same bytes
	}
	o := object{fmt.Sprintf("%s%d-%s", home.folder(), b.log.Number, name), int64(len(data))}
	b.named[name] = o
	b.putNew(o.Key, data)
	return o
}

// weight is the table's part of tableAtOnce.
func (b *builder) weight() int64 {
	if b.table.Namespace != Current {
		return 1 // its files alone
	}
	if b.previous == nil {
		return tableAtOnce / largeAtOnce
	}
	var rows int64
	for _, old := range b.previous.Blocks {
		if old.Kind != dataFiles {
			rows += old.rows()
		}
	}
	if rows > manyRows {
		return tableAtOnce / largeAtOnce
	}
	return 1
}

// readRows fills first, closed and later.
func (b *builder) readRows(ctx context.Context) error {
	old := map[string]bool{}
	if b.previous != nil {
		old = b.previous.dataFiles()
	}
	first, gone := b.rowsBefore()
	var read []lake.File
	for _, key := range slices.Sorted(maps.Keys(b.files)) {
		file := b.files[key]
		if !old[key] {
			b.first[key] = max(b.reader.AdderOf(&file), 1)
		}
		// If all rows were replaced, none is left that could be.
		if b.table.Namespace == Current && (b.previous == nil || gone[key] < file.Rows) {
			read = append(read, file)
		}
	}
	found := make([]*known.History, len(read))
	group, ctx := errgroup.WithContext(ctx)
	if b.previous == nil {
		group.SetLimit(filesAtOnce)
	}
	for i := range read {
		group.Go(func() (err error) {
			if b.previous == nil {
				found[i], err = b.reader.ReadHistory(ctx, b.table.Name, &read[i], b.known)
				return err
			}
			if err := b.some.Acquire(ctx, 1); err != nil {
				return err
			}
			defer b.some.Release(1)
			found[i] = &known.History{}
			found[i].Closed, err = b.reader.ReadClosed(ctx, b.table.Name, &read[i], b.publication.closed, first[read[i].Path])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, h := range found {
		key := read[i].Path
		b.closed[key] = h.Closed
		if b.previous != nil {
			continue
		}
		b.first[key], b.later[key] = h.First, h.Later
		if n := len(h.Later); n > 0 {
			b.last = max(b.last, int64(h.Later[n-1].Commit))
		}
	}
	return nil
}

// rowsBefore returns what the previous state says of data files: the first commit of the block that has the file, and how
// many of its rows were replaced or removed.
func (b *builder) rowsBefore() (first, gone map[string]int64) {
	first, gone = map[string]int64{}, map[string]int64{}
	for _, part := range spans.Until(b.from) {
		if old := b.blocks[blockKey{dataFiles, part}]; old != nil {
			for i := range old.Entries {
				first[old.Entries[i].Data] = part.Lo
			}
		}
		if old := b.blocks[blockKey{closed, part}]; old != nil {
			for i := range old.Entries {
				gone[old.Entries[i].Data] += old.Entries[i].Rows
			}
		}
	}
	return first, gone
}

// block returns the block of a kind and span; nil if it has no entries.
func (b *builder) block(ctx context.Context, kind string, s spans.Span) (*block, error) {
	key := blockKey{kind, s}
	made, ok := b.blocks[key]
	if ok || s.End()-1 <= b.from {
		return made, nil
	}
	made = &block{Kind: kind, Span: s}
	var err error
	if kind == dataFiles {
		made.Entries = b.filesIn(s)
	} else {
		made.Entries, err = b.deletesIn(ctx, kind, s)
	}
	if err != nil {
		return nil, err
	}
	if len(made.Entries) == 0 {
		b.blocks[key] = nil
		return nil, nil //nolint:nilnil // a block without entries
	}
	data, err := made.manifest(b.root, b.schema)
	if err != nil {
		return nil, err
	}
	made.Manifest = b.put(kind, ".avro", data)
	b.blocks[key] = made
	return made, nil
}

// earlier returns the blocks of the previous state that together are the part of a span up to its commit.
func (b *builder) earlier(kind string, s spans.Span) (found []*block) {
	if b.previous == nil {
		return nil
	}
	for _, part := range spans.Until(b.from) {
		if old := b.blocks[blockKey{kind, part}]; old != nil && s.Contains(part) {
			found = append(found, old)
		}
	}
	return found
}

func (b *builder) filesIn(s spans.Span) []entry {
	var entries []entry
	for _, old := range b.earlier(dataFiles, s) {
		entries = append(entries, old.Entries...)
	}
	for key, first := range b.first {
		if first >= s.Lo && first < s.End() {
			file := b.files[key]
			entries = append(entries, entryOf(&file))
		}
	}
	slices.SortFunc(entries, compareEntries)
	return entries
}

// entryOf returns what a block says of a data file.
func entryOf(file *lake.File) entry {
	markets := file.Markets()
	e := entry{Data: file.Path, Rows: file.Rows, Bytes: file.Bytes, Market: string(slices.Min(markets)), MinDealID: file.MinDealID, MaxDealID: file.MaxDealID}
	if last := string(slices.Max(markets)); last != e.Market {
		e.MaxMarket = last
	}
	return e
}

func compareEntries(a, b entry) int { return strings.Compare(a.Data, b.Data) }

func (b *builder) deletesIn(ctx context.Context, kind string, s spans.Span) ([]entry, error) {
	rows := map[string][]int64{}
	events := b.closed
	if kind == later {
		events = b.later
	}
	for key := range events {
		if found := rowsIn(events[key], s); len(found) > 0 {
			rows[key] = found
		}
	}
	var before []entry
	for _, old := range b.earlier(kind, s) {
		before = append(before, old.Entries...)
	}
	read := make([][]int64, len(before))
	group, readCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range before {
		group.Go(func() (err error) {
			read[i], err = readDeletes(readCtx, b.store, b.mem, before[i].Deletes)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i := range before {
		rows[before[i].Data] = append(rows[before[i].Data], read[i]...)
	}
	var entries []entry
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		slices.Sort(rows[key])
		e := entry{Data: key, Rows: int64(len(rows[key]))}
		if b.dry {
			e.positions = rows[key]
		} else {
			data, err := parquet.PositionDeletes(b.mem, location(b.root, key), rows[key])
			if err != nil {
				return nil, err
			}
			e.Deletes = b.put("rows", ".parquet", data)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// build returns the table's new state. The objects that it names are being put.
func (b *builder) build(ctx context.Context) (*tableState, error) {
	if err := b.readRows(ctx); err != nil {
		return nil, err
	}
	s := &tableState{Blocks: []*block{}}
	index := map[*block]int{}
	use := func(blocks []*block) []int {
		numbers := make([]int, len(blocks))
		for i, made := range blocks {
			n, ok := index[made]
			if !ok {
				n = len(s.Blocks)
				index[made], s.Blocks = n, append(s.Blocks, made)
			}
			numbers[i] = n
		}
		return numbers
	}
	for _, commit := range b.kept {
		if old, ok := b.keptBefore(commit); ok {
			blocks := make([]*block, len(old.Blocks))
			for i, n := range old.Blocks {
				blocks[i] = b.previous.Blocks[n]
			}
			old.Blocks = use(blocks)
			s.Snapshots = append(s.Snapshots, old)
			continue
		}
		blocks, err := b.blocksOf(ctx, commit)
		if err != nil {
			return nil, err
		}
		data, err := list(b.root, blocks)
		if err != nil {
			return nil, err
		}
		s.Snapshots = append(s.Snapshots, snapshot{
			Commit: commit, SHA256: b.reader.HashOf(commit), KnownAt: b.reader.KnownAt(commit), List: b.put("snap", ".avro", data), Blocks: use(blocks),
		})
	}
	return s, nil
}

// keptBefore returns the snapshot of a commit in the previous state.
func (b *builder) keptBefore(commit int64) (snapshot, bool) {
	if b.previous != nil {
		for _, kept := range b.previous.Snapshots {
			if kept.Commit == commit {
				return kept, true
			}
		}
	}
	return snapshot{}, false
}

// blocksOf returns the blocks that the snapshot of a commit is made of.
func (b *builder) blocksOf(ctx context.Context, commit int64) ([]*block, error) {
	var blocks []*block
	add := func(kind string, parts []spans.Span) error {
		for _, s := range parts {
			made, err := b.block(ctx, kind, s)
			if err != nil {
				return err
			}
			if made != nil {
				blocks = append(blocks, made)
			}
		}
		return nil
	}
	until := spans.Until(commit)
	if err := add(dataFiles, until); err != nil || b.table.Namespace != Current {
		return blocks, err
	}
	after := spans.After(commit, b.last)
	if b.previous == nil && commit != b.log.Number { // the next publication continues from the spans of the newest commit
		until, after = spans.MergedUntil(until, b.kept), spans.MergedAfter(after, b.kept)
	}
	if err := add(closed, until); err != nil {
		return nil, err
	}
	return blocks, add(later, after)
}
