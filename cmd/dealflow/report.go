package main

import (
	"bytes"
	"context"
	stdsql "database/sql"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"dealflow/internal/logs"
	"dealflow/internal/report"
	"dealflow/internal/words"
	"dealflow/schemas/lake"
)

type reportOptions struct {
	asOf string
	out  string
}

// reportResult is the object that report --json prints; fields are only ever added.
type reportResult struct {
	Lake    string       `json:"lake"`
	AsOf    string       `json:"as_of"` // "infinity": everything that is known
	Commit  int64        `json:"commit"`
	KnownAt lake.Instant `json:"known_at"` // known_at of that commit
	Out     string       `json:"out"`
	Bytes   int          `json:"bytes"`
}

func newReport(a *app) *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write one HTML page of charts about the lake, as of now or any instant",
		Long: `report writes one self-contained HTML page of charts, each with its numbers and its SQL statement.

Its subjects: the last run, the pipeline, issuance, league tables, tightening and cover,
restatements, the maturity wall, and the quality of the data.

The page makes no network request and runs no script. The same lake as of the same instant gives the
same bytes.`,
		Example: `  dealflow report --out report.html
  dealflow report --as-of 2026-11-01T06:00:00Z --out then.html
  dealflow report --out - | gzip > report.html.gz`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runReport(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.asOf, "as-of", "", "report what was known at this instant, such as 2026-11-01T06:00:00Z (default: all that is known)")
	flags.StringVarP(&o.out, "out", "o", "", "file to write, - for stdout; required")
	return cmd
}

func runReport(ctx context.Context, a *app, o reportOptions) error {
	asOf, err := o.check(a.settings.json)
	if err != nil {
		return err
	}
	l, err := a.openLake(ctx)
	if err != nil {
		return err
	}
	if err := checkOut(l.Store(), o.out); err != nil {
		return err
	}
	data := &report.Data{Lake: l.Store().URL(), AsOf: asOf}
	queries, err := reportQueries(data)
	if err != nil {
		return err
	}
	for _, q := range queries {
		data.Queries = append(data.Queries, report.Query{Name: q.name, SQL: q.statement})
	}
	err = a.withCatalog(ctx, l, func(db *stdsql.DB) error { return runQueries(ctx, db, asOf, queries) }, statementsOf(queries)...)
	if errors.Is(err, errNothingKnown) && o.asOf != "" {
		return usagef("--as-of %s: the lake has no commit up to then", o.asOf)
	}
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := report.Write(&page, data); err != nil {
		return err
	}
	if o.out == "-" {
		_, err := a.Stdout.Write(page.Bytes())
		return err
	}
	if err := writeFile(ctx, o.out, func(w io.Writer) error { _, err := w.Write(page.Bytes()); return err }); err != nil {
		return err
	}
	result := reportResult{
		Lake: data.Lake, AsOf: asOf, Commit: data.State.Commit, KnownAt: lake.At(data.State.KnownAt), Out: o.out, Bytes: page.Len(),
	}
	if a.settings.json {
		return printJSON(a.Stdout, result)
	}
	a.say().Info("report written", "path", o.out, "bytes", result.Bytes, "commit", result.Commit, "known_at", result.KnownAt.String(),
		logs.Text("wrote %s (%s): the lake as of commit %d, known at %s", o.out, words.Size(int64(result.Bytes)), result.Commit, result.KnownAt))
	return nil
}

// check validates the options and returns the instant in the form that SQL reads.
func (o reportOptions) check(json bool) (asOf string, err error) {
	switch {
	case o.out == "":
		return "", usagef("--out is not set: want a file such as report.html, or - for stdout")
	case o.out == "-" && json:
		return "", usagef("--json prints a result on stdout: name a file with --out")
	case o.asOf == "":
		return "infinity", nil
	}
	instant, err := time.Parse(time.RFC3339, o.asOf)
	if err != nil {
		return "", usagef("--as-of %q: want an instant such as 2026-11-01T06:00:00Z", o.asOf)
	}
	return instant.UTC().Format(time.RFC3339Nano), nil
}
