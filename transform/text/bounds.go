package text

import "github.com/apache/arrow/go/v17/arrow/decimal128"

// bounds are the least and the greatest plausible value of a number, both allowed. They are wide: they catch a price
// written as a yield or a misplaced decimal point, not an unusual deal.
type bounds struct{ min, max decimal128.Num }

// within returns bounds in whole units.
func within(least, most int64) bounds {
	return bounds{decimal128.FromI64(least).Mul(million), decimal128.FromI64(most).Mul(million)}
}

var (
	hundred = decimal128.FromI64(100)
	million = decimal128.FromI64(1_000_000)
)

var (
	// Spreads and margins, basis points. Distressed borrowers have paid more than 2,000.
	spreadBounds = within(-1_000, 5_000)
	// New issue premiums, basis points: a fraction of a spread.
	premiumBounds = within(-500, 500)
	// Yields and coupons, percent. Currencies with high inflation have paid about 50; prices are higher.
	yieldBounds = within(-10, 60)
	// Issue prices of loans, percent of nominal. 9.95 is a typing error.
	priceBounds = within(50, 110)
	// Issue prices in remarks, percent of nominal.
	remarkedBounds = within(80, 110)
	// Issue prices after a margin, percent of nominal: other numbers there are margins.
	issueBounds = within(90, 102)
	// Upfront fees, percent.
	feeBounds = within(0, 10)
	// Discounts in cents or basis points: as wide as fees.
	centBounds = within(0, 1_000)
	// Prices of a call protection, percent of nominal. Lower numbers are prices of the loan.
	callBounds = bounds{decimal128.FromI64(100_000_001), within(0, 110).max}
	// Sizes and orders, units of any currency. Below a thousand the unit is wrong; no deal reaches a thousand trillion.
	amountBounds = within(1_000, 1_000_000_000_000_000)
	// Sizes and orders in currencies that are not in smallUnits. The greatest bonds had books of some 200 billion; more than
	// half of that without a decimal point is a typing error.
	largeBounds = within(1_000, 100_000_000_000)
	// How often orders cover the size, times.
	coverBounds = within(0, 200)
	// Tenors, years: more than zero. The longest bonds run for a century.
	tenorBounds = bounds{decimal128.FromI64(1), within(0, 100).max}
	// Debt over EBITDA, times.
	leverageBounds = within(0, 25)
	// Debt over EBITDA without an x, times. Most numbers out of it miss their point, or are something else.
	bareLeverageBounds = within(1, 12)
	// The width of a range of leverage, times. 4.5x-6x may as well be senior and total.
	leverageWidth = within(0, 1)
)

// Years of maturities. Placeholders such as 9999 are outside.
const (
	firstYear = 1970
	lastYear  = 2199
)

// century is added to a year of two digits: no deal of the source matured before it.
const century = 2000

// contain reports whether a number is within the bounds.
func (b *bounds) contain(n Number) bool {
	return !n.Millionths.Less(b.min) && !b.max.Less(n.Millionths)
}

// containAll reports whether all set numbers of a range are within the bounds.
func (b *bounds) containAll(r *Range) bool {
	for _, n := range []*Number{&r.Point, &r.Lo, &r.Hi} {
		if n.Set && !b.contain(*n) {
			return false
		}
	}
	return true
}
