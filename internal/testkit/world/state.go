package world

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/storetest"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// State is what a lake contains, except the names of its runs: two lakes with the same nights have the same.
type State struct {
	Commit int64
	Files  []string // see Sums
	Latest map[api.Feed]lake.Latest
}

// StateOf reads a lake's State, and checks size and SHA-256 of every live file.
func StateOf(t testing.TB, s store.Store) State {
	t.Helper()
	l, err := load.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	latest, err := l.Latest(t.Context(), testkit.Allocator(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range l.Log().AllFiles() {
		data := storetest.Bytes(t, s, file.Path)
		sum := sha256.Sum256(data)
		if int64(len(data)) != file.Bytes || hex.EncodeToString(sum[:]) != file.SHA256 {
			t.Errorf("%s: got %d bytes, SHA-256 %x; the commit says %d, %s", file.Path, len(data), sum, file.Bytes, file.SHA256)
		}
	}
	return State{Commit: l.Log().Number, Files: Sums(l.Log()), Latest: latest}
}

// WantState compares all of a State except the number of the commit. what says when: "after the next run".
func WantState(t testing.TB, what string, got, want State) {
	t.Helper()
	if !slices.Equal(got.Files, want.Files) {
		t.Errorf("files %s:\n got %s\nwant %s", what, strings.Join(got.Files, "\n     "), strings.Join(want.Files, "\n     "))
	}
	if !maps.EqualFunc(got.Latest, want.Latest, maps.Equal) {
		t.Errorf("latest %s differ: got %v, want %v", what, got.Latest, want.Latest)
	}
}

// Sums lists folder and SHA-256 of the live files of the flattened tables, sorted. Equal runs have these in
// common, but not the files' names, nor deal_versions and the quarantine: those contain the run's id.
func Sums(log *load.Log) []string {
	var sums []string
	for _, file := range log.AllFiles() {
		if file.Table != lake.HistoryTable(lake.DealVersions) && file.Table != lake.QuarantineTable {
			sums = append(sums, path.Dir(file.Path)+" "+file.SHA256)
		}
	}
	slices.Sort(sums)
	return sums
}

// Stride is the distance between the store calls that tests of failing stores try: TEST_STRIDE, or 1 with TEST_FULL
// alone, or 9.
func Stride(t testing.TB) int64 {
	t.Helper()
	otherwise := 9
	if testkit.Full() {
		otherwise = 1
	}
	return int64(testkit.Count(t, "TEST_STRIDE", otherwise))
}
