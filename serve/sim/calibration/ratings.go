package calibration

import "dealflow/schemas/api"

// MoodysScale contains the notches of Moody's, best first.
var MoodysScale = []string{"Aaa", "Aa1", "Aa2", "Aa3", "A1", "A2", "A3", "Baa1", "Baa2", "Baa3", "Ba1", "Ba2", "Ba3", "B1", "B2", "B3", "Caa1", "Caa2", "Caa3", "Ca", "C"}

// OtherScale contains the notches of the other agencies, best first.
var OtherScale = []string{"AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB+", "BBB", "BBB-", "BB+", "BB", "BB-", "B+", "B", "B-", "CCC+", "CCC", "CCC-", "CC", "C"}

// NotchOffsets are the differences between an agency's view and the issuer's quality, in notches.
var NotchOffsets = []Weighted[int]{{75, 0}, {12, 1}, {13, -1}}

// RatedShares are the shares of rated bonds that each agency rates, 0 to 1.
type RatedShares struct{ Moodys, StandardAndPoors, Fitch float64 }

// Agencies are the shares of rated bonds that each agency rates, by market.
var Agencies = map[api.Market]RatedShares{api.IG: {0.70, 0.76, 0.57}, api.HY: {0.91, 0.93, 0.41}, api.EM: {0.57, 0.52, 0.54}}
