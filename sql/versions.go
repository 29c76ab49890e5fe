package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql/quote"
	"dealflow/sql/runrows"
)

// indexVersions adds new versions to the version index. After this, the temporary table or view new_version contains
// them. All derived tables are computed from it.
func (c *Catalog) indexVersions(ctx context.Context, conn *stdsql.Conn, added newFiles) error {
	files := added.files[lake.HistoryTable(lake.DealVersions)]
	source := c.source(files, lake.DealVersionColumns())
	if len(files) > 0 {
		path, err := c.Local.Index(ctx, lake.ValuesOf(files))
		if err != nil {
			return err
		}
		if path != "" {
			source = "read_parquet(" + quote.Text(path) + ", hive_partitioning = false)"
		}
	}
	if added.commit == 0 {
		return c.indexAll(ctx, conn, source, added)
	}
	return c.indexNew(ctx, conn, source, added)
}

// indexAll fills an empty index; feed by feed if there are many rows, because DuckDB sorts and joins versions in memory.
// All versions are new, so new_version is a view of the index instead of a copy.
func (c *Catalog) indexAll(ctx context.Context, conn *stdsql.Conn, source string, added newFiles) error {
	const index = "_dealflow.version_index"
	if added.rows() <= fewRows {
		if err := c.insertVersions(ctx, conn, source, added, nil, index); err != nil {
			return err
		}
	} else {
		for _, feed := range api.Feeds() {
			if err := c.insertVersions(ctx, conn, source, added, &feed, index); err != nil {
				return fmt.Errorf("%s: %w", feed, err)
			}
			if err := c.release(ctx, conn); err != nil {
				return err
			}
		}
	}
	_, err := conn.ExecContext(ctx, "CREATE TEMP VIEW new_version AS FROM _dealflow.version_index")
	return err
}

// indexNew adds new versions to an index that is not empty.
func (c *Catalog) indexNew(ctx context.Context, conn *stdsql.Conn, source string, added newFiles) error {
	if _, err := conn.ExecContext(ctx, "CREATE TEMP TABLE new_version AS FROM _dealflow.version_index WHERE false"); err != nil {
		return err
	}
	if err := c.insertVersions(ctx, conn, source, added, nil, "new_version"); err != nil {
		return err
	}
	text, err := render("refresh/end.sql", nil)
	if err == nil {
		_, err = conn.ExecContext(ctx, text)
	}
	return err
}

// insertVersions adds the new versions of a feed to a table; a nil feed means all feeds.
func (c *Catalog) insertVersions(ctx context.Context, conn *stdsql.Conn, source string, added newFiles, feed *api.Feed, table string) error {
	text, err := render("refresh/index.sql", struct {
		Source, Since string
		Feed          *api.Feed
		Beginnings    []runrows.Beginning
	}{source, added.instant, feed, runrows.Beginnings(c.Runs)})
	if err == nil {
		_, err = conn.ExecContext(ctx, "INSERT INTO "+table+"\n"+text)
	}
	return err
}

// IndexedVersions yields the version index of a feed, sorted by deal and version. db is a catalog.
func IndexedVersions(ctx context.Context, db *stdsql.DB, feed api.Feed) iter.Seq2[lake.IndexedVersion, error] {
	return func(yield func(lake.IndexedVersion, error) bool) {
		err := eachVersion(ctx, db, feed, func(v lake.IndexedVersion) bool { return yield(v, nil) })
		if err != nil {
			yield(lake.IndexedVersion{}, fmt.Errorf("version index of %s: %w", feed, err))
		}
	}
}

// eachVersion calls found for each version in the index of a feed, until it returns false.
func eachVersion(ctx context.Context, db *stdsql.DB, feed api.Feed, found func(lake.IndexedVersion) bool) (err error) {
	rows, err := db.QueryContext(ctx, `
SELECT deal_id, version, change, epoch_us(valid_from), epoch_us(valid_to)
FROM _dealflow.version_index WHERE service = ? AND market = ? AND kind = ?
ORDER BY deal_id, version`, string(feed.Service), string(feed.Market), string(feed.Kind))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var v lake.IndexedVersion
		var from int64
		var to stdsql.NullInt64
		if err := rows.Scan(&v.DealID, &v.Version, &v.Change, &from, &to); err != nil {
			return err
		}
		v.ValidFrom = lake.At(time.UnixMicro(from))
		if to.Valid {
			v.ValidTo = lake.At(time.UnixMicro(to.Int64))
		}
		if !found(v) {
			return nil
		}
	}
	return rows.Err()
}
