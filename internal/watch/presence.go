package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"dealflow/internal/process"
	"dealflow/internal/watch/schedule"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// formatVersion is that of Presence. Readers ignore an object of a later version.
const formatVersion = 1

// Presence says which watch is at work on a lake: the object lake.WatchKey. Fields are only ever added.
type Presence struct {
	FormatVersion   int               `json:"format_version"`
	ID              string            `json:"id"`    // UUIDv7 of the watch
	Owner           string            `json:"owner"` // host and process, for people
	Process         *process.Identity `json:"process,omitempty"`
	DealflowVersion string            `json:"dealflow_version"`
	Since           lake.Instant      `json:"since"`          // by the machine's clock, as all that follow
	Beat            lake.Instant      `json:"beat"`           // when the object was put
	ExpiresAt       lake.Instant      `json:"expires_at"`     // from then on another watch may begin
	Ended           lake.Instant      `json:"ended,omitzero"` // when the watch was stopped; zero while it is at work
	Schedule        Schedule          `json:"schedule"`
	AtWork          string            `json:"at_work"`                  // command; "" for none
	Next            []Upcoming        `json:"next"`                     // if nothing fails
	Last            []Last            `json:"last"`                     // one for each command that this watch has carried out
	Missed          []string          `json:"missed"`                   // days of nights that were not taken, oldest first
	Tried           []string          `json:"tried,omitempty"`          // days of nights that were tried, without success; in Missed once they are over
	AccountedUntil  lake.Instant      `json:"accounted_until,omitzero"` // each night until then was done, or is in Missed
}

// SplitMissed returns the missed nights whose tries failed, and those without a try: no watch was at work, or the machine slept.
func SplitMissed(missed, tried []string) (failed, untried []string) {
	for _, day := range missed {
		if slices.Contains(tried, day) {
			failed = append(failed, day)
		} else {
			untried = append(untried, day)
		}
	}
	return failed, untried
}

// settledRun returns the last run of the watch if it needs no other attempt; nil for none.
func (p *Presence) settledRun() *Last {
	for i := range p.Last {
		if l := &p.Last[i]; l.Command == string(schedule.Run) && l.Retry.IsZero() {
			return l
		}
	}
	return nil
}

// Schedule is the plan of a watch, for people.
type Schedule struct {
	DayZone    string `json:"day_zone"`
	RunAt      string `json:"run_at"`
	SyncEvery  string `json:"sync_every"`  // "" for no syncs
	MaintainAt string `json:"maintain_at"` // "" for no maintenance
	Jitter     string `json:"jitter"`
}

// Upcoming is when a command is due.
type Upcoming struct {
	Command string       `json:"command"`
	At      lake.Instant `json:"at"`
}

// Last is what became of a command that a watch carried out last.
type Last struct {
	Command   string       `json:"command"`
	Day       string       `json:"day"` // of the night or of maintenance; "" of a sync
	StartedAt lake.Instant `json:"started_at"`
	EndedAt   lake.Instant `json:"ended_at"`
	ExitCode  int          `json:"exit_code"`
	Retry     lake.Instant `json:"retry,omitzero"` // when it is tried again; zero if it needs no other attempt
}

// State is what a Presence means.
type State string

// The states of a watch.
const (
	Absent  State = "absent"  // no watch has been there
	Alive   State = "alive"   // at work
	Stopped State = "stopped" // it was asked to end
	Dead    State = "dead"    // its process has ended without a word
	Silent  State = "silent"  // it has not put its object for longer than it promised, or its clock is wrong
)

// beatEvery is the time between two puts of the object; life is how long one counts. They are those of the lease.
const (
	beatEvery = load.LeaseLife / 3
	life      = load.LeaseLife
	skew      = 10 * time.Minute // by which another machine's clock may be ahead
)

// ReadPresence returns what the newest watch says of itself, and what that means at now. An object that is no Presence,
// or of a later version, is absent.
func ReadPresence(ctx context.Context, s store.Store, now time.Time) (*Presence, State, error) {
	data, err := store.Read(ctx, s, lake.WatchKey)
	var p Presence
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, Absent, nil
	case err != nil:
		return nil, "", fmt.Errorf("watch: %w", err)
	case json.Unmarshal(data, &p) != nil || p.FormatVersion != formatVersion:
		return nil, Absent, nil //nolint:nilerr // what cannot be read keeps no watch away
	case !p.Ended.IsZero():
		return &p, Stopped, nil
	case p.Process.HasEnded():
		return &p, Dead, nil
	case !p.ExpiresAt.After(now) || p.ExpiresAt.After(now.Add(life+skew)):
		return &p, Silent, nil
	}
	return &p, Alive, nil
}

// ErrBusy means that another watch is at work on the lake.
var ErrBusy = errors.New("another watch is at work on this lake")

// CheckFree returns ErrBusy if a watch is at work on the lake in a store.
func CheckFree(ctx context.Context, s store.Store, now time.Time) error {
	p, state, err := ReadPresence(ctx, s, now)
	if err == nil && state == Alive {
		err = p.busy()
	}
	return err
}

// busy says which watch is at work.
func (p *Presence) busy() error {
	return fmt.Errorf("%w: that of %s, since %s, last seen at %s; stop it, or wait until %s if its machine is down", ErrBusy, p.Owner, p.Since, p.Beat, p.ExpiresAt)
}

// take puts the object of a watch that begins, and returns that of the watch before; nil for none. If another one is at work,
// the error is ErrBusy.
func (w *Watch) take(ctx context.Context) (*Presence, error) {
	tag := ""
	replacer, conditional := w.cfg.Store.(store.Replacer)
	if conditional {
		var err error
		if tag, err = replacer.Tag(ctx, lake.WatchKey); err != nil {
			conditional = false // absent, or a store without tags
		}
	}
	other, state, err := ReadPresence(ctx, w.cfg.Store, w.cfg.Clock())
	if err != nil {
		return nil, err
	}
	if state == Alive && other.ID != w.shown.ID {
		return nil, other.busy()
	}
	if other != nil {
		w.mu.Lock()
		w.shown.Missed, w.shown.Tried, w.shown.AccountedUntil = append([]string{}, other.Missed...), other.Tried, other.AccountedUntil
		w.mu.Unlock()
	}
	body := bytes.NewReader(w.encode())
	switch {
	case conditional:
		err = replacer.ReplaceIf(ctx, lake.WatchKey, body, tag)
	case state == Absent:
		err = w.cfg.Store.Put(ctx, lake.WatchKey, body, store.CreateOnly)
	default:
		err = w.cfg.Store.Put(ctx, lake.WatchKey, body, store.Replace)
	}
	if errors.Is(err, store.ErrChanged) || errors.Is(err, store.ErrExists) {
		if other, state, readErr := ReadPresence(ctx, w.cfg.Store, w.cfg.Clock()); readErr == nil && state == Alive && other.ID != w.shown.ID {
			return nil, other.busy()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	w.taken.Store(true)
	return other, nil
}

// errGone means that the lake, which was there, is gone. A folder may be the empty one on which its file system is to be mounted.
var errGone = errors.New("the lake is gone: see whether its file system is mounted")

// renew puts the object again, unless the lake is gone. If another watch has begun, because this one was silent for too long,
// the error is ErrBusy.
func (w *Watch) renew(ctx context.Context) error {
	if !w.taken.Load() {
		_, err := w.take(ctx)
		return err
	}
	other, state, err := ReadPresence(ctx, w.cfg.Store, w.cfg.Clock())
	if err != nil {
		return err
	}
	if state == Alive && other.ID != w.shown.ID {
		return other.busy()
	}
	if other == nil || other.ID != w.shown.ID { // else it is this watch's own, in the lake
		if known, err := w.cfg.Read(ctx); err == nil && !known.Has {
			return errGone
		}
	}
	if err := w.cfg.Store.Put(ctx, lake.WatchKey, bytes.NewReader(w.encode()), store.Replace); err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	return nil
}

// encode returns the object as it is now.
func (w *Watch) encode() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.cfg.Clock()
	w.shown.Beat, w.shown.ExpiresAt = lake.At(now), lake.At(now.Add(life))
	w.shown.Next = w.upcoming(now)
	data, err := json.Marshal(w.shown)
	if err != nil { // it has numbers and texts alone
		panic(err)
	}
	return append(data, '\n')
}
