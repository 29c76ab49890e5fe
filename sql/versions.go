package sql

import (
	"context"
	stdsql "database/sql"

	"dealflow/schemas/lake"
)

// indexVersions takes new versions into the version index. They stay in the temporary table new_version, from
// which everything else is derived that hangs on them.
func (c *Catalog) indexVersions(ctx context.Context, conn *stdsql.Conn, of news) error {
	files := of.files[lake.HistoryTable(lake.DealVersions)]
	data := struct {
		Source string
		Since  string
	}{c.source(files, lake.DealVersionColumns()), of.instant}
	if c.Near != nil && len(files) > 0 {
		path, err := c.Near.Index(ctx, files)
		if err != nil {
			return err
		}
		data.Source = "read_parquet(" + literal(path) + ")"
	}
	text, err := render("refresh/index.sql", data)
	if err == nil {
		_, err = conn.ExecContext(ctx, text)
	}
	return err
}
