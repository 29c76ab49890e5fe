package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"dealflow/internal/safesql"
	"dealflow/load"
)

// workerCommand is the command of the process that runs a statement of a stranger. It is not for people.
const workerCommand = "answer-statement"

func newWorker(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    workerCommand,
		Short:  "Run a statement for another process of this program",
		Hidden: true,
		Args:   args(cobra.NoArgs),
		// The process has no environment, and needs no settings.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(*cobra.Command, []string) error {
			return safesql.Serve(a.Stdin, a.Stdout, a.Stderr, rowFormats)
		},
	}
}

// statementRunner returns what runs statements of strangers, each at most for this time.
func (a *app) statementRunner(limit time.Duration) (*safesql.Runner, error) {
	program := "/proc/self/exe" // an upgrade may have replaced the file from which this process was started
	if runtime.GOOS != "linux" {
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	return &safesql.Runner{Command: []string{program, workerCommand}, WorkDir: a.workDir(), Time: limit}, nil
}

// querySafely is runQuery for a statement of a stranger.
func (a *app) querySafely(ctx context.Context, l *load.Lake, o queryOptions, statement string) (err error) {
	runner, err := a.statementRunner(cmp.Or(o.limit, time.Minute))
	if err != nil {
		return err
	}
	isFile := o.format == "parquet" || o.format == "arrow"
	if err := runner.Supported(isFile); err != nil {
		return fmt.Errorf("query --safe: %w", err)
	}
	file, err := a.openCatalog(ctx, l)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	a.warnIfPrivate(l, file)
	if err := file.FetchFor(ctx, statement); err != nil {
		return err
	}
	query := safesql.Query{Statement: statement, Catalog: file.Path, Commit: l.Log().Number, Lake: file.Root()}
	write := func(out io.Writer) error {
		if !isFile {
			return runner.Write(ctx, query, o.format, out)
		}
		return runner.Parquet(ctx, query, func(path string) error { return copyAnswer(ctx, path, o.format, out) })
	}
	if o.out == "" {
		err = write(a.Stdout)
	} else {
		err = writeFile(ctx, o.out, write)
	}
	var refusal *safesql.Refusal
	var failure *safesql.Failure
	switch {
	case errors.As(err, &refusal):
		return fmt.Errorf("refused by --safe: %s", safesql.Explain(err, statement))
	case errors.As(err, &failure):
		return withNext(errors.New(safesql.Explain(err, statement)))
	}
	return err
}
