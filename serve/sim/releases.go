package sim

import (
	"time"

	"dealflow/schemas/api"
)

// release is a version of the API: what it brought, and when. Of the document's versions those that
// added members to priced deals are here.
type release struct {
	at       time.Time
	services []api.Service
}

func released(year int, month time.Month, dom int, services ...api.Service) release {
	return release{time.Date(year, month, dom, 6, 0, 0, 0, time.UTC), services}
}

var (
	version21 = released(2014, time.March, 11, api.Bond)               // status of banks
	version22 = released(2017, time.October, 17, api.Bond)             // finalBooks, finalAccounts, pricingTime
	version30 = released(2019, time.June, 4, api.Bond)                 // message, dealHistory, ticker
	version31 = released(2021, time.February, 9, api.Bond)             // sustainabilityLinked, isinCode
	version32 = released(2022, time.May, 24, api.Loan)                 // gcp
	version33 = released(2023, time.September, 12, api.Bond, api.Loan) // figiCode
	releases  = []release{version21, version22, version30, version31, version32, version33}
)

// scheduleReleases lets each release say more of all priced deals, those of long ago too.
func (m *Market) scheduleReleases() {
	if !m.config.Birthdays {
		return
	}
	for _, r := range releases {
		m.timeline.schedule(r.at, func(at time.Time) { m.restate(r, at) })
	}
}

func (m *Market) restate(r release, at time.Time) {
	for _, service := range r.services {
		for _, market := range api.Markets(service) {
			for _, d := range m.shelves[api.Feed{Service: service, Market: market, Kind: api.Priced}].byID {
				m.touch(d, step{kind: stepRestate}, at)
			}
		}
	}
}

// born says whether a release's members are there by now, of a record as it is now.
func (m *Market) born(r release, d *deal) bool {
	return !m.config.Birthdays || !d.updated.Before(r.at)
}

// unborn takes from a bond record what its day's version of the API does not have. Required members
// keep a value.
func (m *Market) unborn(record *api.BondPricedDeal, d *deal) {
	if !m.born(version21, d) {
		for i := range record.Banks {
			record.Banks[i].Status = "Bookrunner"
		}
	}
	if stats, there := record.Stats.Get(); there && !m.born(version22, d) {
		stats.FinalBooks, stats.FinalAccounts = api.Opt[api.Number]{}, api.Opt[int32]{}
		record.Stats = api.Some(stats)
	}
	if !m.born(version22, d) {
		record.PricingTime = api.Opt[string]{}
	}
	if !m.born(version30, d) {
		record.Message, record.DealHistory = api.Opt[string]{}, api.Opt[string]{}
		if borrower, there := record.Borrower.Get(); there {
			borrower.Ticker = api.Opt[string]{}
			record.Borrower = api.Some(borrower)
		}
	}
	if !m.born(version31, d) {
		record.ISINCode, record.SustainabilityLinked = api.Opt[string]{}, false
	}
	if !m.born(version33, d) {
		record.FIGICode = api.Opt[string]{}
	}
}

// unbornLoan is unborn for loans.
func (m *Market) unbornLoan(record *api.LoanPricedDeal, d *deal) {
	if !m.born(version32, d) {
		record.UseOfProceeds.GCP = false
	}
	if m.born(version33, d) {
		return
	}
	for i := range record.Tranches {
		record.Tranches[i].FIGICode = api.Opt[string]{}
	}
}
