package calibration

import "dealflow/schemas/api"

// LinesPerOffer are the numbers of securities in a bond offer. Source: assumption, near public counts of 2015.
var LinesPerOffer = map[api.Market][]Weighted[int]{
	api.IG: {{70, 1}, {18, 2}, {7, 3}, {2.5, 4}, {2.5, 5}},
	api.HY: {{72, 1}, {22, 2}, {5, 3}, {1, 4}},
	api.EM: {{80, 1}, {14, 2}, {5, 3}, {1, 4}},
}

// LabelledShares are the shares of labelled bonds and loans by year, in per cent. Source: assumption, after the public
// trend.
var LabelledShares = map[api.Market][]Point{
	api.IG: {{2013, 0}, {2015, 2}, {2019, 7}, {2021, 20}, {2024, 18}},
	api.HY: {{2015, 0}, {2019, 2}, {2021, 12}, {2024, 8}},
	api.EM: {{2013, 0}, {2015, 1}, {2019, 5}, {2021, 14}, {2024, 12}},
	api.LL: {{2015, 0}, {2019, 1}, {2021, 12}, {2024, 8}},
	api.CF: {{2013, 0}, {2015, 1}, {2019, 8}, {2021, 28}, {2024, 25}},
	api.AF: {{2010, 1}, {2015, 5}, {2019, 15}, {2021, 30}, {2024, 30}},
}

// LabelKinds are the kinds of labelled bonds: 1 green, 2 sustainable, 3 sustainability-linked, 4 social. Source:
// public figures of 2023, by count.
var LabelKinds = []Weighted[int]{{59, 1}, {17, 2}, {6, 3}, {18, 4}}

// BondFormats are the formats of bonds: 0 Reg S, 1 144A, 2 both, 3 SEC registered. Source: assumption.
var BondFormats = map[api.Market][]Weighted[int]{
	api.IG: {{45, 0}, {3, 1}, {14, 2}, {38, 3}},
	api.HY: {{10, 0}, {15, 1}, {72, 2}, {3, 3}},
	api.EM: {{50, 0}, {3, 1}, {45, 2}, {2, 3}},
}

// Rank is a ranking and its tier, "" for none.
type Rank struct{ Name, Tier string }

// Ranks are the rankings of bonds. Other figures refer to them by index. Source: market terms; tiers are the API's.
var Ranks = []Rank{
	{"Snr unsec", ""}, {"SP", ""}, {"SNP", ""}, {"T2", "T2"}, {"AT1", "AT1"}, {"Jnr sub (hybrid)", ""}, {"RT1", "RT1"}, {"T1", "T1"}, {"Snr sec", ""}, {"Covered", ""},
}

// Indices of Ranks that package sim names.
const (
	RankSecured = 8
	RankCovered = 9
)

// BankRanksIG are the indices of Ranks of the bonds of banks in investment grade, covered bonds excepted. Source:
// assumption, so that AT1 are 1.2 % and T2 3 % of the bonds.
var BankRanksIG = []Weighted[int]{{34, 0}, {23, 1}, {25, 2}, {11.5, 3}, {5, 4}, {0.6, 6}, {0.4, 7}}

// BankRanks are the indices of Ranks of the bonds of banks in high yield and emerging markets. Source: assumption.
var BankRanks = []Weighted[int]{{60, 0}, {10, 1}, {7, 2}, {13, 3}, {8, 4}, {1, 6}, {1, 7}}

// OddCoupons are the types of coupons that are neither fixed nor floating. Source: assumption.
var OddCoupons = []Weighted[string]{{40, "Step"}, {20, "Index-linked"}, {40, "PIK/Toggle"}}

// EvolutionLengths are the numbers of entries in the price evolution of a bond. Source: assumption.
var EvolutionLengths = []Weighted[int]{{7, 0}, {9, 1}, {25, 2}, {40, 3}, {15, 4}, {4, 5}}

// EarlyEvolutionLengths replace EvolutionLengths for bonds priced before 2013. Source: assumption.
var EarlyEvolutionLengths = []Weighted[int]{{15, 0}, {25, 1}, {30, 2}, {22, 3}, {7, 4}, {1, 5}}

// Clauses are the shares of bonds with a put on a change of control, a clean-up call and a make-whole call, 0 to 1.
type Clauses struct{ Control, CleanUp, MakeWhole float64 }

// The clauses by type of borrower: banks, insurers and states; high yield; other companies. Source:
// assumption.
var (
	CallsBank      = Clauses{0.02, 0.05, 0.05}
	CallsHY        = Clauses{0.95, 0.10, 0.85}
	CallsCorporate = Clauses{0.75, 0.60, 0.80}
)

// Ending is where the price of a bond ends, compared with its guidance.
type Ending uint8

// The endings.
const (
	AtTightEnd Ending = iota
	Inside
	AtWideEnd
	Tighter
	Wider
)

// PricesInRange is the share of bonds whose guidance says that they will price in range, 0 to 1; Guided and
// GuidedInRange are where the others and these end. Source: assumption; books mostly let the price end at the tight end
// of the guidance or beyond it, and hardly ever wider. How far the price ends from the first talk, and how often wider,
// follows from RegimeEffects.Tighter.
var (
	PricesInRange = 0.4
	Guided        = []Weighted[Ending]{{36, AtTightEnd}, {18, Inside}, {4, AtWideEnd}, {38, Tighter}, {4, Wider}}
	GuidedInRange = []Weighted[Ending]{{55, AtTightEnd}, {38, Inside}, {7, AtWideEnd}}
)

// Investors are keys of the investor types in the stats of a bond. Source: market terms.
var Investors = []string{"Fund managers", "Banks/PBs", "CB/OI", "Ins/PF", "HF", "Others", "Corporates", "Central banks / SSAs", "Priv. banks \"PB\""}

// Areas are keys of the geography in the stats of a bond. Source: market terms.
var Areas = []string{"UK/Ireland", "Ger/Aut", "Nordics", "Benelux", "Asia", "US offshore", "US", "Switzerland", "Rest.of.World", "日本", "France", "Southern Europe"}

// AwkwardKeys are keys of stats that a reader may misread. Source: invented, to be awkward.
var AwkwardKeys = []string{"", "a.b.c", "$type", "_links", "'; --", "usd", "null", " ", "Å", "A\u030a", "key\twith\ttabs", "1"}

// Roles are the roles of banks in a bond deal. Source: market terms; their shares are assumptions.
var Roles = []Weighted[string]{
	{50, "Bookrunner"}, {8, "Active Bookrunner"}, {8, "Passive Bookrunner"}, {10, "Joint Lead Manager"}, {6, "Lead Manager"}, {4, "Co-Lead"},
	{8, "Co-Manager"}, {3, "Global Coordinator"}, {2, "B&D"}, {1, "Structurer"},
}
