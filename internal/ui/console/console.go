package console

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dealflow/internal/chart"
	"dealflow/internal/safesql"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/grid"
)

// Templates are those of the page.
//
//go:embed templates/*.html
var Templates embed.FS

// Source is what the page has besides the lake.
type Source struct {
	Runner   *safesql.Runner // required; its Time must be shorter than that of a page
	Examples []Example
	Optional map[string][]string // parameters that have a default, by macro
}

// Example is a statement to begin with.
type Example struct{ Title, SQL string }

const (
	maxStatement = frame.MaxStatement
	usualRows    = 1000
	mostRows     = 10_000
	atOnce       = 2
	waitingMost  = 8
	fileBytes    = 256 << 20 // of an answer as a file
)

// console answers statements.
type console struct {
	Source
	running, waiting chan struct{}
}

// Pages returns the page.
func Pages(source Source) []frame.Page {
	c := &console{source, make(chan struct{}, atOnce), make(chan struct{}, waitingMost)}
	return []frame.Page{{Path: frame.ConsolePath, Word: "SQL", Title: "SQL", Key: "s", Params: []string{"sql", "rows", "explain"}, Show: c.show, Save: c.save}}
}

type data struct {
	frame.List
	SQL      string
	Rows     int64
	Problem  string // why the statement has no answer; "" if it has one
	Ran      bool
	Plan     string // how the statement would be run; "" if that is not asked for
	Names    []group
	Examples []frame.Choice
	Copies   []copied // the statement for other places, after its answer
}

// statement reads the statement of a request.
func statement(q *frame.Request) (string, error) {
	text := strings.TrimSpace(strings.ReplaceAll(q.Values.Get("sql"), "\r\n", "\n"))
	if len(text) > maxStatement {
		return "", frame.Errorf(http.StatusBadRequest, "the statement has %d bytes, want at most %d: put it into a file, and run it with `dealflow query --safe -f`", len(text), maxStatement)
	}
	return text, nil
}

// explain says whether a request asks how the statement would be run.
func explain(q *frame.Request) (bool, error) {
	switch asked := q.Values.Get("explain"); asked {
	case "", "1":
		return asked == "1", nil
	default:
		return false, frame.Errorf(http.StatusBadRequest, "explain=%s: want 1, or leave it out", asked)
	}
}

// show answers with the page, and with the first rows of the answer if there is a statement.
func (c *console) show(q *frame.Request) (*frame.Content, error) {
	text, err := statement(q)
	if err != nil {
		return nil, err
	}
	d := &data{SQL: text}
	if d.Rows, err = q.Number("rows", usualRows, mostRows); err != nil {
		return nil, err
	}
	if d.Names, err = c.names(q); err != nil {
		return nil, err
	}
	for _, example := range c.Examples {
		d.Examples = append(d.Examples, frame.Choice{Text: example.Title, Address: q.Link(frame.ConsolePath + "?sql=" + url.QueryEscape(example.SQL))})
	}
	content := &frame.Content{Title: "SQL", Template: "console", Data: d, Lead: "One SELECT on the tables, as they were known at the instant above."}
	if text == "" {
		return content, nil
	}
	if q.FromElsewhere() {
		d.Problem = "A link of another site has filled in this statement. Read it before you run it."
		return content, nil
	}
	began := time.Now()
	explained, err := explain(q)
	if err != nil {
		return nil, err
	}
	var page *safesql.Page
	if explained {
		d.Plan, err = c.plan(q, text)
	} else {
		page, err = c.page(q, text, d.Rows)
	}
	if errors.Is(err, asof.ErrBusy) || q.Ctx.Err() != nil {
		return nil, err
	}
	if errors.Is(err, asof.ErrCutting) {
		content.Lead, content.Status = "Not yet: "+err.Error()+".", http.StatusServiceUnavailable
		return content, nil
	}
	if err != nil {
		d.Problem = safesql.Explain(err, text)
		content.Lead, content.Status = "This could not be answered.", http.StatusBadRequest
		return content, nil
	}
	if explained {
		content.Lead = "How the engine would run the statement, from the answer down to the tables. It was not run."
		return content, nil
	}
	d.Ran = true
	d.Copies = copies(q.Lake(), text)
	d.Table = table(page)
	d.Empty = "The answer has no row."
	content.Lead = fmt.Sprintf("%s, %d ms.", grid.Plural(int64(len(page.Rows)), "row", "rows"), time.Since(began).Milliseconds())
	if page.More {
		content.Lead = fmt.Sprintf("The first %s of more, %d ms. A download has all.", grid.Plural(int64(len(page.Rows)), "row", "rows"), time.Since(began).Milliseconds())
	}
	return content, nil
}

// table returns an answer as a table.
func table(page *safesql.Page) *grid.Table {
	a := &asof.Answer{}
	for _, column := range page.Columns {
		a.Columns = append(a.Columns, asof.Column{Name: column.Name, Number: column.Number})
	}
	for _, row := range page.Rows {
		cells := make([]asof.Cell, len(row))
		for i, text := range row {
			cells[i] = asof.Cell{Null: text == nil}
			if text != nil {
				cells[i].Text = *text
			}
		}
		a.Rows = append(a.Rows, cells)
	}
	t := grid.Of(a, "Answer")
	t.Sticky = 1
	for i := range page.Columns {
		t.Columns[i].Type = grid.Words(page.Columns[i].Type)
	}
	return t
}

// turn waits for a turn of a statement. The caller calls done after it.
func (c *console) turn(ctx context.Context) (done func(), err error) {
	select {
	case c.waiting <- struct{}{}:
		defer func() { <-c.waiting }()
	default:
		return nil, asof.ErrBusy
	}
	select {
	case c.running <- struct{}{}:
		return func() { <-c.running }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// query prepares a statement. The caller calls done after its use.
func (c *console) query(q *frame.Request, text string) (query safesql.Query, done func(), err error) {
	turned, err := c.turn(q.Ctx)
	if err != nil {
		return query, nil, err
	}
	catalog, released, err := q.View.Catalog(q.Ctx, text)
	if err != nil {
		turned()
		return query, nil, err
	}
	return safesql.Query{Statement: text, Catalog: catalog.Path, Lake: catalog.Root}, func() { released(); turned() }, nil
}

func (c *console) page(q *frame.Request, text string, rows int64) (*safesql.Page, error) {
	query, done, err := c.query(q, text)
	if err != nil {
		return nil, err
	}
	defer done()
	return c.Runner.Page(q.Ctx, query, rows)
}

func (c *console) plan(q *frame.Request, text string) (string, error) {
	query, done, err := c.query(q, text)
	if err != nil {
		return "", err
	}
	defer done()
	return c.Runner.Plan(q.Ctx, query)
}

// save writes the complete answer of a statement. It goes through a file: a reader who takes it slowly keeps no turn.
func (c *console) save(q *frame.Request, format string, out io.Writer) (err error) {
	text, err := statement(q)
	switch {
	case err != nil:
		return err
	case text == "":
		return frame.Errorf(http.StatusBadRequest, "sql is missing")
	case q.Values.Has("explain"):
		return frame.Errorf(http.StatusBadRequest, "explain is of the page alone: a file has the rows of the answer")
	case q.FromElsewhere():
		return frame.Errorf(http.StatusForbidden, "a link of another site runs no statement: open the page, and run it there")
	}
	folder, err := os.MkdirTemp(c.Runner.WorkDir, "console-*")
	if err != nil {
		return fmt.Errorf("work folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "answer")
	if err := c.saveFile(q, text, format, path); err != nil {
		if errors.Is(err, asof.ErrBusy) || errors.Is(err, asof.ErrCutting) || q.Ctx.Err() != nil {
			return err
		}
		return frame.Errorf(http.StatusBadRequest, "%s", safesql.Explain(err, text))
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return errors.Join(err, file.Close())
}

// saveFile writes the answer of a statement to a new file.
func (c *console) saveFile(q *frame.Request, text, format, path string) error {
	query, done, err := c.query(q, text)
	if err != nil {
		return err
	}
	defer done()
	if format == asof.Parquet {
		return c.Runner.Parquet(q.Ctx, query, func(made string) error {
			if info, err := os.Stat(made); err != nil || info.Size() > fileBytes {
				return errors.Join(err, errTooLarge)
			}
			return os.Rename(made, path)
		})
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(c.Runner.Write(q.Ctx, query, format, &limited{file, fileBytes}), file.Close())
}

var errTooLarge = fmt.Errorf("the answer has more than %s MiB: use `dealflow query --safe`", chart.Count(fileBytes>>20))

// limited is a writer that fails after a number of bytes.
type limited struct {
	to   io.Writer
	left int
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errTooLarge
	}
	return l.to.Write(p)
}
