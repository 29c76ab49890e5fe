package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"dealflow/sql/engine"
	"dealflow/sql/quote"
)

// Open opens a catalog file read-only for queries about the lake at root. root may differ from the address for which
// the catalog was published. All connections run in UTC. The caller closes the database.
func Open(ctx context.Context, path, root string) (*stdsql.DB, error) {
	// The lake's files never change, so a footer that was read stays valid.
	db, err := engine.Open(path, true, "SET VARIABLE lake = "+quote.Text(root), "SET parquet_metadata_cache = true")
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, fmt.Errorf("open catalog: %w", err)
	}
	return db, nil
}

// ErrWorkFolder is the error of OpenApart if the work folder could not be used. It says nothing about the catalog.
var ErrWorkFolder = errors.New("work folder")

// OpenApart is Open for a catalog that may be replaced while it is open. A process has one DuckDB instance per path:
// opening a path that is already open returns the file that was there first. So the file is opened under a name of its
// own, in a new folder in workDir ("" means the system's). done closes the database and removes that name.
func OpenApart(ctx context.Context, path, root, workDir string) (db *stdsql.DB, done func() error, err error) {
	folder, err := os.MkdirTemp(workDir, "dealflow-catalog-*")
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrWorkFolder, err)
	}
	apart := filepath.Join(folder, filepath.Base(path))
	if os.Link(path, apart) != nil { // on another filesystem
		err = copyFile(path, apart)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrWorkFolder, err)
	} else {
		db, err = Open(ctx, apart, root)
	}
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(folder))
	}
	return db, func() error { return errors.Join(db.Close(), os.RemoveAll(folder)) }, nil
}

func copyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
