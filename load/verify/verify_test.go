package verify_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/begun"
	"dealflow/load/loadtest"
	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/load/verify"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// lakes_test.go and damage_test.go test what verify finds in complete lakes, sound and damaged. This file tests verify
// with stores that fail, with many findings, and on parts of the files.

// soundLake has one deal, with its row in history.
func soundLake(t *testing.T) *memstore.Mem {
	t.Helper()
	s := new(memstore.Mem)
	mem := testkit.Allocator(t)
	l, err := load.Open(t.Context(), s)
	if !errors.Is(err, load.ErrNoLake) {
		t.Fatal(err)
	}
	id := "run-" + loadtest.Start.Format("20060102")
	run, err := l.Begin(load.TransactionConfig{ID: id, Command: "run", Clock: time.Now, Started: loadtest.Start, WorkDir: t.TempDir(), Memory: mem})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := run.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	payload := []byte("{}")
	versions := transform.NewVersionBatches(mem)
	defer versions.Release()
	feed := api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Expected} // its table is small
	versions.Append(&transform.DealVersion{
		Feed: feed, DealID: 1, Version: 1, Change: lake.Added, KnownAt: loadtest.Start, ObservedAt: loadtest.Start, RunID: id,
		PayloadHash: sha256.Sum256(payload), Payload: payload,
	})
	table := lake.FeedTables(feed)[0]
	row := array.NewRecordBuilder(mem, lake.ArrowSchema(table.HistoryColumns()))
	defer row.Release()
	for i, key := range []string{string(feed.Market), "1", "1"} {
		if err := row.Field(i).AppendValueFromString(key); err != nil {
			t.Fatal(err)
		}
	}
	for _, column := range row.Fields()[3:] {
		column.AppendNull()
	}
	batch, record := versions.Take(), row.NewRecord()
	defer batch.Record.Release()
	defer record.Release()
	history, err1 := run.History(table.Name, feed.Market)
	dealVersions, err2 := run.History(lake.DealVersions, feed.Market)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	err = errors.Join(history.Write(record, 1, 1), history.Finish(t.Context()), dealVersions.Write(batch.Record, 1, 1), dealVersions.Finish(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Commit(t.Context(), lake.Commit{Command: "run", StartedAt: lake.At(loadtest.Start), KnownAt: lake.At(loadtest.Start), Outcome: lake.OutcomeDone}); err != nil {
		t.Fatal(err)
	}
	if err := l.WriteDerived(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func full(t *testing.T) verify.Config {
	return verify.Config{ReadData: true, Memory: testkit.Allocator(t)}
}

// TestVerifyEveryByte flips bits of all objects of a lake in turn, and cuts each object off everywhere. verify always
// returns a report, and if all data is read the report names the damage.
func TestVerifyEveryByte(t *testing.T) {
	s := soundLake(t)
	stride := 19
	if testing.Short() {
		stride = 53
	}
	if report, err := verify.Lake(t.Context(), s, full(t)); err != nil || len(report.Findings) > 0 {
		t.Fatalf("a sound lake: %v, %+v", err, report)
	}
	tried := 0
	for object, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		data := storetest.Bytes(t, s, object.Key)
		for offset := 0; offset < len(data); offset += stride {
			for what, damaged := range map[string][]byte{
				"flipped": append(append(append([]byte{}, data[:offset]...), data[offset]^1<<(offset%8)), data[offset+1:]...), "cut off": data[:offset],
			} {
				tried++
				spoilt := storetest.Clone(t, s)
				storetest.Overwrite(t, spoilt, object.Key, damaged)
				for _, cfg := range []verify.Config{{}, {ReadData: true}} {
					report, err := verify.Lake(t.Context(), spoilt, cfg)
					var format *lake.FormatError
					switch {
					case report == nil && !errors.As(err, &format):
						t.Fatalf("%s %s at %d: %v", object.Key, what, offset, err)
					case report == nil || strings.HasPrefix(object.Key, "_dealflow/"):
						// The hint is not trusted, and no other object says what the newest commit is.
					case cfg.ReadData && !errors.Is(err, verify.ErrDamage):
						t.Errorf("%s %s at %d: got %v, want damage", object.Key, what, offset, err)
					}
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d damages were tried", tried)
	}
}

// TestVerifyCannotLook fails each call to the store in turn: that is an error and no damage, because it says nothing
// about the lake.
func TestVerifyCannotLook(t *testing.T) {
	s := soundLake(t)
	count := &faultstore.Store{Store: s}
	if _, err := verify.Lake(t.Context(), count, full(t)); err != nil {
		t.Fatal(err)
	}
	calls := count.Calls()
	for call := int64(1); call <= calls; call++ {
		for _, kind := range faultstore.Kinds {
			report, err := verify.Lake(t.Context(), &faultstore.Store{Store: s, FailAt: call, Kind: kind, Once: true}, full(t))
			switch {
			case errors.Is(err, verify.ErrDamage):
				t.Errorf("call %d of %d, %s: taken for damage: %+v", call, calls, kind, report.Findings)
			case call == 1, err == nil && kind == faultstore.Truncated: // the hint, or a body that broke off: they are read again
				if err != nil || len(report.Findings) > 0 {
					t.Errorf("hint, %s: got %v, %v", kind, err, report)
				}
			case !errors.Is(err, faultstore.ErrInjected):
				t.Errorf("call %d of %d, %s: got %v, want the store's error", call, calls, kind, err)
			case report != nil && (len(report.Unread) != 1 || report.Checked.FilesRead < report.Checked.Files-1):
				t.Errorf("call %d of %d, %s: the report says that %q could not be read, and %d of %d files were; want one", call, calls, kind, report.Unread, report.Checked.FilesRead, report.Checked.Files)
			}
		}
	}
}

// TestVerifyWithoutLake verifies a store without a lake.
func TestVerifyWithoutLake(t *testing.T) {
	if report, err := verify.Lake(t.Context(), new(memstore.Mem), full(t)); report != nil || !errors.Is(err, load.ErrNoLake) {
		t.Errorf("got %v, %v; want load.ErrNoLake", report, err)
	}
}

// TestVerifyUnfinishedCopy verifies what a copy has begun: it says to go on with the copy, and not that there is no lake.
func TestVerifyUnfinishedCopy(t *testing.T) {
	s := new(memstore.Mem)
	mark := begun.Mark{Command: "copy", From: "s3://deals/lake", Until: 3}
	if err := mark.Write(t.Context(), s, store.CreateOnly); err != nil {
		t.Fatal(err)
	}
	if report, err := verify.Lake(t.Context(), s, full(t)); report != nil || err == nil || errors.Is(err, load.ErrNoLake) || !strings.Contains(err.Error(), "has not finished; run `dealflow copy s3://deals/lake") {
		t.Errorf("got %v, %v; want an error that says to go on with the copy", report, err)
	}
}

// TestVerifyLostLog verifies a lake that has lost all commits, but not its checkpoint.
func TestVerifyLostLog(t *testing.T) {
	s := loadtest.LongLog(t)
	for n := range int64(103) {
		storetest.Remove(t, s, lake.CommitKey(n+1))
	}
	report, err := verify.Lake(t.Context(), s, verify.Config{})
	if !errors.Is(err, verify.ErrDamage) || report.Commit != 100 {
		t.Fatalf("got %v, %v; want damage, and the state of commit 100", report, err)
	}
	if f := report.Findings[0]; f.Check != verify.LogNumbers || !strings.Contains(f.Detail, "commits 1 to 50 are missing") && !strings.Contains(f.Detail, "commits 1 to 100 are missing") {
		t.Errorf("found first: %+v", f)
	}
}

// TestVerifyCancelled ends with the context.
func TestVerifyCancelled(t *testing.T) {
	s := soundLake(t)
	for at := range 7 { // what names commits, the commit, and the bytes of two files: the rest is read of local copies
		ctx, cancel := context.WithCancel(t.Context())
		report, err := verify.Lake(ctx, &cancelling{Store: s, left: at, cancel: cancel}, full(t))
		cancel()
		if report != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at call %d: got %v, %v; want context.Canceled", at, report, err)
		}
	}
}

// cancelling cancels a context after a number of objects were opened.
type cancelling struct {
	store.Store
	mu     sync.Mutex
	left   int
	cancel context.CancelFunc
}

func (c *cancelling) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left < 0 {
		c.cancel()
	}
	return c.Store.Get(ctx, key)
}

// TestVerifySlices reads a lake in seven parts: each file once.
func TestVerifySlices(t *testing.T) {
	s := loadtest.LongLog(t)
	all, err := verify.Lake(t.Context(), s, full(t))
	if all == nil {
		t.Fatal(err)
	}
	var files, bytes, rows int64
	for slice := range 7 {
		cfg := full(t)
		cfg.Slice, cfg.Slices = slice+1, 7
		part, err := verify.Lake(t.Context(), s, cfg)
		if part == nil {
			t.Fatal(err)
		}
		if part.Checked.FilesRead == 0 || part.Checked.FilesRead > part.Checked.Files/3 {
			t.Errorf("slice %d has %d of %d files", slice+1, part.Checked.FilesRead, part.Checked.Files)
		}
		files, bytes, rows = files+part.Checked.FilesRead, bytes+part.Checked.BytesRead, rows+part.Checked.RowsRead
	}
	if c := all.Checked; files != c.Files || files != c.FilesRead || bytes != c.BytesRead || rows != c.RowsRead {
		t.Errorf("slices read %d files, %d bytes, %d rows; the whole has %d, %d, %d", files, bytes, rows, c.Files, c.BytesRead, c.RowsRead)
	}
	for _, bad := range []verify.Config{{ReadData: true, Slice: 8, Slices: 7}, {ReadData: true, Slices: 7}, {Slice: 1, Slices: 7}, {ReadData: true, Slices: -1}} {
		if _, err := verify.Lake(t.Context(), s, bad); err == nil || errors.Is(err, verify.ErrDamage) {
			t.Errorf("%+v: got %v, want an error", bad, err)
		}
	}
}

// TestVerifyManyFindings checks that listed findings are limited, that the others are counted, and that the same ones
// are listed each time.
func TestVerifyManyFindings(t *testing.T) {
	s := loadtest.LongLog(t) // 114 versions with payloads of other hashes, and without rows
	first, err := verify.Lake(t.Context(), s, full(t))
	if !errors.Is(err, verify.ErrDamage) {
		t.Fatalf("got %v, want damage", err)
	}
	listed := map[verify.Check]int{}
	for _, f := range first.Findings {
		listed[f.Check]++
	}
	for _, check := range []verify.Check{verify.PayloadHash, verify.HistoryRows} {
		if listed[check] != verify.MaxListed {
			t.Errorf("%d of %s are listed, want %d", listed[check], check, verify.MaxListed)
		}
	}
	var more int64
	for _, u := range first.Unlisted {
		more += u.Count
	}
	if want := int64(len(first.Findings)) + more; first.Damage+first.Notes != want || more != 2*14 {
		t.Errorf("%d damages and %d notes, %d listed and %d not; want 28 not", first.Damage, first.Notes, len(first.Findings), more)
	}
	for range 5 {
		again, err := verify.Lake(t.Context(), s, full(t))
		if again == nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(first, again) {
			t.Fatalf("first %+v, then %+v", first, again)
		}
	}
}

// vanishing is a store whose objects under a prefix are deleted between a listing and the first reading.
type vanishing struct {
	store.Store
	prefix string
}

func (s vanishing) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if strings.HasPrefix(key, s.prefix) {
		if err := s.Delete(ctx, key); err != nil {
			return nil, err
		}
	}
	return s.Store.Get(ctx, key)
}

// TestVerifyWhileExpireDeletes verifies a lake whose checkpoints expire deletes at the same time: they are derived, so that nothing is damaged.
func TestVerifyWhileExpireDeletes(t *testing.T) {
	t.Parallel()
	s := storetest.Clone(t, longLake(t).Store)
	storetest.Bytes(t, s, lake.CheckpointKey(50))
	report, err := verify.Lake(t.Context(), vanishing{s, lake.CheckpointsPrefix}, full(t))
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("got %v, %+v; want nothing found", err, report)
	}
	if _, err := store.Read(t.Context(), s, lake.CheckpointKey(50)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the checkpoint was not read: %v", err)
	}
}
