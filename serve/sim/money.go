package sim

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// currency is a currency of the market. Its methods convert amounts to dollars and to texts.
type currency struct {
	*calibration.Currency
	nano int64 // value of one unit on a day, in billionths of a dollar; see on
}

// currencyOf draws one of a market's currencies, for any day.
func currencyOf(d *dice, market api.Market) currency {
	return currency{Currency: calibration.Currencies[pickWeighted(d, calibration.CurrencyMix[market]...)]}
}

// size draws an amount in whole units: lognormal in millions, mostly round.
func size(d *dice, cur currency, medianMillions, sigma float64) int64 {
	millions := d.lognormal(medianMillions, sigma)
	round, snaps, step := d.chance(0.70), d.chance(0.5), 50.0
	if !round || millions < 150 {
		step = 5
	}
	for _, u := range calibration.UsualSizes {
		if snaps && round && math.Abs(millions-u) < 0.12*u {
			millions = u
		}
	}
	return int64(max(math.Round(millions/step), 1) * step * cur.Scale * 1e6)
}

// usd returns an amount's exact value in dollars as the text of a JSON number.
func (c currency) usd(amount int64) string {
	hi, lo := bits.Mul64(uint64(amount), uint64(c.nano))
	return dollars(hi, lo)
}

// dollars returns a number of billionths of a dollar, of 128 bits, in dollars as text.
func dollars(hi, lo uint64) string {
	if hi >= 1_000_000_000 {
		return "0" // 0 is the API's placeholder for an unknown value
	}
	whole, rest := bits.Div64(hi, lo, 1_000_000_000)
	return decimal(int64(whole), int64(rest), 9)
}

// rate returns the value of one unit in dollars as the text of a JSON number.
func (c currency) rate() string { return decimal(c.nano/1_000_000_000, c.nano%1_000_000_000, 9) }

// decimal returns whole.fraction without trailing zeros. fraction has the given number of digits.
func decimal(whole, fraction int64, digits int) string {
	text := strconv.FormatInt(whole, 10)
	if fraction == 0 {
		return text
	}
	tail := strconv.FormatInt(fraction, 10)
	tail = strings.Repeat("0", digits-len(tail)) + tail
	return text + "." + strings.TrimRight(tail, "0")
}

// millis returns a number of thousandths as text.
func millis(n int64) string {
	if n < 0 {
		return "-" + millis(-n)
	}
	return decimal(n/1000, n%1000, 3)
}

// volumeText returns a size in its usual short form: USD500m, EUR1.25bn.
func (c currency) volumeText(amount int64) string {
	if amount >= 1e12 {
		return c.Code + decimal(amount/1e12, amount%1e12/1e9, 3) + "trn"
	}
	if amount >= 1e9 {
		return c.Code + decimal(amount/1e9, amount%1e9/1e6, 3) + "bn"
	}
	return c.Code + decimal(amount/1e6, amount%1e6/1e3, 3) + "m"
}
