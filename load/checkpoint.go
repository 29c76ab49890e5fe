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
// (Lake.Heads).
func (g *Log) CheckpointDue() bool { return g.Number-g.checkpoint >= checkpointEvery }

// checkpointLine is one line of a checkpoint. Exactly one of its fields is set. The first line has the header.
type checkpointLine struct {
	Head *checkpointHead `json:"checkpoint,omitempty"`
	Run  *lake.Commit    `json:"run,omitempty"` // without its files
	File *lake.File      `json:"file,omitempty"`
}

type checkpointHead struct {
	FormatVersion int          `json:"format_version"`
	Commit        int64        `json:"commit"`
	KnownAt       lake.Instant `json:"known_at"`
	SHA256        string       `json:"sha256"` // of the commit's bytes
	Runs          int          `json:"runs"`
	Files         int          `json:"files"`
}

// newestCheckpoint reads the newest readable checkpoint: the one that the hint names, or else the newest that a listing
// finds. For a lake without a checkpoint it returns an empty log.
func (l *Lake) newestCheckpoint(ctx context.Context) (*Log, error) {
	if n := ReadHint(ctx, l.store).Checkpoint; n > 0 {
		if log, err := ReadCheckpoint(ctx, l.store, n); err == nil {
			return log, nil
		}
	}
	var numbers []int64
	for object, err := range l.store.List(ctx, lake.CheckpointsPrefix) {
		if err != nil {
			return nil, err
		}
		if n, ok := lake.CommitNumber(object.Key); ok && object.Key == lake.CheckpointKey(n) {
			numbers = append(numbers, n)
		}
	}
	for _, n := range slices.Backward(numbers) {
		log, err := ReadCheckpoint(ctx, l.store, n)
		if err == nil {
			return log, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
	}
	return &Log{}, nil
}

// ReadCheckpoint reads the checkpoint of commit number: the log up to that commit.
func ReadCheckpoint(ctx context.Context, s store.Store, number int64) (*Log, error) {
	key := lake.CheckpointKey(number)
	data, err := readCompressed(ctx, s, key)
	if err != nil {
		return nil, err
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
			log.Runs = append(log.Runs, *line.Run)
		case line.File != nil:
			log.files[line.File.Path] = *line.File
		}
	}
	switch {
	case head == nil || head.Commit != number || head.Runs != len(log.Runs) || head.Files != len(log.files):
		return nil, fmt.Errorf("%s: not a whole checkpoint", key)
	case head.FormatVersion != lake.FormatVersion:
		return nil, fmt.Errorf("%s: %w", key, &lake.FormatError{Found: head.FormatVersion})
	}
	log.Number, log.KnownAt, log.SHA256, log.checkpoint = number, head.KnownAt, head.SHA256, number
	return log, nil
}

// writeCheckpoint writes the checkpoint and the state of the newest commit. Both are derived: they may be lost, and are
// replaced if they exist.
func (l *Lake) writeCheckpoint(ctx context.Context, heads map[api.Feed]lake.Heads) error {
	log := &l.log
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	lines := []checkpointLine{{Head: &checkpointHead{
		FormatVersion: lake.FormatVersion, Commit: log.Number, KnownAt: log.KnownAt, SHA256: log.SHA256,
		Runs: len(log.Runs), Files: len(log.files),
	}}}
	for i := range log.Runs {
		lines = append(lines, checkpointLine{Run: &log.Runs[i]})
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
	if err := writeCompressed(ctx, l.store, lake.StateKey(log.Number), encodeHeads(log.Number, heads)); err != nil {
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
	FormatVersion int            `json:"format_version"`
	Commit        int64          `json:"commit"`
	HashVersion   int            `json:"hash_version"`
	Deals         map[string]int `json:"deals"` // by feed
}

// stateRecord is the size of a record of a state file in bytes.
const stateRecord = 8 + 4 + 1 + 32 + 32

func encodeHeads(number int64, heads map[api.Feed]lake.Heads) []byte {
	head := stateHead{FormatVersion: lake.FormatVersion, Commit: number, HashVersion: lake.HashVersion, Deals: map[string]int{}}
	for feed, deals := range heads {
		head.Deals[feed.String()] = len(deals)
	}
	out, err := json.Marshal(head)
	if err != nil {
		panic(err) // integers and strings only
	}
	out = append(out, '\n')
	for _, feed := range api.Feeds() {
		deals := heads[feed]
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
func ReadState(ctx context.Context, s store.Store, number int64) (map[api.Feed]lake.Heads, error) {
	key := lake.StateKey(number)
	data, err := readCompressed(ctx, s, key)
	if err != nil {
		return nil, err
	}
	line, body, _ := bytes.Cut(data, []byte("\n"))
	var head stateHead
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	total := 0
	for _, n := range head.Deals {
		total += n
	}
	if head.FormatVersion != lake.FormatVersion || head.HashVersion != lake.HashVersion || head.Commit != number || len(body) != total*stateRecord {
		return nil, fmt.Errorf("%s: not a whole state of this format", key)
	}
	heads := map[api.Feed]lake.Heads{}
	for _, feed := range api.Feeds() {
		deals := make(lake.Heads, head.Deals[feed.String()])
		for range head.Deals[feed.String()] {
			h := lake.Head{Version: int32(binary.LittleEndian.Uint32(body[8:])), Removed: body[12] == 1}
			copy(h.ContentHash[:], body[13:45])
			copy(h.PayloadHash[:], body[45:77])
			deals[int64(binary.LittleEndian.Uint64(body))] = h
			body = body[stateRecord:]
		}
		heads[feed] = deals
	}
	return heads, nil
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
