package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"dealflow/load/lines"
	"dealflow/load/live"
	"dealflow/load/parquet"
	"dealflow/load/runs"
	"dealflow/load/state"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// checkpointEvery is the number of commits between checkpoints.
const checkpointEvery = 50

// CheckpointDue says whether WriteDerived will write a checkpoint. A checkpoint needs the newest version of every deal
// (Lake.Latest).
func (g *Log) CheckpointDue() bool { return g.Number-g.checkpoint >= checkpointEvery }

// checkpointLine is one line of a checkpoint. Exactly one of its fields is set. The first line has the header; then come
// segments, runs and files.
type checkpointLine struct {
	Head    *checkpointHead `json:"checkpoint,omitempty"`
	Segment *runs.Segment   `json:"segment,omitempty"`
	Run     *lake.Commit    `json:"run,omitempty"` // without its files
	File    *lake.File      `json:"file,omitempty"`
}

type checkpointHead struct {
	FormatVersion   int          `json:"format_version"`
	DealflowVersion string       `json:"dealflow_version,omitempty"` // of the newest commit
	lake.Needs                   // of the live lake
	Commit          int64        `json:"commit"`
	KnownAt         lake.Instant `json:"known_at"`
	SHA256          string       `json:"sha256"` // of the commit's bytes
	Segments        int          `json:"segments,omitempty"`
	Runs            int          `json:"runs"`
	Files           int          `json:"files"`
}

// newestCheckpoint reads the newest readable checkpoint: the one that the hint names, or else the newest that a listing
// finds, of those before commit below. For a lake without a checkpoint it returns an empty log.
func (l *Lake) newestCheckpoint(ctx context.Context, hint Hint, below int64) (*Log, error) {
	if n := hint.Checkpoint; n > 0 && n < below {
		if log, err := ReadCheckpoint(ctx, l.store, n); err == nil || lake.IsLater(err) {
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
		if ctx.Err() != nil || lake.IsLater(err) {
			return nil, err
		}
	}
	return &Log{Format: lake.FormatVersion}, nil
}

// ReadCheckpoint reads the checkpoint of commit number: the log up to that commit.
func ReadCheckpoint(ctx context.Context, s store.Store, number int64) (*Log, error) {
	key := lake.CheckpointKey(number)
	log, err := readCheckpoint(ctx, s, key, number)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return log, nil
}

func readCheckpoint(ctx context.Context, s store.Store, key string, number int64) (log *Log, err error) {
	object, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer object.Close() // read-only: a failing close loses nothing
	r := checkpointReader{log: new(Log)}
	for line, err := range lines.Decode[checkpointLine](parquet.Lines(object), checkHead) {
		if err == nil {
			err = r.add(line)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.end(number)
}

// checkHead returns an error if a checkpoint's first line says that it is of a later format.
func checkHead(text []byte) error {
	var line struct {
		Head json.RawMessage `json:"checkpoint"`
	}
	if err := json.Unmarshal(text, &line); err != nil || line.Head == nil {
		return nil //nolint:nilerr // it is no checkpoint, as is found where all of it is read
	}
	return lake.CheckPreface(line.Head)
}

// roomAhead is the number of files for which there is room before they are read.
const roomAhead = 100_000

// checkpointReader sums up the lines of a checkpoint. It checks what they say as Log.append checks commits: the numbers,
// the order of known_at, and the paths of files.
type checkpointReader struct {
	log            *Log
	head           checkpointHead
	last           lake.NamedCommit // number and known_at of the last run
	segments, runs int
}

func (r *checkpointReader) add(line *checkpointLine) error {
	switch {
	case line.Head != nil:
		r.head = *line.Head
		r.log.files = live.New(min(max(r.head.Files, 0), roomAhead))
	case line.Segment != nil:
		return r.segment(line.Segment)
	case line.Run != nil:
		return r.run(line.Run)
	case line.File != nil:
		r.log.files.Put(line.File)
		return line.File.CheckPath(r.head.FormatVersion)
	}
	return nil
}

func (r *checkpointReader) segment(s *runs.Segment) error {
	if s.First != r.log.segments.Last()+1 || s.Last != s.First+runs.Size-1 || r.runs > 0 {
		return fmt.Errorf("segment of commits %d to %d, want one of %d commits from %d on, before all runs", s.First, s.Last, runs.Size, r.log.segments.Last()+1)
	}
	r.segments++
	r.log.segments = append(r.log.segments, *s)
	return nil
}

// run adds a run. Of those in segments not each has a line.
func (r *checkpointReader) run(c *lake.Commit) error {
	want := max(r.last.Number, r.log.segments.Last()) + 1
	if c.Number != want && (c.Number <= r.last.Number || c.Number > r.log.segments.Last()) || r.last.Number == 0 && c.Number != 1 {
		return fmt.Errorf("run %d is of commit %d, want one run of each commit that is in no segment, in order", r.runs+1, c.Number)
	}
	if !c.KnownAt.After(r.last.KnownAt.Time) {
		return fmt.Errorf("commit %d says known_at %s, want an instant later than %s", c.Number, c.KnownAt, r.last.KnownAt)
	}
	if c.FormatVersion != r.head.FormatVersion {
		return fmt.Errorf("commit %d is of format version %d", c.Number, c.FormatVersion)
	}
	r.runs++
	r.last.Number, r.last.KnownAt = c.Number, c.KnownAt
	r.log.needs.Merge(c.Needs)
	r.log.Commits = append(r.log.Commits, *c)
	return r.log.fold() // of a checkpoint by an older program
}

// end returns the log of a complete checkpoint.
func (r *checkpointReader) end(number int64) (*Log, error) {
	head, log := &r.head, r.log
	if head.Commit != number || head.FormatVersion < 1 || head.Segments != r.segments || head.Runs != r.runs || head.Files != log.files.Len() || r.last.Number != number {
		return nil, errors.New("not a complete checkpoint")
	}
	if !head.KnownAt.Equal(r.last.KnownAt.Time) {
		return nil, fmt.Errorf("it says known_at %s, its last commit %s", head.KnownAt, r.last.KnownAt)
	}
	log.Format = head.FormatVersion
	log.Number, log.KnownAt, log.SHA256, log.checkpoint = number, head.KnownAt, head.SHA256, number
	return log, nil
}

// writeCheckpoint writes the checkpoint and the state of the newest commit. Both are derived: they may be lost, and are
// replaced if they exist.
func (l *Lake) writeCheckpoint(ctx context.Context, latest map[api.Feed]lake.Latest) error {
	log := &l.log
	// The segments go first: no checkpoint names one that is not there.
	var err error
	if log.segments, err = log.segments.Put(ctx, l.store); err != nil {
		return err
	}
	log.all = nil
	log.index()
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	all := []checkpointLine{{Head: &checkpointHead{
		FormatVersion: log.Format, DealflowVersion: log.writer(), Needs: log.Needs(), Commit: log.Number, KnownAt: log.KnownAt, SHA256: log.SHA256,
		Segments: len(log.segments), Runs: len(log.Commits), Files: log.files.Len(),
	}}}
	for i := range log.segments {
		all = append(all, checkpointLine{Segment: &log.segments[i]})
	}
	for i := range log.Commits {
		all = append(all, checkpointLine{Run: &log.Commits[i]})
	}
	for _, file := range log.files.All() {
		all = append(all, checkpointLine{File: file})
	}
	for _, line := range all {
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	// The state goes first: a checkpoint without its state makes the next start slower, but never wrong.
	if err := writeCompressed(ctx, l.store, lake.StateKey(log.Number), state.Encode(state.Head{FormatVersion: log.Format, DealflowVersion: log.writer(), Needs: log.Needs(), Commit: log.Number}, latest)); err != nil {
		return err
	}
	if err := writeCompressed(ctx, l.store, lake.CheckpointKey(log.Number), text.Bytes()); err != nil {
		return err
	}
	log.checkpoint, log.addedSince = log.Number, nil
	return nil
}

// ReadState reads the state file of the checkpoint of commit number: the newest version of every deal. It is an error
// if the state is of another format or hash version, so that its hashes cannot be compared.
func ReadState(ctx context.Context, s store.Store, number int64) (map[api.Feed]lake.Latest, error) {
	key := lake.StateKey(number)
	data, err := readCompressed(ctx, s, key)
	if err != nil {
		return nil, err
	}
	latest, err := state.Decode(data, number)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
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
