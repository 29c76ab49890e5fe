package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Grace is how long `expire` leaves a file that no commit names: a run under way may have written it. A run that is
// older than half of Grace must not commit any more.
const Grace = 7 * 24 * time.Hour

// Transaction collects the files of one run until its commit. Its methods are safe for concurrent use, except Prepare
// and Commit. Close removes its work folder.
type Transaction struct {
	lake  *Lake
	cfg   TransactionConfig
	began time.Time // by cfg.Clock
	work  string

	mu    sync.Mutex
	files []lake.File
	count map[string]int // files begun, by table and market
}

// TransactionConfig describes the run that a transaction belongs to. All fields must be set.
type TransactionConfig struct {
	ID      string           // UUIDv7
	Command string           // for errors: run, sync, compact …
	Started time.Time        // its UTC year is that of the run's history files
	Clock   func() time.Time // the machine's
	WorkDir string           // an existing local folder for unfinished files; "" means the system's
	Memory  memory.Allocator
}

// Begin starts a transaction. It changes nothing in the lake.
func (l *Lake) Begin(cfg TransactionConfig) (*Transaction, error) {
	work, err := os.MkdirTemp(cfg.WorkDir, "dealflow-load-*")
	if err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	return &Transaction{lake: l, cfg: cfg, began: cfg.Clock(), work: work, count: map[string]int{}}, nil
}

// Close removes the work folder. Files that were put into the lake and not committed stay there: they are garbage,
// which no reader opens.
func (t *Transaction) Close() error { return os.RemoveAll(t.work) }

// Snapshot opens a file of a table's snapshot; date is YYYY-MM-DD.
func (t *Transaction) Snapshot(table string, market api.Market, date string) (*parquet.Writer, error) {
	name := lake.SnapshotTable(table)
	return t.create(lake.File{
		Path:          lake.SnapshotKey(table, market, date, t.cfg.ID, t.number(name, market)),
		Table:         name,
		Partition:     map[string]string{"market": string(market), "snapshot_date": date},
		SchemaVersion: lake.SchemaVersion,
	}, lake.TableColumns(name))
}

// History opens a file of a table's history, or of deal_versions, in the year of the run's start.
func (t *Transaction) History(table string, market api.Market) (*parquet.Writer, error) {
	return t.HistoryOf(table, market, t.cfg.Started.UTC().Year())
}

// HistoryOf opens a file of a table's history, or of deal_versions, in a given year.
func (t *Transaction) HistoryOf(table string, market api.Market, year int) (*parquet.Writer, error) {
	name := lake.HistoryTable(table)
	return t.create(lake.File{
		Path:          lake.HistoryKey(table, market, year, t.cfg.ID, t.number(name, market)),
		Table:         name,
		Partition:     map[string]string{"market": string(market), "year": fmt.Sprintf("%04d", year)},
		SchemaVersion: lake.SchemaVersion,
	}, lake.TableColumns(name))
}

// create opens a file that is put into the lake when it is finished.
func (t *Transaction) create(file lake.File, columns []lake.Column) (*parquet.Writer, error) {
	return parquet.Create(t.cfg.Memory, t.work, file, columns, t.put)
}

// number counts the files of a table and market in this run, from 0.
func (t *Transaction) number(table string, market api.Market) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	folder := table + "/" + string(market)
	n := t.count[folder]
	t.count[folder]++
	return n
}

// Discard forgets the files written up to now: the next commit does not name them, and they become garbage. After it
// lost a commit, a run writes its files again, under new numbers.
func (t *Transaction) Discard() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files = nil
}

// WorkDir is the local folder for unfinished files. Close removes it.
func (t *Transaction) WorkDir() string { return t.work }

// Memory is the allocator of the transaction's files.
func (t *Transaction) Memory() memory.Allocator { return t.cfg.Memory }

// put puts a finished file into the lake and remembers it for the commit.
func (t *Transaction) put(ctx context.Context, file lake.File, body io.ReadSeeker) error {
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("put %s: %w", file.Path, err)
	}
	if err := t.lake.store.Put(ctx, file.Path, body, store.CreateOnly); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files = append(t.files, file)
	return nil
}

// CheckAge returns an error if the transaction began more than half of Grace ago: `expire` deletes files that no commit
// names and that are older than Grace, so files of this transaction may soon be gone.
func (t *Transaction) CheckAge() error {
	if age := t.cfg.Clock().Sub(t.began); age > Grace/2 {
		return fmt.Errorf("%s began %s ago: a file that no commit names may be removed after %s, so it does not commit any more; run it again", t.cfg.Command, age.Round(time.Minute), Grace)
	}
	return nil
}

// Prepare returns the next commit: c with format version, number, run id, chain hash and added files. The caller has
// set the rest: command, instants, outcome, feeds, files to remove.
func (t *Transaction) Prepare(c lake.Commit) lake.Commit {
	c.FormatVersion = lake.FormatVersion
	c.Number = t.lake.log.Number + 1
	c.RunID = t.cfg.ID
	c.PreviousSHA256 = t.lake.log.SHA256
	c.Add = slices.SortedFunc(slices.Values(t.files), func(a, b lake.File) int { return strings.Compare(a.Path, b.Path) })
	return c
}

// Commit makes the run's files visible, all at once, as the next commit, which it prepares from c. It checks the age
// first (CheckAge). ErrConflict means that another run took the number; then nothing of this run is visible.
func (t *Transaction) Commit(ctx context.Context, c lake.Commit) (*lake.Commit, error) {
	l := t.lake
	if err := t.CheckAge(); err != nil {
		return nil, err
	}
	if !c.KnownAt.After(l.log.KnownAt.Time) {
		return nil, fmt.Errorf("commit %d: known_at %s does not lie after the last one, %s", l.log.Number+1, c.KnownAt, l.log.KnownAt)
	}
	c = t.Prepare(c)
	data, err := c.Encode()
	if err != nil {
		return nil, fmt.Errorf("commit %d: %w", c.Number, err)
	}
	if err := t.putCommit(ctx, c.Number, data); err != nil {
		return nil, err
	}
	if err := l.log.append(data); err != nil {
		return nil, fmt.Errorf("commit %d: %w", c.Number, err)
	}
	l.log.index()
	return &c, nil
}

// A store may refuse a commit because another writer is putting it at that moment, before its object can be read. Then
// putCommit tries again, after a wait that doubles each time: about 6 s in all.
const (
	commitTries = 8
	commitWait  = 50 * time.Millisecond
)

// putCommit puts the commit's object. If the store refuses, or does not answer, putCommit reads the object back: our
// bytes mean success, other bytes mean that another run won.
func (t *Transaction) putCommit(ctx context.Context, number int64, data []byte) error {
	wait := commitWait
	for try := 1; ; try++ {
		putErr := t.lake.store.Put(ctx, lake.CommitKey(number), bytes.NewReader(data), store.CreateOnly)
		if putErr == nil {
			return nil
		}
		found, err := t.readBack(ctx, number)
		switch {
		case err == nil && bytes.Equal(found, data):
			return nil
		case err == nil:
			return fmt.Errorf("commit %d: %w", number, ErrConflict)
		case !errors.Is(err, store.ErrNotFound):
			return fmt.Errorf("commit %d may or may not have been made (reading it back: %w): %w", number, err, putErr)
		case !errors.Is(putErr, store.ErrExists) || try == commitTries:
			return fmt.Errorf("commit %d is not there, unless its put is still on the way (`dealflow runs` shows it then): %w", number, putErr)
		}
		if err := pause(ctx, wait); err != nil {
			return fmt.Errorf("commit %d: %w", number, errors.Join(err, putErr))
		}
		wait *= 2
	}
}

// readBack reads a commit of which we do not know whether it was made. The put may have succeeded although its answer
// was lost, so readBack ignores that the run is cancelled.
func (t *Transaction) readBack(ctx context.Context, number int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return store.Read(ctx, t.lake.store, lake.CommitKey(number))
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// WriteDerived writes what is derived from the newest commit: the hint, and every 50 commits a checkpoint. heads is the
// newest version of every deal; it may be nil unless Log.CheckpointDue. A failure makes later starts slower and does
// nothing else, so the caller may only warn.
func (l *Lake) WriteDerived(ctx context.Context, heads map[api.Feed]lake.Heads) error {
	var checkpointErr error
	if l.log.CheckpointDue() {
		checkpointErr = l.writeCheckpoint(ctx, heads)
	}
	data, err := json.Marshal(Hint{Commit: l.log.Number, Checkpoint: l.log.checkpoint})
	if err == nil {
		err = l.store.Put(ctx, lake.LatestKey, bytes.NewReader(append(data, '\n')), store.Replace)
	}
	return errors.Join(checkpointErr, err)
}
