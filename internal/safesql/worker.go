package safesql

import (
	"bytes"
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dealflow/internal/confine"
	"dealflow/sql"
	"dealflow/sql/answer"
	"dealflow/sql/engine"
	"dealflow/sql/quote"
)

// Format writes the rows of an answer.
type Format func(*answer.Rows, io.Writer) error

// job is what a worker is asked for, as JSON on its stdin.
type job struct {
	Statement string
	Catalog   string // a file
	Commit    int64  // that the catalog must show; 0: any
	Lake      string // a local folder
	Format    string // a name of a Format; Pages; Plans; Parquet
	Rows      int64  // most rows; 0: all
	Own       string // a folder for spilled rows, and for the answer as Parquet; "": there is none
	Without   []gateName
}

// gateName names a gate, for tests that leave one out to see that the others hold.
type gateName string

const (
	syntaxGate  gateName = "syntax"
	engineGate  gateName = "engine"
	processGate gateName = "process"
)

func (j *job) has(gate gateName) bool { return !slices.Contains(j.Without, gate) }

// report is how a statement ended, as one line of JSON on the worker's stderr.
type report struct {
	Refused string // reason of a Refusal; "" for none
	Failed  string // another error; "" for none
	At      int    // byte of the statement that the error is about; -1 if it is not known

	Replaced bool // Failed is an ErrReplaced
}

// Formats that safesql has itself.
const (
	Pages   = "page"    // a Page as JSON
	Plans   = "plan"    // how the statement would be run, as a text
	Parquet = "parquet" // a file
)

// Limits of a statement.
const (
	spillBytes    = 1 << 30
	processMemory = 3 << 29 // RLIMIT_DATA
	engineMemory  = "512MB"
	engineThreads = 2
)

// Serve is the worker's program: it answers the statement on in, writes the answer to out, and says on result how that ended. It
// restricts the process for ever.
func Serve(in io.Reader, out, result io.Writer, formats map[string]Format) error {
	ctx := context.Background() // the parent ends the process
	r := report{At: -1}
	err := serve(ctx, in, out, formats)
	var refusal *Refusal
	var failure *Failure
	switch {
	case errors.As(err, &refusal):
		r.Refused, r.At = refusal.Reason, refusal.At
	case errors.As(err, &failure):
		r.Failed, r.At = failure.Reason, failure.At
	case err != nil:
		r.Failed, r.Replaced = err.Error(), errors.Is(err, ErrReplaced)
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(result, "\n%s\n", line)
	return err
}

func serve(ctx context.Context, in io.Reader, out io.Writer, formats map[string]Format) (err error) {
	var j job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return fmt.Errorf("read the statement: %w", err)
	}
	if j.has(processGate) {
		most := uint64(0)
		if j.Own != "" {
			most = spillBytes
		}
		if err := confine.Limit(most, processMemory); err != nil {
			return err
		}
	}
	db, err := sql.Open(ctx, j.Catalog, j.Lake)
	if err != nil && j.Commit > 0 {
		return fmt.Errorf("%w: %w", ErrReplaced, err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // the settings of a further connection could not be set
	if shown := int64(0); j.Commit > 0 {
		if err := db.QueryRowContext(ctx, `SELECT "commit" FROM catalog_info`).Scan(&shown); err != nil || shown != j.Commit {
			return errors.Join(fmt.Errorf("%w: it shows commit %d, want %d", ErrReplaced, shown, j.Commit), err)
		}
	}
	// Errors have their place as a number then: see failureOf.
	if _, err := db.ExecContext(ctx, "SET errors_as_json = true"); err != nil {
		return err
	}
	if j.has(engineGate) {
		if err := closeEngine(ctx, db, &j); err != nil {
			return err
		}
	}
	if j.has(syntaxGate) {
		known, err := knownNames(ctx, db)
		if err != nil {
			return err
		}
		serialized, err := serialize(ctx, db, j.Statement)
		if err != nil {
			return err
		}
		if err := check(serialized, known); err != nil {
			return err
		}
	}
	switch j.Format {
	case Plans:
		return failureOf(explain(ctx, db, j.Statement, out), j.Statement, explaining+opening)
	case Parquet:
		_, err := db.ExecContext(ctx, copying+inParentheses(j.Statement)+" TO "+quote.Text(filepath.Join(j.Own, parquetName))+" (FORMAT parquet, COMPRESSION zstd)")
		return failureOf(err, j.Statement, copying+opening)
	}
	return failureOf(j.answer(ctx, db, out, formats), j.Statement, "")
}

// answer runs the statement, and writes its rows.
func (j *job) answer(ctx context.Context, db *stdsql.DB, out io.Writer, formats map[string]Format) error {
	statement, format := withoutEnd(j.Statement), formats[j.Format]
	if j.Format == Pages {
		format = pageOf(j.Rows)
		statement = limited(ctx, db, statement, j.Rows+1)
	}
	if format == nil {
		return fmt.Errorf("no format %q", j.Format)
	}
	rows, err := answer.Query(ctx, db, statement)
	if err != nil {
		return err
	}
	return errors.Join(format(rows, out), rows.Close())
}

// parquetName is the name of the answer in the worker's own folder.
const parquetName = "answer.parquet"

// failureOf returns an error of the engine as a *Failure, with the place in the statement as the reader wrote it. before is what
// the engine was asked before the first word of the statement. The engine's own picture of the place is not used: it counts
// lines and columns of all that it was asked, and a tab as one column.
func failureOf(err error, statement, before string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	begin := strings.IndexByte(text, '{')
	var said struct {
		Type     string `json:"exception_type"`
		Message  string `json:"exception_message"`
		Position string `json:"position"`
	}
	if begin < 0 || json.NewDecoder(strings.NewReader(text[begin:])).Decode(&said) != nil || said.Message == "" {
		return err
	}
	f := &Failure{Reason: said.Type + " Error: " + said.Message, At: -1}
	at, unknown := strconv.Atoi(said.Position)
	indent := len(statement) - len(strings.TrimLeftFunc(statement, unicode.IsSpace)) // see withoutEnd
	if at += indent - len(before); unknown == nil && at >= 0 && at <= len(statement) {
		f.At = at
	}
	return f
}

// closeEngine is the engine gate: it lets DuckDB read the files of the lake and write to the worker's own folder, and closes all
// else. The order matters: after access is off, no folder can be set.
func closeEngine(ctx context.Context, db *stdsql.DB, j *job) error {
	if _, err := db.ExecContext(ctx, engine.Threads(engineThreads)); err != nil {
		return fmt.Errorf("limit the threads: %w", err)
	}
	open := slices.Clone(lakeFolders(j.Lake))
	settings := []string{
		"memory_limit = " + quote.Text(engineMemory),
		"temp_directory = " + quote.Text(j.Own), "max_temp_directory_size = " + quote.Text(fmt.Sprintf("%dB", spillBytes)),
		"autoinstall_known_extensions = false", "autoload_known_extensions = false", "allow_community_extensions = false",
	}
	if j.Own != "" {
		open = append(open, j.Own)
	}
	for i, folder := range open {
		open[i] = quote.Text(folder + "/")
	}
	settings = append(settings, "allowed_directories = ["+strings.Join(open, ", ")+"]", "enable_external_access = false", "lock_configuration = true")
	for _, setting := range settings {
		if _, err := db.ExecContext(ctx, "SET "+setting); err != nil {
			return fmt.Errorf("SET %s: %w", setting, err)
		}
	}
	return nil
}

// lakeFolders are the folders of a lake with the files that views read.
func lakeFolders(lake string) []string {
	return []string{filepath.Join(lake, "history"), filepath.Join(lake, "snapshots")}
}

// knownNames returns what a statement may read of a catalog.
func knownNames(ctx context.Context, db *stdsql.DB) (names, error) {
	known := names{map[string]bool{}, map[string]bool{}}
	for _, table := range informationTables {
		known.tables["information_schema."+table] = true
	}
	rows, err := answer.Query(ctx, db, `
SELECT 'table', schema_name, view_name FROM duckdb_views() WHERE database_name = current_database() AND NOT internal
UNION ALL SELECT 'table', schema_name, table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal
UNION ALL SELECT 'macro', schema_name, function_name FROM duckdb_functions()
WHERE database_name = current_database() AND NOT internal AND function_type = 'table_macro'`)
	if err != nil {
		return known, err
	}
	for rows.Next() {
		row := rows.Texts()
		kind, schema, name := row[0], strings.ToLower(row[1]), strings.ToLower(row[2])
		switch {
		case !slices.Contains(openSchemas, schema):
		case kind == "macro" && schema == "main":
			known.macros[name] = true
		case kind == "table":
			known.tables[schema+"."+name] = true
			if schema == "main" {
				known.tables[name] = true
			}
		}
	}
	return known, errors.Join(rows.Err(), rows.Close())
}

// serialize returns the tree of a statement, without looking up its names.
func serialize(ctx context.Context, db *stdsql.DB, statement string) (tree string, err error) {
	err = db.QueryRowContext(ctx, "SELECT json_serialize_sql(?::VARCHAR)::VARCHAR", statement).Scan(&tree)
	return tree, err
}

// withoutEnd returns a statement without the semicolon that ends it.
func withoutEnd(statement string) string {
	return strings.TrimRight(strings.TrimSpace(statement), "; \n\t")
}

// inParentheses returns a statement that passed the syntax gate as a part of another.
func inParentheses(statement string) string { return opening + withoutEnd(statement) + "\n)" }

// What the engine is asked before the first word of a statement in parentheses.
const (
	copying = "COPY "
	opening = "(\n"
)

// limited returns a statement with a limit of rows if it has none: the engine keeps an answer in memory.
func limited(ctx context.Context, db *stdsql.DB, statement string, rows int64) string {
	with := fmt.Sprintf("%s\nLIMIT %d", withoutEnd(statement), rows)
	for _, text := range []string{statement, with} {
		tree, err := serialize(ctx, db, text)
		if err != nil {
			return statement
		}
		root, err := parse(tree)
		if err != nil || isBounded(root) != (text == with) {
			return statement
		}
	}
	return with
}

// Page is the beginning of an answer.
type Page struct {
	Columns []Column
	Rows    [][]*string // nil for NULL
	More    bool        // the answer has more rows
}

// Column is a column of a page.
type Column struct {
	Name, Type string // Type is DuckDB's name of it
	Number     bool
}

const (
	pageBytes = 8 << 20
	cellBytes = 64 << 10
)

// pageOf returns the format of a Page with at most that number of rows, and about pageBytes.
func pageOf(most int64) Format {
	return func(rows *answer.Rows, out io.Writer) error {
		page := Page{Rows: [][]*string{}}
		for i, name := range rows.Columns() {
			page.Columns = append(page.Columns, Column{name, rows.Type(i), rows.Numeric(i)})
		}
		size := 0
		for rows.Next() {
			if page.More = rows.Read() > most || size > pageBytes; page.More {
				break
			}
			texts := rows.Texts()
			row := make([]*string, len(texts))
			for i := range texts {
				if !rows.Null(i) {
					texts[i] = cutCell(texts[i])
					row[i] = &texts[i]
					size += len(texts[i])
				}
			}
			page.Rows = append(page.Rows, row)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(page)
	}
}

// cutCell cuts a long value, and says so in it.
func cutCell(text string) string {
	if len(text) <= cellBytes {
		return text
	}
	return strings.ToValidUTF8(text[:cellBytes], "") + fmt.Sprintf("… (cut: the value has %d bytes)", len(text))
}

// lastLine returns the last line of a text.
func lastLine(text []byte) []byte {
	text = bytes.TrimSpace(text)
	return text[bytes.LastIndexByte(text, '\n')+1:]
}
