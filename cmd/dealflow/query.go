package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/spf13/cobra"

	"dealflow/internal/safesql"
	"dealflow/internal/words"
	"dealflow/load/parquet"
	"dealflow/sql/answer"
	"dealflow/sql/quote"
)

// queryFormats are the values of --format.
var queryFormats = []string{"table", "csv", "json", "ndjson", "parquet", "arrow"}

type queryOptions struct {
	format string
	file   string
	out    string
	safe   bool
	limit  time.Duration
}

func newQuery(a *app) *cobra.Command {
	var o queryOptions
	cmd := &cobra.Command{
		Use:   "query [SQL]",
		Short: "Query the lake in SQL, as of now or as of any instant",
		Long: `query runs a SQL statement (DuckDB) on the lake's catalog, read-only. The statement comes from the
argument, from --file, or from stdin.

  bond_priced_deals              a table as of now
  bond_priced_deals_as_of(t)     the same table as it was known at t
  history.bond_priced_deals      every version, with valid_from and valid_to
  snapshots.bond_priced_deals    the complete state of each day

The other tables have the same four forms. There are also:

  deals, deals_as_of(t)          the deals that are not removed
  history.deal_versions          every version of every deal, with its payload
  files.<table>                  every version without its interval
  field_change, changes(from, to), deal_timeline(…)    what changed, and when it became known
  changes_rows(from, to), <table>_changes_rows(from, to)    the deals to delete and the rows to insert elsewhere
  bond_priced_as_of(t), league_table(…), pipeline_as_of(t), …    analyses
  runs, feed_runs, checks        what each run did, and what the quality checks reported
  catalog_info, markets          the commit that the catalog shows; the markets in their order
  knowledge_at(t), utc_day(t)    the instant of the last pull as of t; the UTC day of t
  linked_market(of_service, href)    the market of the priced deal to which a link leads
  is_priced(of_service, status, priced_deal_id)    whether a tranche of an expected deal has priced

table shortens texts to 60 characters (…); the other formats do not.
csv has an empty field for NULL and "" for an empty text, as PostgreSQL's COPY … (FORMAT csv, HEADER)
reads it. ndjson is one JSON object a line. parquet and arrow (an Arrow IPC stream) go to --out or into
a pipe; sums of whole numbers are DOUBLE in them unless the statement casts them.

A statement may write files of this machine: COPY … TO writes what it is given, as the user who runs
query, and replaces files. The lake's catalog is read-only; the files of a lake in a folder are files
like any other. Run only statements that you would run as a program.

--safe is for statements of people who are not trusted with this machine. It runs one SELECT and refuses
all else. The statement reads the tables in main, history and snapshots, the analyses, and no file by
name; it writes nothing. It runs in a process of its own, without any variable of the environment, which
Linux (6.2 and later, with Landlock) keeps from all files but the lake's data and from the network, and
which ends after --time-limit. Where Landlock is missing, Parquet and Arrow are refused, and the other
formats are protected by the check of the statement, by DuckDB's settings and by the limit of the size of
files (RLIMIT_FSIZE) alone.`,
		Example: `  dealflow query "SELECT market, count(*) FROM bond_priced_deals GROUP BY ALL"
  dealflow query "FROM loan_priced_deals_as_of('2026-11-01 06:00:00Z')" --format csv
  dealflow query "FROM bond_priced_deals" --format parquet --out deals.parquet
  dealflow query --safe --file asked.sql --format csv
  dealflow query "FROM deals" --format csv | psql -c "COPY deals FROM STDIN (FORMAT csv, HEADER)"`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return runQuery(cmd.Context(), a, o, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.format, "format", "table", "format of the answer: "+strings.Join(queryFormats, ", "))
	flags.StringVarP(&o.file, "file", "f", "", "read the statement from this file")
	flags.StringVarP(&o.out, "out", "o", "", "write the answer to this file, not to stdout")
	flags.BoolVar(&o.safe, "safe", false, "run the statement as one of a stranger: it reads the lake's tables, and nothing else")
	flags.DurationVar(&o.limit, "time-limit", 0, "end a statement of --safe after this time, such as 10s; 0: 1m")
	return cmd
}

func runQuery(ctx context.Context, a *app, o queryOptions, args []string) error {
	if a.settings.json {
		o.format = "json"
	}
	if binary := o.format == "parquet" || o.format == "arrow"; binary && o.out == "" && isTerminal(a.Stdout) {
		return usagef("--format %s: name a file with --out, or send the answer into a pipe", o.format)
	}
	if o.limit != 0 && !o.safe {
		return usagef("--time-limit belongs to --safe: other statements end by themselves, or with this program")
	}
	statement, err := a.statement(o, args)
	if err != nil {
		return err
	}
	l, err := a.openLake(ctx)
	if err != nil {
		return err
	}
	if err := checkOut(l.Store(), o.out); err != nil {
		return err
	}
	if o.safe {
		for try := 0; ; try++ {
			err := a.querySafely(ctx, l, o, statement)
			if !errors.Is(err, safesql.ErrReplaced) || try == mostReplaced {
				return err
			}
			if l, err = a.openLake(ctx); err != nil {
				return err
			}
		}
	}
	return a.withCatalog(ctx, l, func(db *stdsql.DB) error {
		if err := checkOneAnswer(ctx, db, statement); err != nil {
			return err
		}
		if o.out == "" {
			return a.writeQuery(ctx, db, statement, o.format, a.Stdout)
		}
		return writeFile(ctx, o.out, func(w io.Writer) error { return a.writeQuery(ctx, db, statement, o.format, w) })
	}, statement)
}

// mostReplaced is how often a safe statement is begun again because its catalog was replaced before. A commit takes longer.
const mostReplaced = 10

// checkOneAnswer refuses a text with a SELECT statement before the last statement: DuckDB gives the answer of the last alone.
// Statements of other kinds before it have no answer: SET VARIABLE day = '2026-01-07'; FROM …
func checkOneAnswer(ctx context.Context, db *stdsql.DB, statement string) error {
	all := slices.DeleteFunc(splitStatements(statement), isWordless)
	for _, text := range all[:max(len(all), 1)-1] {
		var selects stdsql.NullInt64 // NULL for a statement that is no SELECT
		err := db.QueryRowContext(ctx, "SELECT json_array_length(json_serialize_sql(?::VARCHAR) -> 'statements')", text).Scan(&selects)
		if err != nil {
			return err
		}
		if selects.Int64 > 0 {
			return usagef("%d statements: only the answer of the last would be shown, so run each with a query of its own", len(all))
		}
	}
	return nil
}

// notSplit matches what a text of statements is not split in, or the $tag$ that begins it, and the semicolons between statements.
var notSplit = regexp.MustCompile(`(?s)\b[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(?:[A-Za-z_]\w*)?\$|--[^\n]*|/\*.*?\*/|;`)

// splitStatements splits a text at the semicolons between its statements.
func splitStatements(text string) (all []string) {
	from := 0
	for at := 0; at < len(text); {
		found := notSplit.FindStringIndex(text[at:])
		if found == nil {
			break
		}
		begin, end := at+found[0], at+found[1]
		switch text[begin] {
		case ';':
			all, from = append(all, text[from:begin]), end
		case '$':
			tag := text[begin:end]
			if closing := strings.Index(text[end:], tag); closing >= 0 {
				end += closing + len(tag)
			} else {
				end = len(text)
			}
		}
		at = end
	}
	return append(all, text[from:])
}

var comment = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/`)

// isWordless reports whether there is nothing but comments between two semicolons.
func isWordless(text string) bool { return strings.TrimSpace(comment.ReplaceAllString(text, "")) == "" }

// writeQuery runs a statement and writes its answer. DuckDB writes Parquet to files alone, so that goes through one in the
// work folder.
func (a *app) writeQuery(ctx context.Context, db *stdsql.DB, statement, format string, out io.Writer) (err error) {
	if format != "parquet" && format != "arrow" {
		return printQuery(ctx, db, statement, format, out)
	}
	folder, err := os.MkdirTemp(a.workDir(), "query-*")
	if err != nil {
		return fmt.Errorf("work folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "answer.parquet")
	if err := writeParquet(ctx, db, statement, path); err != nil {
		return err
	}
	return copyAnswer(ctx, path, format, out)
}

// copyAnswer writes an answer that is a Parquet file, as Parquet or as a stream of Arrow.
func copyAnswer(ctx context.Context, path, format string, out io.Writer) error {
	if format == "arrow" {
		return parquet.Stream(ctx, path, memory.DefaultAllocator, out)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return errors.Join(err, file.Close())
}

// statement returns the SQL to run: the argument, the file of --file, or stdin.
func (a *app) statement(o queryOptions, args []string) (string, error) {
	var text string
	switch {
	case len(args) == 1 && o.file != "":
		return "", usagef("got a statement both as argument and by --file, want one of them")
	case len(args) == 1:
		text = args[0]
	case o.file != "":
		data, err := os.ReadFile(o.file)
		if err != nil {
			return "", usagef("--file: %w", err)
		}
		text = string(data)
	default:
		data, err := io.ReadAll(a.Stdin)
		if err != nil {
			return "", fmt.Errorf("read the statement from stdin: %w", err)
		}
		text = string(data)
	}
	text = strings.TrimRight(strings.TrimSpace(text), ";")
	if text == "" {
		return "", usagef("no statement; see `dealflow query --help`")
	}
	return text, nil
}

func writeParquet(ctx context.Context, db *stdsql.DB, statement, path string) error {
	_, err := db.ExecContext(ctx, quote.ToParquet(statement, path))
	return err
}

func printQuery(ctx context.Context, db *stdsql.DB, statement, format string, out io.Writer) error {
	rows, err := answer.Query(ctx, db, statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	return rowFormats[format](rows, out)
}

// rowFormats are the formats that a program writes row by row.
var rowFormats = map[string]safesql.Format{
	"csv": (*answer.Rows).WriteCSV, "json": (*answer.Rows).WriteJSON, "ndjson": (*answer.Rows).WriteNDJSON, "table": printRows,
}

// printRows prints an answer as a table for people.
func printRows(rows *answer.Rows, out io.Writer) error {
	var cells [][]string
	headings := rows.Columns()
	for rows.Next() {
		row := rows.Texts()
		for i := range row {
			row[i] = clip(words.Printable(row[i]))
		}
		cells = append(cells, row)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for i := range headings {
		if rows.Numeric(i) {
			headings[i] = ">" + headings[i]
		}
	}
	return printTable(out, headings, cells)
}

// maxCell is the most characters of a text in a table. The other formats do not shorten texts.
const maxCell = 60

func clip(s string) string {
	if r := []rune(s); len(r) > maxCell {
		return string(r[:maxCell-1]) + "…"
	}
	return s
}
