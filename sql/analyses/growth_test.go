package analyses_test

import (
	stdsql "database/sql"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"dealflow/internal/testkit/world"
	"dealflow/schemas/lake"
)

// TestAnalysesGrowth compares a month with the one a year before, as that was known a year before: what became known of
// it later does not count.
func TestAnalysesGrowth(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	issue := func(id int64, date, currency string, usd int) {
		b.Write(world.Priced, id, fmt.Sprintf(`"pricingDate":"%s","currency":"%s","dealType":"ORIGINAL","nominal":{"amount":%d,"converted":{"usd":%d}}`, date, currency, usd, usd))
	}
	issue(1, "2026-01-02", "EUR", 100)
	issue(2, "2026-01-05", "USD", 40)
	w.Night(t, 0)
	issue(3, "2026-01-03", "EUR", 7)
	known := w.Night(t, 10).KnownAt
	issue(4, "2027-01-04", "EUR", 350)
	issue(5, "2026-12-31", "EUR", 1)
	w.Night(t, 367)

	row := func(period string, usd int64, then, growth any) fact {
		return fact{"period": period, "service": "bond", "market": "IG", "usd": big.NewRat(usd, 1), "usd_year_before_then": then, "growth_pct": growth}
	}
	w.Ask(t, func(db *stdsql.DB) {
		for at, want := range map[string][]fact{
			"'infinity'":                           {row("2026-01-01", 147, nil, nil), row("2027-01-01", 350, big.NewRat(140, 1), 150.0), row("2026-12-01", 1, nil, nil)},
			fmt.Sprintf("TIMESTAMPTZ '%s'", known): {row("2026-01-01", 147, nil, nil)},
			fmt.Sprintf("TIMESTAMPTZ '%s'", lake.At(known.AddDate(0, 0, -5))): {row("2026-01-01", 140, nil, nil)},
		} {
			got, _ := factsOf(t, db, "FROM issuance_growth('month', "+at+")")
			if lines := differences(got, want, []string{"period"}); len(lines) > 0 {
				t.Errorf("as of %s:\n%s", at, strings.Join(lines, "\n"))
			}
		}
	})
}
