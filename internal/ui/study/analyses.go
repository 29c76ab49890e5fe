package study

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dealflow/internal/chart"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/grid"
	"dealflow/schemas/api"
	"dealflow/sql/explorer"
)

// Analysis is what an analysis says of itself, each a paragraph; the items of a list are on lines that begin with "- ".
type Analysis struct {
	Name, Title, Definition, Parameters, Units, Caveats string
}

// ownAnalyses are cuts of an analysis that are no macro.
var ownAnalyses = []Analysis{{
	Name: "execution_by", Title: "How bonds reached their price, by sector, rating, month or another cut.",
	Definition: "One row per value of the cut. The deals are those of execution_metrics that priced from the first day to the last one, both included.\n" +
		"- tightening: first talk − final spread; cover: final books ÷ nominal; premium: the new-issue premium; window: the time from the first talk to the last.\n" +
		"- n: the deals that have the measure. mean, median and the quartiles are of these.",
	Units:   "tightening and premium: basis points. cover: a multiple. window: minutes.",
	Caveats: "A mean of few deals says little: bars of fewer than 5 are hatched. By month or year the chart is the median, in the band of the quartiles. See execution_metrics for what each measure leaves out.",
}}

const (
	chartedRows = 5000 // rows that a chart is drawn from
	pageRows    = 100  // rows of a table on a page
	wideRows    = 25   // the same of a table with more than fifty columns: 100 rows of it take too long to write and to draw
)

// analysisPages returns the pages: one that lists the analyses, and one for each of them.
func analysisPages(described []Analysis) []frame.Page {
	described = append(slices.Clone(described), ownAnalyses...)
	pages := []frame.Page{{Path: "analyses", Word: "Analyses", Title: "Analyses", Key: "a", Show: func(q *frame.Request) (*frame.Content, error) { return showAnalyses(q, described) }}}
	for _, a := range explorer.Analyses() {
		p := &analysisPage{Analysis: Analysis{Name: a.Name}, asked: a, plot: plots[a.Name]}
		if i := slices.IndexFunc(described, func(d Analysis) bool { return d.Name == a.Name }); i >= 0 {
			p.Analysis = described[i]
		}
		params := []string{"page"}
		for i := range a.Params {
			params = append(params, a.Params[i].Name)
		}
		pages = append(pages, frame.Page{Path: "analyses/" + a.Name, Word: "Analyses", Title: p.heading(), Params: params, Show: p.show, Main: p.main})
	}
	return pages
}

// showAnalyses lists the analyses.
func showAnalyses(q *frame.Request, described []Analysis) (*frame.Content, error) {
	t := &grid.Table{Caption: "Analyses", Sticky: 1, Columns: grid.Columns("analysis", "what it returns", "chart")}
	for _, a := range explorer.Analyses() {
		title, drawn := grid.Cell{}, grid.Cell{Text: chart.None, Null: true}
		if i := slices.IndexFunc(described, func(d Analysis) bool { return d.Name == a.Name }); i >= 0 {
			title.Text = described[i].Title
		}
		if _, ok := plots[a.Name]; ok {
			drawn = grid.Cell{Text: "yes"}
		}
		t.Add(grid.Cell{Text: a.Name, Link: q.Link("analyses/" + a.Name)}, title, drawn)
	}
	return &frame.Content{Title: "Analyses", Lead: fmt.Sprintf("%d analyses of the lake, each as of the instant above.", len(t.Rows)), Template: "analyses", Data: t}, nil
}

// analysisPage is the page of an analysis.
type analysisPage struct {
	Analysis
	asked explorer.Analysis
	plot  plot
}

// args reads the form. complete is false if a value is missing that has no default.
func (p *analysisPage) args(q *frame.Request) (args asof.Args, complete bool, err error) {
	args, complete = asof.Args{}, true
	for i := range p.asked.Params {
		param := &p.asked.Params[i]
		text := strings.TrimSpace(q.Values.Get(param.Name))
		if text == "" {
			text = defaultOf(q, param)
		}
		if text == "" && !param.Optional {
			complete = false
			continue
		}
		if args[param.Name], err = valueOf(param, text); err != nil {
			return nil, false, err
		}
	}
	if service, ok := args["of_service"]; ok {
		markets := api.Markets(api.Service(service))
		if market := args["of_market"]; !slices.Contains(markets, api.Market(market)) {
			return nil, false, frame.Errorf(http.StatusBadRequest, "of_market=%s: the markets of the service %s are %v", market, service, markets)
		}
	}
	return args, complete, nil
}

// defaultOf returns the value of a parameter that the form does not have.
func defaultOf(q *frame.Request, param *explorer.Param) string {
	if param.Kind != explorer.Day || param.Default == "" {
		return param.Default
	}
	days, err := strconv.Atoi(param.Default)
	if err != nil {
		return ""
	}
	return q.View.Instant().UTC().AddDate(0, 0, -days).Format(time.DateOnly)
}

// valueOf checks the value of a parameter, and returns it as the statement wants it.
func valueOf(param *explorer.Param, text string) (string, error) {
	wrong := func(want string) error {
		return frame.Errorf(http.StatusBadRequest, "%s=%s: want %s", param.Name, text, want)
	}
	switch param.Kind {
	case explorer.Choice:
		if !slices.Contains(param.Choices, text) {
			return "", wrong("one of " + strings.Trim(strings.Join(param.Choices, ", "), ", "))
		}
	case explorer.Day:
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return "", wrong("a day such as 2026-01-05")
		}
	case explorer.Number:
		n, err := strconv.ParseInt(text, 10, 64)
		if most := cmp.Or(param.Most, math.MaxInt64); err != nil || n < param.Least || n > most {
			want := fmt.Sprintf("a whole number from %d", param.Least)
			if param.Most > 0 {
				want += fmt.Sprintf(" to %d", most)
			}
			return "", wrong(want)
		}
	case explorer.Numbers, explorer.Words:
		parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
		for _, part := range parts {
			if _, err := strconv.ParseInt(part, 10, 64); err != nil && param.Kind == explorer.Numbers {
				return "", wrong("whole numbers with commas")
			}
			if strings.ContainsAny(part, `[]'"\{}`) {
				return "", wrong("names of columns with commas")
			}
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	}
	return text, nil
}

func (p *analysisPage) main(q *frame.Request) (asof.Query, error) {
	args, complete, err := p.args(q)
	if err == nil && !complete {
		err = frame.Errorf(http.StatusBadRequest, "the form of %s is not complete: fill in %s", p.Name, strings.Join(p.missing(q), ", "))
	}
	return asof.Query{Name: p.asked.Statement(), Args: args}, err
}

// missing returns the labels of the fields that must be filled in.
func (p *analysisPage) missing(q *frame.Request) (labels []string) {
	for i := range p.asked.Params {
		if param := &p.asked.Params[i]; !param.Optional && defaultOf(q, param) == "" && q.Values.Get(param.Name) == "" {
			labels = append(labels, param.Label)
		}
	}
	return labels
}

type analysisData struct {
	Analysis
	frame.List
	Fields []formField
	Chart  *chart.Drawing
	Said   string // what the chart leaves out; "" for nothing
	Needs  string // fields that must be filled in; "" for none
}

// part is a paragraph of what an analysis says of itself, with its list.
type part struct {
	Name, First string
	Items       []string
}

// Parts returns what the analysis says of itself.
func (a Analysis) Parts() (parts []part) {
	for _, p := range []frame.Fact{{Name: "Definition", Value: a.Definition}, {Name: "Parameters", Value: a.Parameters}, {Name: "Units", Value: a.Units}, {Name: "Caveats", Value: a.Caveats}} {
		if p.Value == "" {
			continue
		}
		lines := strings.Split(p.Value, "\n- ")
		parts = append(parts, part{p.Name, lines[0], lines[1:]})
	}
	return parts
}

// formField is a field of a form.
type formField struct {
	ID, Name, Label, Type, Value string
	Least                        int64          // of a number
	Choices                      []frame.Choice // of a select
}

// heading says in a line what the analysis returns.
func (p *analysisPage) heading() string { return cmp.Or(strings.TrimSuffix(p.Title, "."), p.Name) }

func (p *analysisPage) show(q *frame.Request) (*frame.Content, error) {
	args, complete, err := p.args(q)
	if err != nil {
		return nil, err
	}
	data := &analysisData{Analysis: p.Analysis, Fields: p.fields(q)}
	data.Empty = q.Empty("The answer has no row: nothing of the lake matches the form.")
	c := &frame.Content{Title: p.heading(), Template: "analysis", Data: data}
	if !complete {
		c.Lead = "The analysis " + p.Name + "."
		data.Needs = strings.Join(p.missing(q), ", ")
		return c, nil
	}
	number, err := q.Number("page", 1, 100_000)
	if err != nil {
		return nil, err
	}
	rows := int64(pageRows)
	if p.asked.Wide {
		rows = wideRows
	}
	query := asof.Query{Name: p.asked.Statement(), Args: args, Rows: rows + 1, Skip: (number - 1) * rows}
	if p.plot.kind != nil {
		query.Rows, query.Skip = chartedRows, 0
	}
	found, err := q.Ask(query)
	if err != nil {
		return nil, err
	}
	data.Table = grid.Of(found, p.Name)
	data.Table.Sticky = 1
	grid.Shorten(data.Table)
	first := ""
	if p.plot.kind != nil {
		data.Chart, data.Said, first = p.plot.draw(p.Name, found, args)
		if len(found.Rows) == chartedRows {
			data.Said = strings.TrimSpace(data.Said + fmt.Sprintf(" It is of the first %s rows.", chart.Count(chartedRows)))
		}
		data.Table.Rows = data.Table.Rows[min((number-1)*rows, int64(len(data.Table.Rows))):]
	}
	if number > 1 && len(data.Table.Rows) == 0 {
		return nil, frame.PastEnd(number)
	}
	if int64(len(data.Table.Rows)) > rows {
		data.Table.Rows = data.Table.Rows[:rows]
		data.Next = q.With("page", fmt.Sprint(number+1))
	}
	if number > 1 {
		data.Before = q.With("page", fmt.Sprint(number-1))
	}
	c.Lead = p.lead(q, query.Skip, int64(len(found.Rows)), int64(len(found.Rows)) == query.Rows, first)
	linkDeals(q, data.Table, p.asked.Kind)
	return c, nil
}

// lead says how many rows the answer has after those that were skipped, and what the first bar of its chart is.
func (p *analysisPage) lead(q *frame.Request, skipped, rows int64, more bool, first string) string {
	said := grid.Plural(skipped+rows, "row", "rows") + " of " + p.Name
	switch {
	case more && p.plot.kind != nil:
		said = "At least " + said
	case more: // one row more than the page shows was asked for
		said = fmt.Sprintf("Rows %s to %s of %s, and more on the next page", chart.Count(skipped+1), chart.Count(skipped+rows-1), p.Name)
	}
	if q.View.Pinned() {
		said += " as of " + grid.LongTime(q.View.Instant())
	}
	if first != "" {
		said += "; the first is " + first
	}
	return said + "."
}

// fields returns the form, filled in as it was sent, else with the defaults.
func (p *analysisPage) fields(q *frame.Request) []formField {
	var all []formField
	for i := range p.asked.Params {
		param := &p.asked.Params[i]
		value := q.Values.Get(param.Name)
		if value == "" {
			value = defaultOf(q, param)
		}
		f := formField{ID: "form-" + strings.ReplaceAll(param.Name, "_", "-"), Name: param.Name, Label: param.Label, Type: "text", Value: value}
		switch param.Kind {
		case explorer.Day:
			f.Type = "date"
		case explorer.Number:
			f.Type, f.Least = "number", param.Least
		case explorer.Choice:
			for _, c := range param.Choices {
				choice := frame.Choice{Text: c, Address: c, Current: c == value}
				if c == "" {
					choice.Text = "all"
				}
				f.Choices = append(f.Choices, choice)
			}
		}
		all = append(all, f)
	}
	return all
}

// linkDeals makes links of the ids of deals in a table. Of a table without a column for the kind, all are of the kind that is given; one without
// a column for the service has that of the market.
func linkDeals(q *frame.Request, t *grid.Table, given string) {
	at := func(name string) int {
		return slices.IndexFunc(t.Columns, func(c grid.Column) bool { return c.Name == name })
	}
	service, market, kind, deal := at("service"), at("market"), at("kind"), at("deal_id")
	if market < 0 || deal < 0 || kind < 0 && given == "" {
		return
	}
	for i := range t.Rows {
		cells := t.Rows[i].Cells
		dealService, dealKind := serviceOf(cells[market].Text), given
		if service >= 0 {
			dealService = cells[service].Text
		}
		if kind >= 0 {
			dealKind = cells[kind].Text
		}
		if id, err := strconv.ParseInt(cells[deal].Text, 10, 64); err == nil && dealService != "" {
			cells[deal].Link = q.DealLink(dealService, cells[market].Text, dealKind, id)
		}
	}
}

// serviceOf returns the service of a market; "" for none.
func serviceOf(market string) string {
	for _, service := range api.Services() {
		if slices.Contains(api.Markets(service), api.Market(market)) {
			return string(service)
		}
	}
	return ""
}
