package sim

import (
	"cmp"
	"time"
)

// Config says which market to simulate. Equal configurations are equal markets.
type Config struct {
	// Birthdays makes fields absent until the release of the API version that added them, by the market's clock. A
	// release restates all priced deals at once. Without Birthdays every field is present from the start.
	Birthdays bool

	// CacheBytes is an approximate limit on the memory for bodies of deals. It changes no byte of them. Defaults to
	// 512 MiB.
	CacheBytes int

	// Clock is the market's present. Before Epoch the market is as at Epoch. If the clock goes back, the simulation
	// starts again from the beginning. Defaults to a clock that is always at Epoch.
	Clock Clock

	// Deals is the approximate number of priced deals in each market at Epoch. Defaults to 200 without Years. Time and
	// memory grow with it: see BenchmarkBuild.
	Deals int

	// Epoch is the start of the market's history, truncated to whole seconds, UTC. The priced deals at Epoch were
	// priced in the three years before. Defaults to 2026-01-05T00:00:00Z.
	Epoch time.Time

	// Expected is the approximate number of expected deals in each market at Epoch. Defaults to a quarter of Deals,
	// at least 8.
	Expected int

	// PerDay is the mean number of deals announced in each market on a business day after Epoch. The number varies
	// with the season, the day of the week and the regime. Defaults to Expected/10, at least 2, which keeps the lists
	// of expected deals at about their size.
	PerDay float64

	// Quirks are the rates of awkward records and events. Defaults to DefaultQuirks.
	Quirks *Quirks

	// Scale multiplies the counts of a market that has Years. Defaults to 1.
	Scale float64

	// Seed selects the market. Every value is valid, including 0.
	Seed uint64

	// Years is the number of years of simulated history before Epoch. The market continues at the same rate after Epoch.
	// With Deals, each market has about that many priced deals at Epoch; without, it has the counts of real markets in
	// each year. If Years is set, Expected and PerDay are ignored.
	Years int
}

func (c Config) withDefaults() Config {
	if c.Epoch.IsZero() {
		c.Epoch = time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)
	}
	c.Epoch = c.Epoch.UTC().Truncate(time.Second)
	c.Deals = max(c.Deals, 0)
	if c.Years == 0 {
		c.Deals = cmp.Or(c.Deals, 200)
	}
	c.Expected = cmp.Or(max(c.Expected, 0), max(c.Deals/4, 8))
	c.CacheBytes = cmp.Or(max(c.CacheBytes, 0), 512<<20)
	if c.PerDay <= 0 {
		c.PerDay = max(float64(c.Expected)/10, 2)
	}
	if c.Scale <= 0 {
		c.Scale = 1
	}
	if c.Quirks == nil {
		quirks := DefaultQuirks()
		c.Quirks = &quirks
	} else {
		quirks := *c.Quirks // the caller may change its own later
		c.Quirks = &quirks
	}
	if c.Clock == nil {
		epoch := c.Epoch
		c.Clock = func() time.Time { return epoch }
	}
	return c
}
