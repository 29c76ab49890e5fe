package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"dealflow/load/verify"

	"github.com/spf13/cobra"
)

// readAll is the value of --read-data without "=".
const readAll = "all"

func newVerify(a *app) *cobra.Command {
	var readData string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Prove the lake: log, files, rows, intervals, snapshots = history",
		Long: `verify holds the lake against its commits. It changes nothing, and others may write meanwhile.

It checks the log, and of each file that the log names its presence, size and footer. With
--read-data it reads every byte and every row too: hashes, keys, order, intervals of versions,
parents of children, and that each snapshot is what history says of its instant.
--read-data=2/7 reads the second of seven parts of the files and leaves out what files say of
each other: seven nights cover them all.

Findings say what to do. Damage ends with exit code 7; notes do not.`,
		Example: "  dealflow verify --lake /data/deals\n  dealflow verify --read-data --json",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runVerify(cmd.Context(), a, readData) },
	}
	cmd.Flags().StringVar(&readData, "read-data", "", "read every byte and row too; =n/t: only the n-th of t parts of the files")
	cmd.Flags().Lookup("read-data").NoOptDefVal = readAll
	return cmd
}

func runVerify(ctx context.Context, a *app, readData string) error {
	cfg, err := verifyConfig(readData)
	if err != nil {
		return err
	}
	s, err := a.settings.store(ctx)
	if err != nil {
		return err
	}
	report, err := verify.Lake(ctx, s, cfg)
	if report == nil {
		return err
	}
	return errors.Join(err, a.printVerified(report))
}

// verifyConfig parses --read-data.
func verifyConfig(readData string) (verify.Config, error) {
	cfg := verify.Config{ReadData: readData != ""}
	if readData == "" || readData == readAll {
		return cfg, nil
	}
	slice, slices, _ := strings.Cut(readData, "/")
	n, err1 := strconv.Atoi(slice)
	t, err2 := strconv.Atoi(slices)
	if err1 != nil || err2 != nil || n < 1 || n > t {
		return cfg, usagef("--read-data=%s: want n/t, the n-th of t parts, such as 2/7", readData)
	}
	cfg.Slice, cfg.Slices = n, t
	return cfg, nil
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
	fmt.Fprintf(w, "%s: %s: %s%s\n  %s\n  to do: %s\n\n", f.Severity, f.Check, printable(f.Path), which, printable(f.Detail), printable(f.Todo))
}

// verifiedSummary returns the last line: what was checked, and the result.
func verifiedSummary(r *verify.Report) string {
	checked := fmt.Sprintf("commit %d: %d commits, %d files", r.Commit, r.Checked.Commits, r.Checked.Files)
	if r.ReadData {
		checked += fmt.Sprintf(", %d of them read (%s, %d rows)", r.Checked.FilesRead, size(r.Checked.BytesRead), r.Checked.RowsRead)
	}
	if r.Checked.Versions > 0 {
		checked += fmt.Sprintf(", %d versions", r.Checked.Versions)
	}
	verdict := "no damage"
	if r.Damage > 0 {
		verdict = fmt.Sprintf("%d findings of damage", r.Damage)
	}
	if r.Notes > 0 {
		verdict += fmt.Sprintf(", %d notes", r.Notes)
	}
	if r.Garbage.Files > 0 {
		verdict += fmt.Sprintf("; garbage: %d files, %s, which `dealflow expire` removes after the grace period", r.Garbage.Files, size(r.Garbage.Bytes))
	}
	return checked + ": " + verdict
}
