package longlake

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestBuildAt checks what happens if several processes build a lake. The second to finish leaves the first one's lake
// in place. A build that fails leaves no files. Old unfinished lakes are removed.
func TestBuildAt(t *testing.T) {
	t.Parallel()
	config := Config{Scale: 0.0005, Years: 1, SnapshotMonths: -1}.withDefaults()
	folder := filepath.Join(t.TempDir(), "lakes")
	root := filepath.Join(folder, "lake-1")
	if err := buildAt(t.Context(), root, config); err != nil {
		t.Fatal(err)
	}
	first, err := os.Stat(root)
	if err != nil {
		t.Fatal(err)
	}
	old, young := filepath.Join(folder, unfinished+"old"), filepath.Join(folder, unfinished+"young")
	for path, age := range map[string]time.Duration{old: abandoned + time.Hour, young: 0} {
		if err := os.MkdirAll(filepath.Join(path, "history"), 0o755); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := buildAt(t.Context(), root, config); err != nil {
		t.Fatal(err)
	}
	if second, err := os.Stat(root); err != nil || !os.SameFile(first, second) {
		t.Errorf("the first lake was replaced (%v)", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := buildAt(cancelled, filepath.Join(folder, "lake-2"), config); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want a cancelled build", err)
	}
	entries, err := filepath.Glob(filepath.Join(folder, "*"))
	if want := []string{young, root}; err != nil || !slices.Equal(entries, want) {
		t.Errorf("in the folder are %v, want %v (%v)", entries, want, err)
	}
}

// TestBuildOnto refuses a folder that contains a lake.
func TestBuildOnto(t *testing.T) {
	t.Parallel()
	config := Config{Scale: 0.0005, Years: 1, SnapshotMonths: -1}
	root := t.TempDir()
	if _, err := Build(t.Context(), root, config); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(t.Context(), root, config); err == nil {
		t.Error("a second lake was built onto the first")
	}
}
