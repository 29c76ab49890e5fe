package sim

import (
	"slices"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim/calibration"
)

// Names of random streams. New ones go at the end: the market of every seed depends on the values.
const (
	tagIssuer uint64 = iota + 1
	tagPlan
	tagScript
	tagText
	tagFields
	tagDay
	tagStock
	tagPriced
	tagTap
	tagTrack
	tagMisfit
	tagRegime
	tagRoute
	tagReturn
	tagFlip
	tagSkew
	tagFacts
	tagMoney
	tagClock
	tagCodes
	tagLate
	tagBanks
)

// offer is the transaction of a deal. An expected deal and its priced records share one offer.
type offer struct {
	world  uint64 // the market's seed, which determines its borrowers
	seed   uint64
	firm   firm   // the borrower
	code   string // currency of its first tranche
	market api.Market
	at     time.Time          // when it is announced, if it is
	target time.Time          // planned day of pricing, at midnight
	mood   calibration.Regime // regime of the week of pricing
}

// deal is a record of a feed: its offer, its script, and how many steps of that have been executed.
type deal struct {
	feed   api.Feed
	id     int64
	offer  offer
	target time.Time // of an expected deal, and of an increase: planned day of pricing
	line   int       // index of the offer's line: of a bond priced record, or of the line that a tap increases
	tap    uint64    // seed of an increase; 0 for other deals
	seed   uint64
	script []step
	done   int // number of executed steps of the script

	born    time.Time // when it appeared
	updated time.Time
	changed time.Time // of an expected deal: its member "changed"
	struck  time.Time // of a priced deal: when it was priced
	dated   int32     // of a priced deal: the pricing date in days since 1970; 0 for an expected deal
	omitted bool      // left out of the list
	moved   bool      // it is in shelf.moved

	growth
	announced *deal   // of a priced deal: the expected deal that links to it; nil if none does
	priced    []int64 // of an expected deal: the priced record of each line; 0 for none yet, and for one that is removed

	body []byte // nil if there is none of the present version
}

// growth is how the line of a bond priced record has grown by increases. Sizes are in units of the currency.
type growth struct {
	parent      *deal // of an increase: the original record
	outstanding int64 // of an original: the size of its line, increases included
	before      int64 // of an increase: the size of the line before it
	restated    int64 // of an original: the increases that its total counts
}

// date sets the pricing date: for bonds the local date.
func (d *deal) date() {
	at := d.struck
	if d.feed.Service == api.Bond {
		at = zoneOf(d.offer.currency().Code).local(at)
	}
	d.dated = int32(at.Unix() / 86400)
}

// undated says whether a priced loan has no pricedDate. Its tranches then say when it was priced.
func (m *Market) undated(d *deal) bool {
	return d.feed.Service == api.Loan && stream(d.seed, tagFacts, 1).chance(m.config.Quirks.Undated)
}

// pricingDate returns the pricing date as YYYY-MM-DD; "" for an expected deal.
func (d *deal) pricingDate() string {
	if d.dated == 0 {
		return ""
	}
	return date(time.Unix(int64(d.dated)*86400, 0))
}

// step is something that happens to a deal.
type step struct {
	at   time.Time
	kind stepKind
	line int // index of the line, for steps of one line
}

type stepKind uint8

// The kinds of steps: first those of all records, then of expected, then of priced ones.
const (
	stepOmit     stepKind = iota // the list leaves the deal out
	stepList                     // the list has it again
	stepLeave                    // the deal is removed, by id too
	stepReappear                 // a deal that was gone is back
	stepMove                     // the deal belongs to another market
	stepRestate                  // a new version of the API says more of the deal

	stepNews        // a report without prices
	stepThoughts    // initial price thoughts; a loan is launched
	stepGuidance    // guidance; a loan's talk
	stepRevised     // revised guidance; a loan's flex
	stepFinal       // size set
	stepAddLine     // a tranche is added
	stepDropLine    // a tranche is dropped
	stepRename      // a tranche is renamed
	stepReorder     // tranches change places
	stepPrice       // a tranche prices (a loan: all of it)
	stepLineLeaves  // a priced tranche leaves the deal
	stepPostpone    // the deal is postponed
	stepBump        // changed moves and nothing else
	stepSilentEdit  // the text is corrected and changed does not move
	stepCommitments // a loan's commitments are due
	stepTypo        // a typing error is corrected
	stepLink        // the link to a priced record comes late

	stepStats
	stepISIN
	stepTempISIN
	stepFIGI
	stepBloomberg
	stepRating
	stepBank
	stepNominal
	stepMaturity
	stepFlags
	stepTerms
	stepMessage
	stepFlip     // a wrong correction …
	stepFlop     // … is taken back
	stepSign     // a loan is signed
	stepUSD      // an amount is converted
	stepAnnounce // an increase of the deal is announced
)

// shows says whether a step can change the record.
func (k stepKind) shows() bool {
	return k != stepOmit && k != stepList && k != stepAnnounce
}

func (d *deal) position() serve.Position { return serve.Position{UpdatedAt: d.updated, ID: d.id} }

// past returns the executed steps. The caller must not change them.
func (d *deal) past() []step { return d.script[:d.done] }

// pending says whether a step of this kind is still to come. What it corrects is still wrong in the record.
func (d *deal) pending(kind stepKind) bool {
	return slices.ContainsFunc(d.script[d.done:], func(s step) bool { return s.kind == kind })
}

// happened says whether a step of this kind was executed.
func (d *deal) happened(kind stepKind) bool {
	return slices.ContainsFunc(d.past(), func(s step) bool { return s.kind == kind })
}

// self returns the path of the deal, as an href in a body.
func (d *deal) self() string { return d.feed.DealPath(d.id) }

// updatedSince returns the path of the list since the deal's update, as an href in a body.
func (d *deal) updatedSince() string {
	return d.feed.Path() + "?updatedSince=" + instant(d.updated)
}

// issuer returns the borrower of the offer.
func (o offer) issuer() issuer { return makeIssuer(o.world, o.market, o.firm) }

// currency returns the currency of an offer's first tranche, with its rate of the planned day of pricing.
func (o offer) currency() currency {
	return currency{Currency: calibration.Currencies[o.code]}.on(o.target)
}

// pricedFeed returns the feed that has the deals of a feed after pricing.
func pricedFeed(feed api.Feed) api.Feed {
	feed.Kind = api.Priced
	return feed
}

func marketTag(market api.Market) uint64 {
	return uint64(market[0])<<8 | uint64(market[1])
}

func feedTag(feed api.Feed) uint64 {
	return marketTag(feed.Market)<<8 | uint64(feed.Kind[0])
}
