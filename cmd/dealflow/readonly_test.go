package main

import (
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/s3test"
)

// readers are the commands that only read a lake.
var readers = []string{"status", "runs", "runs show last", "verify --read-data", "lease show", "quarantine list", "expire", "query FROM/**/deals", "query --file count.sql"}

// countQuery reads files of the lake, not the catalog alone.
const countQuery = "SELECT 1 / count(*) FROM bond_priced_banks"

// TestReadOnlyKey reads a lake on a real S3 server with a key that may only read, when its catalog is current and when it
// is not.
func TestReadOnlyKey(t *testing.T) {
	testkit.Long(t)
	server := s3test.Start(t, s3test.Options{})
	m := newStalling(t)
	settings := func(s s3test.Server) []string {
		return []string{
			"DEALFLOW_LAKE=s3://" + s.Bucket + "/lake", "AWS_ENDPOINT_URL_S3=" + s.Endpoint, "AWS_REGION=" + s.Region,
			"AWS_ACCESS_KEY_ID=" + s.AccessKey, "AWS_SECRET_ACCESS_KEY=" + s.SecretKey,
		}
	}
	if code, out := m.exitOf(t, settings(server), "run"); code != 0 {
		t.Fatalf("the night ends with %d:\n%s", code, out)
	}
	readOnly := server.Front(t, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				s3test.Refuse(w, http.StatusForbidden, "AccessDenied")
				return
			}
			server.ServeHTTP(w, r)
		})
	})
	read := func(when string) {
		t.Helper()
		for _, reader := range readers {
			if code, out := m.readerOf(t, settings(readOnly), reader); code != 0 {
				t.Errorf("%s: %s ends with %d:\n%s", when, reader, code, out)
			}
		}
	}
	read("the catalog is current")
	if err := server.Store(t, "lake").Delete(t.Context(), "catalog.duckdb"); err != nil {
		t.Fatal(err)
	}
	read("there is no catalog")
}

// readerOf runs a command of readers.
func (m *stalling) readerOf(t *testing.T, settings []string, line string) (int, string) {
	t.Helper()
	cmd := m.command(t, settings, strings.Fields(line)...)
	if err := os.WriteFile(filepath.Join(cmd.Dir, "count.sql"), []byte(countQuery), 0o600); err != nil {
		t.Fatal(err)
	}
	return exitOfReader(t, cmd)
}

func exitOfReader(t *testing.T, cmd *exec.Cmd) (int, string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// stranger is a user that owns no file.
const stranger = 65534

// TestReadOnlyFolder reads a lake in a folder into which the user may not write, when its catalog is current and when it
// is not. As root it runs the commands as another user.
func TestReadOnlyFolder(t *testing.T) {
	m := newStalling(t)
	root := filepath.Join(t.TempDir(), "lake")
	settings := []string{"DEALFLOW_LAKE=" + root}
	if code, out := m.exitOf(t, settings, "run"); code != 0 {
		t.Fatalf("the night ends with %d:\n%s", code, out)
	}
	program := os.Args[0]
	if os.Getuid() == 0 { // another user may not enter the folder of the test's program
		if err := os.Chmod(filepath.Dir(filepath.Dir(root)), 0o755); err != nil {
			t.Fatal(err)
		}
		program = filepath.Join(t.TempDir(), "dealflow")
		if err := os.Link(os.Args[0], program); err != nil {
			t.Skipf("the test's program cannot be shown to another user: %v", err)
		}
	}
	read := func(when string) {
		t.Helper()
		chmod(t, root, 0o555, 0o444)
		defer chmod(t, root, 0o755, 0o644)
		for _, reader := range readers {
			cmd := m.command(t, settings, strings.Fields(reader)...)
			cmd.Path = program
			err := os.WriteFile(filepath.Join(cmd.Dir, "count.sql"), []byte(countQuery), 0o644)
			if err == nil && os.Getuid() == 0 {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
				err = os.Chown(cmd.Dir, stranger, stranger)
			}
			if err != nil {
				t.Fatal(err)
			}
			if code, out := exitOfReader(t, cmd); code != 0 {
				t.Errorf("%s: %s ends with %d:\n%s", when, reader, code, out)
			}
		}
	}
	read("the catalog is current")
	if err := os.Remove(filepath.Join(root, "catalog.duckdb")); err != nil {
		t.Fatal(err)
	}
	read("there is no catalog")
}

// chmod changes the permissions of all folders and files of a folder.
func chmod(t *testing.T, root string, folders, files fs.FileMode) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.Chmod(path, folders)
		}
		return os.Chmod(path, files)
	})
	if err != nil {
		t.Error(err)
	}
}
