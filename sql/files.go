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
	"dealflow/sql/byyear"
	"dealflow/sql/ownschema"
	"dealflow/sql/quote"
)

// source returns a subquery over files of a table with exactly the given columns. Files of an older schema version lack
// later columns, and may have columns of an earlier type. So each version is read separately, with typed NULLs and with
// casts. Files of a later schema version than this program's are read like those of its own: their further columns are
// left out (lake.SchemaNeeds). Without files the result is empty and typed.
func (c *Catalog) source(files []*lake.File, columns []lake.Column) string {
	byVersion := map[int][]*lake.File{}
	for _, file := range files {
		version := min(file.SchemaVersion, lake.SchemaVersion)
		byVersion[version] = append(byVersion[version], file)
	}
	var parts []string
	for version := 1; version <= lake.SchemaVersion; version++ {
		if some := byVersion[version]; len(some) > 0 {
			parts = append(parts, c.readFiles(pathsOf(some), columns, version))
		}
	}
	if len(parts) == 0 {
		return emptySource(columns)
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ")"
}

// pathsOf lists the paths of files of one table. The first is that of a file of average size: DuckDB takes its number of rows for
// that of each file when it orders joins, and else it would build hash tables of the widest rows (a year's file next to
// those of nights).
func pathsOf(files []*lake.File) []string {
	paths := make([]string, len(files))
	var rows int64
	for i := range files {
		paths[i] = files[i].Path
		rows += files[i].Rows
	}
	fromMean := func(f *lake.File) int64 { return max(f.Rows-rows/int64(len(files)), rows/int64(len(files))-f.Rows) }
	first := 0
	for i := range files {
		if fromMean(files[i]) < fromMean(files[first]) {
			first = i
		}
	}
	paths[0], paths[first] = paths[first], paths[0]
	return paths
}

// emptySource returns a subquery with columns and without rows.
func emptySource(columns []lake.Column) string {
	return "(SELECT " + selectList(columns, 0, nil) + " WHERE false)"
}

// readFiles returns a query over files of one schema version. The root is looked up when the view is read. The paths
// are one text, because DuckDB parses some hundred thousand paths a second from one text and a tenth of that from
// separate expressions. (A lambda would be simpler, but DuckDB cannot bind a lambda in a macro with a parameter that
// has the name of a column.)
func (c *Catalog) readFiles(paths []string, columns []lake.Column, version int) string {
	root := "coalesce(getvariable(" + quote.Text(c.ownSchema()) + "), getvariable('lake'), " + quote.Text(c.Root) + ") || '/'"
	list := fmt.Sprintf("CASE WHEN contains(%s, '=') THEN error(%s) ELSE string_split(%s || replace(%s, chr(10), chr(10) || %s), chr(10)) END",
		root, quote.Text(namedFolder), root, quote.Text(strings.Join(paths, "\n")), root)
	renamed, types := pathColumns(paths)
	return "SELECT " + selectList(columns, version, renamed) + " FROM read_parquet(" + list + ", hive_partitioning = true" + types + ")"
}

// namedFolder is the error of a view that would take values from a folder above the lake; see workfolder.Alias.
const namedFolder = "the path of the lake has a folder with = in its name, which DuckDB would take for the values of a column: SET VARIABLE lake to another path of it, such as a symbolic link"

// pathColumns returns the columns that DuckDB takes from the paths of files, by the name of the column in the files, and
// the argument of read_parquet with their types. By them DuckDB knows which files a query can leave out without opening
// one. In a lake of format version 1 the names in paths are those of the columns. If one of the files is shared, the
// markets are those in the files: DuckDB then leaves out row groups by their statistics. (Reading the shared files apart
// from the others would keep the paths of these, but each view, and each macro on it, would bind all columns twice.)
func pathColumns(paths []string) (renamed map[string]string, types string) {
	renamed = map[string]string{byyear.FileYear.Name: "year"}
	if !strings.Contains(paths[0], "/mkt=") {
		return renamed, ""
	}
	renamed["market"], types = "mkt", ", hive_types = {'mkt': VARCHAR}"
	if strings.HasPrefix(paths[0], "snapshots/") {
		renamed["snapshot_date"], types = "day", ", hive_types = {'mkt': VARCHAR, 'day': DATE}"
	}
	if slices.ContainsFunc(paths, lake.IsSharedPath) {
		delete(renamed, "market")
	}
	return renamed, types
}

// selectList names columns in order. Columns that were added after version are typed NULLs; for version 0 all of them
// are. Columns that had another type in version are cast. renamed has the names of columns that have another name in the source.
func selectList(columns []lake.Column, version int, renamed map[string]string) string {
	parts := make([]string, len(columns))
	for i := range columns {
		col := &columns[i]
		parts[i] = quote.Name(col.Name)
		if source := renamed[col.Name]; source != "" {
			parts[i] = quote.Name(source) + " AS " + parts[i]
		}
		switch {
		case max(col.Since, 1) > version:
			parts[i] = "NULL::" + col.Type.SQL() + " AS " + parts[i]
		case col.TypeAt(version) != col.Type:
			parts[i] += "::" + col.Type.SQL() + " AS " + parts[i]
		}
	}
	return strings.Join(parts, ", ")
}

// tableData is the data for the templates of a flattened table.
type tableData struct {
	*lake.Table
	Columns         []lake.Column // of history
	SnapshotColumns []lake.Column
	History         string // a FROM clause's source, with byyear.Columns
	Older           string // the same, for files without all statuses; "" for a table without parsed texts
	Snapshots       string
	IsByYear        bool
}

// tableOf returns the template data of a table without files.
func tableOf(table *lake.Table) tableData {
	data := tableData{Table: table, Columns: table.HistoryColumns(), SnapshotColumns: table.SnapshotColumns(), IsByYear: byyear.Applies(table)}
	data.History, data.Snapshots = emptySource(byyear.Columns(table)), emptySource(data.SnapshotColumns)
	if table.StatusesSince() > 0 {
		data.Older = emptySource(data.Columns)
	}
	return data
}

// filesOf groups files by table name as a commit writes it. Each group is sorted by path, and points to the files of the slice,
// because a lake of years has tens of thousands.
func filesOf(files []lake.File) map[string][]*lake.File {
	byTable := map[string][]*lake.File{}
	for i := range files {
		byTable[files[i].Table] = append(byTable[files[i].Table], &files[i])
	}
	for _, group := range byTable {
		slices.SortFunc(group, func(a, b *lake.File) int { return strings.Compare(a.Path, b.Path) })
	}
	return byTable
}

// fileView is a view of the schema _dealflow over files of the lake, or over other such views.
type fileView struct {
	name   string
	source string       // of a FROM clause
	files  []*lake.File // that DuckDB opens when it creates the view, including those of views that it reads
}

// hash identifies the source of the view.
func (v *fileView) hash() string {
	sum := sha256.Sum256([]byte(v.source))
	return hex.EncodeToString(sum[:])
}

// fileViews returns the views of the commit's files, each after those that it reads. Snapshots have one view per month,
// so that a new day replaces only that one, and one view over all months.
func (c *Catalog) fileViews() []fileView {
	byTable := filesOf(c.Files)
	versions := byTable[lake.HistoryTable(lake.DealVersions)]
	views := []fileView{{"history_deal_versions", c.source(versions, lake.DealVersionColumns()), versions}}
	for _, table := range lake.Tables() {
		history := byTable[lake.HistoryTable(table.Name)]
		views = append(views, fileView{"history_" + table.Name, c.source(history, byyear.Columns(table)), history})
		if since := table.StatusesSince(); since > 0 {
			older := slices.DeleteFunc(slices.Clone(history), func(f *lake.File) bool { return f.SchemaVersion >= since })
			views = append(views, fileView{"older_" + table.Name, c.source(older, table.HistoryColumns()), older})
		}
		views = append(views, c.snapshotViews(table, byTable[lake.SnapshotTable(table.Name)])...)
	}
	return views
}

func (c *Catalog) snapshotViews(table *lake.Table, files []*lake.File) []fileView {
	columns := table.SnapshotColumns()
	months := map[string][]*lake.File{}
	for _, file := range files {
		month := monthOf(file)
		months[month] = append(months[month], file)
	}
	whole := fileView{"snapshots_" + table.Name, emptySource(columns), files}
	var views []fileView
	var parts []string
	for _, month := range slices.Sorted(maps.Keys(months)) {
		part := fileView{monthView(table, month), c.source(months[month], columns), months[month]}
		views = append(views, part)
		parts = append(parts, "FROM _dealflow."+quote.Name(part.name))
	}
	if len(parts) > 0 {
		whole.source = "(" + strings.Join(parts, " UNION ALL ") + ")"
	}
	return append(views, whole)
}

// monthOf returns the month of a file of snapshots, YYYY-MM.
func monthOf(f *lake.File) string {
	day := f.Day()
	return day[:min(len(day), 7)]
}

// monthView is the name of the view of a table's snapshots of a month.
func monthView(table *lake.Table, month string) string {
	return "snapshots_" + table.Name + "_" + strings.Replace(month, "-", "_", 1)
}

// viewChanges lists the file views to create or replace, and the names of those to drop.
type viewChanges struct {
	replace []fileView
	drop    []string
}

// changedViews compares the catalog's file views with those of the commit's files.
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
			changes.replace = append(changes.replace, view)
		}
		delete(have, view.name)
	}
	changes.drop = slices.Sorted(maps.Keys(have))
	return changes, rows.Err()
}

// replaceViews creates or replaces the views that changed. DuckDB opens a view's files when it creates the view. It
// gets placeholders for that; afterwards the connection reads the fetched files.
func (c *Catalog) replaceViews(ctx context.Context, conn *stdsql.Conn, changes viewChanges) error {
	var named []lake.File
	for i := range changes.replace {
		named = append(named, lake.ValuesOf(changes.replace[i].files)...)
	}
	root, err := c.Local.Placeholders(ctx, named)
	if err != nil {
		return err
	}
	if err := setLake(ctx, conn, root); err != nil {
		return err
	}
	if err := c.createViews(ctx, conn, changes); err != nil {
		return err
	}
	return setLake(ctx, conn, c.Local.Root())
}

// setLake sets the folder in which the connection finds the lake's files.
func setLake(ctx context.Context, conn *stdsql.Conn, folder string) error {
	_, err := conn.ExecContext(ctx, "SET VARIABLE lake = "+quote.Text(folder))
	return err
}

// createViews creates the views in the schema _dealflow. Views that macros read are created in the catalog's own schema,
// too. There, a view over the first one would do, but then each of some hundred columns is bound once more in each macro.
func (c *Catalog) createViews(ctx context.Context, conn *stdsql.Conn, changes viewChanges) error {
	own, err := c.ownViews(ctx, conn)
	if err != nil {
		return err
	}
	var gone, made []string // rows of file_view
	for i := range changes.replace {
		view := &changes.replace[i]
		create := "CREATE OR REPLACE VIEW _dealflow." + quote.Name(view.name) + " AS " + view.source
		if ownName := ownschema.Name("_dealflow." + view.name); own[ownName] {
			create += "; CREATE OR REPLACE VIEW " + quote.Name(c.ownSchema()) + "." + quote.Name(ownName) + " AS " + view.source
		}
		if _, err := conn.ExecContext(ctx, create); err != nil {
			return fmt.Errorf("%s: %w", view.name, err)
		}
		gone, made = append(gone, quote.Text(view.name)), append(made, "("+quote.Text(view.name)+", "+quote.Text(view.hash())+")")
	}
	for _, name := range changes.drop {
		if _, err := conn.ExecContext(ctx, "DROP VIEW _dealflow."+quote.Name(name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		gone = append(gone, quote.Text(name))
	}
	if len(gone) > 0 {
		if _, err := conn.ExecContext(ctx, "DELETE FROM _dealflow.file_view WHERE name IN ("+strings.Join(gone, ", ")+")"); err != nil {
			return err
		}
	}
	if len(made) > 0 {
		if _, err := conn.ExecContext(ctx, "INSERT INTO _dealflow.file_view VALUES "+strings.Join(made, ", ")); err != nil {
			return err
		}
	}
	return nil
}
