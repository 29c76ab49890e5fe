package attempts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dealflow/internal/process"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Policy says which objects an attempt has.
type Policy int

// The policies.
const (
	// Both puts a start and an end, and looks for attempts that were killed.
	Both Policy = iota
	// EndOnly puts an end, and nothing before it: the store may be full.
	EndOnly
	// OnFailure puts an end if the attempt failed, and if it is the first of its command that did not fail after one
	// that did. It is for a command that is executed every few minutes.
	OnFailure
	// IfAllowed puts an end, and says nothing if that fails. It is for a command that needs the right to read only.
	IfAllowed
)

// How long the store may take in all: an attempt must not make a command much slower.
const (
	beginTimeout = 20 * time.Second
	endTimeout   = 10 * time.Second
)

// The most that an attempt says.
const (
	mostText     = 4 << 10 // bytes of an error, and of a warning
	mostWarnings = 20
)

// Config says which attempt is recorded, and where. All fields but Secrets and Folder must be set.
type Config struct {
	Store    store.Store
	Identity string // of the lake: its URL, and what else tells it from another lake with the same URL, such as an endpoint
	Policy   Policy
	RunID    string // UUIDv7
	Command  string
	Owner    string // host and process, for people
	Version  string // of this program
	Clock    func() time.Time
	WorkDir  string   // folder in which attempts wait that could not be put; "" means the system's
	Folder   string   // locked folder of this process, for Salvage; "" for none
	Secrets  []string // texts that are masked
	Log      *slog.Logger
}

// Recorder records one attempt. It is used by one goroutine.
type Recorder struct {
	cfg     Config
	attempt Attempt // begun writes it until it is done
	waiting waiting
	begun   sync.WaitGroup

	mu      sync.Mutex
	secrets []string // cfg.Secrets, and those of Hide
}

// Begin records that an attempt begins, and puts what has waited in the work folder. It returns in time even if the store
// does not answer. With cfg.Policy Both it also records which earlier attempts were killed. With OnFailure it does so while
// the command works, because no object says that such an attempt begins.
func Begin(ctx context.Context, cfg Config) *Recorder {
	r := &Recorder{cfg: cfg, secrets: cfg.Secrets, waiting: waitingIn(cfg.WorkDir, lakeID(cfg.Identity)), attempt: Attempt{
		FormatVersion: formatVersion, State: Started, RunID: cfg.RunID, Command: cfg.Command, StartedAt: lake.At(cfg.Clock()),
		Owner: cfg.Owner, Process: process.Current(), DealflowVersion: cfg.Version,
	}}
	r.writeJournal()
	r.begun.Go(func() { r.begin(ctx) })
	if cfg.Policy != OnFailure {
		r.begun.Wait()
	}
	return r
}

func (r *Recorder) begin(ctx context.Context) {
	cfg := &r.cfg
	ctx, cancel := context.WithTimeout(ctx, beginTimeout)
	defer cancel()
	var entries []Entry
	var listErr error
	listing := make(chan struct{})
	if cfg.Policy == Both {
		go func() { // side by side with findLake
			defer close(listing)
			entries, listErr = List(ctx, cfg.Store)
		}()
	} else {
		close(listing)
	}
	found, after, err := findLake(ctx, cfg.Store, true)
	<-listing
	r.attempt.After = after
	if err != nil || !found {
		// The command finds that out for itself, and what it says is its end.
		cfg.Log.Debug("no attempt can be put now", "error", err)
		return
	}
	if cfg.Policy == IfAllowed {
		return
	}
	r.writeJournal()
	if cfg.Policy == EndOnly {
		return
	}
	if err := r.waiting.putAll(ctx, cfg.Store); err != nil {
		r.cfg.Log.Warn("earlier attempts still wait in the work folder", "error", r.mask(err.Error()))
	}
	if cfg.Policy == Both {
		if err := errors.Join(listErr, r.findKilled(ctx, entries)); err != nil {
			r.cfg.Log.Warn("attempts that were killed could not be looked for", "error", r.mask(err.Error()))
		}
		if err := r.put(ctx, &r.attempt); err != nil {
			r.cfg.Log.Warn("the start of this attempt was not recorded in the lake", "error", r.mask(err.Error()))
		}
	}
}

// RunID is that of the attempt, and of its commit.
func (r *Recorder) RunID() string { return r.cfg.RunID }

// Hide keeps more texts out of the attempt, which become known on the way.
func (r *Recorder) Hide(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = slices.Concat(r.secrets, secrets)
}

// End records how the attempt ended, even if ctx is cancelled.
func (r *Recorder) End(ctx context.Context, result Result) {
	r.begun.Wait()
	a := r.attempt
	a.State, a.EndedAt, a.Result = Ended, lake.At(r.cfg.Clock()), r.masked(result)
	defer r.dropJournal()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	wanted := make(chan error, 1)
	go func() { // side by side with findLake
		is, err := r.wanted(ctx, &a)
		if err == nil && !is {
			err = errNotWanted
		}
		wanted <- err
	}()
	found, _, err := findLake(ctx, r.cfg.Store, false)
	wantedErr := <-wanted
	if err == nil && found && r.cfg.Policy != IfAllowed {
		_ = r.waiting.putAll(ctx, r.cfg.Store) // of before the first commit; if it fails again, the next start warns again
	}
	switch {
	case err == nil && !found:
		// A failed first run is told when there is a lake. A command that needs a lake says itself that there is none.
		if a.Commit == 0 && a.Command != lake.CommandRun {
			return
		}
		err = errNoLake
	case err == nil:
		if errors.Is(wantedErr, errNotWanted) {
			return
		}
		if err = wantedErr; err == nil {
			err = r.put(ctx, &a)
		}
	case r.cfg.Policy == OnFailure && !a.Failed():
		return
	}
	if err == nil {
		return
	}
	if r.cfg.Policy == IfAllowed {
		r.cfg.Log.Debug("no attempt can be put now", "error", err)
		return
	}
	if !errors.Is(err, errNoLake) {
		r.cfg.Log.Warn("this attempt was not recorded in the lake; it waits in the work folder until the next start", "error", r.mask(err.Error()))
	}
	if err := r.waiting.keep(&a); err != nil {
		r.cfg.Log.Warn("this attempt was not recorded in the work folder either", "error", r.mask(err.Error()))
	}
}

var (
	errNoLake    = errors.New("there is no lake yet")
	errNotWanted = errors.New("the policy does not want the end")
)

// wanted says whether the policy wants the end to be put.
func (r *Recorder) wanted(ctx context.Context, a *Attempt) (bool, error) {
	if r.cfg.Policy != OnFailure || a.Failed() {
		return true, nil
	}
	if a.Commit > 0 {
		return false, nil // the commit says it
	}
	days := []time.Time{a.EndedAt.Time, a.EndedAt.AddDate(0, 0, -1)}
	entries := make([][]Entry, len(days))
	listing, listCtx := errgroup.WithContext(ctx)
	for i, day := range days {
		listing.Go(func() (err error) {
			entries[i], err = ListDay(listCtx, r.cfg.Store, lake.DateOf(day))
			return err
		})
	}
	if err := listing.Wait(); err != nil {
		return false, err
	}
	for _, ofDay := range entries {
		for _, e := range ofDay {
			if e.Command != a.Command {
				continue
			}
			last, err := Read(ctx, r.cfg.Store, []Entry{e})
			return len(last) == 1 && last[0].Failed(), err
		}
	}
	return false, nil
}

// findKilled puts an object for each attempt of a listing that was killed: it began and has no end.
func (r *Recorder) findKilled(ctx context.Context, entries []Entry) error {
	var open []Entry
	for _, e := range entries {
		if e.State == Started {
			open = append(open, e)
		}
	}
	found, err := Read(ctx, r.cfg.Store, open)
	if err != nil {
		return err
	}
	judge := Judge{Store: r.cfg.Store, Now: r.cfg.Clock()}
	for i := range found {
		a := &found[i]
		if err := judge.Resolve(ctx, a); err != nil {
			return err
		}
		if a.Outcome != OutcomeKilled {
			continue
		}
		a.State, a.EndedAt, a.Error = Killed, lake.At(r.cfg.Clock()), killedError
		if err := r.put(ctx, a); err != nil {
			return err
		}
		r.cfg.Log.Warn("an earlier command was killed", "command", a.Command, "run", a.RunID, "started_at", a.StartedAt.String(), "owner", a.Owner)
	}
	return nil
}

const killedError = "the process ended without a word: it was killed, or its machine went down"

func (r *Recorder) put(ctx context.Context, a *Attempt) error {
	data, err := a.encode()
	if err != nil {
		return err
	}
	return putObject(ctx, r.cfg.Store, a.key(), data)
}

// masked returns the result without secrets, and with its texts bounded.
func (r *Recorder) masked(result Result) Result {
	result.Error = r.mask(result.Error)
	feeds := make([]Feed, len(result.Feeds))
	for i, f := range result.Feeds {
		f.Error = r.mask(f.Error)
		feeds[i] = f
	}
	var warnings []string
	for i, text := range result.Warnings {
		if i == mostWarnings {
			warnings = append(warnings, fmt.Sprintf("and %d more", len(result.Warnings)-mostWarnings))
			break
		}
		warnings = append(warnings, r.mask(text))
	}
	result.Feeds, result.Warnings = feeds, warnings
	return result
}

func (r *Recorder) mask(text string) string {
	r.mu.Lock()
	secrets := r.secrets
	r.mu.Unlock()
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	if len(text) > mostText {
		text = text[:mostText] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// findLake says whether a store has a lake to which this program may write. With name it names its newest commit, too; nil if
// that is not known. An attempt must not be the first object of a place.
func findLake(ctx context.Context, s store.Store, name bool) (found bool, after *After, err error) {
	data, err := store.Read(ctx, s, lake.LatestKey)
	var hint load.Hint
	if err == nil && json.Unmarshal(data, &hint) == nil {
		if hint.FormatVersion != lake.FormatVersion || hint.CheckWrite(hint.DealflowVersion) != nil {
			return false, nil, nil //nolint:nilerr // this program must not write there
		}
		if !name {
			return true, nil, nil
		}
		after, err = newest(ctx, s, After{hint.Commit, hint.SHA256})
		return true, after, err
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return false, nil, err
	}
	data, err = store.Read(ctx, s, lake.CommitKey(1))
	if errors.Is(err, store.ErrNotFound) {
		return false, &After{}, nil
	}
	if err != nil {
		return false, nil, err
	}
	first, err := lake.DecodeCommit(data)
	if err != nil || first.FormatVersion != lake.FormatVersion || first.CheckWrite(first.DealflowVersion) != nil {
		return false, nil, nil //nolint:nilerr // this program does not know what it would write to
	}
	return true, nil, nil
}

// mostSteps is the number of commits that newest reads at most. The hint is rarely more than one commit old.
const mostSteps = 20

// newest returns the newest commit, given one that a hint names; nil if the hint is too old.
func newest(ctx context.Context, s store.Store, named After) (*After, error) {
	for range mostSteps {
		data, err := store.Read(ctx, s, lake.CommitKey(named.Commit+1))
		if errors.Is(err, store.ErrNotFound) {
			return &named, nil
		}
		if err != nil {
			return nil, err
		}
		named = After{named.Commit + 1, lake.SHA256(data)}
	}
	return nil, nil
}

// journalName is the file in the locked folder of a process that says which attempt it makes.
const journalName = "attempt.json"

// journal is what a process leaves if it is killed.
type journal struct {
	Lake    string  `json:"lake"` // lakeID of its identity
	Attempt Attempt `json:"attempt"`
}

// writeJournal writes or replaces the journal. It is no fault of the command if that fails.
func (r *Recorder) writeJournal() {
	if r.cfg.Folder == "" || r.cfg.Policy == IfAllowed {
		return
	}
	data, err := json.Marshal(journal{lakeID(r.cfg.Identity), r.attempt})
	path := filepath.Join(r.cfg.Folder, journalName)
	if err == nil {
		err = os.WriteFile(path+"-", data, 0o600)
	}
	if err == nil {
		err = os.Rename(path+"-", path)
	}
	if err != nil {
		r.cfg.Log.Warn("a kill of this command could not be told by the next start", "error", r.mask(err.Error()))
	}
}

func (r *Recorder) dropJournal() {
	if r.cfg.Folder != "" {
		_ = os.Remove(filepath.Join(r.cfg.Folder, journalName)) // it goes with the folder
	}
}

// Salvage reads the locked folder of a process that has died, in the work folder. If that was killed during an attempt,
// the attempt waits in the work folder from then on, for the next start of a command on its lake.
func Salvage(folder string, now time.Time, log *slog.Logger) {
	data, err := os.ReadFile(filepath.Join(folder, journalName))
	if err != nil || !isOwn(folder) {
		return // it made no attempt, or had recorded its end; or it is another user's
	}
	var j journal
	if json.Unmarshal(data, &j) != nil || j.Attempt.FormatVersion != formatVersion {
		return
	}
	a := j.Attempt
	a.State, a.EndedAt, a.Outcome, a.Error = Killed, lake.At(now), OutcomeKilled, killedError
	if err := waitingIn(filepath.Dir(folder), j.Lake).keep(&a); err != nil {
		log.Warn("a command that was killed could not be recorded", "command", a.Command, "run", a.RunID, "error", err)
	}
}
