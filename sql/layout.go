package sql

import (
	"context"
	"crypto/sha256"
	stdsql "database/sql"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql/engine"
	"dealflow/sql/layoutfile"
	"dealflow/sql/ownschema"
	"dealflow/sql/runrows"
)

// packedDatabase and packedDigits are the layout, as buildLayout built it when the hash in layout/hash was that of the
// layout. Both are zstd. `make generate` writes the three, and TestLayout compares them with the statements.
//
//go:embed layout/empty.duckdb.zst
var packedDatabase []byte

//go:embed layout/digits.zst
var packedDigits []byte

//go:embed layout/hash
var packedHash string

// theLayout returns the layout of this program's catalogs. The program contains one. If that is of other statements or
// another DuckDB (while they are being changed), the program builds one, once, in a temporary folder in parent.
func theLayout(parent string) (*layoutfile.Layout, error) {
	hash, err := ownLayoutHash()
	if err != nil {
		return nil, err
	}
	if hash == strings.TrimSpace(packedHash) {
		return layoutfile.Unpack(packedDatabase, packedDigits)
	}
	changedLayout.Lock()
	defer changedLayout.Unlock()
	if changedLayout.Layout == nil {
		changedLayout.Layout, err = buildLayout(parent)
	}
	return changedLayout.Layout, err
}

// changedLayout is the layout of statements that have changed since the program's own was built.
var changedLayout struct {
	sync.Mutex
	*layoutfile.Layout
}

// writeLayout writes the catalog of this lake before its first commit to a file.
func (c *Catalog) writeLayout(path string) error {
	layout, err := theLayout(filepath.Dir(path))
	if err != nil {
		return err
	}
	return os.WriteFile(path, layout.ForLake(c.lakeID()), 0o600)
}

// buildLayout builds the layout with DuckDB, which takes seconds.
func buildLayout(parent string) (*layoutfile.Layout, error) {
	var databases [2][]byte
	for i, id := range []string{layoutfile.PlaceholderID, layoutfile.OtherID} {
		var err error
		if databases[i], err = buildEmptyCatalog(parent, id); err != nil {
			return nil, err
		}
	}
	return layoutfile.New(databases[0], databases[1])
}

// buildEmptyCatalog returns the bytes of the catalog of a lake before its first commit.
func buildEmptyCatalog(parent, lakeID string) (made []byte, err error) {
	folder, err := os.MkdirTemp(parent, "layout-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "layout.duckdb")
	texts, err := allTexts()
	if err != nil {
		return nil, err
	}
	steps := []step{sqlStep("BEGIN")}
	for _, text := range append(slices.Clone(texts), ownschema.Statements(strings.Join(texts, ";\n"), ownSchemaOf(lakeID))) {
		first, _, _ := strings.Cut(text, "\n")
		steps = append(steps, statement(first, func() (string, error) { return text, nil }))
	}
	steps = append(steps, sqlStep("COMMIT"), checkpoint(path))
	ctx := context.Background() // the result is for all later callers, so no caller's context ends this
	if err := edit(ctx, path, func(conn *stdsql.Conn) error { return doSteps(ctx, conn, steps...) }); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// ownLayoutHash is layoutHash for a caller that has opened no catalog.
func ownLayoutHash() (string, error) {
	version, err := engine.Version(context.Background())
	if err != nil {
		return "", err
	}
	return hashOfLayout(version)
}

// layoutHash identifies everything except the lake that determines a catalog: statements, schema version, version of
// the derivation, DuckDB version. It asks the open database for that version: to start another one takes longer than a
// short query.
func layoutHash(ctx context.Context, db engine.Querier) (string, error) {
	version, err := engine.VersionOf(ctx, db)
	if err != nil {
		return "", err
	}
	return hashOfLayout(version)
}

func hashOfLayout(version string) (string, error) {
	texts, err := allTexts()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, derivationVersion, lake.SchemaVersion, version)
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

// allTexts is layoutTexts, written once.
var allTexts = sync.OnceValues(layoutTexts)

// layoutTexts returns the statements that build the empty catalog. Each may use what earlier ones create.
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
		errs = append(errs, add("views/table.sql", data), add("macros/table_as_of.sql", data), add("macros/table_changes_rows.sql", data))
	}
	errs = append(errs, add("views/deals.sql", nil), add("macros/deals_as_of.sql", nil), add("macros/changes_rows.sql", nil), add("views/base.sql", markets()), add("views/texts.sql", lake.Tables()))
	analyses, err := analysisFiles(statements)
	for i := range analyses {
		texts = append(texts, analyses[i].text)
	}
	return texts, errors.Join(append(errs, err)...)
}

// indexData is the data for the template views/index.sql.
type indexData struct {
	Versions                     string
	Columns                      []lake.Column // of deal_versions
	Runs                         []lake.Column
	FeedRuns                     []lake.Column
	Checks                       []lake.Column
	StoredFeedRuns, StoredChecks []lake.Column // as the tables have them, from which the views are made
	Markets                      []market
	Amount                       string // SQL type of amounts
}

// market is a row of the table markets.
type market struct {
	Service, Market string
	Precedence      int // from 1
}

// markets lists the markets in the order of the API's documentation, which api.Markets keeps.
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
		Versions: emptySource(columns), Columns: columns,
		Runs: lake.RunColumns(), FeedRuns: lake.FeedRunColumns(), Checks: lake.CheckColumns(),
		StoredFeedRuns: runrows.FeedRunColumns(), StoredChecks: runrows.CheckColumns(),
		Markets: markets(), Amount: lake.Money.SQL(),
	}
}
