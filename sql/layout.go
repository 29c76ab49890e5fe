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

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// theLayout is a catalog of no lake: all that is the same in every catalog of this program. Views, macros and
// comments are most of the work of making a catalog, so what is made anew begins as a copy. It is made once in
// the life of the program, in a folder beside others that the first caller names.
func theLayout(beside string) ([]byte, error) {
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

var (
	layoutMaking sync.Mutex
	madeLayout   []byte
)

func makeLayout(beside string) (made []byte, err error) {
	folder, err := os.MkdirTemp(beside, "layout-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "layout.duckdb")
	texts, err := layoutTexts()
	if err != nil {
		return nil, err
	}
	ctx := context.Background() // what is made serves all later callers
	var empty Catalog
	err = empty.edit(ctx, path, func(conn *stdsql.Conn) error {
		steps := []step{literally("BEGIN")}
		for _, text := range texts {
			first, _, _ := strings.Cut(text, "\n")
			steps = append(steps, statement(first, func() (string, error) { return text, nil }))
		}
		return doSteps(ctx, conn, append(steps, literally("COMMIT"), literally("CHECKPOINT"), giveBack)...)
	})
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// layoutHash sums up what a catalog hangs on besides its lake.
var layoutHash = sync.OnceValues(func() (string, error) {
	texts, err := layoutTexts()
	if err != nil {
		return "", err
	}
	return hashOf(context.Background(), texts)
})

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
func layoutTexts() ([]string, error) {
	var texts []string
	add := func(name string, data any) error {
		text, err := render(name, data)
		texts = append(texts, text)
		return err
	}
	errs := []error{add("views/index.sql", indexColumns())}
	for _, table := range lake.Tables() {
		data := tableOf(table)
		errs = append(errs, add("views/table.sql", data), add("macros/table_as_of.sql", data))
	}
	errs = append(errs, add("views/deals.sql", nil), add("macros/deals_as_of.sql", nil), add("views/base.sql", markets()))
	analyses, err := analysisFiles(statements)
	for i := range analyses {
		texts = append(texts, analyses[i].text)
	}
	return texts, errors.Join(append(errs, err)...)
}

// indexData is what views/index.sql sees.
type indexData struct {
	Versions string
	Columns  []lake.Column // of deal_versions
	Runs     []lake.Column
	FeedRuns []lake.Column
	Checks   []lake.Column
	Markets  []market
}

// market is a row of the table markets.
type market struct {
	Service, Market string
	Precedence      int // from 1
}

// markets lists the markets in the order of the API document.
func markets() []market {
	var all []market
	for _, service := range api.Services() {
		for _, code := range api.Markets(service) {
			all = append(all, market{string(service), string(code), len(all) + 1})
		}
	}
	return all
}

func indexColumns() indexData {
	columns := lake.DealVersionColumns()
	return indexData{
		Versions: nothing(columns), Columns: columns,
		Runs: lake.RunColumns(), FeedRuns: lake.FeedRunColumns(), Checks: lake.CheckColumns(),
		Markets: markets(),
	}
}
