package ddl

import (
	"fmt"
	"path"
	"strings"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql/quote"
)

// loadedColumns are the columns that rows of an export have after those of their table.
func loadedColumns() []lake.Column {
	return []lake.Column{
		{Name: "known_at", Type: lake.Timestamp, NotNull: true, Doc: "Instant at which the version became known."},
		{Name: "commit", Type: lake.Int64, NotNull: true, Doc: "Number of the commit that added the version."},
	}
}

// changeColumns are the columns of the deals that changed.
func changeColumns() []lake.Column {
	return append([]lake.Column{
		{Name: "market", Type: lake.Text, NotNull: true, Doc: "Market of the feed: IG, HY, EM, LL, CF or AF."},
		{Name: "deal_id", Type: lake.Int64, NotNull: true, Doc: "The source's id of the deal."},
		{Name: "version", Type: lake.Int32, NotNull: true, Doc: "Version of the deal."},
		{Name: "change", Type: lake.Text, NotNull: true, Doc: "added, changed, removed or reappeared."},
		{Name: "reason", Type: lake.Text, Doc: "Why the deal was removed: gone, priced or out_of_entitlement."},
	}, loadedColumns()...)
}

// group is the tables of one feed kind, which share the deals that changed.
type group struct {
	name   string // such as bond_priced
	tables []*lake.Table
}

func groupName(service api.Service, kind api.Kind) string {
	return string(service) + "_" + string(kind)
}

// groupsOf groups tables, in their order.
func groupsOf(tables []*lake.Table) []group {
	var groups []group
	for _, t := range tables {
		name := groupName(t.Service, t.Kind)
		if len(groups) == 0 || groups[len(groups)-1].name != name {
			groups = append(groups, group{name: name})
		}
		last := &groups[len(groups)-1]
		last.tables = append(last.tables, t)
	}
	return groups
}

// script collects statements.
type script struct {
	*dialect
	strings.Builder
}

// add adds a statement.
func (s *script) add(format string, args ...any) { fmt.Fprintf(s, format+";\n", args...) }

// say adds a comment.
func (s *script) say(format string, args ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		s.WriteString("-- " + line + "\n")
	}
}

// text quotes a text. Some dialects have no doubled quotation marks.
func (s *script) text(value string) string {
	if s.name == "bigquery" || s.name == "databricks" || s.name == "athena" {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(value) + "'"
	}
	return quote.Text(value)
}

// inText spells an address for a place between quotation marks.
func (s *script) inText(address string) string {
	quoted := s.text(address)
	return quoted[1 : len(quoted)-1]
}

func (s *script) list(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = s.quote(name)
	}
	return strings.Join(quoted, ", ")
}

// table creates a table with comments and a key.
func (s *script) table(name, doc string, columns []lake.Column, key []string) {
	var lines []string
	var after strings.Builder
	for i := range columns {
		c := &columns[i]
		line := "  " + s.column(c)
		if c.NotNull && s.null == "" && s.name != "athena" {
			line += " NOT NULL"
		}
		note := c.Doc
		if c.Unit != "" {
			note += " Unit: " + c.Unit + "."
		}
		switch s.comment {
		case commentInline:
			line += " COMMENT " + s.text(note)
		case commentOptions:
			line += " OPTIONS (description = " + s.text(note) + ")"
		default:
			fmt.Fprintf(&after, "COMMENT ON COLUMN %s.%s IS %s;\n", name, s.quote(c.Name), s.text(note))
		}
		lines = append(lines, line)
	}
	if s.key != "" {
		lines = append(lines, "  "+fmt.Sprintf(s.key, s.list(key)))
	}
	end := ""
	if strings.Contains(s.suffix, "%s") {
		end = "\n" + fmt.Sprintf(s.suffix, s.list(key))
	}
	switch s.comment {
	case commentInline:
		end += "\nCOMMENT " + s.text(doc)
	case commentOptions:
		end += "\nOPTIONS (description = " + s.text(doc) + ")"
	default:
		fmt.Fprintf(&after, "COMMENT ON TABLE %s IS %s;\n", name, s.text(doc))
	}
	if s.suffix != "" && !strings.Contains(s.suffix, "%s") {
		end += "\n" + s.suffix
	}
	s.add("CREATE TABLE %s (\n%s\n)%s", name, strings.Join(lines, ",\n"), end)
	s.WriteString(after.String())
}

// column returns the name and type of a column in CREATE TABLE.
func (s *script) column(c *lake.Column) string {
	quote := s.quote
	if s.columns != nil {
		quote = s.columns
	}
	typ := s.types[c.Type]
	if s.null != "" && !c.NotNull {
		typ = fmt.Sprintf(s.null, typ)
	}
	return quote(c.Name) + " " + typ
}

// rowKey returns the key of a table with one version of each deal.
func rowKey(t *lake.Table) []string {
	var names []string
	for _, name := range lake.ColumnNames(t.KeyColumns()) {
		if name != "version" {
			names = append(names, name)
		}
	}
	return names
}

// loaded returns the columns of a table's rows in an export.
func loaded(t *lake.Table) []lake.Column { return append(t.HistoryColumns(), loadedColumns()...) }

// loadedAt returns the columns of a table's rows in an export of a schema version. Columns that are newer stay NULL.
func loadedAt(t *lake.Table, version int) []lake.Column {
	return append(lake.ColumnsAt(t.HistoryColumns(), version), loadedColumns()...)
}

// Tables returns the statements that create, for each table: the table with the present rows, its history, the table into
// which exports are loaded first, and a view with the interval of each version. names are tables; nil for all.
func Tables(name string, tables []*lake.Table) (string, error) {
	d, err := find(name)
	if err != nil {
		return "", err
	}
	s := &script{dialect: d}
	s.say("Tables for the exports of dealflow, schema version %d, in %s.", lake.SchemaVersion, d.name)
	s.say("%s", d.note)
	for _, g := range groupsOf(tables) {
		s.WriteString("\n")
		s.table(g.name+"_changes", "Versions of deals that exports have brought.", changeColumns(), []string{"market", "deal_id", "version"})
		s.add(s.like, g.name+"_deletes", g.name+"_changes")
		for _, t := range g.tables {
			s.WriteString("\n")
			s.table(t.Name, t.Doc, loaded(t), rowKey(t))
			s.add(s.like, t.Name+"_history", t.Name)
			s.add(s.like, t.Name+"_inserts", t.Name)
			s.versions(g.name, t)
		}
	}
	return s.String(), nil
}

// versions creates the view of a table's versions with their intervals.
func (s *script) versions(group string, t *lake.Table) {
	var columns []string
	for _, name := range lake.ColumnNames(loaded(t)) {
		columns = append(columns, "h."+s.quote(name))
	}
	deal := s.list([]string{"market", "deal_id"})
	known, version := s.quote("known_at"), s.quote("version")
	same := func(name string) string { return "c." + s.quote(name) + " = h." + s.quote(name) }
	to := fmt.Sprintf("LEAD(%s) OVER (PARTITION BY %s ORDER BY %s)", known, deal, version)
	if s.name == "clickhouse" { // its lead is of the column's type, which is not Nullable
		to = fmt.Sprintf("leadInFrame(toNullable(%s)) OVER (PARTITION BY %s ORDER BY %s ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)", known, deal, version)
	}
	s.add(`CREATE VIEW %s_versions AS
SELECT %s, h.%s AS valid_from, c.valid_to
FROM %s_history h
JOIN (
  SELECT %s, %s, %s,
    %s AS valid_to
  FROM %s_changes
) c ON %s AND %s AND %s
WHERE c.%s <> 'removed'`,
		t.Name, strings.Join(columns, ", "), known, t.Name, deal, version, s.quote("change"), to, group,
		same("market"), same("deal_id"), same("version"), s.quote("change"))
}

// belowLake returns the path of published metadata in its lake.
func belowLake(address string) string {
	return address[max(strings.LastIndex(address, lake.IcebergPrefix), 0):]
}

// IcebergTable is a table that a lake publishes in the Iceberg format.
type IcebergTable struct {
	Namespace, Name  string
	Folder, Metadata string // addresses: of the table, of its newest metadata file
}

// Iceberg returns the statements that let a warehouse read published tables where they are.
func Iceberg(name string, tables []IcebergTable) (string, error) {
	d, err := find(name)
	if err != nil {
		return "", err
	}
	if d.iceberg == nil {
		return "", fmt.Errorf("%s has no statement that registers an Iceberg table by its metadata: use a catalog that it reads, or load exports (docs/how-to/export.md)", d.name)
	}
	s := &script{dialect: d}
	s.say("The lake's Iceberg tables in %s. They are current until the lake publishes again.", d.name)
	if d.iceberg.note != "" {
		s.say("%s", d.iceberg.note)
	}
	created := map[string]bool{}
	for _, t := range tables {
		register, folder := d.iceberg.table, t.Folder
		if strings.HasPrefix(folder, "file://") && d.iceberg.remote {
			return "", fmt.Errorf("%s reads no tables in a folder, and the lake is in %s: copy it to a bucket (dealflow copy), or load exports (docs/how-to/export.md)", d.name, folder)
		}
		if local, ok := strings.CutPrefix(folder, "file://"); ok && d.iceberg.local != "" {
			register, folder = d.iceberg.local, local
		}
		schema := s.quote(t.Namespace)
		values := strings.NewReplacer("{table}", schema+"."+s.quote(t.Name), "{schema}", schema, "{namespace}", t.Namespace, "{name}", t.Name,
			"{folder}", s.inText(folder), "{metadata}", s.inText(t.Metadata), "{below}", s.inText(belowLake(t.Metadata)), "{file}", path.Base(t.Metadata))
		if !created[t.Namespace] {
			created[t.Namespace] = true
			s.add("%s", values.Replace(d.iceberg.schema))
		}
		s.add("%s", values.Replace(register))
	}
	return s.String(), nil
}
