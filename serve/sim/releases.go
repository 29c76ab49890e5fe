package sim

import (
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// scheduleReleases schedules the releases. Each restates all priced deals, old ones too.
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

// isReleased says whether a record, as it is now, has a release's members.
func (m *Market) isReleased(r calibration.Release, d *deal) bool {
	return !m.config.Birthdays || !d.updated.Before(r.At)
}

// removeUnreleased removes the members from a bond record that the API does not have yet. Required members keep a
// value.
func (m *Market) removeUnreleased(record *api.BondPricedDeal, d *deal) {
	if !m.isReleased(calibration.Version21, d) {
		for i := range record.Banks {
			record.Banks[i].Status = "Bookrunner"
		}
	}
	if stats, there := record.Stats.Get(); there && !m.isReleased(calibration.Version22, d) {
		stats.FinalBooks, stats.FinalAccounts = api.Opt[api.Number]{}, api.Opt[int32]{}
		record.Stats = api.Some(stats)
	}
	if !m.isReleased(calibration.Version22, d) {
		record.PricingTime = api.Opt[string]{}
	}
	if !m.isReleased(calibration.Version30, d) {
		record.Message, record.DealHistory = api.Opt[string]{}, api.Opt[string]{}
		if borrower, there := record.Borrower.Get(); there {
			borrower.Ticker = api.Opt[string]{}
			record.Borrower = api.Some(borrower)
		}
	}
	if !m.isReleased(calibration.Version31, d) {
		record.ISINCode, record.SustainabilityLinked = api.Opt[string]{}, false
	}
	if !m.isReleased(calibration.Version33, d) {
		record.FIGICode = api.Opt[string]{}
	}
}

// removeUnreleasedLoan is removeUnreleased for loans.
func (m *Market) removeUnreleasedLoan(record *api.LoanPricedDeal, d *deal) {
	if !m.isReleased(calibration.Version32, d) {
		record.UseOfProceeds.GCP = false
	}
	if m.isReleased(calibration.Version33, d) {
		return
	}
	for i := range record.Tranches {
		record.Tranches[i].FIGICode = api.Opt[string]{}
	}
}
