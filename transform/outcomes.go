package transform

import (
	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

// outcomes contains, for each part, the function that copies it from a reading to a cell.
var outcomes = map[string]func(*cell, *text.Reading){
	lake.PartStatus:       func(c *cell, r *text.Reading) { setWord(c, r.Status) },
	lake.PartBenchmark:    func(c *cell, r *text.Reading) { setWord(c, r.Benchmark) },
	lake.PartIndex:        func(c *cell, r *text.Reading) { setWord(c, r.Benchmark) },
	lake.PartReference:    func(c *cell, r *text.Reading) { setWord(c, r.Reference) },
	lake.PartStage:        func(c *cell, r *text.Reading) { setWord(c, r.Stage) },
	lake.PartQuality:      func(c *cell, r *text.Reading) { setWord(c, r.Quality) },
	lake.PartRateType:     func(c *cell, r *text.Reading) { setWord(c, r.RateType) },
	lake.PartForm:         func(c *cell, r *text.Reading) { setWord(c, r.Form) },
	lake.PartTenorQuality: func(c *cell, r *text.Reading) { setWord(c, r.Length) },
	lake.PartCurrency:     func(c *cell, r *text.Reading) { setWord(c, r.Currency) },

	lake.PartBP:     func(c *cell, r *text.Reading) { setNumber(c, r.Main.Point) },
	lake.PartPct:    func(c *cell, r *text.Reading) { setNumber(c, r.Main.Point) },
	lake.PartAmount: func(c *cell, r *text.Reading) { setNumber(c, r.Main.Point) },
	lake.PartPrice:  func(c *cell, r *text.Reading) { setNumber(c, r.Main.Point) },
	lake.PartLoBP:   func(c *cell, r *text.Reading) { setNumber(c, r.Main.Lo) },
	lake.PartLoPct:  func(c *cell, r *text.Reading) { setNumber(c, r.Main.Lo) },
	lake.PartLo:     func(c *cell, r *text.Reading) { setNumber(c, r.Main.Lo) },
	lake.PartHiBP:   func(c *cell, r *text.Reading) { setNumber(c, r.Main.Hi) },
	lake.PartHiPct:  func(c *cell, r *text.Reading) { setNumber(c, r.Main.Hi) },
	lake.PartHi:     func(c *cell, r *text.Reading) { setNumber(c, r.Main.Hi) },

	lake.PartYieldPct:   func(c *cell, r *text.Reading) { setNumber(c, r.Yield.Point) },
	lake.PartYieldLoPct: func(c *cell, r *text.Reading) { setNumber(c, r.Yield.Lo) },
	lake.PartYieldHiPct: func(c *cell, r *text.Reading) { setNumber(c, r.Yield.Hi) },
	lake.PartPIKPct:     func(c *cell, r *text.Reading) { setNumber(c, r.PIK) },
	lake.PartMarginBP:   func(c *cell, r *text.Reading) { setNumber(c, r.Margin) },
	lake.PartFeePct:     func(c *cell, r *text.Reading) { setNumber(c, r.Fee) },
	lake.PartTenorYears: func(c *cell, r *text.Reading) { setNumber(c, r.Tenor) },
	lake.PartCallYears:  func(c *cell, r *text.Reading) { setNumber(c, r.Call) },
	lake.PartJLMAmount:  func(c *cell, r *text.Reading) { setNumber(c, r.JLM) },
	lake.PartCover:      func(c *cell, r *text.Reading) { setNumber(c, r.Cover) },

	lake.PartBenchmarkIndex: func(c *cell, r *text.Reading) { setWord(c, r.Index) },
	lake.PartBasis:          func(c *cell, r *text.Reading) { setWord(c, r.Basis) },
	lake.PartMeasure:        func(c *cell, r *text.Reading) { setWord(c, r.Measure) },
	lake.PartRank:           func(c *cell, r *text.Reading) { setWord(c, r.Rank) },
	lake.PartLabel:          func(c *cell, r *text.Reading) { setWord(c, r.Label) },
	lake.PartGrade:          func(c *cell, r *text.Reading) { setWord(c, r.Grade) },
	lake.PartOutlook:        func(c *cell, r *text.Reading) { setWord(c, r.Outlook) },
	lake.PartWatch:          func(c *cell, r *text.Reading) { setWord(c, r.Watch) },

	lake.PartBenchmarkTenor: func(c *cell, r *text.Reading) { setNumber(c, r.BenchmarkTenor) },
	lake.PartOID:            func(c *cell, r *text.Reading) { setNumber(c, r.Issue.Point) },
	lake.PartOIDLo:          func(c *cell, r *text.Reading) { setNumber(c, r.Issue.Lo) },
	lake.PartOIDHi:          func(c *cell, r *text.Reading) { setNumber(c, r.Issue.Hi) },
	lake.PartExtendedYears:  func(c *cell, r *text.Reading) { setNumber(c, r.Extended) },
	lake.PartNotch:          func(c *cell, r *text.Reading) { setInteger(c, r.Notch) },

	lake.PartSenior:      func(c *cell, r *text.Reading) { setNumber(c, r.Senior.Point) },
	lake.PartSeniorLo:    func(c *cell, r *text.Reading) { setNumber(c, r.Senior.Lo) },
	lake.PartSeniorHi:    func(c *cell, r *text.Reading) { setNumber(c, r.Senior.Hi) },
	lake.PartTotal:       func(c *cell, r *text.Reading) { setNumber(c, r.Total.Point) },
	lake.PartTotalLo:     func(c *cell, r *text.Reading) { setNumber(c, r.Total.Lo) },
	lake.PartTotalHi:     func(c *cell, r *text.Reading) { setNumber(c, r.Total.Hi) },
	lake.PartNet:         func(c *cell, r *text.Reading) { setNumber(c, r.Net.Point) },
	lake.PartNetLo:       func(c *cell, r *text.Reading) { setNumber(c, r.Net.Lo) },
	lake.PartNetHi:       func(c *cell, r *text.Reading) { setNumber(c, r.Net.Hi) },
	lake.PartNetSenior:   func(c *cell, r *text.Reading) { setNumber(c, r.NetSenior.Point) },
	lake.PartNetSeniorLo: func(c *cell, r *text.Reading) { setNumber(c, r.NetSenior.Lo) },
	lake.PartNetSeniorHi: func(c *cell, r *text.Reading) { setNumber(c, r.NetSenior.Hi) },

	lake.PartCompositeNotch: func(c *cell, r *text.Reading) { setInteger(c, r.Composite.Notch) },
	lake.PartCompositeGrade: func(c *cell, r *text.Reading) { setWord(c, r.Composite.Grade) },
	lake.PartCompositeRule:  func(c *cell, r *text.Reading) { setWord(c, r.Composite.Rule) },
	lake.PartWorstNotch:     func(c *cell, r *text.Reading) { setInteger(c, r.Composite.Worst) },
	lake.PartIsInvestment:   func(c *cell, r *text.Reading) { setFlag(c, r.Composite.IsInvestment) },
	lake.PartMatchesGrade:   func(c *cell, r *text.Reading) { setFlag(c, r.Composite.MatchesGrade) },

	lake.PartDate:    func(c *cell, r *text.Reading) { setInteger(c, r.Date) },
	lake.PartYear:    func(c *cell, r *text.Reading) { setInteger(c, r.Year) },
	lake.PartMonth:   func(c *cell, r *text.Reading) { setInteger(c, r.Month) },
	lake.PartInstant: func(c *cell, r *text.Reading) { setInteger(c, r.Instant) },

	lake.PartCSA:         func(c *cell, r *text.Reading) { setFlag(c, r.CSA) },
	lake.PartPerpetual:   func(c *cell, r *text.Reading) { setFlag(c, r.Perpetual) },
	lake.PartWillNotGrow: func(c *cell, r *text.Reading) { setFlag(c, r.WillNotGrow) },
	lake.PartImplied:     func(c *cell, r *text.Reading) { setFlag(c, r.Implied) },
	lake.PartIncrease:    func(c *cell, r *text.Reading) { setFlag(c, r.Increase) },
	lake.PartEquivalent:  func(c *cell, r *text.Reading) { setFlag(c, r.Equivalent) },
	lake.PartReconciled:  func(c *cell, r *text.Reading) { setFlag(c, r.Reconciled) },
	lake.PartIncludesJLM: func(c *cell, r *text.Reading) { setFlag(c, r.IncludesJLM) },
}

func setWord(c *cell, text []byte) { c.Text, c.Set = text, text != nil }

func setNumber(c *cell, n text.Number) { c.Num, c.Set = n.Millionths, n.Set }

func setInteger(c *cell, n text.Integer) { c.N, c.Set = n.Value, n.Set }

func setFlag(c *cell, f text.Flag) {
	c.Set = f != text.Unknown
	if f == text.Yes {
		c.N = 1
	}
}
