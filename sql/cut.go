package sql

import (
	"context"
	stdsql "database/sql"
	"embed"
	"errors"
	"fmt"
	"os"
	"strings"

	"dealflow/schemas/lake"
	"dealflow/sql/quote"
	"dealflow/sql/sealed"
)

//go:embed cut/*.sql
var cutting embed.FS

// Cut writes a catalog of a lake as it was known at the instant of a commit, to a new file at path. from is a later catalog of
// the lake, as Build wrote it. In the copy are no version, change, run or check that became known later, and no end that a
// version got later. A day's snapshot of a feed is in it if the last run that took it was known then, whichever file has its
// rows now. What is today's reading stays so: names by the aliases, numbers by the parsers. The schema files is as in from.
// files are the lake's live files, which local provides. known is the instant; shown is the newest commit up to it, with the
// number 0 for none.
func Cut(ctx context.Context, from, path string, known lake.Instant, shown lake.NamedCommit, files []lake.File, local LocalFiles) error {
	if err := sealed.Copy(from, path); err != nil {
		return fmt.Errorf("cut the catalog: %w", err)
	}
	err := edit(ctx, path, func(conn *stdsql.Conn) error {
		return doSteps(ctx, conn,
			sqlStep("BEGIN"),
			// Before the runs are cut: a run that is not known yet says that an earlier one is not the last.
			step{"days", func(ctx context.Context, conn *stdsql.Conn) error {
				return cutSnapshots(ctx, conn, known, files, local)
			}},
			statement("rows", func() (string, error) {
				return renderFrom(cutting, "cut/rows.sql", struct {
					Known string
					Shown lake.NamedCommit
				}{known.String(), shown})
			}),
			step{"years", writeYears},
			sqlStep("COMMIT"), checkpoint(path),
		)
	})
	if err != nil {
		return errors.Join(fmt.Errorf("cut at %s: %w", known, err), os.RemoveAll(path))
	}
	return nil
}

// cutSnapshots lets the views of snapshots show the days of feeds that were known. It drops those of months without one: a name
// would say that the month came.
func cutSnapshots(ctx context.Context, conn *stdsql.Conn, known lake.Instant, files []lake.File, local LocalFiles) error {
	text, err := renderFrom(cutting, "cut/days.sql", known.String())
	var months string // with a known day, each as service/kind/2026-01 between blanks
	if err == nil {
		err = conn.QueryRowContext(ctx, text).Scan(&months)
	}
	if err != nil {
		return err
	}
	var named []lake.File
	byTable := filesOf(files)
	for _, table := range lake.Tables() {
		var kept []*lake.File
		for _, file := range byTable[lake.SnapshotTable(table.Name)] {
			if month := monthOf(file); strings.Contains(months, fmt.Sprintf(" %s/%s/%s ", table.Service, table.Kind, month)) {
				kept = append(kept, file)
			} else if _, err := conn.ExecContext(ctx, "DROP VIEW IF EXISTS _dealflow."+quote.Name(monthView(table, month))); err != nil {
				return err
			}
		}
		byTable[lake.SnapshotTable(table.Name)], named = kept, append(named, lake.ValuesOf(kept)...)
	}
	root, err := local.Placeholders(ctx, named) // DuckDB reads the columns of a file when it creates a view of it
	if err != nil {
		return err
	}
	if err := setLake(ctx, conn, root); err != nil {
		return err
	}
	for _, table := range lake.Tables() {
		views := (&Catalog{}).snapshotViews(table, byTable[lake.SnapshotTable(table.Name)])
		view := views[len(views)-1] // after those of its months, which are in the catalog
		create := fmt.Sprintf("CREATE OR REPLACE VIEW _dealflow.%s AS FROM %s x SEMI JOIN (FROM _dealflow.known_snapshot WHERE service = %s AND kind = %s) k ON k.market = x.market AND k.day = x.snapshot_date",
			quote.Name(view.name), view.source, quote.Text(string(table.Service)), quote.Text(string(table.Kind)))
		if _, err := conn.ExecContext(ctx, create); err != nil {
			return fmt.Errorf("%s: %w", view.name, err)
		}
	}
	return setLake(ctx, conn, local.Root())
}

// FileOf returns the path of the file that a database has open.
func FileOf(ctx context.Context, db *stdsql.DB) (path string, err error) {
	err = db.QueryRowContext(ctx, "SELECT path FROM duckdb_databases() WHERE database_name = current_database()").Scan(&path)
	path, _, _ = strings.Cut(path, "?")
	return path, err
}
