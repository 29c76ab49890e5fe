package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // --day-zone means the same on a machine without time zones

	"dealflow/internal/logs"
	"dealflow/load/store"
)

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // the terminal or the connection was closed; nohup ignores it
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	// A write to stdout or stderr whose reader has gone is an error then, and does not end the process. signal.Ignore would be
	// inherited by hooks.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	env := environment{
		Environ: os.Environ(), Now: time.Now, Elapsed: sinceBoot, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	code := Main(ctx, os.Args[1:], env)
	stop()
	os.Exit(code)
}

// environment is everything that the program reads from and writes to its process. Tests replace it.
type environment struct {
	Environ []string // variables, NAME=value
	Now     func() time.Time
	Elapsed func() time.Duration                 // since some instant, suspends included; nil: by Now
	Wait    func(context.Context, time.Duration) // how a watch waits; nil: by a timer
	API     http.RoundTripper                    // how requests reach the API; nil: over the network
	S3      func(address string) store.Store     // the store at s3://…; nil: that of the bucket
	Only    bool                                 // no other code has this program's version, although it may not know its revision
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
}

// getenv returns the value of a variable, "" for none.
func (e *environment) getenv(name string) string {
	for _, variable := range e.Environ {
		if value, ok := strings.CutPrefix(variable, name+"="); ok {
			return value
		}
	}
	return ""
}

// withStatements returns a command line in which a statement that begins with a comment is no flag: -- how many deals?
func withStatements(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if strings.HasPrefix(arg, "-- ") || strings.HasPrefix(arg, "--\n") {
			args[i] = " " + arg
		}
	}
	return args
}

// Main runs one command line and returns its exit code.
func Main(ctx context.Context, args []string, env environment) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stdout := newOutput(env.Stdout, cancel)
	env.Stdout = stdout
	a := &app{environment: env, work: new(workFolder), sink: logs.NewSink(env.Stderr, "dealflow")}
	a.settings.s3 = env.S3
	a.sink.Terminal = isTerminal(env.Stderr)
	a.sink.JSON = a.wantsJSON(args) // for errors before the settings are read
	root := a.root()
	root.SetArgs(withStatements(args))
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	refuseUnknown(root) // cobra's completion keeps the output that the root has now
	err := root.ExecuteContext(ctx)
	if closeErr := a.work.close(); closeErr != nil {
		a.logger().Warn("the work folder could not be removed", "error", closeErr)
	}
	if stdout.gone.Load() {
		return exitNoReader
	}
	if err == nil {
		err = stdout.fault()
	}
	code := exitCode(ctx, err)
	var quiet *silentError
	if err != nil && !errors.As(err, &quiet) {
		a.logger().Error(logs.CommandFailed, "error", err.Error(), "exit_code", code, logs.Text("%v", err))
	}
	return code
}
