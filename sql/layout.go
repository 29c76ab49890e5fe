package sql

import (
	"context"
	"crypto/sha256"
	stdsql "database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"dealflow/schemas/lake"
)

// layout is a catalog of no lake: all that is the same in every catalog of this program. Views, macros
// and comments are most of the work of making a catalog, so each begins as a copy.
type layout struct {
	file []byte
	hash string // of the statements that make it
}

var (
	layoutMaking sync.Mutex
	madeLayout   *layout
)

// theLayout makes the layout, once in the life of the program, in a folder beside others that the caller
// names.
func theLayout(beside string) (*layout, error) {
	layoutMaking.Lock()
	defer layoutMaking.Unlock()
	if madeLayout != nil {
		return madeLayout, nil
	}
	made, err := makeLayout(beside)
	if err == nil {
		madeLayout = made
	}
	return made, err
}

func makeLayout(beside string) (made *layout, err error) {
	folder, err := os.MkdirTemp(beside, "layout-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "layout.duckdb")
	var empty Catalog
	texts, err := empty.layoutTexts()
	if err != nil {
		return nil, err
	}
	ctx := context.Background() // what is made serves all later callers
	err = empty.edit(ctx, path, func(conn *stdsql.Conn) error {
		steps := []step{literally("BEGIN")}
		for _, text := range texts {
			first, _, _ := strings.Cut(text, "\n")
			steps = append(steps, statement(first, func() (string, error) { return text, nil }))
		}
		return doSteps(ctx, conn, append(steps, literally("COMMIT"), literally("CHECKPOINT"))...)
	})
	if err != nil {
		return nil, err
	}
	made = &layout{}
	if made.hash, err = hashOf(ctx, texts); err != nil {
		return nil, err
	}
	made.file, err = os.ReadFile(path)
	return made, err
}

// hashOf sums up what a catalog hangs on besides its lake.
func hashOf(ctx context.Context, texts []string) (string, error) {
	engine, err := EngineVersion(ctx)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, derivationVersion, lake.SchemaVersion, engine)
	for _, text := range texts {
		fmt.Fprintln(sum, text)
	}
	for _, files := range []struct {
		fs      fs.FS
		pattern string
	}{{statements, "refresh/*.sql"}, {derivations, "derived/*.sql"}} {
		names, err := fs.Glob(files.fs, files.pattern)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			text, err := fs.ReadFile(files.fs, name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(sum, "%s\n", text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// layoutTexts are the statements that make the layout, each on what those before it have made.
func (c *Catalog) layoutTexts() ([]string, error) {
	var texts []string
	add := func(name string, data any) error {
		text, err := render(name, data)
		texts = append(texts, text)
		return err
	}
	errs := []error{add("views/index.sql", c.indexData())}
	for _, table := range lake.Tables() {
		data := c.tableData(table)
		errs = append(errs, add("views/table.sql", data), add("macros/table_as_of.sql", data))
	}
	for _, name := range []string{"views/deals.sql", "macros/deals_as_of.sql", "views/base.sql"} {
		errs = append(errs, add(name, nil))
	}
	for _, name := range analysisFiles {
		text, err := fs.ReadFile(statements, "analyses/"+name+".sql")
		texts, errs = append(texts, string(text)), append(errs, err)
	}
	return texts, errors.Join(errs...)
}

// indexData is what views/index.sql sees.
type indexData struct {
	Versions string
	Columns  []lake.Column // of deal_versions
	Runs     []lake.Column
	FeedRuns []lake.Column
	Checks   []lake.Column
}

func (c *Catalog) indexData() indexData {
	columns := lake.DealVersionColumns()
	return indexData{
		Versions: c.source(lake.HistoryTable(lake.DealVersions), columns), Columns: columns,
		Runs: lake.RunColumns(), FeedRuns: lake.FeedRunColumns(), Checks: lake.CheckColumns(),
	}
}
