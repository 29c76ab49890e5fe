package notify

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// script is the variable with a command for a shell. It does not begin with DEALFLOW_: it is no setting.
const script = "_DEALFLOW_SCRIPT"

// afterEnd is how long Wait waits for the output of what a shell has started and left.
const afterEnd = time.Second

// Shell returns a shell that carries out a command of the settings, which may contain a secret: it is in a variable of the shell alone, where
// process lists do not show it. What the command itself starts has arguments as ever. When ctx ends, the shell is killed with all that it has started.
func Shell(ctx context.Context, command string, environ []string) *exec.Cmd {
	shell := exec.CommandContext(ctx, "sh", "-c", `eval "unset `+script+`; $`+script+`"`)
	shell.Env, shell.WaitDelay = slices.Concat(environ, []string{script + "=" + command}), afterEnd
	inGroup(shell)
	return shell
}

// CheckScript has a shell read a command without carrying it out. The error does not have the command.
func CheckScript(ctx context.Context, command string) error {
	shell := exec.CommandContext(ctx, "sh", "-n")
	shell.Stdin = strings.NewReader(command)
	return shell.Run()
}
