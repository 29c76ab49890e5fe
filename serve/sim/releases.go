package sim

import (
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// scheduleReleases lets each release say more of all priced deals, those of long ago too.
func (m *Market) scheduleReleases() {
	if !m.config.Birthdays {
		return
	}
	for _, r := range calibration.Releases {
		m.timeline.schedule(r.At, func(at time.Time) { m.restate(r, at) })
	}
}

func (m *Market) restate(r calibration.Release, at time.Time) {
	for _, service := range r.Services {
		for _, market := range api.Markets(service) {
			for _, d := range m.shelves[api.Feed{Service: service, Market: market, Kind: api.Priced}].byID {
				m.touch(d, step{kind: stepRestate}, at)
			}
		}
	}
}

// born says whether a release's members are there by now, of a record as it is now.
func (m *Market) born(r calibration.Release, d *deal) bool {
	return !m.config.Birthdays || !d.updated.Before(r.At)
}

// unborn takes from a bond record what its day's version of the API does not have. Required members
// keep a value.
func (m *Market) unborn(record *api.BondPricedDeal, d *deal) {
	if !m.born(calibration.Version21, d) {
		for i := range record.Banks {
			record.Banks[i].Status = "Bookrunner"
		}
	}
	if stats, there := record.Stats.Get(); there && !m.born(calibration.Version22, d) {
		stats.FinalBooks, stats.FinalAccounts = api.Opt[api.Number]{}, api.Opt[int32]{}
		record.Stats = api.Some(stats)
	}
	if !m.born(calibration.Version22, d) {
		record.PricingTime = api.Opt[string]{}
	}
	if !m.born(calibration.Version30, d) {
		record.Message, record.DealHistory = api.Opt[string]{}, api.Opt[string]{}
		if borrower, there := record.Borrower.Get(); there {
			borrower.Ticker = api.Opt[string]{}
			record.Borrower = api.Some(borrower)
		}
	}
	if !m.born(calibration.Version31, d) {
		record.ISINCode, record.SustainabilityLinked = api.Opt[string]{}, false
	}
	if !m.born(calibration.Version33, d) {
		record.FIGICode = api.Opt[string]{}
	}
}

// unbornLoan is unborn for loans.
func (m *Market) unbornLoan(record *api.LoanPricedDeal, d *deal) {
	if !m.born(calibration.Version32, d) {
		record.UseOfProceeds.GCP = false
	}
	if m.born(calibration.Version33, d) {
		return
	}
	for i := range record.Tranches {
		record.Tranches[i].FIGICode = api.Opt[string]{}
	}
}
