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

	"dealflow/load/begun"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Grace is how long `expire` leaves a file that no commit names: a run under way may have written it. A run that is
// older than half of Grace must not commit any more.
const Grace = 7 * 24 * time.Hour

// Transaction collects the files of one run until its commit. Its methods are safe for concurrent use, except Prepare,
// Commit and Close. Close removes its work folder.
type Transaction struct {
	lake  *Lake
	cfg   TransactionConfig
	began time.Time // by cfg.Clock
	work  string
	fate  commitFate

	isWhole bool // Settle has found that no copy adds commits to the lake

	puts *store.Puts

	mu    sync.Mutex
	files []lake.File    // that were handed over to be put
	count map[string]int // files begun, by table and market
	sent  []string       // paths of the files that may be in the lake, discarded ones too
}

// commitFate is what a transaction knows of its commit.
type commitFate int

const (
	// notVisible: no put of a commit was ever sent, or the commit of another run was read back under each number that
	// was tried. No commit can name the transaction's files.
	notVisible commitFate = iota
	// unknown: a put of the commit was sent, and may still take effect.
	unknown
	// committed: the commit is made.
	committed
)

// TransactionConfig describes the run that a transaction belongs to. All fields but OneByOne and Keep must be set.
type TransactionConfig struct {
	ID      string           // UUIDv7
	Command string           // for errors: run, sync, compact …
	Started time.Time        // its UTC year is that of the run's history files
	Clock   func() time.Time // the machine's
	WorkDir string           // an existing local folder for unfinished files; "" means the system's
	Memory  memory.Allocator

	// OneByOne says that each file is put before the next call to the store. Otherwise files are put side by side while
	// rows are written.
	OneByOne bool

	// Keep, if set, is called with each complete file before it is put. local is its path; the file is deleted after the put.
	Keep func(file lake.File, local string)

	// SingleWriter says that the store may put an object although it exists: then reading back another run's commit does
	// not prove that a put of ours can no longer take effect.
	SingleWriter bool
}

// Begin starts a transaction. It changes nothing in the lake. The error is that of CheckWritable for a lake that this
// program may only read.
func (l *Lake) Begin(cfg TransactionConfig) (*Transaction, error) {
	if err := l.CheckWritable(); err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp(cfg.WorkDir, "dealflow-load-*")
	if err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	puts := store.NewPuts(store.SideBySide)
	if cfg.OneByOne {
		puts = store.OneByOne()
	}
	return &Transaction{lake: l, cfg: cfg, began: cfg.Clock().Round(0), work: work, count: map[string]int{}, puts: puts}, nil
}

// cleanTimeout bounds the removal of a failed run's files.
const cleanTimeout = 30 * time.Second

// Close removes the work folder. If it is certain that no commit names the transaction's files, or ever will, Close
// deletes them from the lake, even if ctx is cancelled. In any doubt they stay: then they are garbage, which no reader
// opens and `expire` deletes. The same goes for files that could not be deleted; they are no error.
func (t *Transaction) Close(ctx context.Context) error {
	t.puts.Abandon()
	if t.fate == notVisible {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
		defer cancel()
		for batch := range slices.Chunk(t.sent, deleteBatch) {
			if t.lake.store.Delete(ctx, batch...) != nil {
				break
			}
		}
		t.sent = nil
	}
	return os.RemoveAll(t.work)
}

// deleteBatch is the number of objects that one request deletes: S3's limit.
const deleteBatch = 1000

// Snapshot opens a file of a table's snapshot; date is YYYY-MM-DD.
func (t *Transaction) Snapshot(table string, market api.Market, date string) (*parquet.Writer, error) {
	name := lake.SnapshotTable(table)
	return t.create(lake.File{
		Path:          lake.SnapshotKey(table, market, date, t.cfg.ID, t.number(name, market)),
		Table:         name,
		Partition:     map[string]string{"market": string(market), "snapshot_date": date},
		SchemaVersion: lake.SchemaVersion,
		Needs:         lake.SchemaNeeds(lake.SchemaVersion),
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
		Needs:         lake.SchemaNeeds(lake.SchemaVersion),
	}, lake.TableColumns(name))
}

// FileLike opens a file of the same table, schema version, and day or year as an existing one: a shared file for rows of the
// markets, or without markets a file of the same market.
func (t *Transaction) FileLike(existing *lake.File, markets []api.Market) (*parquet.Writer, error) {
	var market api.Market
	if len(markets) == 0 {
		market = slices.Concat(existing.Markets(), []api.Market{""})[0]
	}
	f, err := lake.FileLike(existing, markets, t.cfg.ID, t.number(existing.Table, market))
	if err != nil {
		return nil, err
	}
	return t.create(f, lake.ColumnsAt(lake.TableColumns(f.Table), f.SchemaVersion))
}

// create opens a file that is put into the lake when it is finished.
func (t *Transaction) create(file lake.File, columns []lake.Column) (*parquet.Writer, error) {
	return parquet.Create(t.cfg.Memory, t.work, file, columns, t.put)
}

// number counts the files of a table and market in this run, from 0. The market of shared files is "".
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

// put begins to put a finished file into the lake, and remembers it for the commit. It returns before the file is in the
// lake: Settle says whether all of them are.
func (t *Transaction) put(ctx context.Context, file lake.File, body *parquet.Finished) error {
	if t.cfg.Keep != nil {
		t.cfg.Keep(file, body.Name())
	}
	return t.putBody(ctx, file, body)
}

// putBody is put for any body.
func (t *Transaction) putBody(ctx context.Context, file lake.File, body io.ReadSeekCloser) error {
	t.mu.Lock()
	t.files = append(t.files, file)
	t.mu.Unlock()
	return t.puts.Begin(ctx, body, func(ctx context.Context) error {
		_, err := body.Seek(0, io.SeekStart)
		if err == nil {
			err = t.lake.store.Put(ctx, file.Path, body, store.CreateOnly)
		}
		if !errors.Is(err, store.ErrExists) { // after any other error the file may have been put
			t.mu.Lock()
			defer t.mu.Unlock()
			t.sent = append(t.sent, file.Path)
		}
		if err != nil {
			return &PutError{err}
		}
		return nil
	})
}

// PutError is the store's error for a file of a transaction, which it names. Files are put while others are written, so it may come
// from any later step of the transaction.
type PutError struct{ Err error }

// Error implements error.
func (e *PutError) Error() string { return e.Err.Error() }

// Unwrap returns the store's error.
func (e *PutError) Unwrap() error { return e.Err }

// OfFeed returns the error of a step of a transaction with its feed. A PutError stays as it is: its file may be another feed's.
func OfFeed(feed api.Feed, err error) error {
	if put := (*PutError)(nil); err == nil || errors.As(err, &put) {
		return err
	}
	return fmt.Errorf("%s: %w", feed, err)
}

// Settle waits until all finished files are in the lake. Its error is that of the first file that could not be put; then the transaction can only
// be closed.
//
// The first call also returns an error if `dealflow copy` is adding commits to this lake: a commit among them would damage the log. A copy that
// begins after the lease was written sees the lease, and gives way; this finds one that began before. It is read while files are being put.
func (t *Transaction) Settle(ctx context.Context) error {
	if !t.isWhole {
		if err := begun.Check(ctx, t.lake.store, t.lake.log.Number); err != nil {
			return fmt.Errorf("write to %s: %w", t.lake.store.URL(), err)
		}
		t.isWhole = true
	}
	return t.puts.Settle(ctx)
}

// CheckAge returns an error if the transaction began more than half of Grace ago by the wall clock, which counts while the machine
// is suspended: `expire` deletes files that no commit names and that are older than Grace, so those of this transaction soon.
func (t *Transaction) CheckAge() error {
	if age := t.cfg.Clock().Sub(t.began); age > Grace/2 {
		return fmt.Errorf("%s started %s ago, want a commit within %s: later, expire may remove its uncommitted files; run it again", t.cfg.Command, age.Round(time.Minute), Grace)
	}
	return nil
}

// Prepare returns the next commit: c with format version, number, run id, chain hash, lost commits and added files. The
// caller has set the rest: command, instants, outcome, feeds, files to remove.
func (t *Transaction) Prepare(c lake.Commit) lake.Commit {
	c.FormatVersion = lake.FormatVersion
	c.Number = t.lake.log.Number + 1
	c.RunID = t.cfg.ID
	c.PreviousSHA256 = t.lake.log.SHA256
	c.Lost = t.lake.lost
	c.Add = slices.SortedFunc(slices.Values(t.files), func(a, b lake.File) int { return strings.Compare(a.Path, b.Path) })
	return c
}

// Commit makes the run's files visible, all at once, as the next commit, which it prepares from c. It checks the age
// (CheckAge) and settles the files (Settle) first. ErrConflict means that another run took the number; then nothing of this run is visible.
func (t *Transaction) Commit(ctx context.Context, c lake.Commit) (*lake.Commit, error) {
	l := t.lake
	if err := errors.Join(t.CheckAge(), l.CheckWritable()); err != nil {
		return nil, err
	}
	if err := t.Settle(ctx); err != nil {
		return nil, err
	}
	if floor := l.Floor(); !c.KnownAt.After(floor.Time) {
		return nil, fmt.Errorf("commit %d: known_at is %s, want an instant after the last commit's, %s", l.log.Number+1, c.KnownAt, floor)
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
	l.lost = nil // the commit records them
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
	others := t.fate // of the numbers that were tried before
	t.fate = unknown
	wait := commitWait
	for try := 1; ; try++ {
		putErr := t.lake.store.Put(ctx, lake.CommitKey(number), bytes.NewReader(data), store.CreateOnly)
		if putErr == nil {
			t.fate = committed
			return nil
		}
		found, err := t.readBack(ctx, number)
		switch {
		case err == nil && bytes.Equal(found, data):
			t.fate = committed
			return nil
		case err == nil:
			if t.isOfAnother(found) {
				t.fate = others
			}
			return fmt.Errorf("commit %d: %w", number, ErrConflict)
		case !errors.Is(err, store.ErrNotFound):
			return fmt.Errorf("commit %d: it is unknown whether it was written (reading it back: %w): %w; check with `dealflow runs`", number, err, putErr)
		case !errors.Is(putErr, store.ErrExists) || try == commitTries:
			return fmt.Errorf("commit %d: its put failed, and it was not found: %w; the put may still take effect: check with `dealflow runs`", number, putErr)
		}
		if err := store.Pause(ctx, wait); err != nil {
			return fmt.Errorf("commit %d: %w", number, errors.Join(err, putErr))
		}
		wait *= 2
	}
}

// isOfAnother says whether an object that was read back under a commit's key proves that a create-only put of ours can
// no longer take effect: it is the commit of another run.
func (t *Transaction) isOfAnother(data []byte) bool {
	c, err := lake.DecodeCommit(data)
	return err == nil && c.RunID != t.cfg.ID && !t.cfg.SingleWriter
}

// readBack reads a commit of which we do not know whether it was made. The put may have succeeded although its answer
// was lost, so readBack ignores that the run is cancelled.
func (t *Transaction) readBack(ctx context.Context, number int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return store.Read(ctx, t.lake.store, lake.CommitKey(number))
}

// Derive is WriteDerived for a caller that does not know the newest versions. It reads them if a checkpoint needs them.
func (l *Lake) Derive(ctx context.Context, mem memory.Allocator) error {
	var latest map[api.Feed]lake.Latest
	if l.log.CheckpointDue() {
		var err error
		if latest, err = l.Latest(ctx, mem); err != nil {
			return err
		}
	}
	return l.WriteDerived(ctx, latest)
}

// WriteDerived writes what is derived from the newest commit: the hint, and every 50 commits a checkpoint. latest is the
// newest version of every deal; it may be nil unless Log.CheckpointDue. A failure makes later starts slower and does
// nothing else, so the caller may only warn.
func (l *Lake) WriteDerived(ctx context.Context, latest map[api.Feed]lake.Latest) error {
	var checkpointErr error
	if l.log.CheckpointDue() {
		checkpointErr = l.writeCheckpoint(ctx, latest)
	}
	data, err := json.Marshal(Hint{
		FormatVersion: l.log.Format, DealflowVersion: l.log.writer(), Needs: l.log.Needs(), Commit: l.log.Number, SHA256: l.log.SHA256, KnownAt: l.log.KnownAt,
		Checkpoint: l.log.checkpoint,
	})
	if err == nil {
		err = l.store.Put(ctx, lake.LatestKey, bytes.NewReader(append(data, '\n')), store.Replace)
	}
	return errors.Join(checkpointErr, err)
}
