package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestFileSystem checks that doctor names the file system as df does, also for a folder that does not exist yet, and warns
// of those that are in memory or on another machine.
func TestFileSystem(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the kind of a file system is known on Linux alone")
	}
	for _, folder := range []string{t.TempDir(), "/dev/shm"} {
		out, err := exec.Command("df", "--output=fstype", folder).Output()
		if err != nil {
			continue // no such folder, or no df of this form
		}
		lines := strings.Fields(string(out))
		want := lines[len(lines)-1]
		got := fileSystem(filepath.Join(folder, "not", "yet"))
		if got != want && (got != "" || want == "ext4" || want == "tmpfs") && !strings.HasPrefix(want, "ext") {
			t.Errorf("%s is on %q, want %q", folder, got, want)
		}
		found := diagnoseDisk("disk, lake", folder, "").Found
		if warned := strings.Contains(found, "; warning: "); got != "" && (!strings.Contains(found, ", on "+got) || warned != (fileSystemNote(got) != "")) {
			t.Errorf("%s: %s", folder, found)
		}
	}
	for _, kind := range []string{"nfs", "tmpfs", "cifs", "fuse"} {
		if fileSystemNote(kind) == "" {
			t.Errorf("%s: no warning", kind)
		}
	}
	for _, kind := range []string{"ext4", "xfs", "btrfs", "zfs", "overlay"} {
		if warning := fileSystemNote(kind); warning != "" {
			t.Errorf("%s: %s", kind, warning)
		}
	}
	if page, err := os.ReadFile("../../docs/how-to/operate.md"); err != nil || !strings.Contains(string(page), "\n## NFS\n") {
		t.Errorf("the warnings name a section that operate.md lacks: %v", err)
	}
}
