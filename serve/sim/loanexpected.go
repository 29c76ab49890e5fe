package sim

import (
	"fmt"
	"strings"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// loanExpectedScript returns the script of a loan in syndication, which takes weeks.
func (m *Market) loanExpectedScript(d *deal) []step {
	r, s := stream(d.seed, tagScript), script{born: d.born}
	tranches := len(d.loanPlan().tranches)
	pricing := later(businessTime(r, d.target, 10, 16), s.born.Add(6*time.Hour))
	along := func(share float64) time.Time { // on a business day, as everything
		return nextBusinessDay(d.born.Add(time.Duration(share * float64(pricing.Sub(d.born)))))
	}
	before := func(low, high float64) time.Time { // business days before pricing
		return nextBusinessDay(later(pricing.Add(-time.Duration((low+(high-low)*r.Float64())*float64(day))), along(0.6)))
	}
	s.add(along(0.1), stepNews)
	s.add(along(0.25), stepThoughts)
	s.add(along(0.40), stepGuidance)
	if added := r.chance(0.08); added && tranches > 1 {
		s.addLine(along(0.5), stepAddLine, tranches-1)
	}
	commitments := before(1, 2.5)
	s.add(commitments, stepCommitments)
	if r.chance(0.5) {
		s.add(before(0.8, 3), stepRevised)
	}
	s.add(later(before(0.1, 0.8), commitments), stepFinal)
	if r.chance(calibration.Effects[d.offer.mood].LoanPull) {
		m.addLoanFade(&s, r, pricing)
	} else {
		s.add(pricing.Add(time.Minute), stepPrice)
		s.add(midnight(pricing.Add(time.Minute)), stepLeave)
	}
	m.addSlips(&s, r, tranches)
	return s.ordered()
}

// addLoanFade removes a loan without pricing. A postponed loan can stay for weeks.
func (m *Market) addLoanFade(s *script, r *dice, end time.Time) {
	if r.chance(0.7) {
		s.add(end, stepPostpone)
		end = end.AddDate(0, 0, r.between(1, 30))
	}
	s.add(end.Add(time.Duration(r.between(1, 20))*time.Hour), stepLeave)
}

// loanStory is the state of an expected loan after its executed steps.
type loanStory struct {
	report
	stage    string
	tranches []loanState
}

type loanState struct {
	index                                int
	name, status, volume, margin, timing string
	oid                                  string
	sized                                bool
	changed                              time.Time
}

var stages = map[stepKind]string{
	stepNews: "Mandated", stepThoughts: "Launched", stepGuidance: "In syndication", stepCommitments: "Commitments due",
	stepRevised: "In syndication", stepFinal: "Allocated", stepPrice: "Priced", stepPostpone: "Postponed",
}

// renderLoanExpected returns the record of the story.
func (m *Market) renderLoanExpected(d *deal) any {
	plan := d.loanPlan()
	story := m.loanStoryOf(d, plan)
	c := recordWriter{stream(d.seed, tagFields), m.config.Quirks}
	record := api.LoanExpectedDeal{
		DealID: d.id, Market: string(d.feed.Market), Stage: c.spell(story.stage), Created: instant(d.born), Changed: instant(d.changed),
		Headline: c.text(0.96, story.headline), Message: c.text(0.95, story.message),
		Borrower:      c.loanBorrower(plan.issuer, plan, d.feed.Market, false),
		UseOfProceeds: c.proceeds(plan),
		Tranches:      []api.LoanExpectedTranche{},
	}
	links := api.RecordLinks{Self: api.Some(c.link(d.self())), UpdatedSince: api.Some(c.link(d.updatedSince()))}
	if link := c.link(""); d.priced != nil && d.priced[0] != 0 {
		link.Href = pricedFeed(d.feed).DealPath(d.priced[0])
		links.PricedDeal = api.Some(link)
	}
	record.Links = c.links(links)
	if none := c.chance(c.q.EmptyList / 5); none {
		return &record
	}
	for _, state := range story.tranches {
		record.Tranches = append(record.Tranches, m.loanExpectedTranche(d, plan.tranches[state.index], state))
	}
	return &record
}

func (m *Market) loanExpectedTranche(d *deal, t loanTranche, state loanState) api.LoanExpectedTranche {
	c := recordWriter{stream(d.seed, tagFields, uint64(state.index)+1), m.config.Quirks}
	sized := 0.05
	if state.sized {
		sized = 0.9
	}
	return api.LoanExpectedTranche{
		Name: c.say(state.name), Status: c.word(0.9, state.status), Type: c.word(0.95, t.kind.Long), ShortType: c.word(0.9, t.kind.Short),
		Currency: c.plain(0.96, t.cur.Code), Volume: c.text(0.95, state.volume), Maturity: c.text(0.8, t.maturity(c.dice)),
		Margin: c.text(0.9*presence(state.margin), state.margin), OID: c.text(0.7*presence(state.oid), state.oid),
		Timing: c.text(0.7, state.timing), FIGICode: c.plain(figiShare(m, d), t.figi), Changed: opt(c, 0.95, instant(state.changed)),
		Nominal: opt(c, sized, api.LoanNominalTranche{Amount: opt(c, 0.99, c.number(moneyText(t.amount))), Converted: c.converted(t.amount, t.cur)}),
	}
}

// loanStoryOf applies the executed steps, from the first one, to a new story.
func (m *Market) loanStoryOf(d *deal, plan loanPlan) loanStory {
	story := loanStory{stage: "Pre-marketing"}
	for i, t := range plan.tranches {
		if later := d.pending(stepAddLine) && i == len(plan.tranches)-1; !later {
			story.tranches = append(story.tranches, newLoanState(d, t, i))
		}
	}
	story.apply(m, d, plan, step{d.born, stepNews, 0}, 0)
	story.stage = "Pre-marketing"
	for i, step := range d.past() {
		if step.kind.shows() {
			story.apply(m, d, plan, step, i+1)
		}
	}
	return story
}

func newLoanState(d *deal, t loanTranche, i int) loanState {
	r := stream(d.seed, tagTrack, uint64(i))
	volume := t.cur.volumeText(t.amount)
	return loanState{
		index: i, name: t.name, status: "Expected", changed: d.born,
		volume: pick(r, volume, "up to "+volume, volume+" (expected)", t.cur.volumeText(t.amount*9/10), "TBC"),
		timing: pick(r, "Launch this week", fmt.Sprintf("Q%d", (int(d.born.Month())+2)/3), "Tomorrow", "w/c "+d.born.AddDate(0, 0, 7).Format("2 Jan"), "Subject to market", "H1"),
	}
}

// apply changes the story by a step.
func (l *loanStory) apply(m *Market, d *deal, plan loanPlan, s step, index int) {
	c := recordWriter{stream(d.seed, tagText, uint64(index)), m.config.Quirks}
	if s.kind == stepSilentEdit {
		l.message += " (corrects spelling)"
		return
	}
	switch s.kind {
	case stepBump, stepLink:
		return
	case stepTypo:
		l.message = strings.Replace(l.message, ".", "", 1)
		return
	case stepRename:
		for i := range l.tranches {
			if l.tranches[i].index == s.line {
				l.tranches[i].name += " (" + plan.tranches[s.line].kind.Short + ")"
			}
		}
		return
	case stepReorder:
		for i, j := 0, len(l.tranches)-1; i < j; i, j = i+1, j-1 {
			l.tranches[i], l.tranches[j] = l.tranches[j], l.tranches[i]
		}
		return
	}
	if stage := stages[s.kind]; stage != "" {
		l.stage = stage
	}
	for i := range l.tranches {
		l.tranches[i].progress(plan.tranches[l.tranches[i].index], s)
	}
	first := plan.tranches[0]
	topic := d.loanTopic(plan)
	topic.words[slotDue] = s.at.Format("2 January")
	l.report = topic.report(c.dice, s.kind, first.quote(first.margin))
	l.headline, l.message = c.say(l.headline), c.say(l.message)
}

// progress changes the tranche by a step.
func (l *loanState) progress(t loanTranche, s step) {
	talk := t.margin - t.flex
	switch s.kind {
	case stepThoughts:
		l.status, l.margin, l.timing = "Launched", t.quote(talk)+"-"+moneyText(int64(talk+25)), "Bank meeting today"
	case stepGuidance:
		l.margin, l.oid = t.quote(talk), "99-99.5"
	case stepRevised, stepFinal:
		l.margin, l.oid, l.sized, l.volume = t.quote(t.margin), t.oid, true, t.cur.volumeText(t.amount)
	case stepPrice:
		l.status, l.margin, l.oid, l.sized, l.timing = "Priced", t.quote(t.margin), t.oid, true, "Priced"
	case stepPostpone:
		l.status, l.timing = "Cancelled", "Postponed"
	default:
		return
	}
	l.changed = s.at
}
