package grid

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"dealflow/internal/chart"
	"dealflow/internal/ui/asof"
	"dealflow/schemas/lake"
)

// Table is a table of a page.
type Table struct {
	Caption string
	Columns []Column
	Rows    []Row
	Sticky  int  // columns that stay when a narrow reader scrolls
	Marks   bool // rows are versions, whose numbers come first: two can be marked for a comparison
}

// Column is a column of a table.
type Column struct {
	Name   string
	Number bool
	Sort   string // address of the table sorted by it; "" for none
	Sorted string // ascending or descending; "" for not
	Type   Cell   // of the values, for those who know the engine; no text for none
}

// Row is a row of a table.
type Row struct {
	Cells []Cell
	Class string
}

// Cell is a value in a table.
type Cell struct {
	Text  string
	Title string // the whole value, if it was cut
	Link  string
	At    string // of an instant: its complete form
	Null  bool
	Cut   bool // Text is the beginning of Title: a reader gets to it without a mouse, and then sees the whole
	Class string
	Edits []Edit // what the text is a summary of; a reader can open it

	Drawing *chart.Drawing // in place of the text; nil for none
}

// Edit is a difference between two versions.
type Edit struct {
	Name, Was, Is string // Was and Is are empty for what was not there
}

// Columns returns columns with these names. A name that starts with ">" is a column of numbers.
func Columns(names ...string) []Column {
	all := make([]Column, len(names))
	for i, name := range names {
		number := strings.HasPrefix(name, ">")
		all[i] = Column{Name: strings.TrimPrefix(name, ">"), Number: number}
	}
	return all
}

// Add adds a row.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, Row{Cells: cells}) }

// maxCell is the most characters of a text in a table: its title has the whole.
const maxCell = 60

// Words returns a text as a cell.
func Words(text string) Cell {
	if utf8.RuneCountInString(text) <= maxCell {
		return Cell{Text: text}
	}
	return Cell{Text: string([]rune(text)[:maxCell-1]) + "…", Title: text, Cut: true}
}

// Value returns a value of an answer as a cell: NULL as a dash, an empty text as two quotation marks.
func Value(c asof.Cell) Cell {
	switch {
	case c.Null:
		return Cell{Text: chart.None, Title: "NULL", Null: true}
	case c.Text == "":
		return Cell{Text: "''", Title: "empty text"}
	}
	return Words(c.Text)
}

// Day returns a date of an answer as a cell.
func Day(c asof.Cell) Cell {
	d := Value(c)
	d.Class = "day"
	return d
}

// Whole returns a whole number as a cell.
func Whole(n int64) Cell { return Cell{Text: chart.Count(n)} }

// Moment returns an instant as a cell.
func Moment(t time.Time) Cell {
	if t.IsZero() {
		return Cell{Text: chart.None, Title: "not known", Null: true}
	}
	return Cell{Text: ShortTime(t), At: t.UTC().Format("2006-01-02T15:04:05.999999Z")}
}

// MomentOf returns an instant of an answer as a cell.
func MomentOf(c asof.Cell) Cell {
	at, err := asof.ParseInstant(c.Text)
	if c.Null || err != nil {
		return Value(c)
	}
	return Moment(at.Time)
}

// DayOf returns an instant of an answer as a cell that shows its day.
func DayOf(c asof.Cell) Cell {
	d := MomentOf(c)
	if at, err := asof.ParseInstant(c.Text); err == nil {
		d.Text = at.UTC().Format("2 Jan 2006")
	}
	return d
}

// ShortTime returns an instant in UTC to the minute.
func ShortTime(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04") }

// LongTime returns an instant in UTC to the minute, with the zone.
func LongTime(at lake.Instant) string { return at.UTC().Format("2 Jan 2006 15:04 UTC") }

// Of returns an answer as a table, column by column.
func Of(a *asof.Answer, caption string) *Table {
	t := &Table{Caption: caption}
	for _, c := range a.Columns {
		t.Columns = append(t.Columns, Column{Name: c.Name, Number: c.Number})
	}
	for _, cells := range a.Rows {
		r := Row{}
		for i := range cells {
			cell := Value(cells[i])
			if a.Columns[i].Number && strings.Contains(cell.Text, ".") {
				cell = Amount(cell)
			}
			r.Cells = append(r.Cells, cell)
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// Amount returns a decimal number with its thousands apart and without zeros at its end. The title has it as it is.
func Amount(c Cell) Cell {
	whole, fraction, isDecimal := strings.Cut(c.Text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if !isDecimal || err != nil || strings.ContainsAny(fraction, "eE") {
		return c
	}
	text := chart.Count(n)
	if n == 0 && strings.HasPrefix(whole, "-") {
		text = "-" + text
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		text += "." + fraction
	}
	return Cell{Text: text, Title: c.Text}
}

// maxDecimals is the most digits after the point in a column of numbers that stays as it is.
const maxDecimals = 4

// Shorten rounds columns of numbers that are quotients, which have more digits than say something: large ones to whole numbers,
// small ones to four digits after the point. The title of a cell has its value.
func Shorten(t *Table) {
	for i, c := range t.Columns {
		longest, largest := 0, 0.0
		for _, r := range t.Rows {
			_, fraction, _ := strings.Cut(r.Cells[i].Text, ".")
			longest = max(longest, len(fraction))
			if v, err := strconv.ParseFloat(r.Cells[i].exact(), 64); err == nil {
				largest = max(largest, math.Abs(v))
			}
		}
		if !c.Number || longest <= maxDecimals {
			continue
		}
		digits := maxDecimals
		switch {
		case largest >= 1000:
			digits = 0
		case largest >= 10:
			digits = 1
		}
		for _, r := range t.Rows {
			if v, err := strconv.ParseFloat(r.Cells[i].exact(), 64); err == nil {
				r.Cells[i] = Cell{Text: chart.Decimals(v, digits), Title: r.Cells[i].exact()}
			}
		}
	}
}

// exact returns the value of a cell before it was made to be read.
func (c *Cell) exact() string { return cmp.Or(c.Title, c.Text) }

// Ago returns a duration in words, in its largest unit, rounded: a microsecond less than nine hours is nine hours.
func Ago(d time.Duration) string {
	switch {
	case d < 0:
		return "in the future"
	case d < time.Minute:
		return "just now"
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min ago", int(d.Round(time.Minute).Minutes()))
	case d < 47*time.Hour+30*time.Minute:
		return fmt.Sprintf("%d h ago", int(d.Round(time.Hour).Hours()))
	}
	return fmt.Sprintf("%s days ago", chart.Count(int64(math.Round(d.Hours()/24))))
}

// Plural formats a number of things.
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return chart.Count(n) + " " + many
}
