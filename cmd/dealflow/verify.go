package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/spf13/cobra"

	"dealflow/internal/attempts"
	"dealflow/internal/catalog"
	"dealflow/internal/words"
	"dealflow/load/verify"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

func newVerify(a *app) *cobra.Command {
	var readData string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Prove that the lake is complete and undamaged",
		Long: `verify compares the lake with its commits and reports what is damaged. It changes nothing in what it
checks, and records for status that it ran. Other commands may write at the same time.

It checks the log, and that each file which the log names exists with the right size and footer, and
each object of published Iceberg tables.

With --read-data it also reads every byte and every row. It then checks hashes, keys, order, the
intervals of versions, the parents of child rows, that each snapshot equals history as of its
instant, and that published Iceberg tables have the rows of history. --read-data=2/7 reads only the
second of seven parts of the files, so seven nights read them all. Checks that compare files with
each other are then left out.

Each finding says what to do. Damage ends with exit code 7, and stays a problem of status until a
verify that reads as much finds none. Notes do not change the exit code.`,
		Example: "  dealflow verify --lake /data/deals\n  dealflow verify --read-data --json",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runVerify(cmd.Context(), a, readData) },
	}
	cmd.Flags().StringVar(&readData, "read-data", "", "also read every byte and row; =n/t: only the n-th of t parts of the files")
	cmd.Flags().Lookup("read-data").NoOptDefVal = attempts.ReadAll
	a.settings.addTelling(cmd.Flags())
	return cmd
}

func runVerify(ctx context.Context, a *app, readData string) error {
	cfg, err := verifyConfig(readData)
	if err != nil {
		return err
	}
	return a.recorded(ctx, attempts.Verify, attempts.IfAllowed, func(at *attempt) error { return a.verify(ctx, at, cfg) })
}

func (a *app) verify(ctx context.Context, at *attempt, cfg verify.Config) (err error) {
	s, began := at.store, lake.At(a.Now())
	earlier, err := attempts.OpenDamage(ctx, s)
	if err != nil {
		return fmt.Errorf("what earlier verifies of %s found: %w", s.URL(), err)
	}
	at.result.Damage = earlier // also if this one is not completed
	published, err := catalog.Inspect(ctx, s, a.workDir())
	if err != nil {
		return fmt.Errorf("read the published catalog of %s: %w", s.URL(), err)
	}
	if published != nil {
		defer func() { err = errors.Join(err, published.Close()) }()
		cfg.Catalog = published
	}
	cfg.WorkDir = a.workDir()
	report, err := verify.Lake(ctx, s, cfg)
	if report == nil {
		return err
	}
	at.shown = report
	found := attempts.Damage{RunID: at.runID, StartedAt: began, ReadData: dataRead(&cfg), Findings: report.Damage}
	at.result.Damage = attempts.AfterVerify(earlier, found, len(report.Unread) == 0)
	return errors.Join(err, a.printVerified(report))
}

// verifyConfig parses --read-data.
func verifyConfig(readData string) (verify.Config, error) {
	cfg := verify.Config{
		ReadData:    readData != "",
		Lifter:      func(mem memory.Allocator, feed api.Feed) verify.Lifter { return transform.NewLifter(mem, feed) },
		ContentHash: transform.ContentHash,
	}
	if readData == "" || readData == attempts.ReadAll {
		return cfg, nil
	}
	var err error
	cfg.Slice, cfg.Slices, err = parsePart(readData)
	return cfg, err
}

// dataRead says which data a verify reads, as attempts.Damage does.
func dataRead(cfg *verify.Config) string {
	switch {
	case !cfg.ReadData:
		return ""
	case cfg.Slices == 0:
		return attempts.ReadAll
	}
	return fmt.Sprintf("%d/%d", cfg.Slice, cfg.Slices)
}

// parsePart parses n/t, the n-th of t parts.
func parsePart(text string) (n, t int, err error) {
	slice, slices, _ := strings.Cut(text, "/")
	n, err1 := strconv.Atoi(slice)
	t, err2 := strconv.Atoi(slices)
	if err1 != nil || err2 != nil || n < 1 || n > t {
		return 0, 0, fmt.Errorf("%q: want %s, or n/t, the n-th of t parts, such as 2/7", text, attempts.ReadAll)
	}
	return n, t, nil
}

func (a *app) printVerified(r *verify.Report) error {
	if a.settings.json {
		return printJSON(a.Stdout, r)
	}
	for _, f := range r.Findings {
		printFinding(a.Stdout, f)
	}
	for _, more := range r.Unlisted {
		fmt.Fprintf(a.Stdout, "and %d more of %s\n\n", more.Count, more.Check)
	}
	_, err := fmt.Fprintln(a.Stdout, verifiedSummary(r))
	return err
}

// printFinding prints a finding: what was found, where, and what to do.
func printFinding(w io.Writer, f verify.Finding) {
	which := ""
	if f.DealID != nil {
		which = fmt.Sprintf(", deal %d", *f.DealID)
	}
	if f.Version != nil {
		which += fmt.Sprintf(" version %d", *f.Version)
	}
	fmt.Fprintf(w, "%s: %s: %s%s\n  %s\n  to do: %s\n\n", f.Severity, f.Check, words.Printable(f.Path), which, words.Printable(f.Detail), words.Printable(f.Todo))
}

// verifiedSummary returns the last line: what was checked, and the result.
func verifiedSummary(r *verify.Report) string {
	checked := fmt.Sprintf("commit %d: %d commits, %d files", r.Commit, r.Checked.Commits, r.Checked.Files)
	if r.ReadData {
		checked += fmt.Sprintf(", %d of them read (%s, %d rows)", r.Checked.FilesRead, words.Size(r.Checked.BytesRead), r.Checked.RowsRead)
	}
	if r.Checked.Versions > 0 {
		checked += fmt.Sprintf(", %d versions", r.Checked.Versions)
	}
	verdict := "no damage"
	switch {
	case r.Damage > 0:
		verdict = fmt.Sprintf("%d findings of damage", r.Damage)
	case len(r.Unread) > 0:
		verdict = "no damage in what could be read"
	}
	if n := len(r.Unread); n > 0 {
		verdict += fmt.Sprintf("; %d files could not be read, and are not proved", n)
	}
	if r.Notes > 0 {
		verdict += fmt.Sprintf(", %d notes", r.Notes)
	}
	if r.Garbage.Files > 0 {
		verdict += fmt.Sprintf("; garbage: %d files, %s, which `dealflow expire` removes after the grace period", r.Garbage.Files, words.Size(r.Garbage.Bytes))
	}
	return checked + ": " + verdict
}
