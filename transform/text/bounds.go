package text

import "github.com/apache/arrow/go/v17/arrow/decimal128"

// bounds are the least and the greatest plausible value of a number, both allowed. They are wide: they
// catch a price in the place of a yield or a slipped decimal point, not a surprising deal.
type bounds struct{ min, max decimal128.Num }

// within gives bounds in whole units.
func within(least, most int64) bounds {
	return bounds{decimal128.FromI64(least).Mul(million), decimal128.FromI64(most).Mul(million)}
}

var million = decimal128.FromI64(1_000_000)

var (
	// Spreads and margins, basis points. Distressed borrowers have paid more than 2,000.
	spreadBounds = within(-1_000, 5_000)
	// New issue premiums, basis points: a fraction of a spread.
	premiumBounds = within(-500, 500)
	// Yields and coupons, percent. Currencies with high inflation have paid some 50; prices begin above.
	yieldBounds = within(-10, 60)
	// Issue prices of loans, percent of nominal. 9.95 is a slip.
	priceBounds = within(50, 110)
	// Upfront fees, percent.
	feeBounds = within(0, 10)
	// Sizes and orders, units of any currency: below a thousand the unit is wrong, and a thousand
	// trillion is beyond every deal.
	amountBounds = within(1_000, 1_000_000_000_000_000)
	// How often the size is covered, times.
	coverBounds = within(0, 200)
	// Tenors, years: more than none, and bonds of a century are the longest.
	tenorBounds = bounds{decimal128.FromI64(1), within(0, 100).max}
	// Debt over EBITDA, times.
	leverageBounds = within(0, 25)
)

// Years of maturities: placeholders such as 9999 are none.
const (
	firstYear = 1970
	lastYear  = 2199
)

// century is what two digits of a year are counted from: no deal of the source matured before it.
const century = 2000

// hold says whether a number lies within the bounds.
func (b *bounds) hold(n Number) bool { return !n.Millionths.Less(b.min) && !b.max.Less(n.Millionths) }

// holdAll says whether all numbers of a range that are set lie within the bounds.
func (b *bounds) holdAll(r *Range) bool {
	for _, n := range []*Number{&r.Point, &r.Lo, &r.Hi} {
		if n.Set && !b.hold(*n) {
			return false
		}
	}
	return true
}
