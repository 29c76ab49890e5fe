package deals

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/grid"
)

var pipelineParams = []string{"service", "market", "currency", "timing", "sponsor", "since", "view"}

const (
	pipelineRows = 10_000 // tranches that the page reads
	boardRows    = 2000   // tranches from which the table is the default
	columnCards  = 60     // cards of a column; the table has the others
	cardTranches = 4      // tranches of a card; the deal's page has the others
)

// pipelineArgs returns the filters of the pipeline, and the instant since which something is new.
func pipelineArgs(q *frame.Request) (asof.Args, error) {
	args := asof.Args{}
	for _, name := range append([]string{"service"}, pipelineFacets...) {
		args[name] = strings.TrimSpace(q.Values.Get(name))
	}
	var err error
	if args["market"], err = marketsOf(q); err != nil {
		return nil, err
	}
	for name, words := range map[string][]string{"service": {"bond", "loan"}, "sponsor": {"yes", "no"}, "view": {"board", "table"}} {
		if _, err := q.Choice(name, words...); err != nil {
			return nil, err
		}
	}
	args["since"], _ = defaultInterval(q.View)
	if text := q.Values.Get("since"); text != "" {
		at, err := q.Resolve(text)
		if err != nil {
			return nil, frame.Errorf(http.StatusBadRequest, "since=%v", err)
		}
		args["since"] = at.String()
	}
	return args, nil
}

func mainPipeline(q *frame.Request) (asof.Query, error) {
	args, err := pipelineArgs(q)
	return asof.Query{Name: "pipeline", Args: args}, err
}

type pipelineData struct {
	Services []frame.Choice
	Filters  []frame.Filter
	Views    []frame.Choice
	Hidden   []frame.Fact // parameters that the form of since keeps
	Since    string
	Columns  []boardColumn // of the board; empty for the table
	Table    *grid.Table   // nil for the board
	Left     *grid.Table
	LeftSaid string // how many left, in words
	Empty    string
}

// boardColumn is a column of the board.
type boardColumn struct {
	Name  string
	Cards []card
	Deals int    // all of them
	Table string // address of the table, if there are more than the cards
}

// card is a deal on the board.
type card struct {
	Link, Borrower, Market, Headline string
	Tranches                         []string
	More                             int // tranches that are not shown
	Badges                           []badge
	Changed                          string // columns that changed, besides those of Edits
	Edits                            []grid.Edit
	Listed                           string // for how long
	column                           string
}

// pipelineFacets are the filters of tranches, in the order in which the page has them.
var pipelineFacets = []string{"market", "currency", "timing", "sponsor"}

// AskPipeline asks what the page of the pipeline asks that has no filters, so that the first reader finds it answered.
func AskPipeline(ctx context.Context, v *asof.View) {
	args := asof.Args{"service": ""}
	for _, name := range pipelineFacets {
		args[name] = ""
	}
	args["since"], _ = defaultInterval(v)
	for _, query := range pipelineQueries(args) {
		if _, err := v.Ask(ctx, query); err != nil {
			return // the reader is told
		}
	}
}

// pipelineQueries returns what the page asks: the tranches, the deals that left, and what changed. Filters narrow the answer on the tranches here,
// not in the engine, so that a page with others needs no new one.
func pipelineQueries(args asof.Args) []asof.Query {
	all := maps.Clone(args)
	for _, name := range pipelineFacets {
		all[name] = ""
	}
	return []asof.Query{
		{Name: "pipeline", Args: all, Rows: pipelineRows}, {Name: "pipeline_left", Args: args, Rows: pipelineRows},
		{Name: "pipeline_changes", Args: all, Rows: pipelineRows},
	}
}

func showPipeline(q *frame.Request) (*frame.Content, error) {
	query, err := mainPipeline(q)
	if err != nil {
		return nil, err
	}
	// The counts of the filters are of both services, and the page shows one of them.
	wanted, filtered := query.Args["service"], asof.Query{Name: query.Name, Args: maps.Clone(query.Args), Rows: pipelineRows}
	query.Args["service"] = ""
	answers, err := q.AskAll(pipelineQueries(query.Args)...)
	if err != nil {
		return nil, err
	}
	q.Shows(filtered)
	found, left, edited := answers[0], answers[1], answers[2]
	if len(found.Rows) == pipelineRows { // there may be more, which the filters accept
		query.Rows = pipelineRows
		if found, err = q.Ask(query); err != nil {
			return nil, err
		}
	}
	found = narrowed(found, query.Args)
	data := &pipelineData{Since: query.Args["since"], Left: leftTable(q, left), LeftSaid: leftSaid(left)}
	c := &frame.Content{Title: "Pipeline", Template: "pipeline", Data: data}
	all := cardsOf(q, found, editedOf(edited))
	perService := map[string][]card{}
	for service, cards := range all {
		for i := range cards {
			perService[service] = append(perService[service], *cards[i])
		}
	}
	if wanted == "" {
		wanted = "bond"
		if len(perService["bond"]) == 0 {
			wanted = "loan"
		}
	}
	c.Lead = pipelineLead(perService, found, left, query.Args["since"])
	for _, s := range []struct{ name, word string }{{"bond", "Bonds"}, {"loan", "Loans"}} {
		data.Services = append(data.Services, frame.Choice{Text: s.word, Count: fmt.Sprint(len(perService[s.name])), Address: q.With("service", s.name), Current: wanted == s.name})
	}
	data.Filters = pipelineFilters(q, found, wanted)
	data.Hidden = hidden(q, "service", "market", "currency", "timing", "sponsor", "view")
	view := q.Values.Get("view")
	switch {
	case view != "":
	case len(found.Rows) > boardRows:
		view = "table"
	default:
		view = "board"
	}
	for _, name := range []string{"board", "table"} {
		data.Views = append(data.Views, frame.Choice{Text: name, Address: q.With("view", name), Current: view == name})
	}
	if len(perService[wanted]) == 0 {
		data.Empty = q.Empty("No expected " + wanted + " matches. Take a filter away, or look at the other tab.")
		return c, nil
	}
	if view == "table" {
		data.Table = pipelineTable(q, found, wanted, today(q))
		return c, nil
	}
	data.Columns = boardOf(q, perService[wanted], map[string][]string{"bond": bondColumns, "loan": loanColumns}[wanted])
	if cards := pricedCards(q, left, wanted); len(cards) > 0 {
		data.Columns = append(data.Columns, boardColumn{Name: "Priced since", Cards: cards[:min(len(cards), columnCards)], Deals: len(cards)})
	}
	return c, nil
}

// today is the day of the view's instant.
func today(q *frame.Request) time.Time {
	at := q.View.Instant().UTC()
	if c := q.View.Commit(); c != nil && !q.View.Pinned() {
		at = c.KnownAt.UTC()
	}
	return at.Truncate(24 * time.Hour)
}

func pipelineLead(cards map[string][]card, found, left *asof.Answer, since string) string {
	deals, isNew, changed, tranches := len(cards["bond"])+len(cards["loan"]), 0, 0, int64(0)
	for _, all := range cards {
		for i := range all {
			has := func(text string) bool {
				return slices.ContainsFunc(all[i].Badges, func(b badge) bool { return b.Text == text })
			}
			switch {
			case has("new") || has("back"):
				isNew++
			case has("changed"):
				changed++
			}
		}
	}
	for _, r := range found.All() {
		if !r.Null("ordinal") {
			tranches++
		}
	}
	return fmt.Sprintf("%s to come, with %s. Since %s: %d new, %d changed, %s.",
		grid.Plural(int64(deals), "deal", "deals"), grid.Plural(tranches, "tranche", "tranches"), shortInstant(since), isNew, changed, leftSaid(left))
}

// leftSaid says how many deals left, and how.
func leftSaid(left *asof.Answer) string {
	priced, gone := 0, 0
	for _, r := range left.All() {
		if strings.HasPrefix(r.Text("left_as"), "priced") {
			priced++
		} else {
			gone++
		}
	}
	return fmt.Sprintf("%d left (%d priced, %d gone)", priced+gone, priced, gone)
}

// narrowed returns the tranches that the filters accept, as the statement does that has them.
func narrowed(found *asof.Answer, args asof.Args) *asof.Answer {
	return found.Where(func(r asof.Row) bool {
		for i, value := range facetsOf(r) {
			name := pipelineFacets[i]
			wanted := []string{args[name]}
			if name == "market" {
				wanted = strings.Split(args[name], ",")
			}
			if args[name] != "" && !slices.Contains(wanted, value) {
				return false
			}
		}
		return true
	})
}

// facetsOf returns the values of a tranche for the filters; "" for none.
func facetsOf(r asof.Row) []string {
	sponsor := ""
	switch r.Text("sponsor_backed") {
	case "true":
		sponsor = "yes"
	case "false":
		sponsor = "no"
	}
	return []string{r.Text("market"), r.Text("currency"), r.Text("timing_form"), sponsor}
}

// pipelineFilters counts the deals of a service by the values of the filters.
func pipelineFilters(q *frame.Request, found *asof.Answer, service string) []frame.Filter {
	counts, seen := map[string]map[string]int64{}, map[string]bool{}
	for _, name := range pipelineFacets {
		counts[name] = map[string]int64{}
	}
	for _, r := range found.All() {
		if r.Text("service") != service {
			continue
		}
		for i, value := range facetsOf(r) {
			// A deal counts once for each of its currencies and timings.
			key := strings.Join([]string{pipelineFacets[i], value, r.Text("market"), r.Text("deal_id")}, "\x00")
			if !seen[key] {
				seen[key] = true
				counts[pipelineFacets[i]][value]++
			}
		}
	}
	var filters []frame.Filter
	for _, name := range pipelineFacets {
		f := q.Filter(name, counts[name], 10)
		if name == "sponsor" {
			f.Name = "sponsor-backed"
		}
		if more := len(counts[name]) - len(f.Choices) - int(min(counts[name][""], 1)); more > 0 {
			f.Others = fmt.Sprintf("%d more", more)
		}
		if len(f.Choices) > 0 {
			filters = append(filters, f)
		}
	}
	return filters
}

// cardsOf returns the deals of a pipeline by service, in the order of the rows.
func cardsOf(q *frame.Request, found *asof.Answer, edited map[string][]grid.Edit) map[string][]*card {
	all, byDeal, day := map[string][]*card{}, map[string]*card{}, today(q)
	for _, r := range found.All() {
		service := r.Text("service")
		key := service + "/" + r.Text("market") + "/" + r.Text("deal_id")
		c := byDeal[key]
		if c == nil {
			c = newCard(q, r, edited[key])
			byDeal[key] = c
			all[service] = append(all[service], c)
		}
		column, note := loanColumn(r), ""
		columns := loanColumns
		if service == "bond" {
			columns = bondColumns
			column, note = bondColumn(r, day)
		}
		// A deal is in the column of its tranche that comes first.
		if c.column == "" || slices.Index(columns, column) < slices.Index(columns, c.column) {
			c.column = column
		}
		if r.Null("ordinal") {
			continue
		}
		if len(c.Tranches) == cardTranches {
			c.More++
			continue
		}
		c.Tranches = append(c.Tranches, trancheLine(r, note))
	}
	return all
}

// pricedCards returns the deals of a service that priced since then. Each leads to the deal that it priced as.
func pricedCards(q *frame.Request, left *asof.Answer, service string) (cards []card) {
	for _, r := range left.All() {
		if r.Text("service") != service || !strings.HasPrefix(r.Text("left_as"), "priced") {
			continue
		}
		c := card{Link: q.DealLink(service, r.Text("market"), "expected", r.Int("deal_id")), Borrower: r.Text("borrower_name"), Market: r.Text("market"), Headline: r.Text("headline")}
		if r.Null("borrower_name") {
			c.Borrower = "deal " + r.Text("deal_id")
		}
		link, others := pricedAs(q, r)
		c.Link, c.More = cmp.Or(link, c.Link), others
		c.Badges = []badge{{Text: "priced", Class: "ok"}}
		cards = append(cards, c)
	}
	return cards
}

// pricedAs returns the link of the first deal as which one has priced, "" for none, and how many others there are.
func pricedAs(q *frame.Request, r asof.Row) (link string, others int) {
	deals := strings.Fields(r.Text("priced_deals"))
	if len(deals) == 0 {
		return "", 0
	}
	market, number, found := strings.Cut(deals[0], "/")
	if !found {
		market, number = r.Text("market"), deals[0]
	}
	if id, err := strconv.ParseInt(number, 10, 64); err == nil {
		link = q.DealLink(r.Text("service"), market, "priced", id)
	}
	return link, len(deals) - 1
}

// editedOf returns what became of the main columns of each deal, by service, market and number.
func editedOf(found *asof.Answer) map[string][]grid.Edit {
	all := map[string][]grid.Edit{}
	for _, r := range found.All() {
		key, name := r.Text("service")+"/"+r.Text("market")+"/"+r.Text("deal_id"), editNames[r.Text("field")]
		if name == "" || r.Text("field") == "stage" { // a badge says from where a loan moved
			continue
		}
		if tranche := r.Text("row_key"); tranche != "" && tranche != "1" {
			name += " of tranche " + tranche
		}
		all[key] = append(all[key], grid.Edit{Name: name, Was: r.Text("was"), Is: r.Text("is")})
	}
	return all
}

// editNames are the columns of which a card says what became of them.
var editNames = map[string]string{
	"volume": "volume", "price_evolution": "price", "margin": "margin", "oid": "OID", "timing": "timing", "structure": "structure", "books": "books", "status": "status",
}

func newCard(q *frame.Request, r asof.Row, edits []grid.Edit) *card {
	c := &card{
		Link: q.DealLink(r.Text("service"), r.Text("market"), "expected", r.Int("deal_id")), Borrower: r.Text("borrower_name"), Market: r.Text("market"),
		Headline: r.Text("headline"),
	}
	if r.Null("borrower_name") {
		c.Borrower = "deal " + r.Text("deal_id")
	}
	switch {
	case r.Text("left_censored") == "true":
		c.Listed = "since before the first run"
	case !r.Null("days_listed"):
		c.Listed = grid.Plural(r.Int("days_listed"), "day listed", "days listed")
	}
	switch {
	case r.Text("is_new") == "true":
		c.Badges = append(c.Badges, badge{Text: "new", Class: "ok"})
	case r.Text("is_back") == "true":
		c.Badges = append(c.Badges, badge{Text: "back", Class: "ok", Title: "it had been removed"})
	case r.Text("is_changed") == "true":
		c.Badges = append(c.Badges, badge{Text: "changed", Class: "warn"})
		c.Edits = edits
		c.Changed = shortFields(r.Text("fields"), "volume", "price_evolution", "margin", "oid", "timing", "structure", "books", "stage", "status", "priced_deal_href", "priced_deal_id")
	}
	if !r.Null("moved_from") {
		c.Badges = append(c.Badges, badge{Text: "moved from " + cmp.Or(r.Text("moved_from"), "no stage"), Class: "warn"})
	}
	if r.Text("service") == "loan" && loanColumn(r) == otherWords {
		c.Badges = append(c.Badges, badge{Text: "“" + cmp.Or(r.Text("stage"), "no stage") + "”", Class: "plain", Title: "the stage as the source spells it"})
	}
	return c
}

// shortFields returns columns without their tables: three, and the number of the others. That a record has another time of
// change is no news.
func shortFields(text string, known ...string) string {
	var names []string
	for _, field := range strings.Split(text, ", ") {
		if _, column, ok := strings.Cut(field, "."); ok && column != "changed" && !slices.Contains(names, column) && !slices.Contains(known, column) {
			names = append(names, column)
		}
	}
	if len(names) > 4 {
		names = append(names[:3], fmt.Sprintf("%d more", len(names)-3))
	}
	return strings.Join(names, ", ")
}

// trancheLine returns a tranche in a line: what, how much, at which price, when.
func trancheLine(r asof.Row, note string) string {
	parts := []string{}
	for _, name := range []string{"structure", "volume", "price", "timing"} {
		if text := strings.TrimSpace(r.Text(name)); text != "" {
			parts = append(parts, text)
		}
	}
	if r.Null("volume") && !r.Null("currency") {
		parts = slices.Insert(parts, min(1, len(parts)), r.Text("currency"))
	}
	if len(parts) == 0 {
		parts = append(parts, cmp.Or(r.Text("tranche_name"), "tranche "+r.Text("ordinal")))
	}
	if note != "" {
		parts[len(parts)-1] += " (" + note + ")"
	}
	return strings.Join(parts, " · ")
}

// boardOf puts deals into columns. A column without deals is left out, except those that every board has.
func boardOf(q *frame.Request, cards []card, columns []string) []boardColumn {
	var board []boardColumn
	for _, name := range columns {
		column := boardColumn{Name: name}
		for i := range cards {
			if cards[i].column != name {
				continue
			}
			column.Deals++
			if len(column.Cards) < columnCards {
				column.Cards = append(column.Cards, cards[i])
			} else {
				column.Table = q.With("view", "table")
			}
		}
		if column.Deals > 0 {
			board = append(board, column)
		}
	}
	return board
}

// pipelineTable lists the tranches of a service.
func pipelineTable(q *frame.Request, found *asof.Answer, service string, day time.Time) *grid.Table {
	t := &grid.Table{Caption: "Tranches", Sticky: 2, Columns: grid.Columns("market", ">deal", "borrower", "column", "stage or timing", "structure", "volume", "price", ">days listed", "news")}
	for _, r := range found.All() {
		if r.Text("service") != service {
			continue
		}
		column, words := loanColumn(r), grid.Value(r.Cell("stage"))
		if service == "bond" {
			var note string
			column, note = bondColumn(r, day)
			if words = grid.Value(r.Cell("timing")); note != "" {
				words.Text += " (" + note + ")"
			}
		}
		var news []string
		for _, b := range newCard(q, r, nil).Badges {
			news = append(news, b.Text)
		}
		listed := grid.Value(r.Cell("days_listed"))
		if r.Text("left_censored") == "true" {
			listed.Title = "listed since before the first run"
		}
		t.Add(grid.Cell{Text: r.Text("market")}, grid.Cell{Text: r.Text("deal_id"), Link: q.DealLink(service, r.Text("market"), "expected", r.Int("deal_id"))},
			grid.Value(r.Cell("borrower_name")), grid.Cell{Text: column}, words, grid.Value(r.Cell("structure")), grid.Value(r.Cell("volume")), grid.Value(r.Cell("price")), listed, grid.Words(strings.Join(news, ", ")))
	}
	return t
}

// leftTable lists the deals that left the pipeline, with the deals that they priced as.
func leftTable(q *frame.Request, found *asof.Answer) *grid.Table {
	t := &grid.Table{Caption: "Deals that left", Sticky: 2, Columns: grid.Columns("feed", ">deal", "borrower", "left as", "priced deal", "known")}
	for _, r := range found.All() {
		priced := grid.Value(r.Cell("priced_deals"))
		priced.Link, _ = pricedAs(q, r)
		t.Add(grid.Cell{Text: strings.ToLower(r.Text("service") + "/" + r.Text("market") + "/expected")}, grid.Cell{Text: r.Text("deal_id"), Link: q.DealLink(r.Text("service"), r.Text("market"), "expected", r.Int("deal_id"))},
			grid.Value(r.Cell("borrower_name")), grid.Value(r.Cell("left_as")), priced, grid.MomentOf(r.Cell("known_at")))
	}
	return t
}
