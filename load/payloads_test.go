package load_test

import (
	"errors"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/load/loadtest"
	"dealflow/load/store/memstore"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// TestPayloadsInRowGroups reads deals at the edges of row groups, one by one and together, because groups are chosen by
// their least and greatest id. It also reads an older version of a deal, which is in an older file.
func TestPayloadsInRowGroups(t *testing.T) {
	l := loadtest.Open(t, new(memstore.Mem))
	loadtest.Night(t, l, 0, loadtest.Added(2, 1, 'p'), loadtest.Added(5, 1, 'q'), loadtest.Added(9, 1, 'r'))
	groups := [][]transform.DealVersion{
		{loadtest.Added(2, 2, 'a'), loadtest.Added(3, 1, 'b')},
		{loadtest.Added(4, 1, 'c')},
		{loadtest.Added(5, 2, 'd'), loadtest.Added(7, 1, 'e'), loadtest.Added(9, 2, 'f')},
	}
	mem := testkit.Allocator(t)
	started := loadtest.Start.AddDate(0, 0, 1)
	run := loadtest.Begin(t, l, mem, started)
	defer loadtest.Close(t, run)
	w, err := run.History(lake.DealVersions, loadtest.Feed.Market)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int64]string{}
	newest := map[int64]int32{}
	batches := transform.NewVersionBatches(mem)
	defer batches.Release()
	for _, group := range groups {
		for _, v := range group {
			v.Feed, v.KnownAt, v.ObservedAt, v.RunID = loadtest.Feed, started, started, loadtest.RunID(started)
			batches.Append(&v)
			want[v.DealID], newest[v.DealID] = string(v.Payload), v.Version
		}
		batch := batches.Take()
		err := w.Write(batch.Record, batch.MinDealID, batch.MaxDealID)
		batch.Record.Release()
		if err != nil {
			t.Fatal(errors.Join(err, w.Abort()))
		}
	}
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Commit(t.Context(), lake.Commit{Command: "run", KnownAt: lake.At(started), Outcome: lake.OutcomeDone}); err != nil {
		t.Fatal(err)
	}

	ask := func(versions map[int64]int32, want map[int64]string) {
		t.Helper()
		found, err := l.Payloads(t.Context(), mem, loadtest.Feed, versions)
		if err != nil {
			t.Errorf("%v: %v", versions, err)
		}
		for id := range versions {
			if got := string(found[id].Bytes); got != want[id] {
				t.Errorf("%v: deal %d has %q, want %q", versions, id, got, want[id])
			}
		}
	}
	ask(nil, nil)
	ask(newest, want)
	for id, version := range newest {
		ask(map[int64]int32{id: version}, want)
	}
	ask(map[int64]int32{2: 1, 5: 2, 9: 1}, map[int64]string{2: "{p}", 5: "{d}", 9: "{r}"})
	for _, id := range []int64{1, 6, 10} {
		if _, err := l.Payloads(t.Context(), mem, loadtest.Feed, map[int64]int32{id: 1}); err == nil {
			t.Errorf("deal %d is nowhere, and that was no error", id)
		}
	}
}
