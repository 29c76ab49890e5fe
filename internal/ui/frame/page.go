package frame

import (
	"cmp"
	"io"
	"slices"

	"dealflow/internal/chart"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/grid"
)

// Page is a kind of page. Its path is below the base; a part in braces is a variable.
type Page struct {
	Path   string
	Word   string   // of the navigation
	Title  string   // the heading, for a reader who waits for the content; "" if it is not known before that
	Key    string   // second key of the shortcut, after g; "" for a page that the navigation does not have
	Params []string // query parameters that it knows
	Live   bool     // it also says what is so now, if it is not pinned
	Whole  bool     // nothing of it is sent before it is complete, because it may be a File
	Show   func(*Request) (*Content, error)
	Main   func(*Request) (asof.Query, error) // its main table, for downloads; nil: none
	// Save writes what the page has as a file of a format of asof, in place of Main. The request's Ctx has the time of a download.
	Save func(q *Request, format string, out io.Writer) error
	Move func(*Request) (string, error) // where to go instead, "" for nowhere; nil: never
}

// List is the data of a page that is one table. The template "list" shows it.
type List struct {
	Table        *grid.Table
	Empty        string // what to say in place of a table without rows
	Before, Next string // addresses of the pages of the list; "" for none
	Filters      []Filter
}

// Filter is a way to narrow a list: its values with their counts.
type Filter struct {
	Name    string
	Choices []Choice
	All     string // address without the filter; "" if it is not set
	Others  string // number of values that are not among the choices, and of what they are of, in words; "" for none
}

// Choice is a link, or an option of a form.
type Choice struct {
	Text, Address string
	Count         string
	Current       bool
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// Filter returns the choices of a parameter, the most frequent first, at most that number of them; 0: all.
func (q *Request) Filter(name string, counts map[string]int64, most int) Filter {
	f := Filter{Name: name}
	current := q.Values.Get(name)
	if current != "" {
		f.All = q.With(name, "")
	}
	for text, n := range counts {
		if text != "" {
			f.Choices = append(f.Choices, Choice{Text: text, Address: q.With(name, text), Count: chart.Count(n), Current: text == current})
		}
	}
	slices.SortFunc(f.Choices, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(counts[b.Text], counts[a.Text]), cmp.Compare(a.Text, b.Text))
	})
	if most > 0 && len(f.Choices) > most {
		f.Choices = f.Choices[:most]
	}
	f.AddCurrent(current, q.With())
	return f
}

// AddCurrent adds the value that is asked for, if it is none of the choices: nothing has it, and it can be taken away. "" is no value.
func (f *Filter) AddCurrent(value, address string) {
	if value != "" && !slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Current }) {
		f.Choices = append(f.Choices, Choice{Text: value, Address: address, Count: "0", Current: true})
	}
}
