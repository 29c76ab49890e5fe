package schedule

import "time"

// Command is what a watch carries out.
type Command string

// The commands, in the order in which they are carried out if several are due.
const (
	Run      Command = "run"
	Maintain Command = "maintain"
	Sync     Command = "sync"
)

// Plan says when a watch carries out its commands.
type Plan struct {
	Zone     *time.Location
	Run      TimeOfDay
	Sync     time.Duration // interval; 0 for no syncs
	Maintain *TimeOfWeek   // nil for no maintenance
	Jitter   time.Duration // a run or maintenance begins that much later at most; 0 for no delay
	Seed     string        // of the delays: watches of two lakes have others
}

// Progress is what is known of one command.
type Progress struct {
	Settled time.Time // start of the newest attempt that needs no other; zero for none
	Retry   time.Time // after a failure: the command is not due before this instant; zero for no failure

	tried time.Time // Slot.At when the command was due last
}

// State is what is known of a lake and of the commands on it.
type State struct {
	Has                 bool // the lake has a snapshot; else only a run is due
	Run, Maintain, Sync Progress
}

// Of returns the progress of a command.
func (s *State) Of(c Command) *Progress {
	switch c {
	case Run:
		return &s.Run
	case Maintain:
		return &s.Maintain
	}
	return &s.Sync
}

// Due is a command that is due. A sync has no slot.
type Due struct {
	Command Command
	Slot    Slot
}

// MostRetry is the longest time from a failure to the next attempt.
const MostRetry = 4 * time.Hour

// setBack is how far the clock may be set back without a second run of the night.
const setBack = time.Hour

// Next returns the command that is due at now, nil for none; then wake is the instant at which one may be due. It assumes
// that the caller carries out the command, and records that in s. It corrects what s says of a future that a wrong clock
// has shown.
func (p *Plan) Next(s *State, now time.Time) (due *Due, wake time.Time) {
	if s.Sync.Settled.After(now) {
		s.Sync.Settled = time.Time{}
	}
	s.Run.correct(now)
	s.Maintain.correct(now)
	s.Sync.correct(now)
	if !s.Has {
		s.Maintain.Settled = now // a lake that begins needs none
	}
	wake = now.Add(24 * time.Hour)
	if due = p.run(s, now, &wake); due == nil && s.Has {
		if due = p.maintain(s, now, &wake); due == nil {
			due = p.sync(s, now, &wake)
		}
	}
	return due, wake
}

// correct forgets what is later than now, by more than clocks are set back in usual life. All slots until now count as
// settled then: which of them were is not known.
func (p *Progress) correct(now time.Time) {
	if p.Settled.After(now.Add(setBack)) {
		p.Settled = now
	}
	if p.Retry.After(now.Add(MostRetry)) {
		p.Retry = time.Time{}
	}
}

// want returns a command for its newest slot, unless the slot is settled or its last failure was a short time ago.
func (p *Progress) want(c Command, slot Slot, now time.Time, wake *time.Time) *Due {
	switch {
	case !slot.At.After(p.Settled):
		return nil
	case p.tried.Equal(slot.At) && p.Retry.After(now):
		earlier(wake, p.Retry)
		return nil
	}
	p.tried = slot.At
	return &Due{c, slot}
}

func (p *Plan) run(s *State, now time.Time, wake *time.Time) *Due {
	if !s.Has {
		// The first snapshot begins the lake: it is of today. If a person must see first why nothing was committed, the next
		// try is that of the night.
		if !s.Run.Settled.IsZero() && !p.LastRun(now).At.After(s.Run.Settled) {
			earlier(wake, p.nextRun(now).Start)
			return nil
		}
		if s.Run.Retry.After(now) {
			earlier(wake, s.Run.Retry)
			return nil
		}
		return &Due{Run, Slot{At: now, Start: now, Day: now.In(p.Zone).Format(time.DateOnly)}}
	}
	earlier(wake, p.nextRun(now).Start)
	return s.Run.want(Run, p.LastRun(now), now, wake)
}

func (p *Plan) maintain(s *State, now time.Time, wake *time.Time) *Due {
	if p.Maintain == nil {
		return nil
	}
	earlier(wake, p.nextMaintain(now).Start)
	return s.Maintain.want(Maintain, p.lastMaintain(now), now, wake)
}

// sync wants one sync in each interval. Intervals are the same for all times: a long run leaves one sync, not many.
func (p *Plan) sync(s *State, now time.Time, wake *time.Time) *Due {
	if p.Sync <= 0 {
		return nil
	}
	if s.Sync.Retry.After(now) {
		earlier(wake, s.Sync.Retry)
		return nil
	}
	first, index := p.interval(now)
	if _, last := p.interval(s.Sync.Settled); !s.Sync.Settled.IsZero() && last == index {
		earlier(wake, first.Add(p.Sync))
		return nil
	}
	return &Due{Command: Sync}
}

// interval returns the start and the number of the interval of an instant.
func (p *Plan) interval(t time.Time) (first time.Time, index int64) {
	phase := int64(0)
	if p.Jitter > 0 {
		phase = int64(p.delay(time.Time{})) % int64(p.Sync)
	}
	since := t.UnixNano() - phase
	index = since / int64(p.Sync)
	if since < 0 {
		index--
	}
	return time.Unix(0, index*int64(p.Sync)+phase), index
}

func earlier(wake *time.Time, t time.Time) {
	if t.Before(*wake) {
		*wake = t
	}
}

// Upcoming returns when the commands are due after an instant, if nothing fails; the zero time for none.
func (p *Plan) Upcoming(now time.Time) map[Command]time.Time {
	next := map[Command]time.Time{Run: p.nextRun(now).Start}
	if p.Maintain != nil {
		next[Maintain] = p.nextMaintain(now).Start
	}
	if p.Sync > 0 {
		first, _ := p.interval(now)
		next[Sync] = first.Add(p.Sync)
	}
	return next
}
