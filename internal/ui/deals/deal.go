package deals

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"dealflow/internal/chart"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/grid"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// dealTabs are the parts of a deal's page. The first is the one that opens.
var dealTabs = []string{"timeline", "diff", "fields", banksTab, pricesTab, listsTab, "payload"}

// The tabs with lists of a deal.
const (
	banksTab  = "banks"
	pricesTab = "prices"
	listsTab  = "lists"
)

// tabOf returns the tab with a list.
func tabOf(table string) string {
	switch table {
	case "bond_priced_banks", "loan_priced_tranche_banks":
		return banksTab
	case "bond_priced_price_evolution":
		return pricesTab
	}
	return listsTab
}

// hasTab says whether the deals of a feed have a part.
func hasTab(feed api.Feed, tab string) bool {
	if tab != banksTab && tab != pricesTab && tab != listsTab {
		return true
	}
	return slices.ContainsFunc(lake.FeedTables(feed)[1:], func(t *lake.Table) bool { return tabOf(t.Name) == tab })
}

// subject is the deal of a page.
type subject struct {
	feed     api.Feed
	id       int64
	versions []asof.Row
	args     asof.Args
}

// findDeal reads the versions of the deal that a path names.
func findDeal(q *frame.Request) (*subject, error) {
	feed, err := api.ParseFeed(q.Vars["service"] + "/" + q.Vars["market"] + "/" + q.Vars["kind"])
	id, notID := strconv.ParseInt(q.Vars["deal"], 10, 64)
	if err != nil || notID != nil {
		return nil, frame.Errorf(http.StatusNotFound, "no deal has this address: want one such as deals/bond/em/priced/100600")
	}
	d := &subject{feed: feed, id: id, args: asof.Args{"service": string(feed.Service), "market": string(feed.Market), "kind": string(feed.Kind), "deal_id": fmt.Sprint(id)}}
	found, err := q.Ask(asof.Query{Name: "deal_versions", Args: d.args, Rows: 10_000})
	if err != nil {
		return nil, err
	}
	if d.versions = found.All(); len(d.versions) == 0 {
		return nil, frame.Errorf(http.StatusNotFound, "No deal %d of %s is known as of this instant. Ids repeat from feed to feed: search for the number.", id, feed)
	}
	return d, nil
}

// with returns the deal's parameters with others.
func (d *subject) with(pairs ...string) asof.Args {
	args := asof.Args{}
	for name, value := range d.args {
		args[name] = value
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		args[pairs[i]] = pairs[i+1]
	}
	return args
}

// latest is the deal's newest version.
func (d *subject) latest() asof.Row { return d.versions[len(d.versions)-1] }

// readable returns the newest version, up to a number, that has content; nil for none.
func (d *subject) readable(upTo int64) *asof.Row {
	for i := len(d.versions) - 1; i >= 0; i-- {
		if r := d.versions[i]; r.Int("version") <= upTo && r.Text("change") != lake.Removed {
			return &r
		}
	}
	return nil
}

type dealData struct {
	Feed     string
	ID       int64
	Badges   []badge
	Facts    []frame.Fact
	Tabs     []frame.Choice
	Tab      string
	Links    []frame.Choice
	Tranches []string // a line each
	More     int      // tranches that are not shown
	API      string   // path of the deal in `dealflow serve`
	Timeline *chart.Drawing
	Events   *grid.Table
	Versions *grid.Table
	Diff     *diffData
	Fields   []fieldGroup
	Lists    []*grid.Table
	Talk     []*chart.Drawing // price talk, a drawing for each benchmark
	Payload  *payloadData
	Part     *frame.Part[bool] // fills what the tab shows
}

type badge struct{ Text, Class, Title string }

func mainDeal(q *frame.Request) (asof.Query, error) {
	d, err := findDeal(q)
	if err != nil {
		return asof.Query{}, err
	}
	switch q.Values.Get("tab") {
	case "diff":
		from, to, isNeighbour, err := d.compared(q)
		if err == nil && !isNeighbour {
			err = frame.Errorf(http.StatusBadRequest, "against=%d: a file has what changed from a version to the next; take \"against\" away", from)
		}
		return asof.Query{Name: "deal_changes", Args: d.with("version", fmt.Sprint(to))}, err
	case "fields", banksTab, pricesTab, listsTab:
		if r := d.readable(d.latest().Int("version")); r != nil {
			return asof.Query{Name: "rows/" + lake.FeedTables(d.feed)[0].Name, Args: d.with("version", r.Text("version"))}, nil
		}
	}
	return asof.Query{Name: "deal_events", Args: d.args}, nil
}

func showDeal(q *frame.Request) (*frame.Content, error) {
	d, err := findDeal(q)
	if err != nil {
		return nil, err
	}
	tab, err := q.Choice("tab", dealTabs...)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"v", "against"} {
		if _, err := d.version(q, name, 1); err != nil {
			return nil, err
		}
	}
	data := &dealData{Feed: d.feed.String(), ID: d.id, Tab: cmp.Or(tab, dealTabs[0])}
	c := &frame.Content{Title: fmt.Sprintf("%s %d", d.feed, d.id), Template: "deal", Data: data}
	for _, name := range dealTabs {
		if !hasTab(d.feed, name) {
			continue
		}
		data.Tabs = append(data.Tabs, frame.Choice{Text: name, Address: q.With("tab", name, "v", "", "against", "", "all", ""), Current: name == data.Tab})
	}
	latest := d.latest()
	shown := d.readable(latest.Int("version"))
	var own *asof.Answer
	if shown != nil {
		if own, err = q.Ask(asof.Query{Name: "rows/" + lake.FeedTables(d.feed)[0].Name, Args: d.with("version", shown.Text("version"))}); err != nil {
			return nil, err
		}
	}
	d.head(q, data, c, own)
	if err := d.linked(q, data); err != nil {
		return nil, err
	}
	if err := d.tranches(q, data, shown); err != nil {
		return nil, err
	}
	data.Part = frame.Later(q, func() (filled bool, err error) {
		switch data.Tab {
		case "diff":
			data.Diff, err = d.diff(q)
		case "fields":
			data.Fields = fieldsOf(d.feed, own)
		case banksTab, pricesTab, listsTab:
			data.Lists, err = d.lists(q, shown, data)
		case "payload":
			data.Payload, err = d.payload(q)
		default:
			err = d.timeline(q, data)
		}
		return err == nil, err
	})
	return c, nil
}

// head fills the heading: who, what, and how it is now.
func (d *subject) head(q *frame.Request, data *dealData, c *frame.Content, own *asof.Answer) {
	latest := d.latest()
	data.API = "/as-of/" + asof.Path(q.View.Instant()) + d.feed.DealPath(d.id)
	if latest.Text("change") == lake.Removed {
		data.Badges = append(data.Badges, badge{"removed: " + latest.Text("reason"), "cut", "since " + latest.Text("known_at")})
	} else {
		data.Badges = append(data.Badges, badge{"current", "ok", "not removed at that time"})
	}
	if own == nil || len(own.Rows) == 0 {
		return
	}
	r := own.Row(0)
	has := func(name string) bool {
		return slices.ContainsFunc(own.Columns, func(c asof.Column) bool { return c.Name == name }) && !r.Null(name)
	}
	fact := func(label, name string) {
		if has(name) {
			data.Facts = append(data.Facts, frame.Fact{Name: label, Value: r.Text(name)})
		}
	}
	if has("borrower_name") {
		c.Title = r.Text("borrower_name")
	}
	c.Lead = fmt.Sprintf("%s %d: %s, the newest known %s.", d.feed, d.id, grid.Plural(int64(len(d.versions)), "version", "versions"), shortInstant(latest.Text("known_at")))
	if has("headline") {
		data.Facts = append(data.Facts, frame.Fact{Name: "Headline", Value: r.Text("headline")})
	}
	fact("Stage", "stage")
	fact("Priced", "pricing_date")
	fact("Priced", "priced_date")
	if has("nominal_amount") && has("currency") {
		data.Facts = append(data.Facts, frame.Fact{Name: "Amount", Value: millions(r.Text("nominal_amount")) + " m " + r.Text("currency")})
	}
	for _, f := range []frame.Fact{
		{Name: "Spread", Value: "spread"}, {Name: "Swap", Value: "swap"}, {Name: "Yield", Value: "yield"}, {Name: "Coupon", Value: "cpn"}, {Name: "Maturity", Value: "maturity"},
		{Name: "ISIN", Value: "isin_code"}, {Name: "Rating, composite", Value: "rating_composite_grade"}, {Name: "Type", Value: "deal_type"}, {Name: "Sector", Value: "borrower_sector"}, {Name: "Country", Value: "borrower_country"},
	} {
		fact(f.Name, f.Value)
	}
	for _, name := range []string{"green", "social", "sustainable", "sustainability_linked"} {
		if has(name) && r.Text(name) == "true" {
			data.Badges = append(data.Badges, badge{Text: strings.ReplaceAll(name, "_", " "), Class: "plain"})
		}
	}
}

// linked fills the links to other deals: what an expected deal priced as, the increases of a line, and the way back.
func (d *subject) linked(q *frame.Request, data *dealData) error {
	found, err := q.Ask(asof.Query{Name: "deal_links", Args: d.args})
	if err != nil {
		return err
	}
	for _, r := range found.All() {
		link := frame.Choice{Text: r.Text("relation") + " " + r.Text("deal_id")}
		if r.Text("is_known") == "true" { // a record may name a deal that no list has
			link.Address = q.DealLink(string(d.feed.Service), string(d.feed.Market), r.Text("kind"), r.Int("deal_id"))
		}
		data.Links = append(data.Links, link)
	}
	return nil
}

// tranches fills a line for each tranche, for deals whose own record says neither amount nor price.
func (d *subject) tranches(q *frame.Request, data *dealData, shown *asof.Row) error {
	name, parts := map[string]string{
		"bond/expected": "bond_expected_tranches", "loan/expected": "loan_expected_tranches", "loan/priced": "loan_priced_tranches",
	}[string(d.feed.Service)+"/"+string(d.feed.Kind)], trancheParts[d.feed.Service][d.feed.Kind]
	if name == "" || shown == nil {
		return nil
	}
	found, err := q.Ask(asof.Query{Name: "rows/" + name, Args: d.with("version", shown.Text("version"))})
	if err != nil {
		return err
	}
	for i, r := range found.All() {
		if i == tranchesShown {
			data.More = len(found.Rows) - tranchesShown
			break
		}
		var said []string
		for _, part := range parts {
			text := strings.TrimSpace(r.Text(part))
			switch {
			case text == "", part == "name" && d.feed.Service == api.Bond && !r.Null("structure"): // which says the same
				continue
			case part == "nominal_amount":
				text = millions(text) + " m " + r.Text("currency")
			case part == "timing" && !r.Null("changed"):
				text += " (said " + shortInstant(r.Text("changed")) + ")"
			}
			said = append(said, text)
		}
		data.Tranches = append(data.Tranches, cmp.Or(strings.Join(said, " · "), "tranche "+r.Text("ordinal")))
	}
	return nil
}

// tranchesShown is the most tranches at the head of a deal's page. The tab with its lists has all.
const tranchesShown = 8

// trancheParts are the columns of a tranche's line.
var trancheParts = map[api.Service]map[api.Kind][]string{
	api.Bond: {api.Expected: {"name", "structure", "volume", "price_evolution", "books", "timing", "status"}},
	api.Loan: {api.Expected: {"name", "type", "volume", "margin", "timing", "status"}, api.Priced: {"name", "nominal_amount", "margin", "maturity", "status"}},
}

// timeline fills the two clocks: the source's, and what the lake knew.
func (d *subject) timeline(q *frame.Request, data *dealData) error {
	found, err := q.Ask(asof.Query{Name: "deal_events", Args: d.args, Rows: 2000})
	if err != nil {
		return err
	}
	data.Events = &grid.Table{Caption: "Events", Columns: grid.Columns("when", "clock", "deal", ">version", "event", "detail")}
	line := &chart.Timeline{Title: "Timeline", Desc: "Two lanes over time: what the source dates, and the versions that the lake knew."}
	known, source := chart.Lane{Name: "known"}, chart.Lane{Name: "source"}
	for _, r := range found.All() {
		id, kind := r.Int("deal_id"), r.Text("kind")
		data.Events.Add(grid.MomentOf(r.Cell("event_at")), grid.Cell{Text: r.Text("clock")}, grid.Cell{Text: fmt.Sprintf("%s %d", kind, id), Link: dealOf(q, r)},
			grid.Whole(r.Int("version")), grid.Cell{Text: r.Text("event")}, d.detail(q, r))
		if at, err := asof.ParseInstant(r.Text("event_at")); err == nil && r.Text("clock") == "source" && id == d.id && kind == string(d.feed.Kind) {
			source.Marks = append(source.Marks, chart.Mark{At: at.Time, Label: r.Text("event"), Tip: fmt.Sprintf("%s: %s %s", grid.ShortTime(at.Time), r.Text("event"), r.Text("detail"))})
		}
	}
	data.Versions = &grid.Table{Caption: "Versions", Marks: true, Columns: grid.Columns(">version", "known", "until", "change", "observed", "of the source", "compare")}
	for i, r := range d.versions {
		from, err := asof.ParseInstant(r.Text("known_at"))
		if err != nil {
			return fmt.Errorf("version %d: %w", i+1, err)
		}
		until := q.View.Instant().Time
		end := grid.Cell{Text: "current at that time"}
		if !q.View.Pinned() {
			end.Text = "current"
		}
		open := r.Null("valid_to")
		if to, err := asof.ParseInstant(r.Text("valid_to")); err == nil {
			until, end = to.Time, grid.Moment(to.Time)
		}
		change := grid.Cell{Text: r.Text("change"), Class: r.Text("change")}
		if !r.Null("reason") {
			change.Text += ": " + r.Text("reason")
		}
		compare := grid.Cell{}
		if i > 0 && r.Text("change") != lake.Removed {
			compare = grid.Cell{Text: "diff", Link: q.With("tab", "diff", "v", r.Text("version"))}
		}
		number := grid.Whole(r.Int("version"))
		if r.Text("change") != lake.Removed {
			number.Link = q.With("tab", "payload", "v", r.Text("version"))
		}
		data.Versions.Add(number, grid.Moment(from.Time), end, change, grid.MomentOf(r.Cell("observed_at")), grid.MomentOf(r.Cell("source_updated_at")), compare)
		if r.Text("change") == lake.Removed {
			known.Marks = append(known.Marks, chart.Mark{At: from.Time, Label: "removed", Tip: fmt.Sprintf("%s: removed (%s)", grid.ShortTime(from.Time), r.Text("reason")), Class: "cut"})
			continue
		}
		known.Spans = append(known.Spans, chart.Span{From: from.Time, To: until, Open: open, Label: "v" + r.Text("version"), Tip: fmt.Sprintf("version %s, known %s", r.Text("version"), grid.ShortTime(from.Time)), Class: "s" + fmt.Sprint(i%2)})
	}
	line.Lanes = []chart.Lane{known, source}
	data.Timeline = chart.Both(func(narrow bool) *chart.Drawing {
		line.Narrow = narrow
		return line.Draw()
	})
	return nil
}

// detail says what an event is about. That of an update is the columns that differ, and leads to the comparison with the version
// before.
func (d *subject) detail(q *frame.Request, r asof.Row) grid.Cell {
	address := dealOf(q, r)
	if r.Text("event") != "update" || address == "" {
		return grid.Value(r.Cell("detail"))
	}
	return grid.Cell{Text: cmp.Or(shortFields(r.Text("detail")), "rows of lists"), Title: r.Text("detail"), Link: address + "?tab=diff&v=" + r.Text("version")}
}

type diffData struct {
	From, To     string
	FromVersions []frame.Choice
	ToVersions   []frame.Choice
	Changes      []diffTable
	Removed      string // that the newest version is a removal, and why; "" if it is none
	Said         string
	Neighbours   bool
	More         int
}

type diffTable struct {
	Name string
	Rows []diffRow
}

type diffRow struct {
	Key, Field, Change, Kind string
	Was, Is                  string
	WasNull, IsNull          bool
	Parts                    []grid.DiffPart // of texts that are compared word by word; nil: Was and Is as they are
}

// version returns a parameter that names a version; otherwise if it is absent. A number that no version had at the instant is one of a page that
// is not there: the link to it may be of a later instant.
func (d *subject) version(q *frame.Request, name string, otherwise int64) (int64, error) {
	n, err := q.Number(name, otherwise, math.MaxInt32)
	if last := d.latest().Int("version"); err == nil && n > last {
		err = frame.Errorf(http.StatusNotFound, "%s=%d: %s, this deal has versions up to %d", name, n, asOf(q), last)
	}
	return n, err
}

// diffShown is the most differences on a page.
const diffShown = 500

// compared returns the versions that a request compares: by default the newest one that has content with the one before it, from
// 0 for the first one; 0 and 0 if no version has content.
func (d *subject) compared(q *frame.Request) (from, to int64, isNeighbour bool, err error) {
	last := d.latest().Int("version")
	newest := d.readable(last)
	if newest == nil {
		return 0, 0, true, nil
	}
	if to, err = d.version(q, "v", newest.Int("version")); err != nil {
		return 0, 0, false, err
	}
	otherwise := int64(0)
	if r := d.readable(to - 1); r != nil {
		otherwise = r.Int("version")
	}
	from, err = d.version(q, "against", otherwise)
	return from, to, from == otherwise, err
}

// diff compares two versions.
func (d *subject) diff(q *frame.Request) (*diffData, error) {
	from, to, isNeighbour, err := d.compared(q)
	if err != nil {
		return nil, err
	}
	if to == 0 {
		return &diffData{Said: "No version of this deal has content."}, nil
	}
	after := d.readable(to)
	if after == nil || after.Int("version") != to {
		return &diffData{Said: fmt.Sprintf("Version %d is a removal: it has no content to compare.", to), To: fmt.Sprint(to)}, nil
	}
	data := &diffData{From: fmt.Sprint(from), To: fmt.Sprint(to)}
	for _, r := range d.versions {
		if r.Text("change") == lake.Removed {
			continue
		}
		v := r.Int("version")
		choice := frame.Choice{Text: r.Text("version") + ", known " + shortInstant(r.Text("known_at")), Address: r.Text("version")}
		choice.Current = v == to
		data.ToVersions = append(data.ToVersions, choice)
		choice.Current = v == from
		data.FromVersions = append(data.FromVersions, choice)
	}
	if last := d.latest(); last.Text("change") == lake.Removed && q.Values.Get("v") == "" {
		data.Removed = fmt.Sprintf("Version %s removed the deal (%s), known %s. Before that:", last.Text("version"), last.Text("reason"), shortInstant(last.Text("known_at")))
	}
	before := d.readable(from)
	switch {
	case from == 0:
		data.Said = "Version " + data.To + " is the first: there is nothing before it to compare with."
		return data, nil
	case before == nil || before.Int("version") != from:
		data.Said = fmt.Sprintf("Version %d is a removal: it has no content to compare.", from)
		return data, nil
	}
	data.Neighbours = isNeighbour
	changes, err := d.changesBetween(q, data.Neighbours, before, after)
	if err != nil {
		return nil, err
	}
	d.say(data, changes)
	if len(changes) == 0 || changes[0].Change == lake.ChangedElsewhere {
		if err := d.elsewhere(q, data, before, after); err != nil {
			return nil, err
		}
	}
	data.Said = fmt.Sprintf("Known %s → %s: %s", shortInstant(before.Text("known_at")), shortInstant(after.Text("known_at")), data.Said)
	return data, nil
}

// changesBetween returns what changed between two versions: of neighbours from field_change, of others by the same comparison
// of their payloads.
func (d *subject) changesBetween(q *frame.Request, neighbours bool, before, after *asof.Row) ([]difference, error) {
	if neighbours {
		found, err := q.Ask(asof.Query{Name: "deal_changes", Args: d.with("version", after.Text("version")), Rows: 10_000})
		if err != nil {
			return nil, err
		}
		var all []difference
		for _, r := range found.All() {
			all = append(all, difference{r.Text("table_name"), diffRow{
				Key: r.Text("row_key"), Field: r.Text("field"), Change: r.Text("change"), Kind: r.Text("change_kind"),
				Was: r.Text("was"), Is: r.Text("is"), WasNull: r.Null("was"), IsNull: r.Null("is"),
			}})
		}
		return all, d.complete(q, all, before, after)
	}
	found, readable, err := q.View.Diff(q.Ctx, d.feed, d.id, versionFrom(before), versionFrom(after))
	if err != nil {
		return nil, err
	}
	if !readable {
		return []difference{{"", diffRow{Change: lake.ChangeUnreadable}}}, nil
	}
	var all []difference
	for _, c := range found {
		all = append(all, difference{c.Table, diffRow{
			Key: c.RowKey, Field: c.Field, Change: c.Change, Was: c.Was, Is: c.Is,
			WasNull: c.Change == lake.FieldSet || c.Change == lake.RowAdded, IsNull: c.Change == lake.FieldCleared || c.Change == lake.RowRemoved,
		}})
	}
	return all, nil
}

// complete puts the whole texts in place of those that field_change has cut, if the payloads can be read.
func (d *subject) complete(q *frame.Request, all []difference, before, after *asof.Row) error {
	cut := func(text string) bool { return len(text) >= lake.ChangeText && strings.HasSuffix(text, "…") }
	if !slices.ContainsFunc(all, func(c difference) bool { return cut(c.Was) || cut(c.Is) }) {
		return nil
	}
	found, _, err := q.View.Diff(q.Ctx, d.feed, d.id, versionFrom(before), versionFrom(after))
	if err != nil {
		return err
	}
	for i := range all {
		c := &all[i]
		if !cut(c.Was) && !cut(c.Is) {
			continue
		}
		at := slices.IndexFunc(found, func(whole lake.FieldChange) bool {
			return whole.Table == c.table && whole.RowKey == c.Key && whole.Field == c.Field && whole.Change == c.Change
		})
		if at >= 0 {
			c.Was, c.Is = found[at].Was, found[at].Is
		}
	}
	return nil
}

func versionFrom(r *asof.Row) asof.Version {
	return asof.Version{Number: r.Int("version"), KnownAt: r.Text("known_at")}
}

// elsewhere adds what differs between the payloads of two versions whose columns are the same.
func (d *subject) elsewhere(q *frame.Request, data *diffData, before, after *asof.Row) error {
	forms, readable, err := q.View.Forms(q.Ctx, d.feed, d.id, versionFrom(before), versionFrom(after))
	if err != nil || !readable {
		return err
	}
	edits, err := grid.PointerDiff(forms[0], forms[1])
	if err != nil || len(edits) == 0 {
		return nil //nolint:nilerr // the page says that content outside all columns differs
	}
	data.Said = fmt.Sprintf("Only content outside all columns differs: %s.", grid.Plural(int64(len(edits)), "place", "places"))
	data.More = len(edits) - diffShown
	table := diffTable{Name: "The payload, outside all columns"}
	for _, e := range edits[:min(len(edits), diffShown)] {
		table.Rows = append(table.Rows, diffRow{Field: e.Name, Was: e.Was, Is: e.Is, WasNull: e.Was == "", IsNull: e.Is == ""})
	}
	data.Changes = append(data.Changes, table)
	return nil
}

// difference is a difference with its table.
type difference struct {
	table string
	diffRow
}

// say puts the differences into the page: the deal's own table first.
func (d *subject) say(data *diffData, changes []difference) {
	fields, rows := 0, 0
	for _, c := range changes {
		switch c.Change {
		case lake.RowAdded, lake.RowRemoved:
			rows++
		case lake.FieldEdited, lake.FieldSet, lake.FieldCleared:
			fields++
		}
	}
	data.Said = fmt.Sprintf("%s, %s added or removed.", grid.Plural(int64(fields), "field", "fields"), grid.Plural(int64(rows), "row", "rows"))
	if len(changes) == 0 {
		data.Said = "Nothing differs in any column."
	}
	if data.More = len(changes) - diffShown; data.More > 0 {
		changes = changes[:diffShown]
	}
	order := map[string]int{}
	for i, table := range lake.FeedTables(d.feed) {
		order[table.Name] = i
	}
	slices.SortStableFunc(changes, func(a, b difference) int { return cmp.Compare(order[a.table], order[b.table]) })
	for _, c := range changes {
		switch c.Change {
		case lake.ChangedElsewhere:
			data.Said = "Only content outside all columns differs: compare the payloads."
			continue
		case lake.ChangeUnreadable:
			data.Said = "A payload of these versions can no longer be read. `dealflow verify` says more."
			continue
		}
		if n := len(data.Changes); n == 0 || data.Changes[n-1].Name != c.table {
			data.Changes = append(data.Changes, diffTable{Name: c.table})
		}
		last := &data.Changes[len(data.Changes)-1]
		if c.Change == lake.FieldEdited && grid.IsComparedByWord(c.Was, c.Is) {
			c.Parts = grid.WordDiff(c.Was, c.Is)
		}
		last.Rows = append(last.Rows, c.diffRow)
	}
}

// fieldGroup is the columns of a deal that have one beginning, such as borrower.
type fieldGroup struct {
	Name string
	Rows []field
	Null []string // columns that have no value
}

type field struct{ Name, Doc, Unit, Text, Pointer string }

// fieldsOf lists the columns of a deal's own table with what they mean, those read from texts next to the text.
func fieldsOf(feed api.Feed, own *asof.Answer) []fieldGroup {
	if own == nil || len(own.Rows) == 0 {
		return nil
	}
	r, declared := own.Row(0), lake.FeedTables(feed)[0]
	var groups []fieldGroup
	add := func(name string, all []lake.Column) {
		g := fieldGroup{Name: name}
		for i := range all {
			c := &all[i]
			if !slices.ContainsFunc(own.Columns, func(found asof.Column) bool { return found.Name == c.Name }) {
				continue
			}
			if r.Null(c.Name) {
				g.Null = append(g.Null, c.Name)
				continue
			}
			text := r.Text(c.Name)
			if strings.HasPrefix(c.Type.SQL(), "DECIMAL") {
				text = grid.Amount(grid.Cell{Text: text}).Text
			}
			g.Rows = append(g.Rows, field{c.Name, c.Doc, c.Unit, text, c.Pointer})
		}
		groups = append(groups, g)
	}
	add("As the source says", declared.Columns)
	add("Read from texts", declared.Helpers)
	return groups
}

// lists returns the tables of the deal's lists that the tab has.
func (d *subject) lists(q *frame.Request, shown *asof.Row, data *dealData) ([]*grid.Table, error) {
	if shown == nil {
		return nil, nil
	}
	var all []*grid.Table
	for _, declared := range lake.FeedTables(d.feed)[1:] {
		if tabOf(declared.Name) != data.Tab {
			continue
		}
		found, err := q.Ask(asof.Query{Name: "rows/" + declared.Name, Args: d.with("version", shown.Text("version"))})
		if err != nil {
			return nil, err
		}
		if declared.Name == "bond_priced_price_evolution" {
			data.Talk = talkCharts(found)
		}
		t := grid.Of(found, declared.Name)
		drop := map[string]bool{"market": true, "deal_id": true, "version": true}
		empty := func(i int) bool {
			return !slices.ContainsFunc(found.Rows, func(cells []asof.Cell) bool { return !cells[i].Null })
		}
		kept := &grid.Table{Caption: t.Caption, Sticky: 1}
		for i, c := range t.Columns {
			if !drop[c.Name] && !empty(i) {
				kept.Columns = append(kept.Columns, c)
			}
		}
		for _, full := range t.Rows {
			narrow := grid.Row{}
			for i, c := range t.Columns {
				if !drop[c.Name] && !empty(i) {
					narrow.Cells = append(narrow.Cells, full.Cells[i])
				}
			}
			kept.Rows = append(kept.Rows, narrow)
		}
		all = append(all, kept)
	}
	return all, nil
}

type payloadData struct {
	Version  int64
	Versions []frame.Choice
	SHA256   string
	Bytes    int
	Text     string // indented, with its numbers as received; "" if it is too long, or cannot be read
	Save     string
}

// payloadShown is the longest payload that a page shows.
const payloadShown = 1 << 20

// payload returns the payload of a version.
func (d *subject) payload(q *frame.Request) (*payloadData, error) {
	newest := d.readable(d.latest().Int("version"))
	if newest == nil {
		return nil, nil
	}
	version, err := d.version(q, "v", newest.Int("version"))
	if err != nil {
		return nil, err
	}
	found, err := q.Ask(asof.Query{Name: "deal_payload", Args: d.with("version", fmt.Sprint(version))})
	if err != nil {
		return nil, err
	}
	data := &payloadData{Version: version}
	for _, r := range d.versions {
		if r.Text("change") != lake.Removed {
			data.Versions = append(data.Versions, frame.Choice{Text: r.Text("version"), Current: r.Int("version") == version})
		}
	}
	if len(found.Rows) == 0 || found.Row(0).Null("payload") {
		return data, nil
	}
	text := found.Row(0).Text("payload")
	data.SHA256, data.Bytes = found.Row(0).Text("payload_sha256"), len(text)
	data.Save = q.Link(fmt.Sprintf("deals/%s/%d/payload-%d", d.feed, d.id, version))
	if len(text) <= payloadShown {
		data.Text = grid.Indented(text)
	}
	return data, nil
}

// showPayload answers with the exact bytes of a payload, as a file: a browser never reads them as a page.
func showPayload(q *frame.Request) (*frame.Content, error) {
	d, err := findDeal(q)
	if err != nil {
		return nil, err
	}
	version, notNumber := strconv.ParseInt(q.Vars["version"], 10, 32)
	if notNumber != nil {
		return nil, frame.Errorf(http.StatusNotFound, "no version %s", q.Vars["version"])
	}
	found, err := q.Ask(asof.Query{Name: "deal_payload", Args: d.with("version", fmt.Sprint(version))})
	if err != nil {
		return nil, err
	}
	if len(found.Rows) == 0 || found.Row(0).Null("payload") {
		return nil, frame.Errorf(http.StatusNotFound, "Version %d has no payload.", version)
	}
	return &frame.Content{File: &frame.File{
		Name: strings.ReplaceAll(d.feed.String(), "/", "-") + fmt.Sprintf("-%d-v%d.json", d.id, version), Type: "text/plain; charset=utf-8", Data: []byte(found.Row(0).Text("payload")),
	}}, nil
}
