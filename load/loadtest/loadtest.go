// Package loadtest writes small lakes for tests: commits of deal_versions only, without an API.
// Takes: a store. Gives: lakes with chosen versions of deals. Keeps: the instants and run ids are the same in each run.
// Fails: the test. May change here: helpers that tests of several packages of load need.
package loadtest

import (
	"errors"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// Feed is the feed of all deals, and Start the start of the first run.
var (
	Feed  = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}
	Start = time.Date(2026, 3, 2, 22, 0, 0, 0, time.UTC)
)

// Night writes one commit, n days after Start, with the given versions of deals of Feed.
func Night(t testing.TB, l *load.Lake, n int, versions ...transform.DealVersion) *lake.Commit {
	t.Helper()
	mem := testkit.Allocator(t)
	started := Start.AddDate(0, 0, n)
	run := Begin(t, l, mem, started)
	defer Close(t, run)
	batches := transform.NewVersionBatches(mem)
	defer batches.Release()
	for _, v := range versions {
		v.Feed, v.KnownAt, v.ObservedAt, v.RunID = Feed, started, started, RunID(started)
		batches.Append(&v)
	}
	w, err := run.History(lake.DealVersions, Feed.Market)
	if err != nil {
		t.Fatal(err)
	}
	batch := batches.Take()
	err = w.Write(batch.Record, batch.MinDealID, batch.MaxDealID)
	batch.Record.Release()
	if err := errors.Join(err, w.Finish(t.Context())); err != nil {
		t.Fatal(err)
	}
	commit, err := run.Commit(t.Context(), lake.Commit{Command: "run", StartedAt: lake.At(started), KnownAt: lake.At(started), Outcome: lake.OutcomeDone})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Derive(t.Context(), mem); err != nil {
		t.Fatal(err)
	}
	return commit
}

// RunID is the id of the run that starts at an instant.
func RunID(started time.Time) string { return "run-" + started.Format("20060102") }

// Begin begins a run. Close ends it.
func Begin(t testing.TB, l *load.Lake, mem memory.Allocator, started time.Time) *load.Transaction {
	t.Helper()
	run, err := l.Begin(load.TransactionConfig{ID: RunID(started), Command: "run", Clock: time.Now, Started: started, WorkDir: t.TempDir(), Memory: mem})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Close ends a run that Begin began.
func Close(t testing.TB, run *load.Transaction) {
	t.Helper()
	if err := run.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// Open opens the lake in a store, which may be empty.
func Open(t testing.TB, s store.Store) *load.Lake {
	t.Helper()
	l, err := load.Open(t.Context(), s)
	if err != nil && !errors.Is(err, load.ErrNoLake) {
		t.Fatal(err)
	}
	return l
}

// Added returns a version of a deal with content made of one byte. Version 1 is an addition, later ones are changes.
func Added(id int64, version int32, content byte) transform.DealVersion {
	change := lake.Changed
	if version == 1 {
		change = lake.Added
	}
	return transform.DealVersion{
		DealID: id, Version: version, Change: change, ContentHash: lake.Digest{content}, PayloadHash: lake.Digest{content, 1},
		Payload: []byte{'{', content, '}'},
	}
}

// LongLog returns a lake of 103 commits, with checkpoints at 50 and 100. Each commit adds a deal, and every tenth
// changes deal 1.
func LongLog(t testing.TB) *memstore.Mem {
	t.Helper()
	s := new(memstore.Mem)
	l := Open(t, s)
	for n := range 103 {
		deals := []transform.DealVersion{Added(int64(n+2), 1, byte(n))}
		if n%10 == 0 {
			deals = append([]transform.DealVersion{Added(1, int32(n/10+1), byte(n))}, deals...)
		}
		Night(t, l, n, deals...)
	}
	return s
}
