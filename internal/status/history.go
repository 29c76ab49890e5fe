package status

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"dealflow/internal/advice"
	"dealflow/internal/attempts"
	"dealflow/internal/runlist"
	"dealflow/internal/watch"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// Lease is the lease of the command that is at work.
type Lease struct {
	State load.LeaseState `json:"state"`
	Lease *load.Lease     `json:"lease"`
}

// Watch is the watch that is at work, or was last.
type Watch struct {
	State watch.State     `json:"state"` // alive, stopped, dead or silent
	Watch *watch.Presence `json:"watch"`
}

// Success is a pull that made a commit.
type Success struct {
	Commit     int64        `json:"commit"`
	RunID      string       `json:"run_id"`
	Command    string       `json:"command"`
	Outcome    string       `json:"outcome"` // done or partial
	KnownAt    lake.Instant `json:"known_at"`
	AgeSeconds int64        `json:"age_seconds"`
	Warnings   []string     `json:"warnings"` // as far as its attempt was recorded
}

// Attempt is an attempt in short.
type Attempt struct {
	RunID     string       `json:"run_id"`
	Command   string       `json:"command"`
	StartedAt lake.Instant `json:"started_at"`
	EndedAt   lake.Instant `json:"ended_at"` // year 1 if it is not known
	Outcome   string       `json:"outcome"`
	ExitCode  *int         `json:"exit_code"` // null for an attempt that was killed
	Error     string       `json:"error"`
	Commit    int64        `json:"commit"` // 0: it made none
	Open      bool         `json:"open"`   // of a failure: no later attempt of that command has succeeded
	Todo      string       `json:"todo"`   // the command that mends it; "" if there is nothing to do
}

// Night is the cost of a run that made a commit, and what it added to the lake.
type Night struct {
	Commit        int64        `json:"commit"`
	SnapshotDate  string       `json:"snapshot_date"`
	KnownAt       lake.Instant `json:"known_at"`
	Seconds       float64      `json:"seconds"`  // from start to commit by the run's clock; at least the time of the slowest feed
	Requests      int64        `json:"requests"` // sent to the API
	BytesReceived int64        `json:"bytes_received"`
	Files         int          `json:"files"` // of the run that are still part of the lake
	Bytes         int64        `json:"bytes"` // their size
}

const (
	nightsShown  = 7
	attemptsRead = 50 // that status reads at most, besides the newest of each command
)

// addHistory adds what became of the commands on the lake.
func (in *inspection) addHistory(ctx context.Context, s *Result) error {
	runs := in.Runs(in.lake)
	var entries []attempts.Entry
	reading, readCtx := errgroup.WithContext(ctx)
	reading.Go(func() error {
		lease, state, err := in.lake.StoredLease(readCtx, in.Clock())
		if lease != nil {
			s.Lease = &Lease{state, lease}
		}
		return err
	})
	reading.Go(func() error {
		presence, life, err := watch.ReadPresence(readCtx, in.lake.Store(), in.Clock())
		if presence != nil {
			s.Watch = &Watch{life, presence}
		}
		return err
	})
	reading.Go(func() (err error) {
		entries, err = attempts.List(readCtx, in.lake.Store())
		return err
	})
	if err := reading.Wait(); err != nil {
		return err
	}
	var err error
	s.Nights, s.Waiting = in.nights(), []Attempt{}
	if s.made, err = runs.Resolve(ctx, newestOfEach(entries)); err != nil {
		return err
	}
	// What waits here has happened, too. Its place in time is found as that of the others.
	waiting := runs.Waiting(nil)
	for i := range waiting {
		s.Waiting = append(s.Waiting, ShortOf(&waiting[i]))
	}
	s.made = append(s.made, waiting...)
	rows := runlist.Merge(in.log.Commits, in.log, s.made)
	s.succeeded = successes(rows)
	in.addSuccess(s, rows)
	in.addFailures(s, rows)
	return nil
}

// successes returns when each command succeeded last, as far as the lake knows. rows are newest first.
func successes(rows []runlist.Row) map[string]lake.Instant {
	newest := map[string]lake.Instant{}
	for i := range rows {
		r := &rows[i]
		at := r.KnownAt
		if t := r.Attempt; r.Number == 0 {
			if t.Outcome != lake.OutcomeDone && t.Outcome != lake.OutcomeUnchanged {
				continue
			}
			at = t.EndedAt
		}
		if _, ok := newest[r.Command]; !ok {
			newest[r.Command] = at
		}
	}
	return newest
}

// newestOfEach returns the entries that status reads: the newest ones, and the newest of each command that has ended.
func newestOfEach(entries []attempts.Entry) []attempts.Entry {
	chosen := slices.Clone(entries[:min(len(entries), attemptsRead)])
	for _, e := range entries[len(chosen):] {
		same := func(c attempts.Entry) bool {
			return c.Command == e.Command && (c.State == attempts.Ended || e.State != attempts.Ended)
		}
		if !slices.ContainsFunc(chosen, same) {
			chosen = append(chosen, e)
		}
	}
	return chosen
}

// ShortOf returns what status says of an attempt.
func ShortOf(t *attempts.Attempt) Attempt {
	return Attempt{
		RunID: t.RunID, Command: t.Command, StartedAt: t.StartedAt, EndedAt: t.EndedAt, Outcome: t.Outcome, ExitCode: t.ExitCode,
		Error: t.Error, Commit: t.Commit, Todo: advice.AfterAttempt(t),
	}
}

// addSuccess finds the newest pull that made a commit. rows are newest first.
func (in *inspection) addSuccess(s *Result, rows []runlist.Row) {
	for i := range rows {
		r := &rows[i]
		if r.Number == 0 || len(r.Feeds) == 0 {
			continue
		}
		s.LastSuccess = &Success{
			Commit: r.Number, RunID: r.RunID, Command: r.Command, Outcome: r.Outcome, KnownAt: r.KnownAt, AgeSeconds: s.AgeSeconds, Warnings: []string{},
		}
		if r.Attempt != nil && r.Attempt.Warnings != nil {
			s.LastSuccess.Warnings = r.Attempt.Warnings
		}
		return
	}
}

// addFailures finds the newest failure of all commands, those of feeds, and the newest verify. rows are newest first.
func (in *inspection) addFailures(s *Result, rows []runlist.Row) {
	succeeded := map[string]bool{} // commands, later than the row
	for i := range rows {
		r := &rows[i]
		if r.Attempt == nil || r.Number > 0 {
			succeeded[r.Command] = true
			succeeded[lake.CommandSync] = succeeded[lake.CommandSync] || r.Command == lake.CommandRun // it has pulled what the sync did not
			continue
		}
		t := r.Attempt
		if t.Command == attempts.Verify && s.LastVerify == nil && t.Outcome != attempts.OutcomeRunning {
			short := ShortOf(t)
			short.Open = t.Failed()
			s.LastVerify = &short
		}
		if t.Failed() && s.LastFailure == nil {
			short := ShortOf(t)
			short.Open = !succeeded[t.Command] || slices.ContainsFunc(openDamage(rows), func(d attempts.Damage) bool { return d.RunID == t.RunID })
			s.LastFailure = &short
		}
		if t.Outcome == lake.OutcomeDone || t.Outcome == lake.OutcomeUnchanged {
			succeeded[t.Command] = true
		}
		in.addFeedFailures(s, r)
	}
}

// addFeedFailures adds how the feeds of an attempt without a commit failed, unless something later is known.
func (in *inspection) addFeedFailures(s *Result, r *runlist.Row) {
	for i := range s.Feeds {
		f := &s.Feeds[i]
		failed := r.Feed(f.Feed)
		later := f.LastFailure != nil
		if last := in.log.LastSnapshot(f.Feed); last != nil && runlist.PlaceOf(in.log, r.Attempt) < last.Number {
			later = true
		}
		if failed == nil || later || failed.Outcome != lake.OutcomeFailed && failed.Outcome != lake.OutcomeHeld {
			continue
		}
		f.LastFailure = &FeedFailure{r.RunID, r.StartedAt, failed.Outcome, failed.Error}
	}
}

// nights returns what the last runs cost and added.
func (in *inspection) nights() []Night {
	nights := []Night{}
	byRun := map[string]int{} // in nights
	for _, run := range slices.Backward(in.log.Commits) {
		if run.SnapshotDate == "" || len(nights) == nightsShown {
			continue
		}
		night := Night{Commit: run.Number, SnapshotDate: run.SnapshotDate, KnownAt: run.KnownAt, Seconds: run.KnownAt.Sub(run.StartedAt.Time).Seconds()}
		for i := range run.Feeds {
			night.Requests += run.Feeds[i].Requests
			night.BytesReceived += run.Feeds[i].Bytes
			night.Seconds = max(night.Seconds, float64(run.Feeds[i].ExtractMS+run.Feeds[i].WriteMS)/1000) // a market's own clock may stand still
		}
		byRun[run.RunID] = len(nights)
		nights = append(nights, night)
	}
	for _, file := range in.log.AllFiles() {
		if n, ok := byRun[file.RunID()]; ok {
			nights[n].Files++
			nights[n].Bytes += file.Bytes
		}
	}
	return nights
}
