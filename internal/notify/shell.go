package notify

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"
)

// script is the variable with a command for a shell. It does not begin with DEALFLOW_: it is no setting.
const script = "_DEALFLOW_SCRIPT"

// afterEnd is how long Wait waits for the output of what a shell has started and left.
const afterEnd = time.Second

// Shell returns a shell that carries out a command of the settings, which may contain a secret: it is in a variable of the shell alone, where
// process lists do not show it. What the command itself starts has arguments as ever. Without environ it has the variables of the process.
func Shell(ctx context.Context, command string, environ []string) *exec.Cmd {
	if environ == nil {
		environ = os.Environ()
	}
	shell := exec.CommandContext(ctx, "sh", "-c", `eval "unset `+script+`; $`+script+`"`)
	shell.Env, shell.WaitDelay = slices.Concat(environ, []string{script + "=" + command}), afterEnd
	return shell
}

// CheckScript has a shell read a command without carrying it out. The error does not have the command.
func CheckScript(ctx context.Context, command string) error {
	shell := exec.CommandContext(ctx, "sh", "-n")
	shell.Stdin = strings.NewReader(command)
	return shell.Run()
}

// runAlone runs a command in a group of its own, which is killed whole when the command's context ends. The group gets no interrupt of the terminal by
// itself, so one is passed on to it.
func runAlone(cmd *exec.Cmd) error {
	inGroup(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	interrupts, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(interrupts, os.Interrupt)
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			select {
			case <-interrupts:
				interrupt(cmd)
			case <-done:
				return
			}
		}
	})
	err := cmd.Wait()
	signal.Stop(interrupts)
	close(done)
	passing.Wait()
	return err
}
