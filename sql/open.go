package sql

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/marcboeker/go-duckdb/v2"
)

// Open opens a catalog file read-only for queries about the lake at root, which may be another place
// than the one the catalog was published for. All connections run in UTC. The caller closes it.
func Open(ctx context.Context, path, root string) (*stdsql.DB, error) {
	// The lake's files never change, so what was read of a footer stays good.
	db, err := connect(path, true, "SET VARIABLE lake = "+literal(root), "SET parquet_metadata_cache = true")
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, fmt.Errorf("open catalog: %w", err)
	}
	return db, nil
}

// connect opens a DuckDB file; setup runs on every new connection.
func connect(path string, readOnly bool, setup ...string) (*stdsql.DB, error) {
	dsn := path
	if readOnly {
		dsn += "?access_mode=READ_ONLY"
	}
	connector, err := duckdb.NewConnector(dsn, func(conn driver.ExecerContext) error {
		for _, statement := range append([]string{"SET TimeZone = 'UTC'"}, setup...) {
			if _, err := conn.ExecContext(context.Background(), statement, nil); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return stdsql.OpenDB(connector), nil
}

// EngineVersion is the version of DuckDB inside this program, such as "v1.4.1".
func EngineVersion(ctx context.Context) (version string, err error) {
	db, err := connect("", false)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, "SELECT version()").Scan(&version)
	return version, err
}
