package calibration

import (
	"time"

	"dealflow/schemas/api"
)

// Release is a version of the API that added members to priced deals.
type Release struct {
	At       time.Time     // UTC
	Services []api.Service // whose deals have the members
}

// The releases, each with the members that it added. Source: the API's history; the dates are invented.
var (
	Version21 = Release{time.Date(2014, time.March, 11, 6, 0, 0, 0, time.UTC), []api.Service{api.Bond}}               // status of banks
	Version22 = Release{time.Date(2017, time.October, 17, 6, 0, 0, 0, time.UTC), []api.Service{api.Bond}}             // finalBooks, finalAccounts, pricingTime
	Version30 = Release{time.Date(2019, time.June, 4, 6, 0, 0, 0, time.UTC), []api.Service{api.Bond}}                 // message, dealHistory, ticker
	Version31 = Release{time.Date(2021, time.February, 9, 6, 0, 0, 0, time.UTC), []api.Service{api.Bond}}             // sustainabilityLinked, isinCode
	Version32 = Release{time.Date(2022, time.May, 24, 6, 0, 0, 0, time.UTC), []api.Service{api.Loan}}                 // gcp
	Version33 = Release{time.Date(2023, time.September, 12, 6, 0, 0, 0, time.UTC), []api.Service{api.Bond, api.Loan}} // figiCode
)

// Releases are all of them in order of time. Source: see above.
var Releases = []Release{Version21, Version22, Version30, Version31, Version32, Version33}
