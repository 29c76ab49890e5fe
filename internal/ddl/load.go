package ddl

import (
	"fmt"
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
		s.stageFile(t.Name+"_inserts", m.Tables[i].Inserts, target, loaded(t))
	}
	if s.begin != "" {
		s.add("%s", s.begin)
	}
	kept := map[string]bool{}
	for i := range m.Tables {
		entry := &m.Tables[i]
		t, _ := lake.TableByName(entry.Table)
		s.apply(t, entry)
		if group := groupName(t.Service, t.Kind); !kept[group] {
			kept[group] = true
			s.keepChanges(group, t, entry)
		}
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

// apply deletes the deals that changed, or all rows, and inserts the rows; into the history, too.
func (s *script) apply(t *lake.Table, entry *export.Table) {
	names := lake.ColumnNames(loaded(t))
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

// keepChanges adds the versions of deals to the changes. A complete export has no deletes: then they come from the rows
// of the deals, its first table.
func (s *script) keepChanges(group string, deals *lake.Table, entry *export.Table) {
	key := []string{"market", "deal_id", "version"}
	switch {
	case entry.Deletes != nil:
		names := s.list(lake.ColumnNames(changeColumns()))
		s.removeDeals(group+"_changes", group+"_deletes", key)
		s.add("INSERT INTO %s_changes (%s) SELECT %s FROM %s_deletes", group, names, names, group)
	case entry.Mode == export.ModeFull && entry.Inserts != nil:
		s.removeDeals(group+"_changes", deals.Name+"_inserts", key)
		s.add("INSERT INTO %s_changes (%s) SELECT DISTINCT %s, 'added', %s FROM %s_inserts", group,
			s.list([]string{"market", "deal_id", "version", "change", "known_at", "commit"}), s.list(key), s.list([]string{"known_at", "commit"}), deals.Name)
	}
}
