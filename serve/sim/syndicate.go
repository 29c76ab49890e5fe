package sim

import (
	"math"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// syndicate returns the banks of a deal, the first ones leading, and their roles in a bond deal. The tranches of a deal
// share them. An increase has its own.
func (o offer) syndicate(tap uint64) []member {
	d := stream(o.seed, tagBanks, tap)
	region := calibration.Regions[o.market][o.firm.region].Value.Name
	weights := bankWeights[region]
	taken := [mostBanks]bool{}
	var banks []member
	for range bankCount(d, o.market, o.currency().Code) {
		i := drawBank(d, weights, &taken)
		role := pickWeighted(d, calibration.Roles...)
		if len(banks) == 0 {
			role = "Bookrunner"
		}
		banks = append(banks, member{calibration.Banks[i].Name, role})
	}
	return banks
}

// member is a bank of a syndicate.
type member struct{ name, role string }

// mostBanks is at least the number of all banks.
const mostBanks = 64

// drawBank draws a bank that is not taken yet, by weight, and takes it.
func drawBank(d *dice, weights []float64, taken *[mostBanks]bool) int {
	total := 0.0
	for i, w := range weights {
		if !taken[i] {
			total += w
		}
	}
	at, last := d.Float64()*total, 0
	for i, w := range weights {
		if taken[i] {
			continue
		}
		last = i
		if at -= w; at < 0 {
			break
		}
	}
	taken[last] = true
	return last
}

// ofTranche returns the syndicate of a tranche: mostly the deal's, else with one bank less or more.
func ofTranche(d *dice, banks []member) []member {
	same, more, extra := d.chance(calibration.SharedSyndicates), d.chance(0.5), d.IntN(len(calibration.Banks))
	switch {
	case same:
		return banks
	case !more && len(banks) > 1:
		return banks[:len(banks)-1]
	}
	name := calibration.Banks[extra].Name
	for _, b := range banks {
		if b.name == name {
			return banks
		}
	}
	return append(banks[:len(banks):len(banks)], member{name, "Co-Manager"})
}

// bankWeights are the weights of calibration.Banks by the region of the borrower.
var bankWeights = map[string][]float64{}

func init() {
	for _, regions := range calibration.Regions {
		for _, region := range regions {
			weights := make([]float64, len(calibration.Banks))
			for i, bank := range calibration.Banks {
				weights[i] = 1 / float64(i+calibration.BankOffset)
				switch bank.Region {
				case "":
				case region.Value.Name:
					weights[i] *= calibration.BankHome
				default:
					weights[i] *= calibration.BankAway
				}
			}
			bankWeights[region.Value.Name] = weights
		}
	}
}

// syndicateSize returns the lognormal distribution of the number of banks of a deal.
func syndicateSize(market api.Market, code string) (median, sigma float64) {
	switch {
	case market == api.EM:
		return 3.35, 0.77
	case market == api.HY:
		return 5.37, 0.47
	case market == api.LL:
		return 3.91, 0.70
	case market == api.CF:
		return 11.9, 0.573
	case market == api.AF:
		return 4.86, 0.65
	case code == "USD":
		return 7.55, 0.593
	}
	return 4.65, 0.475
}

// bankCount draws the number of banks.
func bankCount(d *dice, market api.Market, code string) int {
	median, sigma := syndicateSize(market, code)
	return min(max(int(math.Round(d.lognormal(median, sigma))), 1), len(calibration.Banks))
}

// bank returns the name of an invented bank.
func bank(index int) string { return calibration.Banks[index%len(calibration.Banks)].Name }
