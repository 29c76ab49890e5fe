package deals

import (
	"cmp"
	"fmt"
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
	"dealflow/schemas/lake"
)

var dealParams = []string{"q", "service", "market", "kind", "currency", "sector", "grade", "year", "esg", "priced_from", "sort", "page", "state"}

// listRows is the number of rows on a page of a list.
const listRows = 100

// dealSorts are the orders of the list of deals. The first is the one of a list that names none.
var dealSorts = []string{"-day", "day", "-usd", "usd", "borrower", "-known"}

// marketOf returns the market that a request filters by, in capital letters; "" for all of them.
func marketOf(q *frame.Request) (string, error) { return parseMarket(q.Values.Get("market")) }

func parseMarket(text string) (string, error) {
	var known []string
	for _, service := range api.Services() {
		for _, market := range api.Markets(service) {
			known = append(known, string(market))
		}
	}
	text = strings.TrimSpace(text)
	if market := strings.ToUpper(text); market == "" || slices.Contains(known, market) {
		return market, nil
	}
	return "", frame.Errorf(http.StatusBadRequest, "market=%s: want one of %s", text, strings.Join(known, ", "))
}

// marketsOf returns the markets that a request filters by, in capital letters and with commas; "" for all of them.
func marketsOf(q *frame.Request) (string, error) {
	var all []string
	for _, text := range strings.Split(q.Values.Get("market"), ",") {
		market, err := parseMarket(text)
		if err != nil {
			return "", err
		}
		if market != "" {
			all = append(all, market)
		}
	}
	return strings.Join(all, ","), nil
}

// dealArgs returns the search and the filters of the list of deals.
func dealArgs(q *frame.Request) (asof.Args, error) {
	args := asof.Args{}
	for _, name := range []string{"service", "kind", "currency", "sector", "grade", "year", "esg"} {
		args[name] = q.Values.Get(name)
	}
	for _, name := range []string{"q", "priced_from"} { // a person writes these
		args[name] = strings.TrimSpace(q.Values.Get(name))
	}
	var err error
	if args["market"], err = marketOf(q); err != nil {
		return nil, err
	}
	if _, err := q.Choice("service", "bond", "loan"); err != nil {
		return nil, err
	}
	if _, err := q.Choice("kind", "priced", "expected"); err != nil {
		return nil, err
	}
	if _, err := q.Choice("state", "removed"); err != nil {
		return nil, err
	}
	if text := args["priced_from"]; text != "" {
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return nil, frame.Errorf(http.StatusBadRequest, "priced_from=%s: want a day such as 2026-01-05", text)
		}
	}
	_, err = q.Choice("sort", dealSorts...)
	args["sort"] = sorted(q)
	return args, err
}

// sorted returns the order of a list of deals. Of removed ones the newest removal is first.
func sorted(q *frame.Request) string {
	first := dealSorts[0]
	if q.Values.Get("state") == "removed" {
		first = "-known"
	}
	return cmp.Or(q.Values.Get("sort"), first)
}

func mainDeals(q *frame.Request) (asof.Query, error) {
	args, err := dealArgs(q)
	if err != nil {
		return asof.Query{}, err
	}
	if q.Values.Get("state") == "removed" {
		return asof.Query{Name: "removed_deals", Args: args}, nil
	}
	ending, err := byCanonicalNames(q, args["q"])
	return asof.Query{Name: "deals" + ending, Args: args}, err
}

// byCanonicalNames returns the ending of the statements' names that search also in canonical names, which costs time: "" if the
// text is a deal's id, or if there are no aliases.
func byCanonicalNames(q *frame.Request, text string) (string, error) {
	if _, err := strconv.ParseUint(text, 10, 63); text == "" || err == nil { // digits alone
		return "", nil
	}
	found, err := q.View.Ask(q.Ctx, asof.Query{Name: "aliases"})
	if err != nil || len(found.Rows) == 0 || found.Row(0).Text("alias_version") == "" {
		return "", err
	}
	return "_canonical", nil
}

func showDeals(q *frame.Request) (*frame.Content, error) {
	query, err := mainDeals(q)
	if err != nil {
		return nil, err
	}
	number, err := q.Number("page", 1, 100_000)
	if err != nil {
		return nil, err
	}
	query.Rows, query.Skip = listRows+1, (number-1)*listRows
	found, err := q.Ask(query)
	if err != nil {
		return nil, err
	}
	data := dealsData{List: frame.List{Table: &grid.Table{Caption: "Deals", Sticky: 2}}}
	c := &frame.Content{Title: "Deals", Template: "deals", Data: &data}
	rows := found.All()
	if len(rows) == 0 && number > 1 {
		return nil, frame.PastEnd(number)
	}
	if len(rows) > listRows {
		rows = rows[:listRows]
		data.Next = q.With("page", fmt.Sprint(number+1))
	}
	if number > 1 {
		data.Before = q.With("page", fmt.Sprint(number-1))
	}
	as := asOf(q)
	data.Empty = q.Empty(fmt.Sprintf("No deal %s matches %s. Take a filter away, or search for part of the name.", as, quoted(q)))
	var all int64
	if len(rows) > 0 {
		all = rows[0].Int("all_deals")
	}
	what := grid.Plural(all, "deal", "deals")
	if query.Name == "removed_deals" {
		what += " had been removed"
	}
	c.Lead = what + " " + as
	if text := quoted(q); text != "these filters" {
		c.Lead += " for " + text
	}
	c.Lead += "."
	dealRows(q, data.Table, rows)
	data.Facets = frame.Later(q, func() ([]frame.Filter, error) {
		facets, err := q.Ask(asof.Query{Name: strings.Replace(query.Name, "deals", "deal_facets", 1), Args: query.Args, Rows: 10_000})
		if err != nil {
			return nil, err
		}
		return append(facetFilters(q, facets), stateFilter(q)), nil
	})
	return c, nil
}

// asOf says in words of which instant a page is.
func asOf(q *frame.Request) string {
	if q.View.Pinned() {
		return "as of " + grid.LongTime(q.View.Instant())
	}
	return "in the newest state"
}

type dealsData struct {
	frame.List
	Facets *frame.Part[[]frame.Filter]
}

// quoted returns what was searched for, in words.
func quoted(q *frame.Request) string {
	if text := q.Values.Get("q"); text != "" {
		return "‘" + text + "’"
	}
	return "these filters"
}

func stateFilter(q *frame.Request) frame.Filter {
	f := frame.Filter{Name: "state", Choices: []frame.Choice{{Text: "removed", Address: q.With("state", "removed"), Current: q.Values.Get("state") == "removed"}}}
	if q.Values.Get("state") != "" {
		f.All = q.With("state", "")
	}
	return f
}

// facetFilters returns the filters with the number of deals of each value: the ten most frequent.
func facetFilters(q *frame.Request, found *asof.Answer) []frame.Filter {
	var all []frame.Filter
	for _, name := range []string{"service", "market", "kind", "currency", "sector", "grade", "year", "esg"} {
		f := frame.Filter{Name: name}
		if q.Values.Get(name) != "" {
			f.All = q.With(name, "")
		}
		others, deals := 0, int64(0)
		for _, r := range found.All() {
			if r.Text("facet") != name {
				continue
			}
			if len(f.Choices) == 10 {
				others++
				deals += r.Int("deals")
				continue
			}
			value := r.Text("value")
			f.Choices = append(f.Choices, frame.Choice{Text: value, Address: q.With(name, value), Count: chart.Count(r.Int("deals")), Current: q.Values.Get(name) == value})
		}
		f.AddCurrent(q.Values.Get(name), q.With())
		if others > 0 {
			f.Others = fmt.Sprintf("%d other, %s", others, grid.Plural(deals, "deal", "deals"))
		}
		if len(f.Choices) > 0 {
			all = append(all, f)
		}
	}
	return all
}

// dealOf returns the address of the page of a row's deal.
func dealOf(q *frame.Request, r asof.Row) string {
	return q.DealLink(r.Text("service"), r.Text("market"), r.Text("kind"), r.Int("deal_id"))
}

// amountText returns an amount in millions with its currency.
func amountText(r asof.Row) grid.Cell {
	if r.Null("amount") {
		if !r.Null("volume") {
			return grid.Value(r.Cell("volume"))
		}
		if r.Null("usd") {
			return grid.Value(r.Cell("usd"))
		}
		return grid.Cell{Text: millions(r.Text("usd")) + " m USD"}
	}
	return grid.Cell{Text: millions(r.Text("amount")) + " m " + r.Text("currency")}
}

// millions divides a decimal number by a million, to one digit.
func millions(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return chart.Decimals(v/1e6, 1)
}

// dealRows lists deals. Those that had been removed have the reason, and the instant of the removal.
func dealRows(q *frame.Request, t *grid.Table, rows []asof.Row) {
	isRemoved := q.Values.Get("state") == "removed"
	t.Columns = grid.Columns("feed", ">deal", "borrower", "day or stage", ">amount", "price", "sector", ">version", "known")
	if isRemoved {
		t.Columns = grid.Columns("feed", ">deal", "borrower", "day or stage", ">amount", "price", "sector", ">version", "removed", "reason")
	}
	for name, at := range map[string]int{"borrower": 2, "day": 3, "usd": 4, "known": 8} {
		current, next := sorted(q), "-"+name
		if name == "borrower" {
			next = name
		}
		switch current {
		case "-" + name:
			t.Columns[at].Sorted = "descending"
			next = name
			if name == "known" {
				next = "-known"
			}
		case name:
			t.Columns[at].Sorted = "ascending"
		}
		t.Columns[at].Sort = q.With("sort", next)
	}
	for _, r := range rows {
		when := grid.Value(r.Cell("day"))
		if r.Null("day") {
			when = grid.Value(r.Cell("stage"))
			if r.Null("stage") && !r.Null("headline") {
				when = grid.Value(r.Cell("headline"))
			}
		}
		known := grid.DayOf(r.Cell("known_at"))
		if isRemoved {
			known = grid.MomentOf(r.Cell("known_at"))
		}
		cells := []grid.Cell{
			{Text: strings.ToLower(r.Text("service") + "/" + r.Text("market") + "/" + r.Text("kind"))}, {Text: r.Text("deal_id"), Link: dealOf(q, r)},
			grid.Value(r.Cell("borrower")), when, amountText(r), grid.Value(r.Cell("price")), grid.Value(r.Cell("sector")), grid.Whole(r.Int("version")), known,
		}
		if isRemoved {
			cells = append(cells, grid.Value(r.Cell("reason")))
		}
		t.Add(cells...)
	}
}

var changeParams = []string{"from", "to", "service", "market", "kind", "change", "field", "quiet", "page"}

// changeArgs returns the interval and the filters of the changes. Without an interval it is the newest snapshot day, and what
// came after it.
func changeArgs(q *frame.Request) (asof.Args, error) {
	args := asof.Args{}
	for _, name := range []string{"service", "market", "kind", "change", "field", "quiet"} {
		args[name] = strings.TrimSpace(q.Values.Get(name))
	}
	var err error
	if args["market"], err = marketOf(q); err != nil {
		return nil, err
	}
	for name, words := range map[string][]string{
		"service": {"bond", "loan"}, "kind": {"priced", "expected"}, "change": {"added", "changed", "removed", "reappeared"}, "quiet": {"1"},
	} {
		if _, err := q.Choice(name, words...); err != nil {
			return nil, err
		}
	}
	if field := args["field"]; field != "" && !isField(field) {
		return nil, frame.Errorf(http.StatusBadRequest, "field=%s: want a table, and after a point a column of it, such as bond_priced_deals.spread", field)
	}
	args["from"], args["to"] = defaultInterval(q.View)
	for _, name := range []string{"from", "to"} {
		text := q.Values.Get(name)
		if text == "" {
			continue
		}
		at, err := q.Resolve(text)
		if err != nil {
			return nil, frame.Errorf(http.StatusBadRequest, "%s=%v", name, err)
		}
		args[name] = at.String()
	}
	if args["to"] > q.View.Instant().String() { // both have one form
		args["to"] = q.View.Instant().String()
	}
	return args, nil
}

// isField says whether a text is a table, or a column as in table.column.
func isField(text string) bool {
	name, column, isColumn := strings.Cut(text, ".")
	table, ok := lake.TableByName(name)
	return ok && (!isColumn || slices.Contains(lake.ColumnNames(table.HistoryColumns()), column))
}

// fromBeginning is the start of an interval before all commits.
const fromBeginning = "-infinity"

// hidden returns the parameters of a request that a form keeps.
func hidden(q *frame.Request, names ...string) (kept []frame.Fact) {
	for _, name := range names {
		if value := q.Values.Get(name); value != "" {
			kept = append(kept, frame.Fact{Name: name, Value: value})
		}
	}
	return kept
}

// defaultInterval returns the interval from the snapshot day before the newest one to the view's instant.
func defaultInterval(v *asof.View) (from, to string) {
	from, to = fromBeginning, v.Instant().String()
	commits := v.Commits()
	newest := ""
	for i := len(commits) - 1; i >= 0; i-- {
		switch c := &commits[i]; {
		case c.SnapshotDate == "":
		case newest == "":
			newest = c.SnapshotDate
		case c.SnapshotDate != newest:
			return c.KnownAt.String(), to
		}
	}
	return from, to
}

func mainChanges(q *frame.Request) (asof.Query, error) {
	args, err := changeArgs(q)
	return asof.Query{Name: "change_list", Args: args}, err
}

type changesData struct {
	Empty    string // what to say in place of a table without rows
	Matrix   *grid.Table
	Versions *frame.Part[*frame.List]
	From, To string
	Field    string       // table.column, to which the list is narrowed; "" for all
	Hidden   []frame.Fact // parameters that the form of the interval keeps
	Quiet    string       // address with, or without, versions that only have another time of change
	IsQuiet  bool
	Long     string // why the versions are not listed; "" if they are
	Recent   string // address of the end of an interval that is too long; "" for one that is not
}

// Above these the page has the counts alone: a list of them is of no use, and to sort them takes long.
const (
	intervalListed = 31 * 24 * time.Hour
	versionsListed = 50_000
)

// limit says why the versions of an interval are not listed, and how to go on. An interval ends where the known commits do.
func (data *changesData) limit(q *frame.Request, args asof.Args, versions int64) {
	commits := q.View.Commits()
	if len(commits) == 0 {
		return
	}
	from, to := commits[0].KnownAt, commits[len(commits)-1].KnownAt
	if at, err := asof.ParseInstant(args["from"]); err == nil && at.After(from.Time) {
		from = at
	}
	if at, err := asof.ParseInstant(args["to"]); err == nil && at.Before(to.Time) {
		to = at
	}
	if data.Long = tooMuch(to.Sub(from.Time), versions); to.Sub(from.Time) > intervalListed {
		data.Recent = q.With("from", asof.Path(lake.At(to.Add(-intervalListed))))
	}
}

// tooMuch says that an interval has more than the page lists; "" if it has not.
func tooMuch(took time.Duration, versions int64) string {
	all := grid.Plural(versions, "version", "versions")
	switch {
	case took > intervalListed:
		return fmt.Sprintf("These are %d days, with %s. Of more than 31 days the page has the counts alone: take a later start, or save all versions as Parquet.", int(took.Hours()/24), all)
	case versions > versionsListed:
		return fmt.Sprintf("These are %s. Of more than %s the page has the counts alone: take a feed or a shorter time, or save all as Parquet.", all, chart.Count(versionsListed))
	}
	return ""
}

func showChanges(q *frame.Request) (*frame.Content, error) {
	query, err := mainChanges(q)
	if err != nil {
		return nil, err
	}
	number, err := q.Number("page", 1, 100_000)
	if err != nil {
		return nil, err
	}
	counts, err := q.Ask(asof.Query{Name: "change_counts", Args: query.Args, Rows: 10_000})
	if err != nil {
		return nil, err
	}
	var all int64
	for _, r := range counts.All() {
		all += r.Int("versions")
	}
	if number > 1 && (number-1)*listRows >= all {
		return nil, frame.PastEnd(number)
	}
	data := &changesData{Empty: nothingKnown(q), From: query.Args["from"], To: query.Args["to"], Hidden: hidden(q, "service", "market", "kind", "change", "quiet"), Field: query.Args["field"], IsQuiet: query.Args["quiet"] != ""}
	if data.From == fromBeginning {
		data.From = "" // which the form says for it
	}
	data.Quiet = q.With("quiet", "1")
	if data.IsQuiet {
		data.Quiet = q.With("quiet", "")
	}
	data.Matrix = changeMatrix(q, counts)
	lead := fmt.Sprintf("%s became known after %s and not after %s.", grid.Plural(all, "version", "versions"), shortInstant(data.From), shortInstant(data.To))
	c := &frame.Content{Title: "Changes", Lead: lead, Template: "changes", Data: data}
	if data.limit(q, query.Args, all); data.Long != "" {
		return c, nil
	}
	data.Versions = frame.Later(q, func() (*frame.List, error) { return changedVersions(q, query, number) })
	return c, nil
}

func nothingKnown(q *frame.Request) string {
	return q.Empty("Nothing became known in this time. Choose an earlier start, or take a filter away.")
}

// changedVersions lists the versions of a page of the changes.
func changedVersions(q *frame.Request, query asof.Query, number int64) (*frame.List, error) {
	query.Rows, query.Skip = listRows+1, (number-1)*listRows
	found, err := q.Ask(query)
	if err != nil {
		return nil, err
	}
	values, err := q.Ask(asof.Query{Name: "change_values", Args: query.Args, Rows: listRows, Skip: query.Skip})
	if err != nil {
		return nil, err
	}
	edits := editsOf(values)
	data := &frame.List{Empty: nothingKnown(q)}
	rows := found.All()
	if len(rows) > listRows {
		rows = rows[:listRows]
		data.Next = q.With("page", fmt.Sprint(number+1))
	}
	if number > 1 {
		data.Before = q.With("page", fmt.Sprint(number-1))
	}
	data.Table = &grid.Table{Caption: "Versions", Sticky: 2, Columns: grid.Columns("feed", ">deal", "borrower", "change", "fields", ">version", "known")}
	for _, r := range rows {
		address := dealOf(q, r)
		change := grid.Cell{Text: r.Text("change"), Class: r.Text("change")}
		if !r.Null("reason") {
			change.Text += " (" + r.Text("reason") + ")"
		}
		if address != "" && r.Text("change") == "changed" {
			change.Link = address + "?tab=diff&v=" + r.Text("version")
		}
		data.Table.Add(grid.Cell{Text: strings.ToLower(r.Text("service") + "/" + r.Text("market") + "/" + r.Text("kind"))}, grid.Cell{Text: r.Text("deal_id"), Link: address},
			grid.Value(r.Cell("borrower")), change, fieldsCell(r, edits[versionOf(r)]), grid.Whole(r.Int("version")), grid.MomentOf(r.Cell("known_at")))
	}
	return data, nil
}

// versionOf identifies the version of a row.
func versionOf(r asof.Row) string {
	return strings.Join([]string{r.Text("service"), r.Text("market"), r.Text("kind"), r.Text("deal_id"), r.Text("version")}, "/")
}

// editsOf returns what differs in each version, by versionOf. The last of them says how many more there are.
func editsOf(values *asof.Answer) map[string][]grid.Edit {
	all, differences := map[string][]grid.Edit{}, map[string]int64{}
	for _, r := range values.All() {
		version := versionOf(r)
		name := strings.TrimSpace(r.Text("table_name") + "." + cmp.Or(r.Text("field"), r.Text("change")) + " " + r.Text("row_key"))
		all[version] = append(all[version], grid.EditOf(name, r.Text("was"), r.Text("is")))
		differences[version] = r.Int("differences")
	}
	for version, edits := range all {
		if more := differences[version] - int64(len(edits)); more > 0 {
			all[version] = append(edits, grid.Edit{Name: chart.Count(more) + " more, in the diff of the deal"})
		}
	}
	return all
}

// fieldsCell names the columns that differ; a reader can open what they were and are.
func fieldsCell(r asof.Row, edits []grid.Edit) grid.Cell {
	if len(edits) == 0 {
		return grid.Value(r.Cell("fields"))
	}
	names := shortFields(r.Text("fields"))
	return grid.Cell{Text: cmp.Or(names, "rows of lists"), Title: r.Text("fields"), Edits: edits}
}

func shortInstant(text string) string {
	at, err := asof.ParseInstant(text)
	if err != nil {
		return "the beginning"
	}
	return grid.LongTime(at)
}

// changeMatrix counts versions by feed and change; each count leads to its list.
func changeMatrix(q *frame.Request, counts *asof.Answer) *grid.Table {
	kinds := []string{"added", "changed", "removed", "reappeared"}
	t := &grid.Table{Caption: "Versions by feed", Sticky: 1, Columns: grid.Columns("feed", ">added", ">changed", ">removed", ">reappeared")}
	byFeed := map[string]map[string]int64{}
	for _, r := range counts.All() {
		name := strings.ToLower(r.Text("service") + "/" + r.Text("market") + "/" + r.Text("kind"))
		if byFeed[name] == nil {
			byFeed[name] = map[string]int64{}
		}
		byFeed[name][r.Text("change")] += r.Int("versions")
	}
	for _, feed := range api.Feeds() {
		counted := byFeed[feed.String()]
		if counted == nil {
			continue
		}
		narrow := []string{"service", string(feed.Service), "market", string(feed.Market), "kind", string(feed.Kind)}
		r := grid.Row{Cells: []grid.Cell{{Text: feed.String(), Link: q.With(narrow...)}}}
		for _, kind := range kinds {
			c := grid.Whole(counted[kind])
			if counted[kind] > 0 {
				c.Link = q.With(append(narrow, "change", kind)...)
			}
			r.Cells = append(r.Cells, c)
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}
