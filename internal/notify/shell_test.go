package notify_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dealflow/internal/notify"
)

// TestShell has the secret of a command in no argument of the shell, and in no variable of what the command starts.
func TestShell(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("no /proc here")
	}
	environ := []string{"PATH=" + os.Getenv("PATH"), "OTHER=kept"}
	for command, want := range map[string]string{
		"tr '\\0' ' ' < /proc/$$/cmdline; env # " + secret: "OTHER=kept",
		"# " + secret + "\necho \"$OTHER\" 'two  blanks'":  "kept two  blanks\n",
		"x='" + secret + "'; echo $0 $#":                   "sh 0\n",
	} {
		said, err := notify.Shell(t.Context(), command, environ).Output()
		if err != nil || !strings.Contains(string(said), want) || strings.Contains(string(said), secret) {
			t.Errorf("%s: got %q, %v; want %q and no secret", command, said, err, want)
		}
	}
}

// TestRunEnds ends the context of a command that has started others: none of them is left, or the pipe that they have would stay open.
func TestRunEnds(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- notify.Run(ctx, notify.Config{Environ: []string{"PATH=" + os.Getenv("PATH"), "PIPE=" + pipe}}, `exec 3>"$PIPE"; sleep 1000 & echo started >&3; sleep 1000`, nil)
	}()
	read, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	said := bufio.NewReader(read)
	if line, err := said.ReadString('\n'); err != nil || line != "started\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("no error of a command that was cancelled")
	}
	if err := read.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(said); err != nil {
		t.Errorf("something that the command has started is still there: %v", err)
	}
}
