package state_test

import (
	"maps"
	"os"
	"testing"

	"dealflow/load/state"
	"dealflow/schemas/lake"
)

// TestRecords writes versions to the disk and reads them back. A file that is not as it was written is an error.
func TestRecords(t *testing.T) {
	t.Parallel()
	version := func(n int32) lake.LatestVersion {
		return lake.LatestVersion{Version: n, Removed: n%2 == 0, ContentHash: lake.Digest{byte(n), 1}, PayloadHash: lake.Digest{byte(n), 2}}
	}
	write := func(folder string, versions lake.Latest) state.Records {
		t.Helper()
		written, err := state.WriteRecords(folder, func(yield func(int64, *lake.LatestVersion) bool) {
			for id, v := range versions {
				if !yield(id, &v) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return written
	}
	written := write(t.TempDir(), lake.Latest{-7: version(1), 2: version(2), 1 << 40: version(3)})
	got := lake.Latest{1: version(5), 2: version(1)}
	if err := written.AddTo(got); err != nil {
		t.Fatal(err)
	}
	if want := (lake.Latest{-7: version(1), 1: version(5), 2: version(2), 1 << 40: version(3)}); written.Len != 3 || !maps.Equal(got, want) {
		t.Errorf("got %v of %d records, want %v of 3", got, written.Len, want)
	}
	data, err := os.ReadFile(written.Path)
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{"cut off": data[:len(data)-1], "longer": append(data, 0)} {
		if err := os.WriteFile(written.Path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := written.AddTo(lake.Latest{}); err == nil {
			t.Errorf("a file that is %s: no error", name)
		}
	}

	folder := t.TempDir()
	none := write(folder, nil)
	if files, err := os.ReadDir(folder); err != nil || len(files) > 0 || none.AddTo(nil) != nil {
		t.Errorf("without versions: %v, %v", files, err)
	}
}
