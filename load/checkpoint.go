package load

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"

	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// checkpointEvery is the number of commits between checkpoints.
const checkpointEvery = 50

// CheckpointDue says whether WriteDerived will write a checkpoint. A checkpoint needs the newest version of every deal
// (Lake.Latest).
func (g *Log) CheckpointDue() bool { return g.Number-g.checkpoint >= checkpointEvery }

// checkpointLine is one line of a checkpoint. Exactly one of its fields is set. The first line has the header.
type checkpointLine struct {
	Head *checkpointHead `json:"checkpoint,omitempty"`
	Run  *lake.Commit    `json:"run,omitempty"` // without its files
	File *lake.File      `json:"file,omitempty"`
}

type checkpointHead struct {
	FormatVersion   int          `json:"format_version"`
	DealflowVersion string       `json:"dealflow_version,omitempty"` // of the newest commit
	lake.Needs                   // of the live lake
	Commit          int64        `json:"commit"`
	KnownAt         lake.Instant `json:"known_at"`
	SHA256          string       `json:"sha256"` // of the commit's bytes
	Runs            int          `json:"runs"`
	Files           int          `json:"files"`
}

// newestCheckpoint reads the newest readable checkpoint: the one that the hint names, or else the newest that a listing
// finds, of those before commit below. For a lake without a checkpoint it returns an empty log.
func (l *Lake) newestCheckpoint(ctx context.Context, hint Hint, below int64) (*Log, error) {
	if n := hint.Checkpoint; n > 0 && n < below {
		if log, err := ReadCheckpoint(ctx, l.store, n); err == nil || refuses(err) {
			return log, err
		}
	}
	var numbers []int64
	for object, err := range l.store.List(ctx, lake.CheckpointsPrefix) {
		if err != nil {
			return nil, err
		}
		if n, ok := lake.CommitNumber(object.Key); ok && object.Key == lake.CheckpointKey(n) && n < below {
			numbers = append(numbers, n)
		}
	}
	for _, n := range slices.Backward(numbers) {
		log, err := ReadCheckpoint(ctx, l.store, n)
		if err == nil {
			return log, nil
		}
		if ctx.Err() != nil || refuses(err) {
			return nil, err
		}
	}
	return &Log{Format: lake.FormatVersion}, nil
}

// ReadCheckpoint reads the checkpoint of commit number: the log up to that commit.
func ReadCheckpoint(ctx context.Context, s store.Store, number int64) (*Log, error) {
	key := lake.CheckpointKey(number)
	data, err := readCompressed(ctx, s, key)
	if err != nil {
		return nil, err
	}
	first, _, _ := bytes.Cut(data, []byte("\n"))
	var line struct {
		Head json.RawMessage `json:"checkpoint"`
	}
	if err := json.Unmarshal(first, &line); err == nil && line.Head != nil {
		if err := lake.CheckPreface(line.Head); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	log := &Log{files: map[string]lake.File{}}
	var head *checkpointHead
	for text := range bytes.Lines(data) {
		var line checkpointLine
		// Half the time of encoding/json: after many years a checkpoint has some hundred thousand lines.
		if err := jsonv2.Unmarshal(text, &line); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		switch {
		case line.Head != nil:
			head = line.Head
		case line.Run != nil:
			log.Commits = append(log.Commits, *line.Run)
			log.needs.Merge(line.Run.Needs)
		case line.File != nil:
			log.files[line.File.Path] = *line.File
		}
	}
	if head == nil || head.Commit != number || head.Runs != len(log.Commits) || head.Files != len(log.files) || head.FormatVersion < 1 || !log.isOf(head.FormatVersion) {
		return nil, fmt.Errorf("%s: not a complete checkpoint", key)
	}
	log.Format = head.FormatVersion
	if err := log.check(head); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	log.Number, log.KnownAt, log.SHA256, log.checkpoint = number, head.KnownAt, head.SHA256, number
	return log, nil
}

// check checks what a checkpoint says as Log.append checks commits: the order of known_at, and the paths of files.
func (g *Log) check(head *checkpointHead) error {
	var last lake.Instant
	for i := range g.Commits {
		commit := &g.Commits[i]
		if commit.Number != int64(i)+1 {
			return fmt.Errorf("run %d is of commit %d, want one run of each commit, in order", i+1, commit.Number)
		}
		if !commit.KnownAt.After(last.Time) {
			return fmt.Errorf("commit %d says known_at %s, want an instant later than %s", commit.Number, commit.KnownAt, last)
		}
		last = commit.KnownAt
	}
	if !head.KnownAt.Equal(last.Time) {
		return fmt.Errorf("it says known_at %s, its last commit %s", head.KnownAt, last)
	}
	for path := range g.files {
		file := g.files[path]
		if err := file.CheckPath(head.FormatVersion); err != nil {
			return err
		}
	}
	return nil
}

// isOf says whether all commits are of a format version.
func (g *Log) isOf(format int) bool {
	return !slices.ContainsFunc(g.Commits, func(c lake.Commit) bool { return c.FormatVersion != format })
}

// writeCheckpoint writes the checkpoint and the state of the newest commit. Both are derived: they may be lost, and are
// replaced if they exist.
func (l *Lake) writeCheckpoint(ctx context.Context, latest map[api.Feed]lake.Latest) error {
	log := &l.log
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	lines := []checkpointLine{{Head: &checkpointHead{
		FormatVersion: log.Format, DealflowVersion: log.writer(), Needs: log.Needs(), Commit: log.Number, KnownAt: log.KnownAt, SHA256: log.SHA256,
		Runs: len(log.Commits), Files: len(log.files),
	}}}
	for i := range log.Commits {
		lines = append(lines, checkpointLine{Run: &log.Commits[i]})
	}
	for _, file := range log.byPath() {
		lines = append(lines, checkpointLine{File: &file})
	}
	for _, line := range lines {
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	// The state goes first: a checkpoint without its state makes the next start slower, but never wrong.
	if err := writeCompressed(ctx, l.store, lake.StateKey(log.Number), encodeLatest(log, latest)); err != nil {
		return err
	}
	if err := writeCompressed(ctx, l.store, lake.CheckpointKey(log.Number), text.Bytes()); err != nil {
		return err
	}
	log.checkpoint, log.addedSince = log.Number, nil
	return nil
}

// stateHead is the first line of a state file. Records of stateRecord bytes follow, one per deal, in the order of
// api.Feeds and then of deal_id. A record is deal_id (int64), version (int32), removed (one byte), content_hash,
// payload_hash; integers are little-endian.
type stateHead struct {
	FormatVersion   int    `json:"format_version"`
	DealflowVersion string `json:"dealflow_version,omitempty"`
	lake.Needs
	Commit      int64          `json:"commit"`
	HashVersion int            `json:"hash_version"`
	Deals       map[string]int `json:"deals"` // by feed
}

// stateRecord is the size of a record of a state file in bytes.
const stateRecord = 8 + 4 + 1 + 32 + 32

func encodeLatest(log *Log, latest map[api.Feed]lake.Latest) []byte {
	head := stateHead{FormatVersion: log.Format, DealflowVersion: log.writer(), Needs: log.Needs(), Commit: log.Number, HashVersion: lake.HashVersion, Deals: map[string]int{}}
	for feed, deals := range latest {
		head.Deals[feed.String()] = len(deals)
	}
	out, err := json.Marshal(head)
	if err != nil {
		panic(err) // integers and strings only
	}
	out = append(out, '\n')
	for _, feed := range api.Feeds() {
		deals := latest[feed]
		for _, id := range slices.Sorted(maps.Keys(deals)) {
			h := deals[id]
			out = binary.LittleEndian.AppendUint64(out, uint64(id))
			out = binary.LittleEndian.AppendUint32(out, uint32(h.Version))
			removed := byte(0)
			if h.Removed {
				removed = 1
			}
			out = append(out, removed)
			out = append(out, h.ContentHash[:]...)
			out = append(out, h.PayloadHash[:]...)
		}
	}
	return out
}

// ReadState reads the state file of the checkpoint of commit number: the newest version of every deal. It is an error
// if the state is of another format or hash version, so that its hashes cannot be compared.
func ReadState(ctx context.Context, s store.Store, number int64) (map[api.Feed]lake.Latest, error) {
	key := lake.StateKey(number)
	data, err := readCompressed(ctx, s, key)
	if err != nil {
		return nil, err
	}
	line, body, _ := bytes.Cut(data, []byte("\n"))
	if err := lake.CheckPreface(line); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	var head stateHead
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	total := 0
	for _, n := range head.Deals {
		total += n
	}
	if head.FormatVersion < 1 || head.HashVersion != lake.HashVersion || head.Commit != number || len(body) != total*stateRecord {
		return nil, fmt.Errorf("%s: not a complete state file of this format", key)
	}
	latest := map[api.Feed]lake.Latest{}
	for _, feed := range api.Feeds() {
		deals := make(lake.Latest, head.Deals[feed.String()])
		for range head.Deals[feed.String()] {
			h := lake.LatestVersion{Version: int32(binary.LittleEndian.Uint32(body[8:])), Removed: body[12] == 1}
			copy(h.ContentHash[:], body[13:45])
			copy(h.PayloadHash[:], body[45:77])
			deals[int64(binary.LittleEndian.Uint64(body))] = h
			body = body[stateRecord:]
		}
		latest[feed] = deals
	}
	return latest, nil
}

// readCompressed reads an object that is compressed with zstd.
func readCompressed(ctx context.Context, s store.Store, key string) ([]byte, error) {
	r, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close() // read-only: a failing close loses nothing
	data, err := parquet.Decompress(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return data, nil
}

func writeCompressed(ctx context.Context, s store.Store, key string, data []byte) error {
	packed, err := parquet.Compress(data)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return s.Put(ctx, key, bytes.NewReader(packed), store.Replace)
}
