//go:build linux

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFullDisk fills a small disk that has lake and work folder. A run fails, `expire --apply` deletes garbage although
// nothing can be written, and the next run succeeds. It needs the right to mount a filesystem in memory.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if !smallDisk(t, disk) {
		t.Skip("this user may not mount a filesystem; TestFullDisk of internal/maintain has the same with a store that refuses puts")
	}
	m := newStalling(t)
	lakeFolder, work := filepath.Join(disk, "lake"), filepath.Join(disk, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	settings := []string{"DEALFLOW_LAKE=" + lakeFolder, "DEALFLOW_WORK_DIR=" + work}
	dealflow := func(want string, fails bool, args ...string) {
		t.Helper()
		out, err := m.command(t, settings, args...).CombinedOutput()
		if (err != nil) != fails || !strings.Contains(string(out), want) {
			t.Fatalf("%v: %v, want failure %t and %q:\n%s", args, err, fails, want, out)
		}
	}
	dealflow("commit 1", false, "run")
	// A killed run of last month left a file. Then the disk filled.
	folders, err := filepath.Glob(filepath.Join(lakeFolder, "history", "deal_versions", "*", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("the lake has no history: %v", err)
	}
	garbage := filepath.Join(folders[0], "01900000-0000-7000-8000-000000000000-0.parquet")
	old := time.Now().AddDate(0, -1, 0)
	if err := errors.Join(os.WriteFile(garbage, make([]byte, 24<<20), 0o600), os.Chtimes(garbage, old, old)); err != nil {
		t.Fatal(err)
	}
	fill(t, filepath.Join(disk, "others"))
	m.clock.Set(m.clock.Now().AddDate(0, 0, 1))
	dealflow("no space left on device", true, "run")
	dealflow("disk, lake", true, "doctor")
	dealflow("the disk was full", false, "expire", "--apply")
	if _, err := os.Stat(garbage); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the garbage is left: %v", err)
	}
	dealflow("commit 2", false, "run")
	dealflow("no damage", false, "verify", "--read-data")
}

// smallDisk mounts a filesystem in memory on a folder until the test ends. It returns false if this user may not. The
// unmounting does not wait for a process that another test is starting, which has a copy of each open file for a moment.
func smallDisk(t *testing.T, folder string) bool {
	t.Helper()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=48m"); errors.Is(err, fs.ErrPermission) {
		return false
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return true
}

// fill writes a file until its disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for n := 1 << 20; n > 0; {
		if _, err = file.Write(make([]byte, n)); err != nil {
			n /= 2
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}
