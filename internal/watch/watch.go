package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dealflow/internal/exitcode"
	"dealflow/internal/logs"
	"dealflow/internal/watch/schedule"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Config says what a watch does. All fields must be set.
type Config struct {
	Plan     schedule.Plan
	Store    store.Store // of the lake
	Presence Presence    // who the watch is: ID, Owner, Process, DealflowVersion and Schedule
	Clock    func() time.Time

	// Wait returns after a time, or earlier; at once when ctx ends. Only a watch without a command waits by it. It must
	// return every Tick at least, however long the time is.
	Wait func(ctx context.Context, d time.Duration)

	// Execute carries out a command and returns its exit code. It ends soon after ctx has ended.
	Execute func(ctx context.Context, due schedule.Due) int

	// Read returns what earlier commands have done, of this watch or of others.
	Read func(ctx context.Context) (Known, error)

	Limit  time.Duration // after which a command is cancelled
	Notify func(state string)
	Log    *slog.Logger
}

// ErrStuck means that a command did not end although it was cancelled. Only the end of the process ends it.
var ErrStuck = errors.New("a command did not end after it was cancelled")

const (
	// Tick is the longest time between two looks at the clock. Timers do not count the time that a machine sleeps, so one
	// for the whole night would ring hours late.
	Tick = 15 * time.Second
	// grace is how long a command may take to end after it was cancelled.
	grace = 10 * time.Minute
	// storeTimeout is how long the store may take for the watch's own object.
	storeTimeout = 20 * time.Second
	// answerWithin is how long the watch waits for that: longer, so that a store which ends in time has answered.
	answerWithin = storeTimeout + time.Second
	// readTimeout is how long the store may take to say what earlier commands have done.
	readTimeout = time.Minute
	// mostMissed is the number of missed nights that are shown.
	mostMissed = 14
)

// Watch is a watch at work. Its exported methods are safe for concurrent use.
type Watch struct {
	cfg      Config
	state    schedule.State
	failures map[schedule.Command]int // in a row
	outage   bool                     // the last sync failed
	taken    atomic.Bool              // the object in the lake is this watch's
	silent   bool                     // the object could not be put
	beaten   time.Time                // when the object was put last
	beating  chan error               // of a put that the store has not answered; nil for none

	mu     sync.Mutex
	shown  Presence
	ticked time.Time // when the watch looked at the clock last, by Go's monotonic clock
}

// New returns a watch. Nothing is at work before Run.
func New(cfg Config) *Watch {
	w := &Watch{cfg: cfg, failures: map[schedule.Command]int{}, shown: cfg.Presence, ticked: time.Now()}
	w.shown.FormatVersion, w.shown.Since = formatVersion, lake.At(cfg.Clock())
	w.shown.Last, w.shown.Missed, w.shown.Next = []Last{}, []string{}, []Upcoming{}
	return w
}

// Run carries out commands until ctx ends, which is no error. It must be called once.
func (w *Watch) Run(ctx context.Context) error {
	known, err := w.read(ctx)
	if err != nil {
		return err
	}
	w.learn(known)
	if w.state.Has {
		other, err := w.take(ctx)
		if err != nil {
			return err
		}
		w.beaten = w.cfg.Clock()
		w.inherit(other, &known)
		w.settleNight(&known, w.cfg.Plan.LastRun(w.cfg.Clock()))
	}
	w.cfg.Notify("READY=1")
	defer w.end(ctx)
	for ctx.Err() == nil {
		w.alive()
		if err := w.beat(ctx, false); err != nil {
			return err
		}
		now := w.cfg.Clock()
		due, wake := w.cfg.Plan.Next(&w.state, now)
		if due == nil {
			w.cfg.Wait(ctx, wake.Sub(now))
			continue
		}
		if err := w.perform(ctx, *due); err != nil {
			return err
		}
	}
	return nil
}

// errNoAnswer is the error of a store that hangs, as that of a network file system whose server is gone.
var errNoAnswer = fmt.Errorf("the lake could not be read within %s", readTimeout)

// read calls cfg.Read, and does not wait for one that hangs.
func (w *Watch) read(ctx context.Context) (Known, error) {
	return store.Within(ctx, readTimeout, errNoAnswer, w.cfg.Read)
}

// learn takes over what the lake says, except of nights.
func (w *Watch) learn(k Known) {
	w.state.Has = w.state.Has || k.Has
	w.state.Maintain.Settled = latest(w.state.Maintain.Settled, k.Maintain)
}

// perform carries out a command that is due, unless another process has done so.
func (w *Watch) perform(ctx context.Context, due schedule.Due) error {
	if due.Command != schedule.Sync {
		known, err := w.read(ctx)
		switch {
		case err != nil: // the command meets the same, and what becomes of it is recorded
		case w.state.Has && !known.Has:
			// A lake that was there is not a new one: a file system may not be mounted, and a run would begin another lake.
			w.cfg.Log.Warn("the lake is gone; nothing is pulled until it is there again", "lake", w.cfg.Store.URL(), "retry", w.retry(due, 1))
			return nil
		default:
			if due.Command == schedule.Run && w.state.Has {
				w.settleNight(&known, due.Slot)
			}
			if w.learn(known); w.state.Has && !due.Slot.At.After(w.state.Of(due.Command).Settled) {
				return nil // another process has done it, or it cannot be done any more
			}
		}
	}
	started := w.cfg.Clock()
	w.begin(due)
	code, err := w.supervise(ctx, due)
	if err != nil {
		return err
	}
	if ctx.Err() != nil && !Settled(due.Command, code) {
		return nil // it was stopped with the watch, and the next one carries it out
	}
	w.record(due, code, started)
	if due.Command == schedule.Run && (Settled(due.Command, code) || code == exitcode.Partial || !w.state.Has) {
		if known, err := w.read(ctx); err == nil {
			w.learn(known)
			switch {
			case Settled(due.Command, code):
				w.account(&known, due.Slot, true)
			case code == exitcode.Partial: // of other failures the cause may be a wrong clock
				w.account(&known, w.cfg.Plan.LastRun(due.Slot.Start.Add(-time.Nanosecond)), false)
			}
		}
	}
	if due.Command == schedule.Sync {
		return nil
	}
	if err := w.beat(ctx, true); err != nil {
		return err
	}
	// Last, so that the lake has been told when the service manager is.
	w.cfg.Notify("STATUS=waiting; the next run is of " + w.cfg.Plan.Upcoming(w.cfg.Clock())[schedule.Run].In(w.cfg.Plan.Zone).Format("2006-01-02 15:04 MST"))
	return nil
}

// begin shows that a command begins.
func (w *Watch) begin(due schedule.Due) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown.AtWork = string(due.Command)
	if due.Command == schedule.Sync {
		return
	}
	at := due.Slot.At.In(w.cfg.Plan.Zone).Format("2006-01-02 15:04 MST")
	w.cfg.Notify("STATUS=" + string(due.Command) + " of " + at)
	w.cfg.Log.Info("command begins", "command", string(due.Command), "day", due.Slot.Day, "scheduled", lake.At(due.Slot.At).String(),
		logs.Text("%s of %s begins", due.Command, at))
}

// record takes over how a command ended.
func (w *Watch) record(due schedule.Due, code int, started time.Time) {
	now, p := w.cfg.Clock(), w.state.Of(due.Command)
	last := Last{Command: string(due.Command), Day: due.Slot.Day, StartedAt: lake.At(started), EndedAt: lake.At(now), ExitCode: code}
	failed := !Settled(due.Command, code) || due.Command == schedule.Sync && !exitcode.Succeeded(code)
	if Settled(due.Command, code) {
		*p = schedule.Progress{Settled: latest(started, due.Slot.At)}
	}
	if failed {
		w.failures[due.Command]++
		last.Retry = w.retry(due, code)
	} else {
		w.failures[due.Command] = 0
	}
	if due.Command == schedule.Sync {
		// What was in the way of a run may be over: then it is tried at once.
		if w.outage && !failed && w.failures[schedule.Run] > 0 {
			w.state.Run.Retry = time.Time{}
		}
		w.outage = failed
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown.AtWork = ""
	w.shown.Last = append(slices.DeleteFunc(w.shown.Last, func(l Last) bool { return l.Command == last.Command }), last)
	if due.Command == schedule.Sync {
		return
	}
	text := fmt.Sprintf("%s of %s ended with exit code %d", due.Command, due.Slot.Day, code)
	if !failed {
		w.cfg.Log.Info("command ended", "command", string(due.Command), "day", due.Slot.Day, "exit_code", code, logs.Text("%s", text))
		return
	}
	w.cfg.Log.Warn("command is tried again later", "command", string(due.Command), "day", due.Slot.Day, "exit_code", code, "retry", last.Retry.String(),
		logs.Text("%s; next try at %s", text, last.Retry))
}

// retry sets when a command is tried again, and returns that.
func (w *Watch) retry(due schedule.Due, code int) lake.Instant {
	wait := retryAfter(due.Command, code, w.failures[due.Command])
	if wait == 0 {
		return lake.Instant{}
	}
	at := w.cfg.Clock().Add(wait)
	w.state.Of(due.Command).Retry = at
	if due.Command == schedule.Run {
		w.recordTry(due.Slot.Day)
	}
	return lake.At(at)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// supervise carries out a command. It cancels one that takes too long, and gives up one that does not end then.
func (w *Watch) supervise(ctx context.Context, due schedule.Due) (code int, err error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- w.cfg.Execute(inner, due) }()
	limit, look := time.NewTimer(w.cfg.Limit), time.NewTicker(Tick)
	defer limit.Stop()
	defer look.Stop()
	stopped, givenUp := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case code := <-done:
			return code, nil
		case <-stopped:
			stopped, givenUp = nil, time.After(grace)
		case <-limit.C:
			w.cfg.Log.Warn("command is cancelled: it has taken too long", "command", string(due.Command), "day", due.Slot.Day, "limit", w.cfg.Limit.String())
			cancel()
			if givenUp == nil {
				givenUp = time.After(grace)
			}
		case <-givenUp:
			return 0, fmt.Errorf("%w: %s, %s ago", ErrStuck, due.Command, grace)
		case <-look.C:
			w.alive()
			if err := w.beat(ctx, false); err != nil {
				cancel()
				select {
				case <-done:
				case <-time.After(grace):
				}
				return 0, err
			}
		}
	}
}

// alive records that the watch looks at the clock, and says so to the service manager.
func (w *Watch) alive() {
	w.mu.Lock()
	w.ticked = time.Now()
	w.mu.Unlock()
	w.cfg.Notify("WATCHDOG=1")
}

// beat puts the watch's object if that is due, or now. A store that fails or does not answer is a warning, once until it
// answers again. A put that hangs is not waited for again, except now, and the next one is made once it is answered. The error is
// ErrBusy.
func (w *Watch) beat(ctx context.Context, now bool) error {
	since := w.cfg.Clock().Sub(w.beaten)
	hung := w.beating != nil
	if !w.state.Has || !now && !hung && since >= 0 && since < beatEvery {
		return nil
	}
	if hung {
		wait := time.Millisecond // a look
		if now {
			wait = answerWithin
		}
		if err := w.answer(wait); err != nil || w.beating != nil {
			return err
		}
	}
	answer := make(chan error, 1)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	go func() {
		defer cancel()
		answer <- w.renew(bounded)
	}()
	w.beating = answer
	return w.answer(answerWithin)
}

// answer waits for the store's answer to a put. Without one beating stays. The error is ErrBusy.
func (w *Watch) answer(wait time.Duration) error {
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	err := context.DeadlineExceeded
	select {
	case err = <-w.beating:
		w.beating = nil
	case <-timeout.C:
	}
	w.beaten = w.cfg.Clock()
	switch {
	case errors.Is(err, ErrBusy):
		return err
	case err == nil:
		w.silent = false
	case !w.silent:
		w.silent = true
		w.cfg.Log.Warn("the lake could not be told that this watch is at work", "error", err.Error())
	}
	return nil
}

// end shows that the watch has ended.
func (w *Watch) end(ctx context.Context) {
	w.cfg.Notify("STOPPING=1")
	w.mu.Lock()
	w.shown.Ended, w.shown.AtWork = lake.At(w.cfg.Clock()), ""
	w.mu.Unlock()
	if w.taken.Load() {
		_ = w.beat(ctx, true) // another watch is at work: it has the object
	}
	w.cfg.Log.Info("watch ends", "lake", w.cfg.Store.URL())
}

// Shown returns what the watch is doing.
func (w *Watch) Shown() Presence {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.shown
	p.Last, p.Missed, p.Next = slices.Clone(p.Last), slices.Clone(p.Missed), w.upcoming(w.cfg.Clock())
	return p
}

// SinceTick returns the time since the watch looked at the clock last, without the time that the machine slept. It does so
// each 15 seconds.
func (w *Watch) SinceTick() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.ticked)
}

func (w *Watch) upcoming(now time.Time) []Upcoming {
	if !w.shown.Ended.IsZero() {
		return []Upcoming{}
	}
	next := []Upcoming{}
	for command, at := range w.cfg.Plan.Upcoming(now) {
		next = append(next, Upcoming{string(command), lake.At(at)})
	}
	slices.SortFunc(next, func(a, b Upcoming) int { return a.At.Compare(b.At.Time) })
	return next
}
