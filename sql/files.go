package sql

import (
	"context"
	"crypto/sha256"
	stdsql "database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dealflow/schemas/lake"
)

// source is a subquery over files of a table with exactly the given columns. Files of an older schema
// version lack later columns: they are read apart, with typed NULLs. A table without files is empty, and
// typed.
func (c *Catalog) source(files []lake.File, columns []lake.Column) string {
	byVersion := map[int][]string{}
	for i := range files {
		byVersion[files[i].SchemaVersion] = append(byVersion[files[i].SchemaVersion], files[i].Path)
	}
	var parts []string
	for version := 1; version <= lake.SchemaVersion; version++ {
		if paths := byVersion[version]; len(paths) > 0 {
			parts = append(parts, c.readFiles(paths, columns, version))
		}
	}
	if len(parts) == 0 {
		return nothing(columns)
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ")"
}

// nothing is a subquery with columns and without rows.
func nothing(columns []lake.Column) string {
	return "(SELECT " + selectList(columns, 0) + " WHERE false)"
}

// readFiles reads files of one schema version. The root is looked up when the view is read. Their paths are
// one text: DuckDB takes some hundred thousand paths a second in from that, and a tenth of it where each is
// an expression of its own. (A lambda would be plainer, but DuckDB cannot bind one below a macro with a
// parameter that is called like a column.)
func (c *Catalog) readFiles(paths []string, columns []lake.Column, version int) string {
	root := "coalesce(getvariable('lake'), " + literal(c.Root) + ") || '/'"
	list := fmt.Sprintf("string_split(%s || replace(%s, chr(10), chr(10) || %s), chr(10))", root, literal(strings.Join(paths, "\n")), root)
	return "SELECT " + selectList(columns, version) + " FROM read_parquet(" + list + ", hive_partitioning = true)"
}

// selectList names columns, in order; those that come after version, or all for version 0, are typed
// NULLs.
func selectList(columns []lake.Column, version int) string {
	parts := make([]string, len(columns))
	for i := range columns {
		col := &columns[i]
		parts[i] = identifier(col.Name)
		if max(col.Since, 1) > version {
			parts[i] = "NULL::" + col.Type.SQL() + " AS " + parts[i]
		}
	}
	return strings.Join(parts, ", ")
}

// tableData is what the statements of a flattened table see.
type tableData struct {
	*lake.Table
	Columns         []lake.Column // of history
	SnapshotColumns []lake.Column
	History         string // a FROM clause's source
	Snapshots       string
}

// tableOf is a table without files.
func tableOf(table *lake.Table) tableData {
	data := tableData{Table: table, Columns: table.HistoryColumns(), SnapshotColumns: table.SnapshotColumns()}
	data.History, data.Snapshots = nothing(data.Columns), nothing(data.SnapshotColumns)
	return data
}

// filesOf groups files by table, as a commit names it; each group by path, in whatever order they were given.
func filesOf(files []lake.File) map[string][]lake.File {
	of := map[string][]lake.File{}
	for i := range files {
		of[files[i].Table] = append(of[files[i].Table], files[i])
	}
	for _, group := range of {
		slices.SortFunc(group, func(a, b lake.File) int { return strings.Compare(a.Path, b.Path) })
	}
	return of
}

// fileView is a view of the schema _dealflow that names files of the lake, or other such views.
type fileView struct {
	name   string
	source string      // a FROM clause's
	files  []lake.File // that DuckDB looks for when it makes the view, those of views below included
}

// hash sums up what the view reads.
func (v *fileView) hash() string {
	sum := sha256.Sum256([]byte(v.source))
	return hex.EncodeToString(sum[:])
}

// fileViews are the views of the commit's files, each behind those that it reads. Snapshots have one for each
// month, so that a new day renews no more than that; and one over these.
func (c *Catalog) fileViews() []fileView {
	of := filesOf(c.Files)
	versions := of[lake.HistoryTable(lake.DealVersions)]
	views := []fileView{{"history_deal_versions", c.source(versions, lake.DealVersionColumns()), versions}}
	for _, table := range lake.Tables() {
		history := of[lake.HistoryTable(table.Name)]
		views = append(views, fileView{"history_" + table.Name, c.source(history, table.HistoryColumns()), history})
		views = append(views, c.snapshotViews(table, of[lake.SnapshotTable(table.Name)])...)
	}
	return views
}

func (c *Catalog) snapshotViews(table *lake.Table, files []lake.File) []fileView {
	columns := table.SnapshotColumns()
	months := map[string][]lake.File{}
	for i := range files {
		month, _, _ := strings.Cut(strings.Replace(files[i].Partition["snapshot_date"], "-", "_", 1), "-")
		months[month] = append(months[month], files[i])
	}
	whole := fileView{"snapshots_" + table.Name, nothing(columns), files}
	var views []fileView
	var parts []string
	for _, month := range slices.Sorted(maps.Keys(months)) {
		part := fileView{whole.name + "_" + month, c.source(months[month], columns), months[month]}
		views = append(views, part)
		parts = append(parts, "FROM _dealflow."+identifier(part.name))
	}
	if len(parts) > 0 {
		whole.source = "(" + strings.Join(parts, " UNION ALL ") + ")"
	}
	return append(views, whole)
}

// viewChanges says what of a catalog's views of files is to be made again, and what is to go.
type viewChanges struct {
	made []fileView
	gone []string
}

// changedViews holds the views that the catalog has against those of the commit's files.
func (c *Catalog) changedViews(ctx context.Context, conn *stdsql.Conn) (changes viewChanges, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT name, hash FROM _dealflow.file_view")
	if err != nil {
		return changes, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	have := map[string]string{}
	for rows.Next() {
		var name, hash string
		if err := rows.Scan(&name, &hash); err != nil {
			return changes, err
		}
		have[name] = hash
	}
	for _, view := range c.fileViews() {
		if have[view.name] != view.hash() {
			changes.made = append(changes.made, view)
		}
		delete(have, view.name)
	}
	changes.gone = slices.Sorted(maps.Keys(have))
	return changes, rows.Err()
}

// renewViews makes the views of the commit's files again that changed. DuckDB looks at a view's files when it makes the
// view: it finds placeholders, and the files that were fetched from then on.
func (c *Catalog) renewViews(ctx context.Context, conn *stdsql.Conn, changes viewChanges) error {
	var named []lake.File
	for i := range changes.made {
		named = append(named, changes.made[i].files...)
	}
	root, err := c.Local.Placeholders(ctx, named)
	if err != nil {
		return err
	}
	if err := setLake(ctx, conn, root); err != nil {
		return err
	}
	if err := makeViews(ctx, conn, changes); err != nil {
		return err
	}
	return setLake(ctx, conn, c.Local.Root())
}

// setLake says where the connection finds the lake's files from here on.
func setLake(ctx context.Context, conn *stdsql.Conn, folder string) error {
	_, err := conn.ExecContext(ctx, "SET VARIABLE lake = "+literal(folder))
	return err
}

func makeViews(ctx context.Context, conn *stdsql.Conn, changes viewChanges) error {
	for i := range changes.made {
		view := &changes.made[i]
		name := literal(view.name)
		_, err := conn.ExecContext(ctx, "CREATE OR REPLACE VIEW _dealflow."+identifier(view.name)+" AS FROM "+view.source+
			"; DELETE FROM _dealflow.file_view WHERE name = "+name+"; INSERT INTO _dealflow.file_view VALUES ("+name+", "+literal(view.hash())+")")
		if err != nil {
			return fmt.Errorf("%s: %w", view.name, err)
		}
	}
	for _, name := range changes.gone {
		if _, err := conn.ExecContext(ctx, "DROP VIEW _dealflow."+identifier(name)+"; DELETE FROM _dealflow.file_view WHERE name = "+literal(name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
