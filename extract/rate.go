package extract

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The API documents no limits, so the rate is found by trying: a 429 leaves seven tenths of the rate reached, and each
// quiet stretch adds a quarter, which doubles the rate in about 15 seconds. A 429 costs little, since the server says
// when to continue.
const (
	slowdown       = 0.7  // factor on the rate reached, after a 429
	speedup        = 1.25 // factor on the rate, after a quiet stretch
	quietStretch   = 5 * time.Second
	slowest        = 1    // requests per second; below it, Retry-After alone decides
	unlimitedAgain = 1000 // requests per second at which a limit is dropped that the configuration does not set
	measured       = 10 * time.Second
	mostMeasured   = 64
)

// adaptiveRate spaces the requests of one account evenly. 429 answers lower its rate, and quiet stretches raise it
// again, up to the ceiling. It is safe for concurrent use.
type adaptiveRate struct {
	ceiling rate.Limit // rate.Inf: none
	limiter *rate.Limiter

	mu     sync.Mutex
	recent []time.Time // when the last requests left, oldest first
	era    int         // number of times the rate was lowered
	steady time.Time   // when the rate last changed, or the latest quiet stretch ended
}

// newAdaptiveRate starts at the ceiling, in requests per second; 0: no ceiling.
func newAdaptiveRate(perSecond float64) *adaptiveRate {
	ceiling := rate.Limit(perSecond)
	if perSecond == 0 {
		ceiling = rate.Inf
	}
	return &adaptiveRate{ceiling: ceiling, limiter: rate.NewLimiter(ceiling, 1)}
}

// reserve reserves the next turn. The caller waits for its delay, or cancels it.
func (a *adaptiveRate) reserve() *rate.Reservation {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faster(time.Now())
	return a.limiter.Reserve()
}

// recordSent records that a request is sent now, and returns its era.
func (a *adaptiveRate) recordSent() (era int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.recent) == mostMeasured {
		a.recent = a.recent[:copy(a.recent, a.recent[1:])]
	}
	a.recent = append(a.recent, time.Now())
	return a.era
}

// slower lowers the rate after a 429 to a request of the given era, and returns the new rate in requests per second. A
// burst may get many 429s at once. Those to requests from before the rate was last lowered say nothing about the
// current rate: slower then returns false and changes nothing.
func (a *adaptiveRate) slower(era int) (perSecond float64, lowered bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if era != a.era {
		return 0, false
	}
	now := time.Now()
	limit := max(slowdown*a.reached(now), slowest)
	limit = min(limit, a.limiter.Limit())
	a.limiter.SetLimit(limit)
	a.era++
	a.recent, a.steady = a.recent[:0], now
	return float64(limit), true
}

// reached returns the rate at which requests were sent recently. A burst counts over a full second, as limits do.
func (a *adaptiveRate) reached(now time.Time) rate.Limit {
	for len(a.recent) > 0 && now.Sub(a.recent[0]) > measured {
		a.recent = a.recent[1:]
	}
	if len(a.recent) == 0 {
		return 0
	}
	return rate.Limit(float64(len(a.recent)) / max(now.Sub(a.recent[0]).Seconds(), 1))
}

// faster raises the rate once per quiet stretch that has passed.
func (a *adaptiveRate) faster(now time.Time) {
	for a.limiter.Limit() < a.ceiling && now.Sub(a.steady) >= quietStretch {
		a.steady = a.steady.Add(quietStretch)
		limit := speedup * a.limiter.Limit()
		if limit >= min(a.ceiling, unlimitedAgain) {
			limit = a.ceiling
		}
		a.limiter.SetLimit(limit)
	}
}

// pauseUntil excludes the time until then from quiet stretches: without requests, nothing is proved about the rate.
func (a *adaptiveRate) pauseUntil(until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if until.After(a.steady) {
		a.steady = until
	}
}
