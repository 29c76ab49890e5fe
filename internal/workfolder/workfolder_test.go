package workfolder_test

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"dealflow/internal/workfolder"
)

const (
	asProgram = "TEST_AS_PROGRAM"
	prefix    = "work-"
)

// TestMain lets the test's program run as another process: it creates a folder, prints its path, and waits to be
// killed.
func TestMain(m *testing.M) {
	parent := os.Getenv(asProgram)
	if parent == "" {
		m.Run()
		return
	}
	folder, err := workfolder.Create(parent, prefix)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder.Path(), "spool"), []byte("payloads"), 0o600)
	}
	if err != nil {
		panic(err)
	}
	if _, err := os.Stdout.WriteString(folder.Path() + "\n"); err != nil {
		panic(err)
	}
	// To block without another goroutine would end the process. The input never ends while the test runs.
	_, err = io.Copy(io.Discard, os.Stdin)
	panic(errors.Join(errors.New("the input ended before the kill, with the lock of "+folder.Path()), err))
}

// TestKilledProcess checks that the folder of a process is left as long as it lives, and removed after signal 9.
func TestKilledProcess(t *testing.T) {
	parent := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = []string{asProgram + "=" + parent}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // open until Wait
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	theirs := line[:len(line)-1]
	ours, err := workfolder.Create(parent, prefix)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(parent, prefix+"of-another-program")
	if err := errors.Join(os.Mkdir(other, 0o700), os.WriteFile(filepath.Join(other, "file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(parent, prefix+"empty"), 0o700); err != nil { // killed before it had a lock
		t.Fatal(err)
	}
	if err := workfolder.RemoveDead(parent, prefix, nil); err != nil {
		t.Fatal(err)
	}
	want(t, "while both live", parent, filepath.Base(theirs), filepath.Base(ours.Path()), filepath.Base(other))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if err := workfolder.RemoveDead(parent, prefix, nil); err != nil {
		t.Fatal(err)
	}
	want(t, "after the kill", parent, filepath.Base(ours.Path()), filepath.Base(other))
	if err := ours.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, "after Close", parent, filepath.Base(other))
}

// want checks which folders are in a folder.
func want(t *testing.T, when, parent string, names ...string) {
	t.Helper()
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !wanted[e.Name()] {
			t.Errorf("%s: %s is left", when, e.Name())
		}
		delete(wanted, e.Name())
	}
	for name := range wanted {
		t.Errorf("%s: %s was removed", when, name)
	}
}

// TestCreateWhileOthersRemove creates folders while others remove dead ones: none that was returned is ever removed.
func TestCreateWhileOthersRemove(t *testing.T) {
	parent := t.TempDir()
	var creating, removing sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		removing.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := workfolder.RemoveDead(parent, prefix, nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 4 {
		creating.Go(func() {
			for range 50 {
				folder, err := workfolder.Create(parent, prefix)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(folder.Path(), "file"), nil, 0o600); errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the folder was removed while it was in use: %v", err)
				} else if err != nil {
					t.Error(err)
				}
				if err := folder.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	creating.Wait()
	close(done)
	removing.Wait()
	want(t, "in the end", parent)
}
