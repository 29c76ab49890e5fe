package transform

import (
	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

// outcomes say where in a reading each part stands.
var outcomes = map[string]func(*cell, *text.Reading){
	lake.PartStatus:       func(c *cell, r *text.Reading) { c.word(r.Status) },
	lake.PartBenchmark:    func(c *cell, r *text.Reading) { c.word(r.Benchmark) },
	lake.PartIndex:        func(c *cell, r *text.Reading) { c.word(r.Benchmark) },
	lake.PartReference:    func(c *cell, r *text.Reading) { c.word(r.Reference) },
	lake.PartStage:        func(c *cell, r *text.Reading) { c.word(r.Stage) },
	lake.PartQuality:      func(c *cell, r *text.Reading) { c.word(r.Quality) },
	lake.PartRateType:     func(c *cell, r *text.Reading) { c.word(r.RateType) },
	lake.PartForm:         func(c *cell, r *text.Reading) { c.word(r.Form) },
	lake.PartTenorQuality: func(c *cell, r *text.Reading) { c.word(r.Length) },
	lake.PartCurrency:     func(c *cell, r *text.Reading) { c.word(r.Currency) },

	lake.PartBP:     func(c *cell, r *text.Reading) { c.number(r.Main.Point) },
	lake.PartPct:    func(c *cell, r *text.Reading) { c.number(r.Main.Point) },
	lake.PartAmount: func(c *cell, r *text.Reading) { c.number(r.Main.Point) },
	lake.PartPrice:  func(c *cell, r *text.Reading) { c.number(r.Main.Point) },
	lake.PartLoBP:   func(c *cell, r *text.Reading) { c.number(r.Main.Lo) },
	lake.PartLoPct:  func(c *cell, r *text.Reading) { c.number(r.Main.Lo) },
	lake.PartLo:     func(c *cell, r *text.Reading) { c.number(r.Main.Lo) },
	lake.PartHiBP:   func(c *cell, r *text.Reading) { c.number(r.Main.Hi) },
	lake.PartHiPct:  func(c *cell, r *text.Reading) { c.number(r.Main.Hi) },
	lake.PartHi:     func(c *cell, r *text.Reading) { c.number(r.Main.Hi) },

	lake.PartYieldPct:   func(c *cell, r *text.Reading) { c.number(r.Yield.Point) },
	lake.PartYieldLoPct: func(c *cell, r *text.Reading) { c.number(r.Yield.Lo) },
	lake.PartYieldHiPct: func(c *cell, r *text.Reading) { c.number(r.Yield.Hi) },
	lake.PartPIKPct:     func(c *cell, r *text.Reading) { c.number(r.PIK) },
	lake.PartMarginBP:   func(c *cell, r *text.Reading) { c.number(r.Margin) },
	lake.PartFeePct:     func(c *cell, r *text.Reading) { c.number(r.Fee) },
	lake.PartTenorYears: func(c *cell, r *text.Reading) { c.number(r.Tenor) },
	lake.PartCallYears:  func(c *cell, r *text.Reading) { c.number(r.Call) },
	lake.PartJLMAmount:  func(c *cell, r *text.Reading) { c.number(r.JLM) },
	lake.PartCover:      func(c *cell, r *text.Reading) { c.number(r.Cover) },
	lake.PartSenior:     func(c *cell, r *text.Reading) { c.number(r.Senior) },
	lake.PartTotal:      func(c *cell, r *text.Reading) { c.number(r.Total) },

	lake.PartDate:    func(c *cell, r *text.Reading) { c.integer(r.Date) },
	lake.PartYear:    func(c *cell, r *text.Reading) { c.integer(r.Year) },
	lake.PartMonth:   func(c *cell, r *text.Reading) { c.integer(r.Month) },
	lake.PartInstant: func(c *cell, r *text.Reading) { c.integer(r.Instant) },

	lake.PartCSA:         func(c *cell, r *text.Reading) { c.flag(r.CSA) },
	lake.PartPerpetual:   func(c *cell, r *text.Reading) { c.flag(r.Perpetual) },
	lake.PartWillNotGrow: func(c *cell, r *text.Reading) { c.flag(r.WillNotGrow) },
	lake.PartImplied:     func(c *cell, r *text.Reading) { c.flag(r.Implied) },
}

func (c *cell) word(text []byte) { c.text, c.set = text, text != nil }

func (c *cell) number(n text.Number) { c.num, c.set = n.Millionths, n.Set }

func (c *cell) integer(n text.Integer) { c.n, c.set = n.Value, n.Set }

func (c *cell) flag(f text.Flag) {
	c.set = f != text.Unknown
	if f == text.Yes {
		c.n = 1
	}
}
