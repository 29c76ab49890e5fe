package calibration

import "dealflow/schemas/api"

// Facility is a type of loan: its name and its short form.
type Facility struct{ Long, Short string }

// Purposes are the uses of loans. Source: the API's flags.
var Purposes = []string{"refi", "repricing", "lbo", "acquisition", "dividend", "general", "sbo", "ipo", "other"}

// PurposeShares and SponsoredPurposeShares are indices of Purposes, for loans without a sponsor and with one: only sponsors
// buy out. Source: assumption, so that of leveraged loans 40 % refinance, 20 % reprice, 12 % are
// buyouts and 14 % pay for acquisitions.
var (
	PurposeShares          = []Weighted[int]{{47, 0}, {20, 1}, {21, 3}, {2, 4}, {7, 5}, {1, 7}, {2, 8}}
	SponsoredPurposeShares = []Weighted[int]{{36, 0}, {20, 1}, {19, 2}, {10, 3}, {7, 4}, {2, 5}, {3, 6}, {1, 7}, {2, 8}}
)

// SponsoredShares are the shares of loans with a sponsor, 0 to 1. Source: assumption.
var SponsoredShares = map[api.Market]float64{api.LL: 0.62, api.CF: 0.03, api.AF: 0.12}

// SponsorCounts are the numbers of sponsors of a loan that has any. Source: assumption.
var SponsorCounts = []Weighted[int]{{82, 1}, {14, 2}, {4, 3}}

// ClubShares are the shares of club loans, 0 to 1. Source: assumption.
var ClubShares = map[api.Market]float64{api.LL: 0.08, api.CF: 0.38, api.AF: 0.45}

// Assets are the assets that asset finance pays for. Source: assumption.
var Assets = []Weighted[string]{{24, "Aircraft"}, {18, "Shipping"}, {22, "Renewables"}, {9, "Transport infra"}, {7, "Digital/data centre"}, {8, "Oil & gas/LNG"}, {6, "Real estate"}, {3, "Rail"}, {3, "Other"}}

// TranchesPerLoan are the numbers of tranches of a loan; an add-on has one. Source: assumption.
var TranchesPerLoan = map[api.Market][]Weighted[int]{
	api.LL: {{34, 1}, {38, 2}, {18, 3}, {6.5, 4}, {3.5, 5}},
	api.CF: {{62, 1}, {26, 2}, {9, 3}, {3, 4}},
	api.AF: {{65, 1}, {22, 2}, {9, 3}, {4, 4}},
}

// FacilityTerms are the usual size and price of a type of loan.
type FacilityTerms struct {
	Facility
	Median float64 // size of a tranche, millions of dollars
	Sigma  float64 // standard deviation of the logarithm of the size
	Margin int     // median, basis points
	Years  []int   // tenors, each as frequent as the others
}

// Facilities are the types of loans in each market. Source: assumption; tenors are market practice.
var Facilities = map[api.Market][]Weighted[FacilityTerms]{
	api.LL: {
		{34, FacilityTerms{Facility{"Term Loan B", "TLB"}, 540, 0.8, 385, []int{7, 7, 7, 7, 6}}}, {30, FacilityTerms{Facility{"Revolving Credit Facility", "RCF"}, 100, 0.8, 370, []int{5, 5, 5, 6}}},
		{10, FacilityTerms{Facility{"Term Loan A", "TLA"}, 250, 0.8, 300, []int{5, 6}}}, {12, FacilityTerms{Facility{"Term Loan", "TL"}, 300, 0.8, 360, []int{5, 6, 7}}},
		{3, FacilityTerms{Facility{"Bridge", "Bridge"}, 400, 0.8, 450, []int{1}}}, {4, FacilityTerms{Facility{"Capex/Acquisition Facility", "CAF"}, 80, 0.8, 375, []int{5, 6}}},
		{3, FacilityTerms{Facility{"Delayed Draw Term Loan", "DDTL"}, 90, 0.8, 400, []int{7}}}, {1.5, FacilityTerms{Facility{"2nd Lien", "2L"}, 180, 0.7, 725, []int{8}}},
		{1, FacilityTerms{Facility{"Unitranche", "UNI"}, 300, 0.7, 575, []int{7}}}, {1.5, FacilityTerms{Facility{"Guarantee/L/C", "LC"}, 60, 0.7, 300, []int{5}}},
	},
	api.CF: {
		{55, FacilityTerms{Facility{"Revolving Credit Facility", "RCF"}, 400, 1, 85, []int{5, 5, 5, 6}}}, {35, FacilityTerms{Facility{"Term Loan", "TL"}, 400, 1, 110, []int{3, 5, 5}}},
		{6, FacilityTerms{Facility{"Bridge", "Bridge"}, 700, 1, 90, []int{1}}}, {4, FacilityTerms{Facility{"Schuldschein", "SSD"}, 150, 0.8, 100, []int{3, 5, 7}}},
	},
	api.AF: {
		{70, FacilityTerms{Facility{"Term Loan", "TL"}, 180, 0.9, 200, []int{7, 10, 12, 15}}}, {15, FacilityTerms{Facility{"Guarantee/L/C", "LC"}, 120, 0.9, 170, []int{5, 7}}},
		{15, FacilityTerms{Facility{"Export credit", "ECA"}, 220, 0.9, 150, []int{10, 12}}},
	},
}

// OIDs are the issue prices of leveraged loans as texts: per cent of par, or an upfront fee. Source: assumption.
var OIDs = []Weighted[string]{
	{18, "par"}, {4, "100"}, {12, "99.75"}, {20, "99.5"}, {6, "99-99.5"}, {20, "99"}, {8, "98.75"}, {4, "98.5"}, {5, "97"}, {3, "96.5"}, {2, "0.5% UF"},
}

// CovenantLite is the share of term loans B without covenants by year, in per cent. Source: public trend, rounded.
var CovenantLite = []Point{{2010, 8}, {2012, 25}, {2013, 56}, {2015, 65}, {2018, 80}, {2021, 90}}
