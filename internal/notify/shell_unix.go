//go:build unix

package notify

import (
	"os/exec"
	"syscall"
)

// inGroup has a command killed with all that it has started.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// interrupt interrupts a command of inGroup with all that it has started.
func interrupt(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) } // it may have ended
