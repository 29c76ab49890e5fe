//go:build !unix

package notify

import (
	"os"
	"os/exec"
)

// inGroup changes nothing: here a command is killed alone.
func inGroup(*exec.Cmd) {}

// interrupt interrupts a command.
func interrupt(cmd *exec.Cmd) { _ = cmd.Process.Signal(os.Interrupt) }
