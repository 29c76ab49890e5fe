package calibration

import "dealflow/schemas/api"

// Supply describes the records that come of an offer.
type Supply struct {
	Lines     float64 // records of an offer, increases excepted: mean
	Fades     float64 // share of the offers that are never priced, 0 to 1
	Increases float64 // increases of one line: mean; it gives increases their share of the records
}

// Supplies describe the offers of each market. Source: derived from the figures of lines, lifecycles and increases, so
// that the counts of years come out.
var Supplies = map[api.Market]Supply{
	api.IG: {1.505, 0.03, 0.063}, api.HY: {1.35, 0.035, 0.105}, api.EM: {1.27, 0.07, 0.105},
	api.LL: {1, 0.022, 0.20}, api.CF: {1, 0.022, 0.03}, api.AF: {1, 0.022, 0.02},
}

// MeanWait is about the mean time from announcement to pricing, in business days. The deals that are expected at
// Config.Epoch are priced within about that time. Source: derived from the lifecycles.
var MeanWait = map[api.Market]float64{api.IG: 6, api.HY: 7, api.EM: 12, api.LL: 12, api.CF: 25, api.AF: 40}

// EditedShares are the shares of priced records that are ever corrected, 0 to 1. Source: assumption.
var EditedShares = map[api.Service]float64{api.Bond: 0.75, api.Loan: 0.60}

// RemovedShares are the shares of priced records that are removed, 0 to 1, at the default rate of removals. Source:
// assumption.
var RemovedShares = map[api.Market]float64{api.IG: 0.004, api.HY: 0.006, api.EM: 0.008, api.LL: 0.008, api.CF: 0.008, api.AF: 0.010}
