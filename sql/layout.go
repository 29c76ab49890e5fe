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

// theLayout makes the layout once.
var theLayout = sync.OnceValues(func() (made *layout, err error) {
	folder, err := os.MkdirTemp("", "dealflow-layout-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "layout.duckdb")
	var empty Catalog
	sum := sha256.New()
	fmt.Fprintln(sum, derivationVersion)
	err = empty.edit(context.Background(), path, func(conn *stdsql.Conn) error {
		return doSteps(context.Background(), conn, literally("BEGIN"), step{"views", func(ctx context.Context, conn *stdsql.Conn) error {
			texts, err := empty.layoutTexts()
			if err != nil {
				return err
			}
			for _, text := range texts {
				fmt.Fprintln(sum, text)
				if _, err := conn.ExecContext(ctx, text); err != nil {
					first, _, _ := strings.Cut(text, "\n")
					return fmt.Errorf("%s: %w", first, err)
				}
			}
			return nil
		}}, literally("COMMIT"), literally("CHECKPOINT"))
	})
	if err != nil {
		return nil, err
	}
	made = &layout{hash: hex.EncodeToString(sum.Sum(nil))}
	made.file, err = os.ReadFile(path)
	return made, err
})

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
