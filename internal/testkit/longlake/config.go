package longlake

import (
	"math"
	"testing"
	"time"

	"dealflow/internal/testkit"
	"dealflow/serve/sim"
)

// Base is the address from which the lake's payloads seem to come. No server listens there.
const Base = "http://127.0.0.1:8900"

// Config says which lake to build. Equal configurations are equal lakes.
type Config struct {
	// Quirks sets how irregular the deals are, and how many are removed and reappear. Defaults to
	// sim.AwkwardQuirks.
	Quirks *sim.Quirks

	// Seed selects the market. Any value is valid, 0 too.
	Seed uint64

	// Scale multiplies the counts of deals. At 1, the default, fifteen years see about 113,000 priced
	// deals, after some 6,000 of the year before; tests take 0.01 and less.
	Scale float64

	// Years is how many calendar years the lake looks back on, before 2025. Defaults to 15.
	Years int

	// SnapshotMonths is how many of the last month ends have a snapshot. Each is a full copy of that
	// night's deals: in full size about 20 MB. Defaults to 12; negative: none.
	SnapshotMonths int
}

// BenchmarkConfig returns the configuration of the lake of fifteen years that benchmarks use: a hundredth of it, with -short a
// fifth of that, with TEST_FULL all of it, which takes minutes and about 600 MB of disk.
func BenchmarkConfig() Config {
	switch {
	case testkit.Full():
		return Config{}
	case testing.Short():
		return Config{Scale: 0.002}
	default:
		return Config{Scale: 0.01}
	}
}

func (c Config) withDefaults() Config {
	if c.Scale <= 0 {
		c.Scale = 1
	}
	if c.Years <= 0 {
		c.Years = 15
	}
	if c.SnapshotMonths == 0 {
		c.SnapshotMonths = 12
	}
	c.SnapshotMonths = max(c.SnapshotMonths, -1)
	if c.Quirks == nil {
		quirks := sim.AwkwardQuirks()
		c.Quirks = &quirks
	}
	return c
}

// end is the first day after the history. Of later years the market knows no counts of its own.
var end = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

// start is the first day of the history: the market has gone on for a year then.
func (c Config) start() time.Time { return end.AddDate(-c.Years, 0, 0) }

// NewMarket returns the market that a lake of this configuration is filled from. Each night of the lake is the market
// when the clock returns Night.Observed.
func NewMarket(config Config, clock sim.Clock) *sim.Market {
	config = config.withDefaults()
	return sim.New(sim.Config{
		Quirks: config.Quirks, Seed: config.Seed, Scale: config.Scale, Years: 1, Epoch: config.start(), Clock: clock,
		// Unchanged deals keep their bodies, so nothing is made or hashed twice.
		CacheBytes: math.MaxInt,
	})
}
