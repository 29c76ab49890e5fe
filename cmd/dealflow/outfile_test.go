package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestOutThroughLink checks that what --out names by a link is written to the file to which the link leads.
func TestOutThroughLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "there", "page.html"), filepath.Join(dir, "page.html")
	if err := errors.Join(os.Mkdir(filepath.Dir(target), 0o700), os.WriteFile(target, []byte("a longer text from before"), 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(t.Context(), link, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	data, readErr := os.ReadFile(target)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || readErr != nil || string(data) != "new" || listed(t, dir)+listed(t, filepath.Dir(target)) != "page.html there"+"page.html" {
		t.Errorf("%v, %v: the link is %v, its target has %q, the folders %s and %s", err, readErr, info.Mode(), data, listed(t, dir), listed(t, filepath.Dir(target)))
	}
}

// TestOutPermissions checks that a new file has the permissions that the umask leaves, and that a replaced one keeps its own.
func TestOutPermissions(t *testing.T) {
	before := syscall.Umask(0o027)
	defer syscall.Umask(before)
	dir := t.TempDir()
	private := filepath.Join(dir, "private")
	if err := os.WriteFile(private, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{private: 0o600, filepath.Join(dir, "new"): 0o640} {
		if err := writeFile(t.Context(), path, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has %v, %v; want %o", path, info.Mode(), err, want)
		}
	}
	written := false
	err := writeFile(t.Context(), dir, func(io.Writer) error { written = true; return nil })
	if !errors.Is(err, syscall.EISDIR) || written {
		t.Errorf("a folder: got %v after writing: %t", err, written)
	}
}

// TestOutPipe writes to a named pipe. One without a reader, and one whose reader does not read, is left when the command is
// cancelled.
func TestOutPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	page := bytes.Repeat([]byte("page "), 1<<18) // more than a pipe takes
	write := func(w io.Writer) error { _, err := w.Write(page); return err }
	for _, what := range []string{"no reader", "a reader that does not read"} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		done := make(chan error, 1)
		go func() { done <- writeFile(ctx, pipe, write) }()
		var reader *os.File
		if what != "no reader" {
			var err error
			reader, err = os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
		}
		select {
		case err := <-done:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v, want the context's error", what, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the command does not end", what)
		}
		cancel()
		_ = reader.Close() // what it has not read is gone then; nil is an error
	}
	got := make(chan []byte, 1)
	go func() {
		data, _ := os.ReadFile(pipe)
		got <- data
	}()
	if err := writeFile(t.Context(), pipe, write); err != nil {
		t.Error(err)
	}
	if data := <-got; !bytes.Equal(data, page) {
		t.Errorf("the reader got %d bytes, want %d", len(data), len(page))
	}
}

// TestOutToStdout sends stdout to a file, and names it again by --out: the answer is added to that file, whatever the user may
// create in the folder of the second name.
func TestOutToStdout(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc")
	}
	m := newStalling(t)
	settings := []string{"DEALFLOW_LAKE=" + filepath.Join(t.TempDir(), "lake")}
	if code, out := m.exitOf(t, settings, "run", "--feeds", "loan/ll/priced"); code != 0 {
		t.Fatalf("the night ends with %d:\n%s", code, out)
	}
	path := filepath.Join(t.TempDir(), "answers")
	for _, flags := range [][]string{nil, {"--safe"}} {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString("before\n"); err != nil {
			t.Fatal(err)
		}
		cmd := m.command(t, settings, append([]string{"query", "--format", "csv", "--out", "/proc/self/fd/1", "SELECT 42 AS x"}, flags...)...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = file, &stderr
		if err := errors.Join(cmd.Run(), file.Close()); err != nil {
			t.Errorf("%v: %v %s", flags, err, stderr.String())
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != "before\nx\n42\n" {
			t.Errorf("%v: %v, got %q", flags, err, data)
		}
	}
}
