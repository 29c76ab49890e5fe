package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"dealflow/schemas/lake"
	"dealflow/sql/engine"
	"dealflow/sql/sealed"
)

// Unfinished is a catalog file that this process writes, with an open transaction. Its commit may be made before it is
// finished: to open the file once more only for the commit's hash would take as long as a small night's rows. The caller
// finishes or closes it. It is not safe for concurrent use.
type Unfinished struct {
	path string
	db   *stdsql.DB
	conn *stdsql.Conn
}

// Finish completes the file and names the commit that it shows. It closes the catalog also if it fails.
func (u *Unfinished) Finish(ctx context.Context, shown lake.NamedCommit) error {
	name := step{"name", func(ctx context.Context, conn *stdsql.Conn) error {
		_, err := conn.ExecContext(ctx, "UPDATE _dealflow.catalog SET sha256 = nullif(?, '')", shown.SHA256)
		return err
	}}
	err := doSteps(ctx, u.conn, name, sqlStep("COMMIT"), checkpoint(u.path))
	if err := errors.Join(err, u.Close()); err != nil {
		return fmt.Errorf("finish the catalog of commit %d: %w", shown.Number, err)
	}
	return sealed.Seal(u.path, shown)
}

// Close closes the catalog. Unless it is finished, the file must not be used.
func (u *Unfinished) Close() error { return errors.Join(u.conn.Close(), u.db.Close()) }

// checkpoint writes what was committed into the file at path, if that has not been done at the commit (see workSettings).
func checkpoint(path string) step {
	return step{"checkpoint", func(ctx context.Context, conn *stdsql.Conn) error {
		if _, err := os.Stat(path + ".wal"); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		_, err := conn.ExecContext(ctx, "CHECKPOINT")
		return err
	}}
}

// begin opens a catalog file for writing, with a memory limit in MiB, passes work the only connection to it, and leaves
// both open unless work fails.
func begin(ctx context.Context, path string, memory int, work func(*stdsql.Conn) error) (*Unfinished, error) {
	db, err := engine.Open(path, false, workSettings(path, memory)...)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	begun := &Unfinished{path, db, conn}
	if err := work(conn); err != nil {
		return nil, errors.Join(err, begun.Close())
	}
	return begun, nil
}

// edit is begin for work that ends with its transactions.
func edit(ctx context.Context, path string, work func(*stdsql.Conn) error) error {
	begun, err := begin(ctx, path, workMemory, work)
	if err != nil {
		return err
	}
	return begun.Close()
}
