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

// CheckpointDue says whether Settle will write a checkpoint, for which it needs the heads of all deals.
func (g *Log) CheckpointDue() bool { return g.Number-g.checkpoint >= checkpointEvery }

// checkpointLine is one line of a checkpoint; exactly one of its parts is set. The head comes first.
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

// newestCheckpoint reads the newest checkpoint that can be read: first the one that the hint names,
// else what a listing finds. A lake without one gives an empty log.
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

// ReadCheckpoint reads what the commits of a lake up to number add up to.
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
		// In half the time of encoding/json: a lake of many years has some hundred thousand lines.
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

// writeCheckpoint sums the log up. Checkpoint and state are derived: they may be lost, and replaced.
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
	// The state goes first: a checkpoint without its state costs a longer start, never a wrong one.
	if err := writeCompressed(ctx, l.store, lake.StateKey(log.Number), encodeHeads(log.Number, heads)); err != nil {
		return err
	}
	if err := writeCompressed(ctx, l.store, lake.CheckpointKey(log.Number), text.Bytes()); err != nil {
		return err
	}
	log.checkpoint, log.since = log.Number, nil
	return nil
}

// stateHead is the first line of a state file. Behind it come, feed by feed in the order of
// api.Feeds and by deal_id, records of stateRecord bytes: deal_id (int64), version (int32), removed
// (one byte), content_hash, payload_hash; integers little-endian.
type stateHead struct {
	FormatVersion int            `json:"format_version"`
	Commit        int64          `json:"commit"`
	HashVersion   int            `json:"hash_version"`
	Deals         map[string]int `json:"deals"` // by feed
}

const stateRecord = 8 + 4 + 1 + 32 + 32

func encodeHeads(number int64, heads map[api.Feed]lake.Heads) []byte {
	head := stateHead{FormatVersion: lake.FormatVersion, Commit: number, HashVersion: lake.HashVersion, Deals: map[string]int{}}
	for feed, of := range heads {
		head.Deals[feed.String()] = len(of)
	}
	out, err := json.Marshal(head)
	if err != nil {
		panic(err) // integers and strings only
	}
	out = append(out, '\n')
	for _, feed := range api.Feeds() {
		of := heads[feed]
		for _, id := range slices.Sorted(maps.Keys(of)) {
			h := of[id]
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

// ReadState reads the state file of a checkpoint: the newest version of every deal.
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
		of := make(lake.Heads, head.Deals[feed.String()])
		for range head.Deals[feed.String()] {
			h := lake.Head{Version: int32(binary.LittleEndian.Uint32(body[8:])), Removed: body[12] == 1}
			copy(h.ContentHash[:], body[13:45])
			copy(h.PayloadHash[:], body[45:77])
			of[int64(binary.LittleEndian.Uint64(body))] = h
			body = body[stateRecord:]
		}
		heads[feed] = of
	}
	return heads, nil
}

// readCompressed reads an object that is compressed by zstd.
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
