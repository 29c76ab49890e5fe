package dirstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/load/store/storetest"
)

func folder(t *testing.T) (*dirstore.Dir, string) {
	t.Helper()
	root := t.TempDir()
	s, err := dirstore.New(root)
	if err != nil {
		t.Fatal(err)
	}
	return s, root
}

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Config{
		Open:       func(t *testing.T) store.Store { s, _ := folder(t); return s },
		LargeBytes: 1 << 20,
		Objects:    300,
	})
}

func TestLeftovers(t *testing.T) {
	s, root := folder(t)
	storetest.Leftovers(t, s, func(key string) {
		name := filepath.Join(root, filepath.FromSlash(key))
		if err := os.WriteFile(filepath.Join(filepath.Dir(name), store.TempPrefix+filepath.Base(name)), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
}

// TestCleanRemovesLeftoversOnly checks that Clean refuses objects and files outside the folder.
func TestCleanRemovesLeftoversOnly(t *testing.T) {
	s, root := folder(t)
	outside := filepath.Join(filepath.Dir(root), store.TempPrefix+"outside")
	whole := filepath.Join(root, "whole")
	for _, name := range []string{outside, whole} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(name)
	}
	for _, key := range []string{"whole", "../" + filepath.Base(outside), outside} {
		if err := s.Clean(t.Context(), store.Leftover{Key: key}); err == nil {
			t.Errorf("%s was cleaned", key)
		}
	}
	for _, name := range []string{outside, whole} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

// TestPermissions checks that files and folders of a lake have the permissions that the umask leaves.
func TestPermissions(t *testing.T) {
	for _, umask := range []int{0o022, 0o002, 0o077} {
		s, root := folder(t)
		before := syscall.Umask(umask)
		err := errors.Join(
			s.Put(t.Context(), "a/created", strings.NewReader("x"), store.CreateOnly),
			s.Put(t.Context(), "a/replaced", strings.NewReader("x"), store.Replace),
		)
		syscall.Umask(before)
		if err != nil {
			t.Fatal(err)
		}
		for name, full := range map[string]os.FileMode{"a/created": 0o666, "a/replaced": 0o666, "a": 0o777, store.TempPrefix + "lock": 0o666} {
			info, err := os.Stat(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := info.Mode().Perm(), full&^os.FileMode(umask); got != want {
				t.Errorf("umask %03o: %s has permissions %03o, want %03o", umask, name, got, want)
			}
		}
	}
}

// TestLinkedRoot checks that a folder that is a symbolic link, and one in it that is, are listed and cleaned as others.
func TestLinkedRoot(t *testing.T) {
	_, target := folder(t)
	root := filepath.Join(t.TempDir(), "link")
	disk := t.TempDir() // of the snapshots alone
	err := errors.Join(os.Symlink(target, root), os.Symlink(disk, filepath.Join(target, "snapshots")))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dirstore.New(root)
	if err != nil {
		t.Fatal(err)
	}
	unfinished := store.TempPrefix + "unfinished"
	err = errors.Join(
		s.Put(t.Context(), "history/a", strings.NewReader("x"), store.CreateOnly),
		s.Put(t.Context(), "snapshots/b", strings.NewReader("x"), store.CreateOnly),
		os.WriteFile(filepath.Join(target, "history", unfinished), nil, 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]string{"history/": "history/a", "snapshots/": "snapshots/b"} {
		var got []string
		for object, err := range s.List(t.Context(), prefix) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, object.Key)
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %q, want %s", prefix, got, want)
		}
	}
	found, err := s.Leftovers(t.Context(), time.Now().Add(time.Hour))
	if err != nil || len(found) != 1 || found[0].Key != "history/"+unfinished {
		t.Fatalf("unfinished files: %v, %v; want the one in history", found, err)
	}
	if err := s.Clean(t.Context(), found...); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(target, "history", unfinished)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unfinished file is left: %v", err)
	}
}

// TestDeleteRemovesEmptyPartitions deletes the files of partitions: their folders go with the last file, and others stay.
func TestDeleteRemovesEmptyPartitions(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "lake=1")
	d, err := dirstore.New(root)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "t"), 0o777), os.Symlink(elsewhere, filepath.Join(root, "t/mkt=EM"))); err != nil {
		t.Fatal(err)
	}
	keys := []string{"t/mkt=IG/day=1/a", "t/mkt=IG/day=2/a", "t/mkt=IG/day=2/b", "t/mkt=HY/day=1/a", "t/mkt=EM/a", "c/1", "top"}
	for _, key := range keys {
		if err := d.Put(t.Context(), key, strings.NewReader(key), store.CreateOnly); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Delete(t.Context(), "t/mkt=IG/day=1/a", "t/mkt=IG/day=2/a", "t/mkt=HY/day=1/a", "t/mkt=EM/a", "c/1", "top", "t/mkt=LL/day=1/absent"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"t/mkt=IG/day=1": false, "t/mkt=IG/day=2": true, "t/mkt=HY": false, "t": true, "t/mkt=EM": true, "c": true, "": true} {
		if _, err := os.Lstat(filepath.Join(root, path)); (err == nil) != want {
			t.Errorf("%q exists: %t, want %t", path, err == nil, want)
		}
	}
	if _, err := os.Stat(elsewhere); err != nil {
		t.Error(err)
	}
}

// TestPutWhileDeleted puts files into a partition whose last file is deleted at the same time: each is there.
func TestPutWhileDeleted(t *testing.T) {
	t.Parallel()
	d, err := dirstore.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const files = 300
	key := func(writer, n int) string { return fmt.Sprintf("t/mkt=IG/day=1/%d-%d", writer, n) }
	failed := make(chan error)
	for writer := range 2 {
		go func() {
			var faults []error
			for n := range files {
				faults = append(faults, d.Put(t.Context(), key(writer, n), strings.NewReader("x"), store.CreateOnly), d.Delete(t.Context(), key(writer, n)))
			}
			failed <- errors.Join(faults...)
		}()
	}
	if err := errors.Join(<-failed, <-failed); err != nil {
		t.Error(err)
	}
}
