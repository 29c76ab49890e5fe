// Package engine opens databases of DuckDB as this program needs them, and names its settings and version.
// Takes: a file, or "" for none. Gives: Open, Threads, Memory, IsOutOfMemory, Version and VersionOf.
// Keeps: all connections run in UTC; no database counts two threads (see counted).
// Fails: DuckDB's errors.
// May change here: which DuckDB it is, and what must be known of its faults.
package engine

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strconv"
	"strings"

	"github.com/marcboeker/go-duckdb/v2"
)

// Open opens a file, or with "" an empty database in memory. It works with as many threads as Go has. setup runs on every new
// connection. The caller closes the database.
func Open(path string, readOnly bool, setup ...string) (*stdsql.DB, error) {
	if strings.ContainsAny(path, "%#?") { // after # the driver would pass over the options, and open the file to write
		return nil, fmt.Errorf("open %s: want a path without %%, # and ?: the driver takes it for a URL", path)
	}
	all, external := counted(runtime.GOMAXPROCS(0))
	options := url.Values{"threads": {strconv.Itoa(all)}, "external_threads": {strconv.Itoa(external)}}
	if readOnly {
		options.Set("access_mode", "READ_ONLY")
	}
	connector, err := duckdb.NewConnector(path+"?"+options.Encode(), func(conn driver.ExecerContext) error {
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

// Threads returns the statements that let a database work with n threads, the caller's included.
func Threads(n int) string {
	all, external := counted(n)
	// In this order, because no more threads may come from outside than there are.
	return fmt.Sprintf("SET external_threads = 1; SET threads = %d; SET external_threads = %d", all, external)
}

// counted returns DuckDB's settings threads and external_threads with which n threads work. If DuckDB up to 1.4.3 counts two
// threads, it answers a GROUP BY wrongly for which there is too little memory: one of them splits its groups into 256 parts, the
// other one, which has few groups, keeps its two, and the parts are joined one by one. Then groups are in the answer twice, without
// an error, or the process crashes. With one thread, or with three, it does not. So in place of two it is told of three, of which
// one comes from outside and never works. See TestGroupsBeyondMemory.
func counted(n int) (all, external int) {
	if n == 2 {
		return 3, 2
	}
	return n, 1
}

// Memory is the statement that limits a database's memory to this many MiB, apart from its buffers for single files.
func Memory(mib int) string { return fmt.Sprintf("SET memory_limit = '%dMiB'", mib) }

// IsOutOfMemory says whether a statement failed because of that limit.
func IsOutOfMemory(err error) bool {
	var failed *duckdb.Error
	return errors.As(err, &failed) && failed.Type == duckdb.ErrorTypeOutOfMemory
}

// Version is the version of DuckDB inside this program, such as "v1.4.1". (Its C function would do, but the binding frees the
// constant text that it returns.)
func Version(ctx context.Context) (version string, err error) {
	db, err := Open("", false)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return VersionOf(ctx, db)
}

// Querier is a database or one of its connections.
type Querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *stdsql.Row
}

// VersionOf is Version for an open database: to start another one takes longer than a short query.
func VersionOf(ctx context.Context, db Querier) (version string, err error) {
	err = db.QueryRowContext(ctx, "SELECT version()").Scan(&version)
	return version, err
}
