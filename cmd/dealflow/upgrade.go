package main

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/spf13/cobra"

	"dealflow/internal/catalog"
	"dealflow/internal/logs"
	"dealflow/internal/words"
	"dealflow/load"
	"dealflow/load/transfer"
	"dealflow/schemas/lake"
)

func newUpgrade(a *app) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Make a lake of the present format from one of an older format",
		Long: `upgrade makes a new lake, under --to, from the lake of an older format under --lake. The older lake
stays as it is. The new one has the same commits, instants and files, so every answer as of an
instant is the same. On a folder the files of both lakes are links to the same files; on S3 the
server copies them.

Stop the schedules of the older lake first. An upgrade that was interrupted goes on when you run it
again. As long as the new lake has no commit of its own, a further call adds the commits that the
older lake has made since; after that, upgrade ends with exit code 1.`,
		Example: "  dealflow upgrade --lake /data/deals --to /data/deals-2\n  dealflow verify --lake /data/deals-2 --read-data",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runUpgrade(cmd.Context(), a, to) },
	}
	cmd.Flags().StringVar(&to, "to", "", "folder or s3://bucket/prefix of the new lake; it must be empty, or the result of an earlier upgrade of the same lake")
	return cmd
}

// upgradeResult is the object that `upgrade --json` prints; fields are only ever added.
type upgradeResult struct {
	*transfer.Result
	OldFiles int    `json:"files_of_older_schema"` // that replay would write again
	OldRows  int64  `json:"rows_read_otherwise"`   // at least; rows that the present schema reads in another way
	Next     string `json:"next"`                  // the command to run next
}

func runUpgrade(ctx context.Context, a *app, to string) error {
	if to == "" {
		return usagef("no new lake: set --to to a folder or s3://bucket/prefix")
	}
	from, err := a.settings.store(ctx)
	if err != nil {
		return err
	}
	into, err := a.settings.storeAt(ctx, "--to", "", to)
	if err != nil {
		return err
	}
	made, err := transfer.Upgrade(ctx, transfer.Config{From: from, To: into, Memory: memory.DefaultAllocator, Clock: a.Now})
	if err != nil {
		return err
	}
	l, err := load.Open(ctx, into)
	if err != nil {
		return err
	}
	cache, err := a.settings.cache(into)
	if err != nil {
		return err
	}
	if err := catalog.Publish(ctx, l, a.workDir(), cache); err != nil {
		return fmt.Errorf("the lake is upgraded, but its catalog was not published: %w; run `dealflow catalog --lake %s`", err, to)
	}
	result := upgradeResult{Result: made, Next: "dealflow verify --lake " + to + " --read-data"}
	for _, f := range l.Log().AllFiles() {
		if f.SchemaVersion < lake.SchemaVersion && f.Table != lake.QuarantineTable {
			result.OldFiles++
		}
	}
	if result.OldFiles > 0 {
		if result.OldRows, err = a.rowsReadOtherwise(ctx, l); err != nil {
			return fmt.Errorf("the lake is upgraded, but looking for rows of older schemas failed: %w", err)
		}
	}
	return a.printUpgraded(result)
}

// rowsReadOtherwise counts the rows that a replay may change: texts with U+0000, and shares without a value.
func (a *app) rowsReadOtherwise(ctx context.Context, l *load.Lake) (rows int64, err error) {
	const query = `SELECT (SELECT count(*) FROM history.deal_versions WHERE contains(payload, '\u0000'))
		+ (SELECT count(*) FROM history.bond_priced_investor_types WHERE value IS NULL)
		+ (SELECT count(*) FROM history.bond_priced_geographies WHERE value IS NULL)`
	err = a.withCatalog(ctx, l, func(db *stdsql.DB) error { return db.QueryRowContext(ctx, query).Scan(&rows) }, query)
	return rows, err
}

func (a *app) printUpgraded(r upgradeResult) error {
	if a.settings.json {
		return printJSON(a.Stdout, r)
	}
	lines := []string{fmt.Sprintf("upgraded %s to %s: commits 1 to %d (%d now), %d files, %s (%d now)", r.From, r.To, r.Commits, r.Added, r.Files, words.Size(r.Bytes), r.Copied)}
	if r.OldRows > 0 {
		lines = append(lines, fmt.Sprintf("%d rows would be read in another way by the present schema: `dealflow replay --lake %s --snapshots` writes them again", r.OldRows, r.To))
	}
	lines = append(lines, "next: "+r.Next+"; then point the schedules to the new lake")
	a.say().Info("upgraded", "from", r.From, "to", r.To, "commits", r.Commits, "files", r.Files, "bytes", r.Bytes, "rows_read_otherwise", r.OldRows, "next", r.Next,
		logs.Text("%s", strings.Join(lines, "; ")))
	return nil
}
