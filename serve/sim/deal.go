package sim

import (
	"slices"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim/calibration"
)

// Names of random streams. Values may be added, not changed: every seed's market hangs on them.
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
)

// offer is what a deal is about: an expected deal and the priced records that come of it share one.
type offer struct {
	world  uint64 // the market's seed: its borrowers
	seed   uint64
	who    uint64 // picks the borrower
	market api.Market
	at     time.Time          // when it is announced, where it is
	target time.Time          // the day on which it is to be priced, at midnight
	mood   calibration.Regime // of the week in which it is priced
}

// deal is one record of a feed: what it is about, what will happen to it, and how much of that has.
type deal struct {
	feed   api.Feed
	id     int64
	offer  offer
	target time.Time // of an expected deal: the day on which it is to be priced
	line   int       // which line of the offer a bond priced record is, or a tap's expected deal adds to
	tap    uint64    // of an increase: its seed; 0: none
	seed   uint64
	script []step
	done   int // steps of the script that have happened

	born    time.Time // when it appeared
	updated time.Time
	changed time.Time // of an expected deal: what it says of its last change
	struck  time.Time // of a priced deal: when it was priced
	dated   int32     // of a priced deal: the pricing date in days since 1970, 0: none
	omitted bool      // left out of the list
	moved   bool      // its shelf has yet to find its place

	growth
	priced []int64 // of an expected deal: the priced record of each line, 0 for none yet

	body []byte // nil when something has changed since it was made
}

// growth is how the line of a bond priced record has grown by increases. Sizes are in units of the currency.
type growth struct {
	parent      *deal // of an increase: the original record
	outstanding int64 // of an original: the size of its line, increases included
	before      int64 // of an increase: the size of the line before it
	restated    int64 // of an original: the increases that its total counts
}

// date sets the pricing date: the local one of a bond. A few loans have none.
func (d *deal) date() {
	at := d.struck
	if d.feed.Service == api.Bond {
		at = zoneOf(d.offer.currency().Code).local(at)
	} else if stream(d.seed, tagFacts, 1).chance(0.03) {
		return
	}
	d.dated = int32(at.Unix() / 86400)
}

// pricingDate is the date as the API writes it.
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
	line int // the line it happens to, where it happens to one
}

type stepKind uint8

// What can happen. The first group is for all records, then expected and priced ones.
const (
	stepOmit     stepKind = iota // the list leaves the deal out
	stepList                     // the list has it again
	stepLeave                    // the deal is gone, by id too
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
	stepPostpone    // the deal is put off
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

// shows says whether a step changes the record.
func (k stepKind) shows() bool {
	return k != stepOmit && k != stepList && k != stepAnnounce
}

func (d *deal) position() serve.Position { return serve.Position{UpdatedAt: d.updated, ID: d.id} }

// past is what has happened so far.
func (d *deal) past() []step { return d.script[:d.done] }

// pending says whether a step of this kind is still to come: what it will correct is still wrong.
func (d *deal) pending(kind stepKind) bool {
	return slices.ContainsFunc(d.script[d.done:], func(s step) bool { return s.kind == kind })
}

// happened says whether a step of this kind has been.
func (d *deal) happened(kind stepKind) bool {
	return slices.ContainsFunc(d.past(), func(s step) bool { return s.kind == kind })
}

// self is the path of the deal, as an href within a body.
func (d *deal) self() string { return d.feed.DealPath(d.id) }

// updatedSince is the path of the list since the deal's update, as an href within a body.
func (d *deal) updatedSince() string {
	return d.feed.Path() + "?updatedSince=" + instant(d.updated)
}

// issuer is who the deal is for.
func (o offer) issuer() issuer {
	share := float64(splitmix(o.who^o.world)>>11) / (1 << 53)
	return makeIssuer(o.world, o.market, int(poolSize*share*share)) // some come often
}

// pricedFeed is the list in which the deals of a feed are once priced.
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
