package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// bondStory is the state of an expected bond deal after its executed steps.
type bondStory struct {
	report
	history  []api.DealHistoryEntry
	tranches []bondTranche // in their order on the page
}

type bondTranche struct {
	line                               int
	name, status, volume, price, books string
	timing                             string
	changed                            time.Time
	priced, unlinked                   bool
}

// renderBondExpected returns the record of the story.
func (m *Market) renderBondExpected(d *deal) any {
	plan := planBond(d.offer)
	lines := d.bondLines(plan)
	story := m.bondStoryOf(d, plan, lines)
	c := recordWriter{stream(d.seed, tagFields), m.config.Quirks}
	record := api.BondExpectedDeal{
		ID: d.id, Market: string(d.feed.Market), Created: instant(d.born), Changed: instant(d.changed),
		Headline: c.text(0.96, story.headline), Message: c.text(0.97, story.message),
		Borrower:    c.bondBorrower(plan.issuer),
		Regions:     plan.regions,
		DealHistory: story.history,
		Links:       c.links(api.RecordLinks{Self: api.Some(c.link(d.self()))}),
	}
	if d.feed.Market != api.EM {
		record.CoveredBonds = api.Some(plan.covered)
	}
	tranches := []api.BondExpectedTranche{}
	for _, t := range story.tranches {
		tranches = append(tranches, m.bondTranche(d, lines[t.line], plan.issuer, t))
	}
	if bare := c.chance(0.5); len(tranches) > 0 || bare {
		record.Embedded = api.Some(api.BondExpectedEmbedded{Tranches: tranches})
	}
	return &record
}

func (m *Market) bondTranche(d *deal, line bondLine, who issuer, t bondTranche) api.BondExpectedTranche {
	c := recordWriter{stream(d.seed, tagFields, uint64(t.line)+1), m.config.Quirks}
	tranche := api.BondExpectedTranche{
		Name: c.say(t.name), Changed: opt(c, 0.95, instant(t.changed)), Status: t.status,
		Currency: c.plain(0.97, line.cur.Code), Volume: c.text(0.95, t.volume), Structure: c.text(0.8, line.structure()),
		PriceEvolution: c.text(0.95*presence(t.price), t.price), Timing: c.text(0.8, t.timing), FIGICode: c.plain(figiShare(m, d), line.codes(d.tap).figi),
	}
	books, ratings := c.text(0.9*presence(t.books), t.books), object(c, 0.7, c.bondRatings(who))
	if d.feed.Market == api.EM {
		tranche.Ratings = ratings
	} else {
		tranche.Books = books
	}
	link := c.link("")
	if t.priced && !t.unlinked && d.priced[t.line] != 0 {
		link.Href = pricedFeed(d.feed).DealPath(d.priced[t.line])
		tranche.Links = api.Some(api.RecordLinks{PricedDeal: api.Some(link)})
	} else if c.chance(0.1) {
		tranche.Links = api.Some(api.RecordLinks{})
	}
	return tranche
}

// presence returns 1 for a text that is not empty, otherwise 0.
func presence(text string) float64 {
	if text == "" {
		return 0
	}
	return 1
}

// bondStoryOf applies the executed steps, from the first one, to a new story.
func (m *Market) bondStoryOf(d *deal, plan bondPlan, lines []bondLine) bondStory {
	story := bondStory{tranches: d.firstTranches(lines)}
	story.apply(m, d, plan, lines, step{d.born, stepNews, 0}, 0)
	for i, step := range d.past() {
		if step.kind.shows() {
			story.apply(m, d, plan, lines, step, i+1)
		}
	}
	return story
}

// firstTranches returns the tranches with which a deal begins: those that are not added later. A few deals have none
// until books open.
func (d *deal) firstTranches(lines []bondLine) []bondTranche {
	var tranches []bondTranche
	for i, line := range lines {
		added := slices.ContainsFunc(d.script, func(s step) bool { return s.kind == stepAddLine && s.line == i })
		if !added {
			tranches = append(tranches, d.newTranche(line, i, d.born))
		}
	}
	if stream(d.seed, tagTrack).chance(0.03) {
		return nil
	}
	return tranches
}

func (d *deal) newTranche(line bondLine, i int, at time.Time) bondTranche {
	r := stream(d.seed, tagTrack, uint64(i))
	t := bondTranche{line: i, name: line.name, status: "EXPECTED", changed: at}
	if d.tap != 0 {
		t.status = "TO_BE_INCREASED"
	}
	size, code := line.cur.volumeText(line.start), line.cur.Code
	t.volume = pickWeighted(r,
		choice(45, code+" benchmark"), choice(22, size+" (expected)"), choice(8, "up to "+size), choice(8, size+"+"), choice(10, "TBC"),
		choice(7, line.cur.volumeText(line.start*9/10)+"-"+line.cur.volumeText(line.start * 11 / 10)[len(code):]),
	)
	if line.wng {
		t.volume = size + " WNG"
	}
	t.timing = pick(r, "Today", "Today", "Today", "Today", "Today", "Tomorrow", "This week", "Early next week", "w/c "+at.AddDate(0, 0, 7).Format("2 Jan"), fmt.Sprintf("Q%d", (int(at.Month())+2)/3), "On the horizon", "Subject to market", "Books close 11:00 CET")
	return t
}

// apply changes the story by a step.
func (b *bondStory) apply(m *Market, d *deal, plan bondPlan, lines []bondLine, s step, index int) {
	c := recordWriter{stream(d.seed, tagText, uint64(index)), m.config.Quirks}
	if len(b.tranches) == 0 && s.kind == stepThoughts {
		for i, line := range lines {
			b.tranches = append(b.tranches, d.newTranche(line, i, s.at))
		}
	}
	price := b.change(d, lines, s, c.dice)
	switch s.kind {
	case stepSilentEdit:
		b.message += " (corrects spelling)"
		return
	case stepTypo:
		b.message = strings.Replace(b.message, ".", "", 1)
		return
	case stepBump, stepLineLeaves, stepReorder, stepRename, stepLink:
		return
	}
	line := lines[s.line]
	b.report = d.bondTopic(plan, line).report(c.dice, s.kind, price)
	b.headline, b.message = c.say(b.headline), c.say(b.message)
	b.history = append(b.history, api.DealHistoryEntry{Changed: instant(s.at), Headline: opt(c, 0.85, b.headline), Message: b.message})
}

// change changes the tranches by a step. It returns the state of the price, as a report names it.
func (b *bondStory) change(d *deal, lines []bondLine, s step, r *dice) string {
	at := slices.IndexFunc(b.tranches, func(t bondTranche) bool { return t.line == s.line })
	switch s.kind {
	case stepAddLine:
		if at < 0 {
			b.tranches = append(b.tranches, d.newTranche(lines[s.line], s.line, s.at))
		}
	case stepDropLine, stepLineLeaves:
		b.tranches = slices.DeleteFunc(b.tranches, func(t bondTranche) bool { return t.line == s.line })
	case stepReorder:
		slices.Reverse(b.tranches)
	case stepRename:
		if at >= 0 {
			b.tranches[at].name = fmt.Sprintf("%s (%s)", lines[s.line].structure(), lines[s.line].cur.Code)
			b.tranches[at].changed = s.at
		}
	case stepLink:
		if at >= 0 {
			b.tranches[at].unlinked = false
		}
	case stepPrice:
		if at < 0 {
			b.tranches = append(b.tranches, d.newTranche(lines[s.line], s.line, s.at))
			at = len(b.tranches) - 1
		}
		b.tranches[at].setPriced(lines[s.line], s.at, d.tap != 0)
		b.tranches[at].unlinked = slices.ContainsFunc(d.script, func(o step) bool { return o.kind == stepLink && o.line == s.line })
		return lines[s.line].quote(lines[s.line].price)
	case stepPostpone:
		for i := range b.tranches {
			b.tranches[i].timing, b.tranches[i].changed = "Postponed", s.at
		}
	case stepThoughts, stepGuidance, stepRevised, stepFinal:
		for i := range b.tranches {
			b.tranches[i].progress(lines[b.tranches[i].line], s, r)
		}
	}
	if len(b.tranches) > 0 && b.tranches[0].price != "" {
		return b.tranches[0].price
	}
	return "levels to be announced"
}

// setPriced changes the tranche to its state after pricing.
func (t *bondTranche) setPriced(line bondLine, at time.Time, increase bool) {
	t.status = "PRICED"
	if increase {
		t.status = "INCREASED"
	}
	t.priced, t.changed, t.timing = true, at, "Priced"
	t.price, t.volume = line.quote(line.price), line.cur.volumeText(line.amount)
}

// progress changes the tranche by a step towards its price.
func (t *bondTranche) progress(line bondLine, s step, r *dice) {
	if t.priced {
		return
	}
	t.changed, t.timing = s.at, "Today"
	t.price = line.stage(s.kind)
	multiple := map[stepKind]float64{stepGuidance: 0.5, stepRevised: 0.9, stepFinal: 1}[s.kind]
	if multiple > 0 {
		book := line.cur.volumeText(int64(float64(line.amount)*line.cover*multiple/1e7) * 1e7)
		t.books = pick(r, book+"+", ">"+book, "in excess of "+book, "in excess of "+book+" (incl. 150m JLM)", "subject", millis(int64(line.cover*multiple*10)*100)+"x covered")
	}
	if s.kind == stepFinal {
		t.volume = line.cur.volumeText(line.amount)
		if line.wng {
			t.volume += " WNG"
		}
	}
}

// stage returns the state of a line's price after a step as text, in the words of its market.
func (l bondLine) stage(kind stepKind) string {
	first, g := l.price+l.tighter, l.guide
	if first < g.high && first > l.price {
		first = g.high // the first talk is not tighter than the guidance, unless the price ends wider
	}
	switch {
	case kind == stepThoughts && l.basis == "" && l.seed%3 == 0:
		return "Whisper " + whisper(first)
	case kind == stepThoughts && l.basis == "":
		return "Talk " + l.area(first-12, first+13)
	case kind == stepThoughts && l.em:
		return "IPG " + l.quote(first) + " area"
	case kind == stepThoughts:
		return "IPTs " + l.quote(first) + " area"
	case kind == stepGuidance && l.em && l.basis != "":
		return "FPG " + l.quote((g.low+g.high)/2) + " (+/-5)" + l.inRange()
	case kind == stepGuidance:
		return "Guidance " + l.area(g.low, g.high) + l.inRange()
	case kind == stepRevised && l.basis == "":
		return "Revised guidance " + l.area(l.price-5, l.price+5)
	case kind == stepRevised:
		return "Revised guidance " + l.quote(l.price+2) + " (+/-2) WPIR"
	}
	return "Final " + l.quote(l.price)
}

// inRange returns what a guidance adds if the line will price in its range.
func (l bondLine) inRange() string {
	if l.guide.wpir {
		return " (WPIR)"
	}
	return ""
}

// whisper returns a yield as an informal text: low 8s.
func whisper(points int) string {
	part := []string{"low", "mid", "high"}[points%100*3/100]
	return fmt.Sprintf("%s %ds", part, points/100)
}

// figiShare returns the share of expected tranches with a FIGI.
func figiShare(m *Market, d *deal) float64 {
	if m.isReleased(calibration.Version33, d) {
		return 0.2
	}
	return 0
}
