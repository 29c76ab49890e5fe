package sim

import (
	"math/big"
	"strings"
	"testing"

	"dealflow/schemas/api"
)

// TestFieldsOfABondAgree checks that codes have correct check digits in reserved ranges, that amounts times the rate
// are the dollars, that totals contain the nominal, that dates are in order, and that the evolution ends at the final
// price. A few records have a pending correction.
func TestFieldsOfABondAgree(t *testing.T) {
	m := New(Config{Seed: 31, Deals: 150, Quirks: &Quirks{}})
	wrong, all := map[string]int{}, 0
	for _, market := range api.Markets(api.Bond) {
		for _, r := range m.Deals(api.Feed{Service: api.Bond, Market: market, Kind: api.Priced}) {
			all++
			d := read[api.BondPricedDeal](t, r.Body)
			checkCodes(t, d)
			checkMoney(t, d, wrong)
			checkDates(d, wrong)
			checkEvolution(t, d)
		}
	}
	for what, n := range wrong {
		if n*25 > all {
			t.Errorf("%s: %d of %d records", what, n, all)
		}
	}
}

// checkEvolution compares the last entry with the spread if both are over the same basis.
func checkEvolution(t *testing.T, d api.BondPricedDeal) {
	t.Helper()
	n, spread := len(d.PriceEvolution), text(d.Spread)
	if n == 0 {
		return
	}
	price, final := strings.CutPrefix(d.PriceEvolution[n-1].Value, "Final ")
	agrees := strings.TrimSuffix(spread, "bp") == price || strings.HasSuffix(price, "%") || spread == ""
	if !final || !agrees {
		t.Errorf("%d: ends at %q, spread %q", d.DealID, d.PriceEvolution[n-1].Value, spread)
	}
}

func text(o api.Opt[string]) string {
	value, _ := o.Get()
	return value
}

func checkCodes(t *testing.T, d api.BondPricedDeal) {
	t.Helper()
	for code := range strings.SplitSeq(text(d.ISINCode), "/") {
		if code == "" {
			continue
		}
		if isinCheck(code[:11]) != code || !strings.HasPrefix(code, "XS9") && !strings.HasPrefix(code, "US99") {
			t.Errorf("%d: isin %s", d.DealID, code)
		}
	}
	if code := text(d.FIGICode); code != "" && (figiCheck(code[:11]) != code || !strings.HasPrefix(code, "BBGZZ")) {
		t.Errorf("%d: figi %s", d.DealID, code)
	}
}

func checkMoney(t *testing.T, d api.BondPricedDeal, wrong map[string]int) {
	t.Helper()
	amount, rate, usd := rational(string(d.Nominal.Amount)), new(big.Rat), rational(string(d.Nominal.Converted.USD))
	if number, ok := d.FxRate.USD.Get(); ok {
		rate = rational(string(number))
	}
	if new(big.Rat).Mul(amount, rate).Cmp(usd) != 0 {
		t.Errorf("%d: %s at %s is not %s", d.DealID, amount, rate, usd)
	}
	if total, ok := d.Total.Get(); ok && rational(string(total.Nominal.Amount)).Cmp(amount) < 0 {
		wrong["total below nominal"]++
	}
}

func rational(number string) *big.Rat {
	value, ok := new(big.Rat).SetString(number)
	if !ok {
		return new(big.Rat)
	}
	return value
}

func checkDates(d api.BondPricedDeal, wrong map[string]int) {
	maturity, call := text(d.Maturity), text(d.FirstCallDate)
	perpetual, _ := d.Perpetual.Get()
	if perpetual && maturity != "" {
		wrong["perpetual with a maturity"]++
	}
	if maturity != "" && maturity <= d.PricingDate {
		wrong["due before it is priced"]++
	}
	if maturity != "" && call != "" && call >= maturity {
		wrong["called when due"]++
	}
}
