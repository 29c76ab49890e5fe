package main

import (
	"cmp"
	"context"
	stdsql "database/sql"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"dealflow/internal/export"
	"dealflow/internal/logs"
	"dealflow/internal/words"
	"dealflow/schemas/lake"
)

// exportOptions are the flags of export.
type exportOptions struct {
	full     bool
	since    string
	to       int64
	tables   string
	format   string
	restated bool
}

func newExport(a *app) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export TARGET",
		Short: "Write what changed between two commits as files, to load into a warehouse",
		Long: `export writes the deals that changed after one commit and up to another one, and their rows in each
table, to a folder or to s3://bucket/prefix. Begin with --full. From then on --since last continues
where the newest export in the target has ended.

A manifest in manifests/ names the files of an export. It is put last, so an export without one is
incomplete; run it again. For each table a loader deletes the rows of the deals in its file "deletes",
by market and deal_id, and then inserts the rows of its file "inserts". Then the table is what
<table>_as_of says of the export's last commit. Files of mode "full" replace all rows of the table.

Compaction and expiry of snapshots are not seen. A replay may restate a table: rows of deals that did
not change have other values. Then export ends with exit code 1 and names the tables.
With --include-restated it exports them completely. If the lake has another commit in the place of the
one that was exported last, export ends with exit code 1, too.

SQL has the same: changes_rows(from, to), and <table>_changes_rows(from, to) for each table.`,
		Example: `  dealflow export --full /data/export
  dealflow export --since last s3://bucket/export
  dealflow export --since 41 --to 57 --tables bond_priced_deals,bond_priced_banks --format csv out`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return runExport(cmd.Context(), a, o, args[0]) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.full, "full", false, "export the complete tables")
	flags.StringVar(&o.since, "since", "", "export what changed after this commit: last, a number such as 41, or 41:SHA-256 as in a manifest")
	flags.Int64Var(&o.to, "to", 0, "number of the last commit to export; 0 for the newest")
	flags.StringVar(&o.tables, "tables", "", "tables to export, comma-separated, such as bond_priced_deals (default: all seventeen; with --since last, those of the exports before)")
	annotate(flags.Lookup("tables"), listFlag)
	flags.StringVar(&o.format, "format", "", "format of the files: "+strings.Join(export.Formats, ", ")+" (default: that of the newest export in the target, or "+export.Formats[0]+")")
	flags.BoolVar(&o.restated, "include-restated", false, "export tables completely that a replay has restated")
	return cmd
}

func runExport(ctx context.Context, a *app, o exportOptions, target string) error {
	if o.full == (o.since != "") {
		return usagef("want one of --full and --since; see `dealflow export --help`")
	}
	cfg := export.Config{Since: export.Since{Full: o.full}, To: o.to, Tables: entriesOf(o.tables), Format: o.format, IncludeRestated: o.restated, Version: version()}
	var err error
	if !o.full {
		if cfg.Since, err = export.ParseSince(o.since); err != nil {
			return fmt.Errorf("--since: %w", err)
		}
	}
	// A warehouse would load an export without a lost commit unseen.
	if cfg.Lake, err = a.openWhole(ctx); err != nil {
		return err
	}
	if cfg.Target, err = a.settings.storeAt(ctx, "the target", "", target); err != nil {
		return err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	cfg.ID, cfg.WorkDir = id.String(), a.workDir()
	planned, err := export.Plan(ctx, cfg)
	if err != nil {
		return err
	}
	var result *export.Result
	write := func(db *stdsql.DB) error {
		result, err = planned.Write(ctx, db)
		return err
	}
	if planned.IsDone() {
		err = write(nil)
	} else {
		err = a.withCatalog(ctx, cfg.Lake, write, planned.Statements()...)
	}
	if err != nil {
		return err
	}
	return a.printExport(result, cmp.Or(o.to, cfg.Lake.Log().Number))
}

// entriesOf returns the entries of a flag with commas; nil for an empty one.
func entriesOf(text string) []string {
	if text == "" {
		return nil
	}
	entries := strings.Split(text, ",")
	for i := range entries {
		entries[i] = strings.TrimSpace(entries[i])
	}
	return entries
}

func (a *app) printExport(r *export.Result, last int64) error {
	if a.settings.json {
		return printJSON(a.Stdout, r)
	}
	switch m := r.Export; {
	case m == nil:
		a.say().Info("nothing to export", "target", r.Target, "commit", last, logs.Text("nothing to export: it would begin and end with commit %d", last))
	case r.Outcome == lake.OutcomeUnchanged:
		a.say().Info("nothing to export", "target", r.Target, "manifest", r.Manifest, "commit", m.To.Number,
			logs.Text("nothing to export: %s/%s is the same export", r.Target, r.Manifest))
	default:
		files, rows, bytes := m.Sums()
		a.say().Info("exported", "target", r.Target, "manifest", r.Manifest, "commit", m.To.Number, "tables", len(m.Tables), "files", files, "rows", rows, "bytes", bytes,
			logs.Text("exported %s of %s to %s: %d tables, %d files (%s), %d rows to insert; manifest: %s", m.Range(), m.Lake, r.Target, len(m.Tables), files, words.Size(bytes), rows, r.Manifest))
	}
	return nil
}
