package sim

import (
	"time"

	"dealflow/serve/sim/calibration"
)

// drawCurrency draws the currency of an offer. Some currencies have no deals on some days.
func (o offer) drawCurrency() string {
	mix := calibration.CurrencyMix[o.market]
	d := stream(o.seed, tagMoney)
	total := 0.0
	weight := func(share calibration.Weighted[string]) float64 {
		return share.Weight * currencyFactor(o.market, share.Value, o.target)
	}
	for _, share := range mix {
		total += weight(share)
	}
	at := d.Float64() * total
	for _, share := range mix {
		if at -= weight(share); at < 0 {
			return share.Value
		}
	}
	return mix[0].Value
}

// opening returns when the books of an offer open on a day: early in the morning of its zone.
func (o offer) opening(date time.Time) time.Time {
	r, zone := stream(o.seed, tagClock, 1), zoneOf(o.code)
	at := r.between(0, 90*60)
	switch zone {
	case newYork:
		return zone.at(date, 8*60+15).Add(time.Duration(at) * time.Second)
	case hongKong:
		return zone.at(date, 8*60+45).Add(time.Duration(at/2) * time.Second)
	}
	return zone.at(date, 8*60+5).Add(time.Duration(at*7/9) * time.Second)
}

// closing returns when the first line of an offer is priced on a day.
func (o offer) closing(date time.Time) time.Time {
	r, zone := stream(o.seed, tagClock, 2), zoneOf(o.code)
	share := r.Float64()
	minutes := func(low, high float64) time.Time {
		return zone.at(date, 0).Add(time.Duration((low + share*(high-low)) * float64(time.Minute))).Truncate(time.Second)
	}
	switch {
	case zone == hongKong:
		return minutes(18*60, 25*60) // sometimes after midnight
	case o.market == "HY":
		return minutes(11*60, 15*60)
	case zone == newYork:
		return minutes(14*60, 16*60+30)
	}
	return minutes(13*60, 16*60)
}
