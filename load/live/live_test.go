package live_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"dealflow/load/live"
	"dealflow/schemas/lake"
)

// TestFiles puts, replaces, removes and puts again files, indexes them at any time, and compares with a plain map after each step.
func TestFiles(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		files, want := live.Files{}, map[string]*lake.File{}
		if seed%2 == 0 {
			files = live.New(10)
		}
		for range 100 {
			path := fmt.Sprintf("%02d", random.IntN(30))
			switch random.IntN(4) {
			case 0:
				files.Remove(path)
				delete(want, path)
			case 1:
				files.Index()
			default:
				want[path] = &lake.File{Path: path, Table: "table" + path[1:]}
				files.Put(want[path])
			}
			check(t, &files, want)
		}
	}
}

// check compares all that Files says with the files by path.
func check(t *testing.T, files *live.Files, want map[string]*lake.File) {
	t.Helper()
	var sorted []*lake.File
	tables := map[string][]*lake.File{}
	for _, path := range slices.Sorted(maps.Keys(want)) {
		file := want[path]
		sorted, tables[file.Table] = append(sorted, file), append(tables[file.Table], file)
		if files.Get(path) != file {
			t.Fatalf("%s is not the file that was put last", path)
		}
	}
	if got := files.All(); !slices.Equal(got, sorted) || files.Len() != len(sorted) {
		t.Fatalf("got %d files, length %d, want %d, sorted by path", len(got), files.Len(), len(sorted))
	}
	for digit := range 10 {
		table := fmt.Sprintf("table%d", digit)
		if got := files.Of(table); !slices.Equal(got, tables[table]) {
			t.Fatalf("%s: got %d files, want %d", table, len(got), len(tables[table]))
		}
	}
	if files.Get("absent") != nil {
		t.Fatal("a file that was never put is there")
	}
}
