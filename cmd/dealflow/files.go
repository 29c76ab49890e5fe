package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dealflow/internal/logs"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// The formats of files.
var filesFormats = []string{"paths", "csv", "json"}

// filesOptions are the flags of files.
type filesOptions struct {
	tables string
	day    string
	commit int64
	since  string
	format string
}

// listedFile is an element of the list that files --json prints. Fields are only ever added.
type listedFile struct {
	Location string `json:"location"` // absolute path or URL
	Commit   int64  `json:"commit"`   // that added the file; 0 if its name does not say it
	Live     bool   `json:"live"`     // part of the lake as of its newest commit
	lake.File
}

func newFiles(a *app) *cobra.Command {
	var o filesOptions
	cmd := &cobra.Command{
		Use:   "files",
		Short: "List the data files that are part of the lake",
		Long: `files lists the lake's data files, as of its newest commit or of another one. A folder of the lake also
contains files that were replaced, and files of runs that made no commit; a program that reads files
by itself should read those that are listed.

With --since only the files are listed that were added after a commit, or after the last commit up to
an instant. Compaction and replay add files with rows that are not new: what is new in rows is what
export writes.

The lake before the newest commit may have had files that are deleted by now.`,
		Example: `  dealflow files --tables snapshots.bond_priced_deals --day 2026-11-20
  dealflow files --since 41 --format csv
  dealflow files --tables history.bond_priced_deals | xargs -n 1 parquet-tools inspect`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runFiles(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.tables, "tables", "", "tables to list, comma-separated, such as history.bond_priced_deals, or bond_priced_deals for both its history and its snapshots (default: all)")
	annotate(flags.Lookup("tables"), listFlag)
	flags.StringVar(&o.day, "day", "", "list only snapshots of this day, YYYY-MM-DD")
	flags.Int64Var(&o.commit, "commit", 0, "list the files as of this commit; 0 for the newest")
	flags.StringVar(&o.since, "since", "", "list only files added after this commit, a number or an instant such as 2026-11-01T06:00:00Z")
	flags.StringVar(&o.format, "format", filesFormats[0], "format of the list: "+strings.Join(filesFormats, ", "))
	return cmd
}

func runFiles(ctx context.Context, a *app, o filesOptions) error {
	if a.settings.json {
		o.format = "json"
	}
	tables, err := fileTables(o.tables)
	if err != nil {
		return usagef("--tables: %w", err)
	}
	l, err := a.openLake(ctx)
	if err != nil {
		return err
	}
	since, err := sinceCommit(ctx, l, o.since)
	if err != nil {
		return err
	}
	if o.commit < 0 || o.commit > l.Log().Number {
		return usagef("--commit %d: want a commit from 1 to %d", o.commit, l.Log().Number)
	}
	log := l.Log()
	if o.commit != 0 && o.commit != log.Number {
		if log, err = l.LogAt(ctx, o.commit); err != nil {
			return err
		}
	}
	files, err := listFiles(ctx, l, log, tables, o.day, since)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		a.say().Info("no file is listed", "lake", l.Store().URL(), "commit", log.Number, logs.Text("no file of %s as of commit %d is what the flags ask for", l.Store().URL(), log.Number))
	}
	gone := 0
	for i := range files {
		if !files[i].Live {
			gone++
		}
	}
	if gone > 0 {
		a.logger().Warn("files are no longer part of the lake", "files", gone, "commit", log.Number,
			logs.Text("%d of these; expire deletes such files seven days after their removal", gone))
	}
	return a.printFiles(files, o.format)
}

// fileTables returns the tables, named as in commits, that a flag names; nil for an empty one.
func fileTables(text string) ([]string, error) {
	var known, found []string
	for _, t := range lake.Tables() {
		known = append(known, lake.HistoryTable(t.Name), lake.SnapshotTable(t.Name))
	}
	known = append(known, lake.HistoryTable(lake.DealVersions), lake.QuarantineTable)
	for _, name := range entriesOf(text) {
		before := len(found)
		for _, table := range known {
			if _, bare, _ := strings.Cut(table, "."); table == name || bare == name {
				found = append(found, table)
			}
		}
		if len(found) == before {
			return nil, fmt.Errorf("there is no table %q: want names such as bond_priced_deals or snapshots.bond_priced_deals", name)
		}
	}
	return found, nil
}

// sinceCommit returns the number of the commit that a flag names by its number or by an instant; 0 for the beginning.
func sinceCommit(ctx context.Context, l *load.Lake, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if number, err := strconv.ParseInt(text, 10, 64); err == nil {
		if number < 0 || number > l.Log().Number {
			return 0, usagef("--since %s: want a commit from 1 to %d", text, l.Log().Number)
		}
		return number, nil
	}
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, usagef("--since %q: want the number of a commit, or an instant such as 2026-11-01T06:00:00Z", text)
	}
	names, err := l.Names(ctx)
	if err != nil {
		return 0, err
	}
	for i := range slices.Backward(names) {
		if !names[i].KnownAt.After(instant) {
			return names[i].Number, nil
		}
	}
	return 0, nil
}

// listFiles returns the files of a log by path. A file whose name does not say which commit added it is always listed.
func listFiles(ctx context.Context, l *load.Lake, log *load.Log, tables []string, day string, since int64) ([]listedFile, error) {
	commits := map[string]int64{}
	names, err := l.Names(ctx)
	if err != nil {
		return nil, err
	}
	for i := range names[:log.Number] {
		commits[names[i].RunID] = names[i].Number
	}
	files := []listedFile{}
	for _, f := range log.AllFiles() {
		commit := commits[f.RunID()]
		switch {
		case tables != nil && !slices.Contains(tables, f.Table):
		case day != "" && f.Partition["snapshot_date"] != day:
		case commit > 0 && commit <= since:
		default:
			files = append(files, listedFile{Location: l.Store().URL() + "/" + f.Path, Commit: commit, Live: l.Log().Live(f.Path), File: f})
		}
	}
	return files, nil
}

func (a *app) printFiles(files []listedFile, format string) error {
	switch format {
	case "json":
		return printJSON(a.Stdout, files)
	case "paths":
		for i := range files {
			if _, err := fmt.Fprintln(a.Stdout, files[i].Location); err != nil {
				return err
			}
		}
		return nil
	}
	w := csv.NewWriter(a.Stdout)
	rows := [][]string{{"table", "market", "snapshot_date", "year", "commit", "live", "schema_version", "rows", "bytes", "sha256", "location"}}
	for i := range files {
		f := &files[i]
		rows = append(rows, []string{
			f.Table, cmp.Or(f.Partition["market"], f.Partition["markets"]), f.Partition["snapshot_date"], f.Partition["year"], strconv.FormatInt(f.Commit, 10), strconv.FormatBool(f.Live),
			strconv.Itoa(f.SchemaVersion), strconv.FormatInt(f.Rows, 10), strconv.FormatInt(f.Bytes, 10), f.SHA256, f.Location,
		})
	}
	return w.WriteAll(rows)
}
