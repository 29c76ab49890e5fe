package sim

import (
	"cmp"
	"time"
)

// Config says which market to simulate. Equal configurations are equal markets.
type Config struct {
	// Birthdays lets fields be absent before the version of the API that brought them is released,
	// by the market's clock. A release restates all priced deals at once. Without it every field is
	// there from the start.
	Birthdays bool

	// CacheBytes is about how much memory the bodies of deals may take. It changes no byte of them.
	// Defaults to 512 MiB.
	CacheBytes int

	// Clock is the market's present. Before Epoch the market is as it was at Epoch; a clock that
	// goes back costs a new start of the simulation. Defaults to standing still at Epoch.
	Clock Clock

	// Deals is about the number of priced deals that stand in each market at Epoch. Defaults to
	// 200. Time and memory grow with it: see BenchmarkBuild.
	Deals int

	// Epoch is the start of the market's history, cut to whole seconds, UTC. The deals that stand
	// then were priced in the three years before. Defaults to 2026-01-05T00:00:00Z.
	Epoch time.Time

	// Expected is about the number of expected deals that stand in each market at Epoch. Defaults
	// to a quarter of Deals, at least 8.
	Expected int

	// PerDay is the mean number of deals announced in each market on a business day after Epoch;
	// seasons, days of the week and the mood of the market go up and down around it. Defaults to
	// Expected/10, at least 2, which about keeps the lists of expected deals at their size.
	PerDay float64

	// Quirks sets how awkward the deals are. Defaults to DefaultQuirks.
	Quirks *Quirks

	// Scale multiplies the counts of a market that has Years. Defaults to 1.
	Scale float64

	// Seed picks the market. Every value is as good, 0 too.
	Seed uint64

	// Years, where it is set, gives the market so many years of history before Epoch, all of it
	// simulated, with the counts of real markets in each year, and goes on like that after Epoch.
	// Deals, Expected and PerDay then mean nothing.
	Years int
}

func (c Config) withDefaults() Config {
	if c.Epoch.IsZero() {
		c.Epoch = time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)
	}
	c.Epoch = c.Epoch.UTC().Truncate(time.Second)
	c.Deals = cmp.Or(max(c.Deals, 0), 200)
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
		quirks := *c.Quirks // the caller may go on using its own
		c.Quirks = &quirks
	}
	if c.Clock == nil {
		epoch := c.Epoch
		c.Clock = func() time.Time { return epoch }
	}
	return c
}
