package sim

import "dealflow/schemas/api"

// facts are the members that a priced bond's record has after all its steps. Script and record must agree on them.
type facts struct {
	stats, isin, figi, bloomberg, message, history bool
}

func (d *deal) facts() facts {
	r := stream(d.seed, tagFacts)
	stats, _ := d.offer.statsShares()
	return facts{
		stats: r.chance(stats), isin: r.chance(0.92), figi: r.chance(0.85), bloomberg: r.chance(0.85),
		message: r.chance(0.96), history: r.chance(0.60),
	}
}

// certain returns the probability of a fact: 1 or 0.
func certain(fact bool) float64 {
	if fact {
		return 1
	}
	return 0
}

// byMarket returns the share of a bond market.
func byMarket(market api.Market, ig, hy, em float64) float64 {
	switch market {
	case api.HY:
		return hy
	case api.EM:
		return em
	}
	return ig
}

// statsShares returns the share of bonds with stats, and the share of these with final books. Books are published more
// often for euro deals than for high yield.
func (o offer) statsShares() (stats, books float64) {
	switch code := o.code; {
	case o.market == api.HY:
		return 0.30, 0.12 / 0.30
	case o.market == api.EM:
		return 0.52, 0.45 / 0.52
	case code == "EUR":
		return 0.70, 0.65 / 0.70
	case code == "USD":
		return 0.60, 0.55 / 0.60
	}
	return 0.50, 0.40 / 0.50
}
