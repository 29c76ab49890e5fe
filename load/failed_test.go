package load_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// commitStore is a store that handles the puts of commits as a test says. A nil handler leaves the put to the store.
type commitStore struct {
	*memstore.Mem
	puts   []func(key string, body io.ReadSeeker) error // one for each put of a commit, in order
	unread bool                                         // commits cannot be read
}

func (s *commitStore) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if strings.HasPrefix(key, lake.CommitsPrefix) && len(s.puts) > 0 {
		put := s.puts[0]
		s.puts = s.puts[1:]
		if put != nil {
			return put(key, body)
		}
	}
	return s.Mem.Put(ctx, key, body, mode)
}

func (s *commitStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if s.unread && strings.HasPrefix(key, lake.CommitsPrefix) {
		return nil, errUnavailable
	}
	return s.Mem.Get(ctx, key)
}

var errUnavailable = errors.New("503 Service Unavailable")

// TestFailedRunRemovesItsFiles checks that a run that made no commit deletes its files exactly if no commit can ever
// name them: no put of a commit was sent, or another run's commit was read back under each number that it tried.
func TestFailedRunRemovesItsFiles(t *testing.T) {
	// Each handler is one put of a commit by the run under test.
	s := &commitStore{}
	type put = func(string, io.ReadSeeker) error
	lost := func(string, io.ReadSeeker) error { // another run commits first
		n := loadtest.Open(t, s.Mem).Log().Number
		loadtest.Night(t, loadtest.Open(t, s.Mem), 10+int(n), loadtest.Added(100+n, 1, 'b'))
		return store.ErrExists
	}
	refused := func(string, io.ReadSeeker) error { return errUnavailable }
	unanswered := func(key string, body io.ReadSeeker) error { // it is applied, and its answer is lost
		return errors.Join(s.Mem.Put(t.Context(), key, body, store.CreateOnly), errUnavailable)
	}
	unreadable := func(key string, body io.ReadSeeker) error {
		s.unread = true
		return errors.Join(s.Mem.Put(t.Context(), key, body, store.CreateOnly), errUnavailable)
	}
	damaged := func(key string, _ io.ReadSeeker) error {
		return errors.Join(s.Mem.Put(t.Context(), key, bytes.NewReader([]byte("no commit\n")), store.CreateOnly), store.ErrExists)
	}
	for name, test := range map[string]struct {
		puts       []put
		cancelled  bool // before the run is closed
		overwrites bool
		kept       bool
	}{
		"no commit is put":               {},
		"cancelled, no commit is put":    {cancelled: true},
		"lost one number":                {puts: []put{lost}},
		"lost three numbers":             {puts: []put{lost, lost, lost}},
		"committed":                      {puts: []put{nil}, kept: true},
		"committed, answer lost":         {puts: []put{unanswered}, kept: true},
		"lost one, then committed":       {puts: []put{lost, nil}, kept: true},
		"no answer, and nothing there":   {puts: []put{refused}, kept: true},
		"no answer, and not readable":    {puts: []put{unreadable}, kept: true},
		"lost one, then no answer":       {puts: []put{lost, refused}, kept: true},
		"lost to an object of no run":    {puts: []put{damaged}, kept: true},
		"lost, in a store that replaces": {puts: []put{lost}, overwrites: true, kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			*s = commitStore{Mem: new(memstore.Mem), puts: test.puts}
			l := loadtest.Open(t, s)
			mem := testkit.Allocator(t)
			run, err := l.Begin(load.TransactionConfig{
				ID: "run-tested", Command: "run", Clock: time.Now, Started: loadtest.Start, WorkDir: t.TempDir(), Memory: mem, SingleWriter: test.overwrites,
			})
			if err != nil {
				t.Fatal(err)
			}
			written := 0
			for range max(len(test.puts), 1) {
				run.Discard()
				writeVersion(t, run)
				written++
				if len(test.puts) == 0 {
					break
				}
				if err := l.Refresh(t.Context()); err != nil && !errors.Is(err, load.ErrNoLake) {
					t.Fatal(err)
				}
				_, err := run.Commit(t.Context(), lake.Commit{Command: "run", KnownAt: lake.At(loadtest.Start.AddDate(1, 0, 0))})
				if !errors.Is(err, load.ErrConflict) {
					break
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.cancelled {
				cancel()
			}
			if err := run.Close(ctx); err != nil {
				t.Fatal(err)
			}
			left := 0
			for object, err := range s.List(t.Context(), "") {
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(object.Key, "run-tested") {
					left++
				}
			}
			want := 0
			if test.kept {
				want = written
			}
			if left != want {
				t.Errorf("%d of the run's %d files are left, want %d", left, written, want)
			}
		})
	}
}

// writeVersion writes a file with one version.
func writeVersion(t *testing.T, run *load.Transaction) {
	t.Helper()
	versions := transform.NewVersionBatches(run.Memory())
	defer versions.Release()
	version := loadtest.Added(1, 1, 'a')
	version.Feed, version.KnownAt, version.ObservedAt, version.RunID = loadtest.Feed, loadtest.Start, loadtest.Start, "run-tested"
	versions.Append(&version)
	batch := versions.Take()
	defer batch.Record.Release()
	file, err := run.History(lake.DealVersions, version.Feed.Market)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(file.Write(batch.Record, batch.MinDealID, batch.MaxDealID), file.Finish(t.Context())); err != nil {
		t.Fatal(err)
	}
}
