package calibration

import "dealflow/schemas/api"

// MoodysScale contains the notches of Moody's, best first. Source: the agency's scale.
var MoodysScale = []string{"Aaa", "Aa1", "Aa2", "Aa3", "A1", "A2", "A3", "Baa1", "Baa2", "Baa3", "Ba1", "Ba2", "Ba3", "B1", "B2", "B3", "Caa1", "Caa2", "Caa3", "Ca", "C"}

// OtherScale contains the notches of the other agencies, best first. Source: the agencies' scales.
var OtherScale = []string{"AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB+", "BBB", "BBB-", "BB+", "BB", "BB-", "B+", "B", "B-", "CCC+", "CCC", "CCC-", "CC", "C"}

// Qualities is a distribution of the quality of borrowers, in notches from the best: normal, cut off at both ends.
type Qualities struct {
	Mean, Sigma float64
	Best, Worst int
}

// BorrowerQualities are the qualities of the borrowers of each market. Source: assumption, after public counts of
// rated debt, most of which is BBB in investment grade and B in high yield.
var BorrowerQualities = map[api.Market]Qualities{
	api.IG: {6.6, 2.1, 0, 9}, api.HY: {13, 1.9, 10, 18}, api.EM: {9.5, 2.8, 2, 16},
	api.LL: {13.5, 1.6, 10, 18}, api.CF: {7.5, 2.3, 2, 14}, api.AF: {9, 2.5, 2, 16},
}

// OfficialQualities are those of states and of what they own, in investment grade. Source: assumption.
var OfficialQualities = Qualities{2.5, 1.8, 0, 7}

// NotchOffsets are the differences between an agency's view and the issuer's quality, in notches. Source: market
// practice: 45 % of the issuers have a split rating, most by one notch.
var NotchOffsets = []Weighted[int]{{75, 0}, {12, 1}, {13, -1}}

// RatedShares are the shares of borrowers that each agency rates, 0 to 1.
type RatedShares struct{ Moodys, StandardAndPoors, Fitch float64 }

// Agencies are the shares of borrowers that each agency rates, by market of bonds. Source: assumption.
var Agencies = map[api.Market]RatedShares{api.IG: {0.70, 0.76, 0.57}, api.HY: {0.92, 0.94, 0.42}, api.EM: {0.57, 0.52, 0.54}}

// UnratedShares are the shares of borrowers that no agency rates, besides those that each agency happens to leave out.
// Source: assumption.
var UnratedShares = map[api.Market]float64{api.HY: 0.04}

// LoanAgencies are the shares of the borrowers of loans that each agency rates. Source: assumption.
var LoanAgencies = RatedShares{0.6, 0.6, 0.3}
