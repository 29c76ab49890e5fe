package sim

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"dealflow/schemas/api"
)

// currency is a currency and the value of one unit in millionths of a US dollar.
type currency struct {
	code  string
	micro int64
	scale float64 // how many units make what one dollar makes elsewhere, for sizes
}

var currencies = map[string]currency{
	"USD": {"USD", 1_000_000, 1}, "EUR": {"EUR", 1_084_200, 1}, "GBP": {"GBP", 1_267_500, 1},
	"AUD": {"AUD", 652_300, 1}, "CHF": {"CHF", 1_131_000, 0.4}, "CAD": {"CAD", 731_800, 1},
	"SEK": {"SEK", 96_300, 5}, "NOK": {"NOK", 94_150, 5}, "JPY": {"JPY", 6_543, 100},
	"CNH": {"CNH", 138_400, 4}, "HKD": {"HKD", 127_990, 4}, "SGD": {"SGD", 742_600, 0.6},
	"BRL": {"BRL", 198_700, 2}, "ZAR": {"ZAR", 53_210, 8}, "IDR": {"IDR", 63, 8000}, "KES": {"KES", 7_730, 30},
}

// currencyOf is one of a market's currencies, whatever the day.
func currencyOf(d *dice, market api.Market) currency {
	return currencies[pickWeighted(d, currencyMix[market])]
}

var currencyMix = map[api.Market][]weighted[string]{
	api.IG: {{52, "USD"}, {33, "EUR"}, {6, "GBP"}, {3, "AUD"}, {2.5, "CHF"}, {1, "CAD"}, {0.6, "SEK"}, {0.6, "NOK"}, {0.8, "JPY"}, {0.5, "HKD"}},
	api.HY: {{70, "USD"}, {24, "EUR"}, {5, "GBP"}, {0.5, "SEK"}, {0.5, "NOK"}},
	api.EM: {{80, "USD"}, {9, "EUR"}, {5, "CNH"}, {1.5, "HKD"}, {1.2, "SGD"}, {0.8, "JPY"}, {1, "IDR"}, {0.8, "BRL"}, {0.7, "ZAR"}},
	api.LL: {{62, "USD"}, {31, "EUR"}, {6, "GBP"}, {1, "SEK"}},
	api.CF: {{45, "USD"}, {30, "EUR"}, {9, "GBP"}, {4, "AUD"}, {4, "CNH"}, {3, "HKD"}, {3, "JPY"}, {1, "KES"}, {1, "SGD"}},
	api.AF: {{70, "USD"}, {15, "EUR"}, {5, "AUD"}, {4, "GBP"}, {2, "NOK"}, {2, "JPY"}, {2, "BRL"}},
}

// usual are the sizes, in millions, that many deals have.
var usual = []float64{300, 500, 750, 1000, 1250, 1500, 2000}

// size draws an amount in whole units: lognormal in millions, mostly round.
func size(d *dice, cur currency, medianMillions, sigma float64) int64 {
	millions := d.lognormal(medianMillions, sigma)
	round, snaps, step := d.chance(0.70), d.chance(0.5), 50.0
	if !round || millions < 150 {
		step = 5
	}
	for _, u := range usual {
		if snaps && round && math.Abs(millions-u) < 0.12*u {
			millions = u
		}
	}
	return int64(max(math.Round(millions/step), 1) * step * cur.scale * 1e6)
}

// usd is an amount's value as the text of a JSON number, exact.
func (c currency) usd(amount int64) string {
	hi, lo := bits.Mul64(uint64(amount), uint64(c.micro))
	if hi >= 1_000_000 {
		return "0" // no such market; the API's own placeholder
	}
	whole, rest := bits.Div64(hi, lo, 1_000_000)
	return decimal(int64(whole), int64(rest), 6)
}

// rate is the value of one unit as the text of a JSON number.
func (c currency) rate() string { return decimal(c.micro/1_000_000, c.micro%1_000_000, 6) }

// decimal is whole.fraction without trailing zeros; fraction has the given number of digits.
func decimal(whole, fraction int64, digits int) string {
	text := strconv.FormatInt(whole, 10)
	if fraction == 0 {
		return text
	}
	tail := strconv.FormatInt(fraction, 10)
	tail = strings.Repeat("0", digits-len(tail)) + tail
	return text + "." + strings.TrimRight(tail, "0")
}

// millis is a number of thousandths as text.
func millis(n int64) string {
	if n < 0 {
		return "-" + millis(-n)
	}
	return decimal(n/1000, n%1000, 3)
}

// volumeText is a size as people write it: USD500m, EUR1.25bn.
func (c currency) volumeText(amount int64) string {
	if amount >= 1e12 {
		return c.code + decimal(amount/1e12, amount%1e12/1e9, 3) + "trn"
	}
	if amount >= 1e9 {
		return c.code + decimal(amount/1e9, amount%1e9/1e6, 3) + "bn"
	}
	return c.code + decimal(amount/1e6, amount%1e6/1e3, 3) + "m"
}
