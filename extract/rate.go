package extract

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// How the rate follows the server's. The API document gives no figures (Limits), so the rate is found
// out by trying: seven tenths of what was too much, then a quarter more after each quiet stretch, which doubles it
// in about 15 seconds. A 429 costs little beside that, since the server says when to go on.
const (
	slowdown       = 0.7  // what a 429 leaves of the rate reached
	speedup        = 1.25 // what a quiet stretch makes of the rate
	quietStretch   = 5 * time.Second
	slowest        = 1    // requests per second; below it, Retry-After alone decides
	unlimitedAgain = 1000 // requests per second from which on a limit that was not wished for is dropped
	measured       = 10 * time.Second
	mostMeasured   = 64
)

// adaptiveRate spaces the requests of one account evenly, at a rate that 429 answers lower and quiet
// stretches raise again, up to its ceiling. It is safe for concurrent use.
type adaptiveRate struct {
	ceiling rate.Limit // rate.Inf: none
	limiter *rate.Limiter

	mu     sync.Mutex
	recent []time.Time // when the last requests left, oldest first
	era    int         // how often the rate was lowered
	steady time.Time   // the rate stands as it is since then, or the latest quiet stretch ended
}

// newAdaptiveRate starts at the ceiling, in requests per second; 0: there is none.
func newAdaptiveRate(perSecond float64) *adaptiveRate {
	ceiling := rate.Limit(perSecond)
	if perSecond == 0 {
		ceiling = rate.Inf
	}
	return &adaptiveRate{ceiling: ceiling, limiter: rate.NewLimiter(ceiling, 1)}
}

// reserve takes the next turn. The caller waits for its delay, or cancels it.
func (a *adaptiveRate) reserve() *rate.Reservation {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faster(time.Now())
	return a.limiter.Reserve()
}

// left notes that a request leaves now and gives the era it belongs to.
func (a *adaptiveRate) left() (era int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.recent) == mostMeasured {
		a.recent = a.recent[:copy(a.recent, a.recent[1:])]
	}
	a.recent = append(a.recent, time.Now())
	return a.era
}

// slower lowers the rate because of a 429 to a request of an era, and gives the new rate in requests
// per second. Of the requests that left before the rate was last lowered, many may be refused at
// once; they say nothing about the rate of now, and false is returned.
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

// reached is the rate at which requests left of late. A burst counts over a second, as limits do.
func (a *adaptiveRate) reached(now time.Time) rate.Limit {
	for len(a.recent) > 0 && now.Sub(a.recent[0]) > measured {
		a.recent = a.recent[1:]
	}
	if len(a.recent) == 0 {
		return 0
	}
	return rate.Limit(float64(len(a.recent)) / max(now.Sub(a.recent[0]).Seconds(), 1))
}

// faster raises the rate for the quiet stretches that have passed.
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

// silent says that no request leaves until then: time in which nothing is tried proves nothing.
func (a *adaptiveRate) silent(until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if until.After(a.steady) {
		a.steady = until
	}
}
