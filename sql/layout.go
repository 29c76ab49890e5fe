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

	"github.com/klauspost/compress/zstd"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// packedLayout is the catalog of no lake, as buildEmptyCatalog built it when the hash in layout/hash was that of the
// layout. It is zstd. `make generate` writes both, and TestLayout compares them with the statements.
//
//go:embed layout/empty.duckdb.zst
var packedLayout []byte

//go:embed layout/hash
var packedHash string

// emptyCatalog returns the bytes of a catalog of no lake: all that is the same in every catalog of this program. Views,
// macros and comments are most of the work of building a catalog, so a catalog from scratch begins as a copy. The
// program contains one. If it is of other statements or another DuckDB (while they are being changed), the program
// builds one, once, in a temporary folder next to the first caller's catalog. The caller must not modify the bytes.
func emptyCatalog(parent string) ([]byte, error) {
	emptyCatalogLock.Lock()
	defer emptyCatalogLock.Unlock()
	if theEmptyCatalog != nil {
		return theEmptyCatalog, nil
	}
	hash, err := ownLayoutHash()
	if err != nil {
		return nil, err
	}
	var made []byte
	if hash == strings.TrimSpace(packedHash) {
		made, err = unpackLayout()
	} else {
		made, err = buildEmptyCatalog(parent)
	}
	if err == nil {
		theEmptyCatalog = made
	}
	return made, err
}

var (
	emptyCatalogLock sync.Mutex
	theEmptyCatalog  []byte
)

// named contains the layouts of the lakes whose catalogs this process has built last, with their own names: DuckDB takes
// half a second to bind these. A process that builds catalogs again and again builds those of one lake.
var named struct {
	sync.Mutex
	lakes []namedLayout // the newest last
}

type namedLayout struct {
	id    string // of the lake
	bytes []byte
}

// mostNamed bounds the memory of named: a layout has 2 MB.
const mostNamed = 4

// writeLayout writes the catalog of this lake before its first commit to a file: the empty catalog with the lake's own
// names.
func (c *Catalog) writeLayout(ctx context.Context, path string) error {
	id := c.lakeID()
	named.Lock()
	i := slices.IndexFunc(named.lakes, func(l namedLayout) bool { return l.id == id })
	var layout []byte
	if i >= 0 {
		layout = named.lakes[i].bytes
	}
	named.Unlock()
	if layout != nil {
		return os.WriteFile(path, layout, 0o600)
	}
	empty, err := emptyCatalog(filepath.Dir(path))
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, empty, 0o600); err != nil {
		return err
	}
	err = edit(ctx, path, func(conn *stdsql.Conn) error {
		return doSteps(ctx, conn, step{"own names", c.ownNames}, checkpoint(path))
	})
	if err != nil {
		return err
	}
	if layout, err = os.ReadFile(path); err != nil {
		return err
	}
	named.Lock()
	defer named.Unlock()
	named.lakes = append(slices.DeleteFunc(named.lakes, func(l namedLayout) bool { return l.id == id }), namedLayout{id, layout})
	named.lakes = named.lakes[max(0, len(named.lakes)-mostNamed):]
	return nil
}

func unpackLayout() ([]byte, error) {
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer unpack.Close()
	return unpack.DecodeAll(packedLayout, nil)
}

func buildEmptyCatalog(parent string) (made []byte, err error) {
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
	ctx := context.Background() // the result is for all later callers, so no caller's context ends this
	err = edit(ctx, path, func(conn *stdsql.Conn) error {
		steps := []step{sqlStep("BEGIN")}
		for _, text := range texts {
			first, _, _ := strings.Cut(text, "\n")
			steps = append(steps, statement(first, func() (string, error) { return text, nil }))
		}
		return doSteps(ctx, conn, append(steps, sqlStep("COMMIT"), checkpoint(path))...)
	})
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// ownLayoutHash is layoutHash for a caller that has opened no catalog.
func ownLayoutHash() (string, error) {
	engine, err := EngineVersion(context.Background())
	if err != nil {
		return "", err
	}
	return hashOfLayout(engine)
}

// layoutHash identifies everything except the lake that determines a catalog: statements, schema version, version of
// the derivation, DuckDB version. It asks the open database for that version: to start another one takes longer than a
// short query.
func layoutHash(ctx context.Context, db querier) (string, error) {
	engine, err := versionOf(ctx, db)
	if err != nil {
		return "", err
	}
	return hashOfLayout(engine)
}

func hashOfLayout(engine string) (string, error) {
	texts, err := allTexts()
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
	Versions string
	Columns  []lake.Column // of deal_versions
	Runs     []lake.Column
	FeedRuns []lake.Column
	Checks   []lake.Column
	Markets  []market
	Amount   string // SQL type of amounts
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
		Markets: markets(), Amount: lake.Money.SQL(),
	}
}
