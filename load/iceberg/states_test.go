package iceberg

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dealflow/load/iceberg/spans"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/lake"
)

// randomObject returns an object with a name that nothing else has.
func randomObject(r *rand.Rand, what string) object {
	return object{fmt.Sprintf("%s-%016x%016x", what, r.Uint64(), r.Uint64()), r.Int64N(1000)}
}

// nextState returns the state of the next commit: it continues from another one, as a publication does, with some blocks and
// snapshots of that, some new ones, and in some commits a table that was built again.
func nextState(r *rand.Rand, before *state, commit int64) *state {
	s := &state{FormatVersion: stateVersion, Location: "file:///lake/", Schema: lake.SchemaVersion, Tables: map[string]*tableState{}}
	s.NamedCommit = lake.NamedCommit{Number: commit, SHA256: fmt.Sprintf("%064x", commit), KnownAt: lake.At(time.Unix(commit, 0))}
	for i := range 3 {
		name := fmt.Sprintf("current.t%d", i)
		t := &tableState{Blocks: []*block{}}
		if before != nil && r.IntN(200) > 0 {
			for _, kept := range before.Tables[name].Snapshots {
				if r.IntN(300) == 0 {
					continue // it is no longer kept
				}
				blocks := make([]int, len(kept.Blocks))
				for j, n := range kept.Blocks {
					b := before.Tables[name].Blocks[n]
					if blocks[j] = slices.Index(t.Blocks, b); blocks[j] < 0 {
						blocks[j], t.Blocks = len(t.Blocks), append(t.Blocks, b)
					}
				}
				kept.Blocks = blocks
				t.Snapshots = append(t.Snapshots, kept)
			}
		}
		added := &block{Kind: dataFiles, Span: spans.Span{Lo: commit, Size: 1}, Manifest: randomObject(r, "manifest"), Entries: []entry{{Data: randomObject(r, "data").Key, Rows: 1}}}
		t.Blocks = append(t.Blocks, added)
		t.Snapshots = append(t.Snapshots, snapshot{Commit: commit, SHA256: s.SHA256, KnownAt: s.KnownAt, List: randomObject(r, "list"), Blocks: []int{len(t.Blocks) - 1, r.IntN(len(t.Blocks))}})
		s.Tables[name] = t
	}
	return s
}

// TestStateDifference stores the states of many commits, each after the one before was read: each reads back as it was, and
// most of them are short.
func TestStateDifference(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	s := new(memstore.Mem)
	var before *stored
	short, bases := 0, map[string]bool{}
	for commit := int64(1); commit <= 150; commit++ {
		var known *state
		if before != nil {
			known = before.state
		}
		want := nextState(r, known, commit)
		packed, err := want.pack(before)
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprintf("%s%d", statesPrefix, commit)
		storetest.Overwrite(t, s, key, packed)
		got, err := readState(t.Context(), s, key)
		if err != nil {
			t.Fatal(err)
		}
		wantText, err1 := json.Marshal(want)
		gotText, err2 := json.Marshal(got.state)
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(wantText, gotText) {
			t.Fatalf("commit %d: got %s, %v; want %s", commit, gotText, err, wantText)
		}
		if got.baseKey != key {
			short++
		}
		bases[got.baseKey] = true
		before = got
	}
	if short < 75 || len(bases) < 2 {
		t.Errorf("%d of 150 states are differences from %d others, want most of them, from a few", short, len(bases))
	}
	// A difference whose base is gone cannot be read: the next publication builds all tables again, and expire deletes nothing.
	if before.baseKey == statesPrefix+"150" {
		t.Fatal("the last state is whole: take another seed")
	}
	storetest.Overwrite(t, s, Table{Namespace: Current, Name: "t0"}.metadataKey(1), fmt.Appendf(nil, `{"properties":{%q:%q}}`, stateProperty, statesPrefix+"150"))
	needed, err := FindNeeded(t.Context(), s, time.Now(), 0)
	if err != nil {
		t.Fatal(err)
	}
	garbage := map[string]bool{}
	for _, o := range needed.Garbage(time.Now().Add(time.Hour)) {
		garbage[o.Key] = true
	}
	if garbage[statesPrefix+"150"] || garbage[before.baseKey] || len(garbage) != 148 {
		t.Errorf("%d of 150 states are garbage, the last one or its base among them: %t, want all but these", len(garbage), garbage[statesPrefix+"150"] || garbage[before.baseKey])
	}
	storetest.Remove(t, s, before.baseKey)
	if _, err := readState(t.Context(), s, statesPrefix+"150"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("without its base: got %v, want store.ErrNotFound", err)
	}
}

// TestCompareOtherBlocks compares a table with one that has the same deleted rows in other blocks, and with some that do not.
func TestCompareOtherBlocks(t *testing.T) {
	t.Parallel()
	deletes := func(lo, size int64, rows map[string][]int64) *block {
		b := &block{Kind: closed, Span: spans.Span{Lo: lo, Size: size}}
		for data, positions := range rows {
			b.Entries = append(b.Entries, entry{Data: data, Rows: int64(len(positions)), positions: positions})
		}
		return b
	}
	data := func(lo, size int64, names ...string) *block {
		b := &block{Kind: dataFiles, Span: spans.Span{Lo: lo, Size: size}}
		for _, name := range names {
			b.Entries = append(b.Entries, entry{Data: name, Rows: 9})
		}
		return b
	}
	table := func(blocks ...*block) *tableState {
		s := snapshot{Commit: 3}
		for i := range blocks {
			s.Blocks = append(s.Blocks, i)
		}
		return &tableState{Blocks: blocks, Snapshots: []snapshot{s}}
	}
	got := table(data(1, 1, "a"), data(2, 2, "b"), deletes(1, 1, map[string][]int64{"a": {4}}), deletes(2, 1, map[string][]int64{"a": {2}, "b": {0}}))
	for name, c := range map[string]struct {
		want   *tableState
		faults int
	}{
		"the same":         {table(data(1, 3, "a", "b"), deletes(1, 3, map[string][]int64{"a": {2, 4}, "b": {0}})), 0},
		"another row":      {table(data(1, 3, "a", "b"), deletes(1, 3, map[string][]int64{"a": {2, 5}, "b": {0}})), 1},
		"a row more":       {table(data(1, 3, "a", "b"), deletes(1, 3, map[string][]int64{"a": {2, 4, 5}, "b": {0}})), 1},
		"none of a file":   {table(data(1, 3, "a", "b"), deletes(1, 3, map[string][]int64{"a": {2, 4}})), 1},
		"a file is absent": {table(data(1, 3, "a"), deletes(1, 3, map[string][]int64{"a": {2, 4}, "b": {0}})), 1},
	} {
		v := &verification{}
		if err := v.compareTable(t.Context(), Tables()[0], got, c.want); err != nil || len(v.faults) != c.faults {
			t.Errorf("%s: %v, %v; want %d faults", name, v.faults, err, c.faults)
		}
	}
}
