package sql

import (
	"context"
	stdsql "database/sql"
	"fmt"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// indexVersions takes new versions into the version index. new_version, temporary, has them from then on: everything
// else is derived from it that hangs on them.
func (c *Catalog) indexVersions(ctx context.Context, conn *stdsql.Conn, of news) error {
	files := of.files[lake.HistoryTable(lake.DealVersions)]
	source := c.source(files, lake.DealVersionColumns())
	if len(files) > 0 {
		path, err := c.Local.Index(ctx, files)
		if err != nil {
			return err
		}
		if path != "" {
			source = "read_parquet(" + literal(path) + ")"
		}
	}
	if of.commit == 0 {
		return indexAll(ctx, conn, source, of)
	}
	return indexNews(ctx, conn, source, of)
}

// indexAll fills an empty index, feed by feed: versions are sorted and joined in memory. Nor are they held twice: all
// of them are new.
func indexAll(ctx context.Context, conn *stdsql.Conn, source string, of news) error {
	for _, feed := range api.Feeds() {
		if err := insertVersions(ctx, conn, source, of, &feed, "_dealflow.version_index"); err != nil {
			return fmt.Errorf("%s: %w", feed, err)
		}
	}
	_, err := conn.ExecContext(ctx, "CREATE TEMP VIEW new_version AS FROM _dealflow.version_index")
	return err
}

// indexNews adds what is new to an index.
func indexNews(ctx context.Context, conn *stdsql.Conn, source string, of news) error {
	if _, err := conn.ExecContext(ctx, "CREATE TEMP TABLE new_version AS FROM _dealflow.version_index WHERE false"); err != nil {
		return err
	}
	if err := insertVersions(ctx, conn, source, of, nil, "new_version"); err != nil {
		return err
	}
	text, err := render("refresh/end.sql", nil)
	if err == nil {
		_, err = conn.ExecContext(ctx, text)
	}
	return err
}

// insertVersions adds the new versions of a feed, or of all (nil), to a table.
func insertVersions(ctx context.Context, conn *stdsql.Conn, source string, of news, feed *api.Feed, table string) error {
	text, err := render("refresh/index.sql", struct {
		Source, Since string
		Feed          *api.Feed
	}{source, of.instant, feed})
	if err == nil {
		_, err = conn.ExecContext(ctx, "INSERT INTO "+table+"\n"+text)
	}
	return err
}
