package ddl

import (
	"fmt"
	"slices"
	"strings"

	"dealflow/internal/export"
	"dealflow/schemas/lake"
)

// Load returns the statements that load an export. target is the folder or URL of the exports.
func Load(name string, m *export.Manifest, target string) (string, error) {
	d, err := find(name)
	if err != nil {
		return "", err
	}
	if m.Format != d.format {
		return "", fmt.Errorf("%s loads exports in the format %s, this one is in %s: run `dealflow export --format %s`", d.name, d.format, m.Format, d.format)
	}
	if m.SchemaVersion > lake.SchemaVersion {
		return "", fmt.Errorf("the export has schema version %d, this program knows %d: use the program that made it, or a newer one", m.SchemaVersion, lake.SchemaVersion)
	}
	s := &script{dialect: d}
	s.say("Loads %s.", m.Range())
	s.say("%s", d.note)
	if s.session != "" {
		s.add("%s", s.session)
	}
	staged := map[string]bool{}
	for i := range m.Tables {
		t, err := tableOf(&m.Tables[i])
		if err != nil {
			return "", err
		}
		if group := groupName(t.Service, t.Kind); !staged[group] {
			staged[group] = true
			s.stageFile(group+"_deletes", m.Tables[i].Deletes, target, changeColumns())
		}
		s.stageFile(t.Name+"_inserts", m.Tables[i].Inserts, target, loadedAt(t, m.SchemaVersion))
	}
	if s.begin != "" {
		s.add("%s", s.begin)
	}
	if m.From == nil {
		s.forget(m)
	}
	for i := range m.Tables {
		t, _ := lake.TableByName(m.Tables[i].Table)
		s.apply(t, &m.Tables[i], lake.ColumnNames(loadedAt(t, m.SchemaVersion)))
	}
	for _, g := range groupsIn(m) {
		s.keepChanges(g, m)
	}
	if s.commit != "" {
		s.add("%s", s.commit)
	}
	return s.String(), nil
}

func tableOf(entry *export.Table) (*lake.Table, error) {
	t, ok := lake.TableByName(entry.Table)
	if !ok {
		return nil, fmt.Errorf("the manifest names the table %q, which this program does not know", entry.Table)
	}
	return t, nil
}

// stageFile replaces the rows of a table by those of a file.
func (s *script) stageFile(table string, f *export.File, target string, columns []lake.Column) {
	s.add("DELETE FROM %s%s", table, s.always())
	if f == nil {
		return
	}
	url := strings.TrimSuffix(target, "/") + "/" + f.Path
	if strings.Contains(s.stage, "_file") {
		s.fileTable(s.files+table+"_file", url[:strings.LastIndexByte(url, '/')+1], columns)
	}
	stage := s.stage
	if !strings.Contains(url, "://") {
		stage = strings.Replace(stage, "FROM s3(", "FROM file(", 1) // of ClickHouse
	}
	fmt.Fprintf(s, stage+";\n", table, url, s.list(lake.ColumnNames(columns)), s.readings(columns))
}

// hasLocalTimes says whether tables over files have instants without a time zone: Trino's Hive connector has no others.
func (s *script) hasLocalTimes() bool { return s.name == "trino" }

// readings returns what is read for columns from a table over a file.
func (s *script) readings(columns []lake.Column) string {
	read := make([]string, len(columns))
	for i := range columns {
		read[i] = s.quote(columns[i].Name)
		if columns[i].Type == lake.Timestamp && s.hasLocalTimes() {
			read[i] = "with_timezone(" + read[i] + ", 'UTC')"
		}
	}
	return strings.Join(read, ", ")
}

// fileTable creates a table over the folder of a file.
func (s *script) fileTable(name, folder string, columns []lake.Column) {
	var lines []string
	for i := range columns {
		line := s.column(&columns[i])
		if columns[i].Type == lake.Timestamp && s.hasLocalTimes() {
			line = s.quote(columns[i].Name) + " TIMESTAMP(6)"
		}
		lines = append(lines, line)
	}
	if s.name == "trino" && !strings.Contains(folder, "://") {
		folder = "local://" + folder // through file:// the Hive connector finds no file, and says nothing
	}
	s.add("DROP TABLE IF EXISTS %s", name)
	if s.name == "athena" {
		s.add("CREATE EXTERNAL TABLE %s (%s) STORED AS PARQUET LOCATION '%s'", name, strings.Join(lines, ", "), folder)
		return
	}
	s.add("CREATE TABLE %s (%s) WITH (external_location = '%s', format = 'PARQUET')", name, strings.Join(lines, ", "), folder)
}

// always is the condition of a DELETE that has none.
func (s *script) always() string {
	if s.name == "bigquery" || s.name == "clickhouse" {
		return " WHERE true"
	}
	return ""
}

// apply deletes the deals that changed, or all rows, and inserts the rows, which have these columns; into the history, too.
func (s *script) apply(t *lake.Table, entry *export.Table, names []string) {
	if entry.Mode == export.ModeFull {
		s.add("DELETE FROM %s%s", t.Name, s.always())
	} else if entry.Deletes != nil {
		s.removeDeals(t.Name, groupName(t.Service, t.Kind)+"_deletes", []string{"market", "deal_id"})
	}
	if entry.Inserts == nil {
		return
	}
	s.add("INSERT INTO %s (%s) SELECT %s FROM %s_inserts", t.Name, s.list(names), s.list(names), t.Name)
	// A table that is exported again has the newest reading of a version.
	s.removeDeals(t.Name+"_history", t.Name+"_inserts", lake.ColumnNames(t.KeyColumns()))
	s.add("INSERT INTO %s_history (%s) SELECT %s FROM %s_inserts", t.Name, s.list(names), s.list(names), t.Name)
}

// removeDeals deletes the rows of a table whose key another table has.
func (s *script) removeDeals(table, other string, key []string) {
	alias := table
	if s.remove == removeMerge {
		alias = "t"
	}
	var same []string
	for _, name := range key {
		same = append(same, fmt.Sprintf("%[1]s.%[2]s = d.%[2]s", alias, s.quote(name)))
	}
	on := strings.Join(same, " AND ")
	switch s.remove {
	case removeMerge:
		s.add("MERGE INTO %s t USING (SELECT DISTINCT %s FROM %s) d ON %s WHEN MATCHED THEN DELETE", table, s.list(key), other, on)
	case removeIn:
		s.add("DELETE FROM %s WHERE (%s) IN (SELECT %s FROM %s)", table, s.list(key), s.list(key), other)
	default:
		s.add("DELETE FROM %s USING (SELECT DISTINCT %s FROM %s) d WHERE %s", table, s.list(key), other, on)
	}
}

// groupsIn groups the tables of a manifest.
func groupsIn(m *export.Manifest) []group {
	return groupsOf(slices.DeleteFunc(lake.Tables(), func(t *lake.Table) bool { return entryOf(m, t) == nil }))
}

// entryOf returns the entry of a table in a manifest; nil if there is none.
func entryOf(m *export.Manifest, t *lake.Table) *export.Table {
	i := slices.IndexFunc(m.Tables, func(entry export.Table) bool { return entry.Table == t.Name })
	if i < 0 {
		return nil
	}
	return &m.Tables[i]
}

// forget deletes the versions of earlier exports before a complete one, which need not continue them: deals may have been
// removed since, and the lake may have lost a commit. Changes stay where a table that is not exported needs them.
func (s *script) forget(m *export.Manifest) {
	whole := groupsOf(lake.Tables())
	for _, g := range groupsIn(m) {
		for _, t := range g.tables {
			s.add("DELETE FROM %s_history%s", t.Name, s.always())
		}
		if slices.ContainsFunc(whole, func(all group) bool { return all.name == g.name && len(all.tables) == len(g.tables) }) {
			s.add("DELETE FROM %s_changes%s", g.name, s.always())
		}
	}
}

// keepChanges adds versions of deals to the changes: those of the deals that changed, and those of rows in tables that are
// exported completely, unless the changes have them.
func (s *script) keepChanges(g group, m *export.Manifest) {
	deletes := false
	for _, t := range g.tables {
		deletes = deletes || entryOf(m, t).Deletes != nil
	}
	key := []string{"market", "deal_id", "version"}
	if deletes {
		names := s.list(lake.ColumnNames(changeColumns()))
		s.removeDeals(g.name+"_changes", g.name+"_deletes", key)
		s.add("INSERT INTO %s_changes (%s) SELECT %s FROM %s_deletes", g.name, names, names, g.name)
	}
	var selected, same []string
	for _, name := range key {
		selected = append(selected, "i."+s.quote(name))
		same = append(same, fmt.Sprintf("c.%[1]s = i.%[1]s", s.quote(name)))
	}
	for _, t := range g.tables {
		if entry := entryOf(m, t); entry.Mode != export.ModeFull || entry.Inserts == nil {
			continue
		}
		s.add("INSERT INTO %s_changes (%s) SELECT DISTINCT %s, 'added', i.%s, i.%s FROM %s_inserts i LEFT JOIN (SELECT %s, 1 AS kept FROM %s_changes) c ON %s WHERE COALESCE(c.kept, 0) = 0",
			g.name, s.list([]string{"market", "deal_id", "version", "change", "known_at", "commit"}), strings.Join(selected, ", "),
			s.quote("known_at"), s.quote("commit"), t.Name, s.list(key), g.name, strings.Join(same, " AND "))
	}
}
