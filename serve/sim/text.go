package sim

import (
	"math/bits"
	"strconv"
	"strings"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// report is the text of a step of a deal.
type report struct{ headline, message string }

// topic is what the texts of a deal are about: its facts, and the words that sentences take from it.
type topic struct {
	facts calibration.Fact
	words [slotCount]string
	loan  bool
}

// slot is a place in a sentence for words of the deal.
type slot uint8

const (
	slotWho slot = iota
	slotWhat
	slotPrice
	slotSize
	slotLead
	slotSecond
	slotBefore
	slotRatings
	slotFormat
	slotLabel
	slotBooks
	slotJLM
	slotFew
	slotTenor
	slotSponsor
	slotAsset
	slotTicket
	slotDue
	slotCount
)

var slotNames = [slotCount]string{
	"who", "what", "price", "size", "lead", "second", "before", "ratings", "format", "label", "books", "jlm", "few", "tenor", "sponsor", "asset", "ticket", "due",
}

// piece is a part of a sentence: words of the deal, or one of some texts.
type piece struct {
	slot    slot // slotCount: one of choices
	choices []string
}

// phrase is a sentence that was read once.
type phrase struct {
	when   calibration.Fact
	pieces []piece
}

// readPhrase reads a text in the form of calibration.Sentence.
func readPhrase(when calibration.Fact, text string) phrase {
	p := phrase{when: when}
	for text != "" {
		at := strings.IndexAny(text, "[{")
		if at < 0 {
			at = len(text)
		}
		if at > 0 {
			p.pieces = append(p.pieces, piece{slotCount, []string{text[:at]}})
			text = text[at:]
			continue
		}
		if text[0] == '{' {
			name, rest, _ := strings.Cut(text[1:], "}")
			p.pieces = append(p.pieces, piece{slotNamed(name), nil})
			text = rest
			continue
		}
		choices, rest, _ := strings.Cut(text[1:], "]")
		p.pieces = append(p.pieces, piece{slotCount, strings.Split(choices, "|")})
		text = rest
	}
	return p
}

func slotNamed(name string) slot {
	for i, known := range slotNames {
		if name == known {
			return slot(i)
		}
	}
	panic("sim: no slot " + name) // a misspelt sentence is a bug in package calibration
}

// sentences are all phrases, and openings those of each step, for bonds and for loans.
var (
	sentences []phrase
	openings  [2]map[stepKind][2]phrase
)

var openingNames = map[string]stepKind{
	"news": stepNews, "thoughts": stepThoughts, "guidance": stepGuidance, "revised": stepRevised, "final": stepFinal, "price": stepPrice,
	"added": stepAddLine, "dropped": stepDropLine, "off": stepPostpone, "commitments": stepCommitments,
}

func init() {
	for _, s := range calibration.Sentences {
		sentences = append(sentences, readPhrase(s.When, s.Text))
	}
	for i, all := range []map[string]calibration.Opening{calibration.BondOpenings, calibration.LoanOpenings} {
		openings[i] = map[stepKind][2]phrase{}
		for name, o := range all {
			openings[i][openingNames[name]] = [2]phrase{readPhrase(0, o.Headline), readPhrase(0, o.First)}
		}
	}
}

// write adds the phrase to a text.
func (p phrase) write(text *strings.Builder, d *dice, about *topic) {
	for _, part := range p.pieces {
		switch {
		case part.slot == slotFew:
			text.WriteString(strconv.Itoa(d.between(2, 9)))
		case part.slot < slotCount:
			text.WriteString(about.words[part.slot])
		case len(part.choices) == 1:
			text.WriteString(part.choices[0])
		default:
			text.WriteString(part.choices[d.IntN(len(part.choices))])
		}
	}
}

// report returns the report of a step, with the state of the price as text.
func (t *topic) report(d *dice, kind stepKind, price string) report {
	opening := openings[0]
	if t.loan {
		opening = openings[1]
	}
	phrases, known := opening[kind]
	if !known {
		phrases = opening[stepNews]
	}
	t.words[slotPrice] = levelOf(price)
	var headline, message strings.Builder
	phrases[0].write(&headline, d, t)
	phrases[1].write(&message, d, t)
	glue := pick(d, " ", " ", " ", "\r\n\r\n", "\n", "<br/>")
	t.add(&message, d, 1+min(int(d.lognormal(4.4, 0.6)), 16), glue)
	return report{headline.String(), message.String()}
}

// levelOf returns a state of the price without the name of the state.
func levelOf(price string) string {
	for _, state := range []string{"IPTs ", "IPG ", "FPG ", "Guidance ", "Revised guidance ", "Final ", "Talk ", "Whisper "} {
		if level, found := strings.CutPrefix(price, state); found {
			return level
		}
	}
	return price
}

// passage returns some sentences.
func (t *topic) passage(d *dice, count int, glue string) string {
	var text strings.Builder
	t.add(&text, d, count, glue)
	return text.String()
}

// add adds some different sentences that are true of the deal to a text. If there are too few, it adds fewer.
func (t *topic) add(text *strings.Builder, d *dice, count int, glue string) {
	var fits uint64
	for i := range sentences {
		if when := sentences[i].when; when&t.facts == when {
			fits |= 1 << i
		}
	}
	for ; count > 0 && fits != 0; count-- {
		skip := d.IntN(bits.OnesCount64(fits))
		rest := fits
		for range skip {
			rest &= rest - 1
		}
		i := bits.TrailingZeros64(rest)
		fits &^= 1 << i
		if text.Len() > 0 {
			text.WriteString(glue)
		}
		sentences[i].write(text, d, t)
	}
}

// history returns a deal history as one text, as priced bonds contain it.
func (t *topic) history(d *dice, entries []string) string {
	var text strings.Builder
	for i, entry := range entries {
		if i > 0 {
			text.WriteString(pick(d, "\n\n", "\r\n\r\n"))
		}
		text.WriteString(entry)
		t.add(&text, d, d.between(5, 14), pick(d, " ", " ", " ", "\r\n\r\n", "\n", "<br/>"))
	}
	return text.String()
}

// formats are the formats of bonds in texts, by bondLine.format.
var formats = []string{"Reg S", "144A", "144A/Reg S", "SEC-registered"}

// labels are the labels of bonds in texts, by bondLine.label.
var labels = []string{"", "green", "sustainability", "sustainability-linked", "social"}

// bondTopic returns what texts on a line are about.
func (d *deal) bondTopic(plan bondPlan, line bondLine) *topic {
	who := plan.issuer
	t := &topic{facts: calibration.Bond}
	t.set(calibration.Rated, who.agencies.grade != noGrade)
	t.set(calibration.Labelled, line.label != 0 && line.label != 3)
	t.set(calibration.Linked, line.label == 3)
	t.set(calibration.Control, line.calls.control)
	t.set(calibration.MakeWhole, line.calls.makeWhole)
	t.set(calibration.CleanUp, line.calls.cleanUp)
	t.set(calibration.Callable, line.call > 0)
	t.set(calibration.Covered, plan.covered)
	t.set(calibration.Subordinated, line.junior >= 2 && line.junior < calibration.RankSecured)
	t.set(calibration.Company, !who.bankish && !who.official())
	t.set(calibration.Official, who.official())
	t.set(calibration.Increase, d.tap != 0)
	t.set(calibration.Multiple, len(plan.lines) > 1 && d.tap == 0 && !plan.lines[1].phantom)
	t.words[slotWho], t.words[slotWhat], t.words[slotSize] = who.name, line.structure(), line.cur.volumeText(line.amount)
	t.words[slotRatings], t.words[slotFormat], t.words[slotLabel] = who.agencies.all(), formats[line.format], labels[line.label]
	t.words[slotBooks], t.words[slotJLM] = line.cur.volumeText(line.books()), line.cur.volumeText(line.books() / 20 / 1e6 * 1e6)[3:]
	t.common(d)
	return t
}

// loanTopic returns what texts on a loan are about.
func (d *deal) loanTopic(plan loanPlan) *topic {
	first, who, market := plan.tranches[0], plan.issuer, d.feed.Market
	t := &topic{facts: calibration.Loan, loan: true}
	purpose := calibration.Purposes[plan.purpose]
	t.set(calibration.Rated, who.agencies.grade != noGrade)
	t.set(calibration.Labelled, first.green)
	t.set(calibration.Linked, first.linked)
	t.set(calibration.Control, market == api.LL || market == api.CF)
	t.set(calibration.Refinancing, purpose == "refi")
	t.set(calibration.Repricing, purpose == "repricing" && market == api.LL)
	t.set(calibration.Buyout, plan.buyout())
	t.set(calibration.Takeover, purpose == "acquisition")
	t.set(calibration.CovenantLight, first.lite)
	t.set(calibration.Club, plan.club)
	t.set(calibration.Asset, market == api.AF)
	t.set(calibration.Leveraged, market == api.LL)
	t.set(calibration.Corporate, market == api.CF)
	t.set(calibration.Increase, plan.addOn)
	t.set(calibration.Multiple, len(plan.tranches) > 1)
	what := first.cur.volumeText(first.amount) + " " + first.kind.Short
	if plan.addOn {
		what += " add-on"
	}
	t.words[slotWho], t.words[slotWhat], t.words[slotSize] = who.name, what, first.cur.volumeText(first.amount)
	t.words[slotRatings], t.words[slotAsset] = who.agencies.all(), strings.ToLower(plan.asset)
	t.words[slotTenor], t.words[slotTicket] = years(first.months), first.cur.volumeText(max(first.amount/12/1e6, 1)*1e6)
	if len(plan.sponsors) > 0 {
		t.words[slotSponsor] = plan.sponsors[0]
	}
	t.common(d)
	return t
}

// years returns a number of months in years, as text.
func years(months int) string {
	if months == 12 {
		return "a year"
	}
	return strconv.Itoa(months/12) + " years"
}

// set adds a fact if it holds.
func (t *topic) set(fact calibration.Fact, holds bool) {
	if holds {
		t.facts |= fact
	}
}

// common sets the words that bonds and loans share.
func (t *topic) common(d *deal) {
	banks := d.offer.syndicate(d.tap)
	t.words[slotLead], t.words[slotSecond] = banks[0].name, banks[len(banks)-1].name
	if len(banks) == 1 {
		t.words[slotSecond] = "a second bank"
	}
	t.words[slotBefore] = strconv.Itoa(d.offer.target.Year() - 1 - int(d.offer.seed%4))
}
