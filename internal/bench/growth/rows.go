package growth

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Row is the costs of one night of a lake. A value that was not measured is NaN.
type Row struct {
	Night    float64 // from 1
	Deals    float64 // deals in the night's snapshots
	Versions float64 // versions that the night added

	Run, Open, Feeds, Commit, Catalog float64 // seconds of the run, and of its stages
	CPU                               float64 // seconds of all processors during the run, the market's server included
	Sync                              float64 // seconds of the last sync before the run
	Compaction                        float64 // seconds, within Catalog, and of maintenance after the run; 0 if nothing was merged

	CommitBytes    float64 // of the commit's object
	HistoryBytes   float64 // of the history files that it adds
	SnapshotBytes  float64 // of the snapshot files that it adds
	CatalogBytes   float64 // of the published catalog
	LogOpen        float64 // seconds to read the lake's log
	Attach         float64 // seconds until a plain DuckDB has attached the catalog and read which commit it shows
	First          float64 // seconds until a catalog that was not open answers a first query
	AsOf           float64 // seconds of an as-of query on a catalog that is open
	LiveFiles      float64 // data files that are part of the lake
	ScratchCatalog float64 // seconds to build the catalog from scratch
}

// column is a figure of a row under its name in the table.
type column struct {
	name  string
	value func(*Row) *float64
}

// columns are the table's, in order.
var columns = []column{
	{"night", func(r *Row) *float64 { return &r.Night }},
	{"deals", func(r *Row) *float64 { return &r.Deals }},
	{"versions", func(r *Row) *float64 { return &r.Versions }},
	{"run_s", func(r *Row) *float64 { return &r.Run }},
	{"open_s", func(r *Row) *float64 { return &r.Open }},
	{"feeds_s", func(r *Row) *float64 { return &r.Feeds }},
	{"commit_s", func(r *Row) *float64 { return &r.Commit }},
	{"catalog_s", func(r *Row) *float64 { return &r.Catalog }},
	{"cpu_s", func(r *Row) *float64 { return &r.CPU }},
	{"sync_s", func(r *Row) *float64 { return &r.Sync }},
	{"compaction_s", func(r *Row) *float64 { return &r.Compaction }},
	{"commit_bytes", func(r *Row) *float64 { return &r.CommitBytes }},
	{"history_bytes", func(r *Row) *float64 { return &r.HistoryBytes }},
	{"snapshot_bytes", func(r *Row) *float64 { return &r.SnapshotBytes }},
	{"catalog_bytes", func(r *Row) *float64 { return &r.CatalogBytes }},
	{"live_files", func(r *Row) *float64 { return &r.LiveFiles }},
	{"log_open_s", func(r *Row) *float64 { return &r.LogOpen }},
	{"attach_s", func(r *Row) *float64 { return &r.Attach }},
	{"first_answer_s", func(r *Row) *float64 { return &r.First }},
	{"as_of_s", func(r *Row) *float64 { return &r.AsOf }},
	{"scratch_catalog_s", func(r *Row) *float64 { return &r.ScratchCatalog }},
}

// Write writes rows as CSV with a heading; a value that was not measured is empty.
func Write(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	line := make([]string, len(columns))
	for i := range columns {
		line[i] = columns[i].name
	}
	err := out.Write(line)
	for i := range rows {
		for j := range columns {
			line[j] = text(*columns[j].value(&rows[i]))
		}
		err = errors.Join(err, out.Write(line))
	}
	out.Flush()
	return errors.Join(err, out.Error())
}

func text(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Read reads what Write wrote. A column that this version does not know is an error. A missing column was not measured.
func Read(r io.Reader) ([]Row, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("growth: %w", err)
	}
	if len(lines) == 0 {
		return nil, errors.New("growth: the table has no heading")
	}
	fields := make([]column, len(lines[0]))
	for i, name := range lines[0] {
		found := false
		for _, c := range columns {
			if c.name == name {
				fields[i], found = c, true
			}
		}
		if !found {
			return nil, fmt.Errorf("growth: there is no column %q", name)
		}
	}
	rows := make([]Row, 0, len(lines)-1)
	for n, line := range lines[1:] {
		row := unmeasured()
		for i, cell := range line {
			if cell == "" {
				continue
			}
			if *fields[i].value(&row), err = strconv.ParseFloat(cell, 64); err != nil {
				return nil, fmt.Errorf("growth: line %d, %s: %w", n+2, fields[i].name, err)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// unmeasured returns a row without values.
func unmeasured() Row {
	var row Row
	for i := range columns {
		*columns[i].value(&row) = math.NaN()
	}
	return row
}
