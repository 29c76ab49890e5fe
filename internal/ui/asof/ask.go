package asof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"dealflow/sql/answer"
	"dealflow/sql/quote"
)

// Args are the values of a statement's parameters, by name without the dollar sign. All values are texts; statements cast
// them.
type Args map[string]string

// Query is a statement of sql/explorer with its values. $as_of comes from the View.
type Query struct {
	Name string
	Args Args
	Rows int64 // most rows of the answer; 0: defaultRows
	Skip int64 // rows before the first of the answer
}

const (
	defaultRows = 1000
	allRows     = 1 << 40 // of a download
)

// Answer is the answer of a query. Many readers may share it: it never changes.
type Answer struct {
	Columns []Column
	Rows    [][]Cell
	Took    time.Duration // when the engine was asked; an answer that was kept has that of the first time
	size    int           // bytes in memory, roughly
}

// Column is a column of an answer.
type Column struct {
	Name   string
	Number bool
}

// Cell is a value as text.
type Cell struct {
	Text string
	Null bool
}

// Row is a row of an answer.
type Row struct {
	answer *Answer
	cells  []Cell
}

// Row returns a row.
func (a *Answer) Row(i int) Row { return Row{a, a.Rows[i]} }

// All returns all rows.
func (a *Answer) All() []Row {
	rows := make([]Row, len(a.Rows))
	for i := range a.Rows {
		rows[i] = a.Row(i)
	}
	return rows
}

// Where returns an answer with those rows that wanted accepts. The rows are shared.
func (a *Answer) Where(wanted func(Row) bool) *Answer {
	some := &Answer{Columns: a.Columns, Took: a.Took}
	for i := range a.Rows {
		if wanted(a.Row(i)) {
			some.Rows = append(some.Rows, a.Rows[i])
		}
	}
	return some
}

// Cell returns the value of a column. It panics for a name that the statement does not have.
func (r Row) Cell(name string) Cell {
	for i := range r.answer.Columns {
		if r.answer.Columns[i].Name == name {
			return r.cells[i]
		}
	}
	panic("no column " + name)
}

// Text returns the value of a column as text; "" for NULL.
func (r Row) Text(name string) string { return r.Cell(name).Text }

// Null says whether a column is NULL.
func (r Row) Null(name string) bool { return r.Cell(name).Null }

// Int returns a whole number; 0 for NULL.
func (r Row) Int(name string) int64 {
	n, err := strconv.ParseInt(r.Text(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// StatementError is a statement that could not be answered.
type StatementError struct {
	SQL string // as a reader can run it
	Err error
}

func (e *StatementError) Error() string { return e.Err.Error() }
func (e *StatementError) Unwrap() error { return e.Err }

// Ask returns the answer of a query as of the view's instant.
func (v *View) Ask(ctx context.Context, q Query) (*Answer, error) {
	key := v.key(q)
	if a := v.lake.answers.get(v.edition, key); a != nil {
		return a, nil
	}
	done, err := v.lake.turns.take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	// Another reader may have asked the same while this one waited.
	if a := v.lake.answers.get(v.edition, key); a != nil {
		return a, nil
	}
	var a *Answer
	err = v.run(ctx, q, func(rows *answer.Rows, began time.Time) error {
		a = &Answer{size: len(key) + 256} // an answer without rows is something, too
		for i, name := range rows.Columns() {
			a.Columns = append(a.Columns, Column{name, rows.Numeric(i)})
		}
		for rows.Next() {
			cells := make([]Cell, len(a.Columns))
			for i, text := range rows.Texts() {
				cells[i] = Cell{text, rows.Null(i)}
				a.size += len(text) + 32
			}
			if a.size > answerBytes {
				return fmt.Errorf("the answer has more than %d MiB; ask for fewer rows, or use `dealflow query`", answerBytes>>20)
			}
			a.Rows = append(a.Rows, cells)
		}
		a.Took = time.Since(began)
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	v.lake.answers.put(v.edition, key, a)
	return a, nil
}

// run runs a query. The caller has taken a turn.
func (v *View) run(ctx context.Context, q Query, read func(*answer.Rows, time.Time) error) (err error) {
	began := time.Now()
	text, err := v.fetched(ctx, q)
	if err != nil {
		return err
	}
	once, value := quote.Once(text)
	rows, err := answer.Query(ctx, v.edition.DB, once, value)
	if err == nil {
		err = errors.Join(read(rows, began), rows.Close())
	}
	if err != nil {
		return v.failed(ctx, q, err)
	}
	return nil
}

// fetched returns the text of a query, as SQL does, after the files that its statement reads were made local. A table that only a value names is
// not read.
func (v *View) fetched(ctx context.Context, q Query) (string, error) {
	s, err := v.Statement(q.Name)
	if err != nil {
		return "", err
	}
	if err := v.edition.Fetch(ctx, s.Text); err != nil {
		return "", v.failed(ctx, q, err)
	}
	return v.SQL(q)
}

// ErrBroken is the error of a statement after which the engine answers nothing: the next View is of a catalog that is opened again.
var ErrBroken = errors.New("the engine failed, and is opened again; try again in a few seconds")

// failed returns the error of a query. After a fault in itself, DuckDB refuses all statements of the open catalog.
func (v *View) failed(ctx context.Context, q Query, err error) error {
	if ctx.Err() == nil && v.edition.DB != nil {
		if _, other := v.edition.DB.ExecContext(ctx, "SELECT 1"); other != nil && ctx.Err() == nil {
			v.edition.broken.Store(true)
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
	}
	text, shown := v.SQL(q)
	if shown != nil {
		return err
	}
	return &StatementError{SQL: text, Err: err}
}

// Formats of Write.
const (
	CSV     = "csv"
	JSON    = "json"
	Parquet = "parquet"
)

// Write writes the complete answer of a query in a format. It goes through a file in folder: a reader who takes it slowly
// keeps no turn.
func (v *View) Write(ctx context.Context, q Query, format, folder string, out io.Writer) (err error) {
	q.Rows, q.Skip = allRows, 0
	own, err := os.MkdirTemp(folder, "explorer-*")
	if err != nil {
		return fmt.Errorf("work folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own)) }()
	path := filepath.Join(own, "answer")
	if err := v.writeFile(ctx, q, format, path); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return errors.Join(err, file.Close())
}

// writeFile writes the answer of a query to a new file.
func (v *View) writeFile(ctx context.Context, q Query, format, path string) error {
	done, err := v.lake.turns.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	if format == Parquet {
		return v.copyTo(ctx, q, path)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	err = v.run(ctx, q, func(rows *answer.Rows, _ time.Time) error {
		if format == CSV {
			return rows.WriteCSV(file)
		}
		return rows.WriteJSON(file)
	})
	return errors.Join(err, file.Close())
}

// copyTo lets DuckDB write the answer of a query as Parquet. The caller has taken a turn.
func (v *View) copyTo(ctx context.Context, q Query, path string) error {
	text, err := v.fetched(ctx, q)
	if err != nil {
		return err
	}
	if _, err := v.edition.DB.ExecContext(ctx, quote.ToParquet(text, path)); err != nil {
		return v.failed(ctx, q, err)
	}
	return nil
}

// parameter is a parameter in the text of a statement.
var parameter = regexp.MustCompile(`\$[a-z_]+`)

// values returns the values of a statement's parameters. A parameter without a value is an error of the caller.
func (v *View) values(text string, q Query) (map[string]string, error) {
	rows := q.Rows
	if rows == 0 {
		rows = defaultRows
	}
	all := map[string]string{}
	for _, name := range parameter.FindAllString(text, -1) {
		name = name[1:]
		value, ok := q.Args[name]
		switch name {
		case "as_of":
			value, ok = v.at(), true
		case "rows":
			value, ok = fmt.Sprint(rows), true
		case "skip":
			value, ok = fmt.Sprint(q.Skip), true
		}
		if !ok {
			return nil, fmt.Errorf("statement %s: $%s has no value", q.Name, name)
		}
		if strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("the value of %s has the character U+0000", name)
		}
		all[name] = value
	}
	return all, nil
}

// SQL returns a query as a statement that a reader can run: with its values as literals.
func (v *View) SQL(q Query) (string, error) {
	s, err := v.Statement(q.Name)
	if err != nil {
		return "", err
	}
	values, err := v.values(s.Text, q)
	if err != nil {
		return "", err
	}
	return parameter.ReplaceAllStringFunc(s.Text, func(name string) string { return quote.Text(values[name[1:]]) }), nil
}

func (v *View) key(q Query) string {
	var key strings.Builder
	fmt.Fprintf(&key, "%s\x00%s\x00%d\x00%d", v.at(), q.Name, q.Rows, q.Skip)
	if s, ok := v.lake.statements[q.Name]; ok {
		for _, name := range parameter.FindAllString(s.Text, -1) {
			fmt.Fprintf(&key, "\x00%s=%s", name, q.Args[name[1:]])
		}
	}
	return key.String()
}
