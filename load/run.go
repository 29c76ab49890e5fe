package load

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Run collects the files of one execution until its commit. Its methods are safe for concurrent use,
// except Commit. Close removes its work folder.
type Run struct {
	lake    *Lake
	id      string
	started time.Time
	work    string
	mem     memory.Allocator

	mu    sync.Mutex
	files []lake.File
	count map[string]int // files begun, by folder
}

// RunConfig says what a run is. All fields must be set.
type RunConfig struct {
	ID      string    // UUIDv7
	Started time.Time // its UTC year is that of the run's history files
	WorkDir string    // an existing local folder for unfinished files
	Memory  memory.Allocator
}

// Begin starts a run. It changes nothing in the lake.
func (l *Lake) Begin(cfg RunConfig) (*Run, error) {
	work, err := os.MkdirTemp(cfg.WorkDir, "dealflow-load-*")
	if err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	return &Run{lake: l, id: cfg.ID, started: cfg.Started.UTC(), work: work, mem: cfg.Memory, count: map[string]int{}}, nil
}

// Close removes the run's work folder. What the run has put into the lake without committing stays
// there as garbage that nobody reads.
func (r *Run) Close() error { return os.RemoveAll(r.work) }

// Snapshot opens a file of a table's snapshot; date is YYYY-MM-DD.
func (r *Run) Snapshot(table *lake.Table, market api.Market, date string) (*Writer, error) {
	name := lake.SnapshotTable(table.Name)
	return newWriter(r, lake.File{
		Path:          lake.SnapshotKey(table.Name, market, date, r.id, r.number(name, market)),
		Table:         name,
		Partition:     map[string]string{"market": string(market), "snapshot_date": date},
		SchemaVersion: lake.SchemaVersion,
	}, table.SnapshotColumns())
}

// History opens a file of a table's history.
func (r *Run) History(table *lake.Table, market api.Market) (*Writer, error) {
	return r.history(table.Name, market, table.HistoryColumns())
}

// DealVersions opens a file of history/deal_versions.
func (r *Run) DealVersions(market api.Market) (*Writer, error) {
	return r.history(lake.DealVersions, market, lake.DealVersionColumns())
}

func (r *Run) history(table string, market api.Market, columns []lake.Column) (*Writer, error) {
	name := lake.HistoryTable(table)
	year := r.started.Year()
	return newWriter(r, lake.File{
		Path:          lake.HistoryKey(table, market, year, r.id, r.number(name, market)),
		Table:         name,
		Partition:     map[string]string{"market": string(market), "year": fmt.Sprintf("%04d", year)},
		SchemaVersion: lake.SchemaVersion,
	}, columns)
}

// number counts the files of a table and market in this run, from 0.
func (r *Run) number(table string, market api.Market) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	folder := table + "/" + string(market)
	n := r.count[folder]
	r.count[folder]++
	return n
}

// put stores a finished file and remembers it for the commit.
func (r *Run) put(ctx context.Context, file lake.File, body io.ReadSeeker) error {
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("put %s: %w", file.Path, err)
	}
	if err := r.lake.store.Put(ctx, file.Path, body, store.CreateOnly); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = append(r.files, file)
	return nil
}

// Quarantined is a record that could not be read as a deal.
type Quarantined struct {
	Reject     *api.Reject
	DealID     int64 // where HasID
	HasID      bool
	Raw        []byte
	Page       string // where it came from, relative to the API's base URL
	ObservedAt time.Time
}

// quarantineLine is one line of a quarantine file.
type quarantineLine struct {
	Feed       api.Feed         `json:"feed"`
	RunID      string           `json:"run_id"`
	Reason     api.RejectReason `json:"reason"`
	Detail     string           `json:"detail,omitempty"`
	DealID     *int64           `json:"deal_id,omitempty"`
	Page       string           `json:"page,omitempty"`
	ObservedAt lake.Instant     `json:"observed_at"`
	Raw        string           `json:"raw,omitempty"`
	RawBase64  string           `json:"raw_base64,omitempty"` // where the bytes are not UTF-8
}

// Quarantine keeps the records of a feed that could not be read, with their bytes and reasons.
func (r *Run) Quarantine(ctx context.Context, feed api.Feed, records []Quarantined) error {
	if len(records) == 0 {
		return nil
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	for _, q := range records {
		line := quarantineLine{
			Feed: feed, RunID: r.id, Reason: q.Reject.Reason, Detail: q.Reject.Detail,
			Page: q.Page, ObservedAt: lake.At(q.ObservedAt),
		}
		if q.HasID {
			line.DealID = &q.DealID
		}
		if utf8.Valid(q.Raw) {
			line.Raw = string(q.Raw)
		} else {
			line.RawBase64 = base64.StdEncoding.EncodeToString(q.Raw)
		}
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("quarantine %s: %w", feed, err)
		}
	}
	packer, err := zstdEncoder()
	if err != nil {
		return fmt.Errorf("quarantine %s: %w", feed, err)
	}
	packed := packer.EncodeAll(text.Bytes(), nil)
	return r.put(ctx, lake.File{
		Path: lake.QuarantineKey(feed, r.id), Table: "quarantine", Partition: map[string]string{"feed": feed.String()},
		SchemaVersion: lake.SchemaVersion, Rows: int64(len(records)), Bytes: int64(len(packed)), SHA256: digest(packed),
	}, bytes.NewReader(packed))
}

// Replaced returns the live snapshot files of a feed and day: those that a new snapshot replaces.
func (g *Log) Replaced(feed api.Feed, date string) []string {
	names := map[string]bool{}
	for _, table := range lake.FeedTables(feed) {
		names[lake.SnapshotTable(table.Name)] = true
	}
	var paths []string
	for path, file := range g.files {
		if names[file.Table] && file.Partition["market"] == string(feed.Market) && file.Partition["snapshot_date"] == date {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Commit makes the run's files visible, all at once, as the next commit. The caller fills what the
// run knows: command, instants, outcome, feeds, files to remove; the rest is filled here. ErrConflict
// says that another run took the number: nothing of this one is visible.
func (r *Run) Commit(ctx context.Context, c lake.Commit) (*lake.Commit, error) {
	l := r.lake
	if !c.KnownAt.After(l.log.KnownAt.Time) {
		return nil, fmt.Errorf("commit %d: known_at %s does not lie after the last one, %s", l.log.Number+1, c.KnownAt, l.log.KnownAt)
	}
	c.FormatVersion = lake.FormatVersion
	c.Number = l.log.Number + 1
	c.RunID = r.id
	c.PreviousSHA256 = l.log.SHA256
	c.Add = slices.SortedFunc(slices.Values(r.files), func(a, b lake.File) int { return strings.Compare(a.Path, b.Path) })
	data, err := c.Encode()
	if err != nil {
		return nil, fmt.Errorf("commit %d: %w", c.Number, err)
	}
	if err := r.putCommit(ctx, c.Number, data); err != nil {
		return nil, err
	}
	if err := l.log.append(data); err != nil {
		return nil, fmt.Errorf("commit %d: %w", c.Number, err)
	}
	return &c, nil
}

// putCommit writes the commit's object. On a refusal, and on no answer, it reads the object back: our
// bytes mean success.
func (r *Run) putCommit(ctx context.Context, number int64, data []byte) error {
	key := lake.CommitKey(number)
	putErr := r.lake.store.Put(ctx, key, bytes.NewReader(data), store.CreateOnly)
	if putErr == nil {
		return nil
	}
	// The answer may be lost although the put was not; reading back outlives a cancelled run.
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	found, err := readObject(back, r.lake.store, key)
	switch {
	case err == nil && bytes.Equal(found, data):
		return nil
	case err == nil:
		return fmt.Errorf("commit %d: %w", number, ErrConflict)
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("commit %d: %w", number, putErr)
	}
	return fmt.Errorf("commit %d may or may not have been made (reading it back: %w): %w", number, err, putErr)
}

// Settle writes what is derived from a commit: every 50 commits a checkpoint with the heads of all
// deals, and the hint. Failing costs later starts some time and nothing else, so the caller may only
// warn.
func (r *Run) Settle(ctx context.Context, heads map[api.Feed]lake.Heads) error {
	l := r.lake
	var checkpointErr error
	if l.log.Number-l.log.checkpoint >= checkpointEvery {
		checkpointErr = l.writeCheckpoint(ctx, heads)
	}
	data, err := json.Marshal(hint{Commit: l.log.Number, Checkpoint: l.log.checkpoint})
	if err == nil {
		err = l.store.Put(ctx, lake.LatestKey, bytes.NewReader(append(data, '\n')), store.Replace)
	}
	return errors.Join(checkpointErr, err)
}
