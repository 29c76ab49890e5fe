// Package runclock has the clock of a run.
//
// Takes: the machine's clock, the time that passes, and the Dates of the server's answers.
// Gives: the instants of a run, and that of its commit.
// Keeps: a Date that cannot be right is not used; a commit is known after everything observed for it.
// Fails: with ErrWrong if the true time may be another than the run's.
// May change here: how the sources are weighed (docs/explanation/extraction.md#instants).
package runclock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"dealflow/schemas/lake"
)

// ErrWrong means that a clock seems to be wrong.
var ErrWrong = errors.New("the clock seems wrong")

// Tolerance is the greatest difference of two clocks at which both count as right: a commit with a wrong instant
// would make all later instants wrong.
const Tolerance = 10 * time.Minute

// Clock returns a run's instants. It compares three sources: the machine's clock, which NTP may set forward or back
// during the run; the time that has passed since the start, which includes suspends of the machine, but not pauses of a
// virtual machine; and the Dates of the server's answers. docs/explanation/extraction.md#instants has the rules. It is
// safe for concurrent use, and implements extract.Clock.
type Clock struct {
	wall    func() time.Time     // the machine's clock
	elapsed func() time.Duration // since some instant
	server  bool                 // the time at the start is that of the server's first Date, else the machine's
	began   time.Duration        // elapsed at the start

	mu       sync.Mutex
	anchor   anchor
	dated    bool          // a Date has arrived
	ownTime  bool          // the server's clock has nothing to do with this machine's: its market is simulated or replayed
	offset   time.Duration // first Date − time of the run then
	latest   time.Time     // the latest instant observed
	evidence evidence
}

// anchor is an instant at which the time of the run is known.
type anchor struct {
	time    time.Time // of the run
	wall    time.Time
	elapsed time.Duration
}

// evidence is what the Dates since the first one have said.
type evidence struct {
	agreed  bool          // a Date agreed with the time of the run
	last    time.Duration // by how much the last Date departed, beyond the tolerance; 0 if it agreed
	date    time.Time     // the last Date that departed
	unused  int           // number of Dates that departed
	example time.Time     // the first of them
	step    time.Duration // by how much the machine's clock had been set forward when a Date last agreed without it
}

// New returns a clock that begins now. wall is the machine's clock. elapsed is the time that has passed since some instant; nil: by wall. With
// server the time at the start is that of the server's first Date.
func New(wall func() time.Time, elapsed func() time.Duration, server bool) *Clock {
	// Round removes the reading of Go's monotonic clock, by which Sub would not see that the machine's clock was set.
	c := &Clock{wall: func() time.Time { return wall().Round(0) }, elapsed: elapsed, server: server}
	if c.elapsed == nil {
		start := c.wall()
		c.elapsed = func() time.Duration { return c.wall().Sub(start) }
	}
	c.began = c.elapsed()
	start := c.wall()
	c.anchor = anchor{time: start, wall: start, elapsed: c.began}
	return c
}

// Observe records an instant of observation: the commit must be later.
func (c *Clock) Observe(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.latest) {
		c.latest = t
	}
}

func (c *Clock) observed() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.latest
}

// Now returns the present instant.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// now is Now for callers that hold the lock. The time that passes here says nothing about a clock of a market's own.
func (c *Clock) now() time.Time {
	if c.ownTime {
		return c.anchor.time
	}
	return c.anchor.time.Add(c.elapsed() - c.anchor.elapsed)
}

// SinceStart returns the time that has passed since the start.
func (c *Clock) SinceStart() time.Duration { return c.elapsed() - c.began }

// Dated implements extract.Clock.
func (c *Clock) Dated(date time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case date.IsZero():
		return date
	case !c.dated:
		c.first(date)
		return date
	}
	departed := date.Add(-c.offset).Sub(c.now())
	switch {
	case departed.Abs() <= Tolerance:
		c.evidence.agreed, c.evidence.last, c.evidence.step = true, 0, c.step()
		if c.ownTime && departed > 0 {
			c.moveTo(date)
		}
		return date
	case departed > 0 && c.confirms(date, departed):
		if c.evidence.last > 0 {
			c.evidence.unused-- // it was right
		}
		c.moveTo(date.Add(-c.offset))
		c.evidence.agreed, c.evidence.last, c.evidence.step = true, 0, 0
		return date
	}
	if c.evidence.unused++; c.evidence.unused == 1 {
		c.evidence.example = date
	}
	c.evidence.last, c.evidence.date = departed, date
	return c.now().Add(c.offset)
}

// first takes the first Date.
func (c *Clock) first(date time.Time) {
	c.dated = true
	ours := c.now()
	if !c.server {
		c.offset = date.Sub(ours)
		return
	}
	c.ownTime = date.Sub(ours).Abs() > Tolerance
	c.moveTo(date)
}

// moveTo sets the time of the run.
func (c *Clock) moveTo(t time.Time) { c.anchor = anchor{time: t, wall: c.wall(), elapsed: c.elapsed()} }

// step returns by how much the machine's clock was set forward since the anchor: how much more it has moved than time
// has passed.
func (c *Clock) step() time.Duration {
	return c.wall().Sub(c.anchor.wall) - (c.elapsed() - c.anchor.elapsed)
}

// confirms says whether another source has moved ahead as a Date has. A market's own clock may be moved forward at any
// time: there a second Date in a row confirms the first.
func (c *Clock) confirms(date time.Time, departed time.Duration) bool {
	if !c.ownTime {
		return (departed - c.step()).Abs() <= Tolerance
	}
	passed := c.elapsed() - c.anchor.elapsed
	return (departed-passed).Abs() <= Tolerance || (departed-passed-c.step()).Abs() <= Tolerance ||
		c.evidence.last > 0 && !date.Before(c.evidence.date.Add(-Tolerance))
}

// doubt returns why the time of the run may be wrong; "" if the sources agree well enough to commit.
func (c *Clock) doubt() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, step := &c.evidence, c.step()
	switch {
	case e.last > 0:
		return fmt.Sprintf("the server's Date was %s, where the run's clock said %s less: the true time may be later than the run's", lake.At(e.date), e.last.Round(time.Second))
	case e.last < 0 && (c.ownTime || !e.agreed):
		return fmt.Sprintf("the server's Date was %s, where the run's clock said %s more, and the first Date may have been the wrong one", lake.At(e.date), -e.last.Round(time.Second))
	case !c.ownTime && step-e.step > Tolerance:
		return fmt.Sprintf("this machine's clock was set forward by %s, and no Date of the server says since then that it was wrong: the true time may be later than the run's", step.Round(time.Second))
	}
	return ""
}

// Recheck requests more Dates if the time of the run may be wrong. Then it returns a warning about the Dates that were not
// used, "" for none, and ErrWrong if the doubt remains.
func (c *Clock) Recheck(ctx context.Context, ask func(context.Context) (time.Time, error)) (warning string, err error) {
	const dates = 3 // one of several servers may be the wrong one
	doubt := c.doubt()
	for n := 0; doubt != "" && n < dates; n++ {
		if _, err := ask(ctx); err != nil {
			break // the doubt remains
		}
		doubt = c.doubt()
	}
	if doubt != "" {
		err = fmt.Errorf("%w: %s; nothing was committed; run again, or pass --accept-clock if the run's clock, %s, is right", ErrWrong, doubt, lake.At(c.Now()))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := &c.evidence; e.unused > 0 {
		warning = fmt.Sprintf("the clocks disagreed: the Dates of %d answers were more than %s from the run's clock and were not used; the first was %s", e.unused, Tolerance, lake.At(e.example))
	}
	return warning, err
}

// KnownAt returns the instant of a commit: the present, but later than everything observed for it, and later than last,
// the instant of the previous commit.
func (c *Clock) KnownAt(last lake.Instant) lake.Instant {
	known := lake.At(c.Now())
	for _, floor := range []lake.Instant{lake.At(c.observed()), last} {
		if !known.After(floor.Time) {
			known = floor.Next()
		}
	}
	return known
}
