package pull

import (
	"maps"
	"os"
	"testing"

	"dealflow/schemas/lake"
	"dealflow/transform"
)

// TestSpill writes decisions to the disk and reads their new versions back. A file that is not as it was written is an error.
func TestSpill(t *testing.T) {
	version := func(n int32) lake.LatestVersion {
		return lake.LatestVersion{Version: n, Removed: n%2 == 0, ContentHash: lake.Digest{byte(n), 1}, PayloadHash: lake.Digest{byte(n), 2}}
	}
	f := &feedRun{decided: decided{news: 3, decisions: []transform.Decision{
		{ID: -7, Change: lake.Added, Latest: version(1)},
		{ID: 1, Latest: version(5)},
		{ID: 2, Change: lake.Removed, Latest: version(2)},
		{ID: 1 << 40, Change: lake.Changed, Latest: version(3)},
	}}}
	if err := f.spill(t.TempDir()); err != nil || f.decisions != nil {
		t.Fatalf("%v; %d decisions are left", err, len(f.decisions))
	}
	got := lake.Latest{1: version(5), 2: version(1)}
	if err := f.came.addTo(got); err != nil {
		t.Fatal(err)
	}
	if want := (lake.Latest{-7: version(1), 1: version(5), 2: version(2), 1 << 40: version(3)}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	data, err := os.ReadFile(f.came.path)
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{"cut off": data[:len(data)-1], "longer": append(data, 0)} {
		if err := os.WriteFile(f.came.path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := f.came.addTo(lake.Latest{}); err == nil {
			t.Errorf("a file that is %s: no error", name)
		}
	}

	quiet := &feedRun{decided: decided{decisions: []transform.Decision{{ID: 1, Latest: version(5)}}}}
	folder := t.TempDir()
	if err := quiet.spill(folder); err != nil || quiet.decisions != nil {
		t.Errorf("%v; %d decisions are left", err, len(quiet.decisions))
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) > 0 || quiet.came.addTo(nil) != nil {
		t.Errorf("without news: %v, %v", files, err)
	}
}
