package pull

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"dealflow/extract"
	"dealflow/internal/maintain"
	"dealflow/internal/pull/runclock"
	"dealflow/schemas/lake"
)

// Result says what a run did. `--json` prints this object; fields are only ever added.
type Result struct {
	Command      string         `json:"command"` // run, sync or quarantine
	Lake         string         `json:"lake"`    // the lake's root
	RunID        string         `json:"run_id"`
	Commit       int64          `json:"commit"` // 0: nothing was committed
	KnownAt      lake.Instant   `json:"known_at"`
	SnapshotDate string         `json:"snapshot_date"` // "" for a command that writes no snapshots
	Outcome      string         `json:"outcome"`       // done, partial; without a commit: unchanged, skipped or failed
	Feeds        []lake.FeedRun `json:"feeds"`
	Files        int            `json:"files"`         // that the commit names
	BytesWritten int64          `json:"bytes_written"` // their size
	Seconds      float64        `json:"seconds"`       // of the machine's clock
	Stages       StageSeconds   `json:"stage_seconds"`
	Checks       []lake.Check   `json:"checks"` // of the commit, or of what was held; none without a catalog
	Held         lake.Held      `json:"held,omitzero"`
	Warnings     []string       `json:"warnings"`

	// Compaction is the commit after this one that merged history files; nil if there were not many.
	Compaction *maintain.Result `json:"compaction,omitempty"`

	// Expiry is what `run --maintain` expired after the commit; nil without a retention.
	Expiry *maintain.ExpireResult `json:"expiry,omitempty"`

	late  bool // a feed was not complete by the deadline
	spent bool // a feed was not complete within the budget of requests
}

// StageSeconds is the duration of each stage.
type StageSeconds struct {
	Open    float64 `json:"open"`    // the token, the log, the latest version of every deal
	Feeds   float64 `json:"feeds"`   // extracting, flattening and writing, concurrently
	Commit  float64 `json:"commit"`  // deal_versions and the commit
	Catalog float64 `json:"catalog"` // hint, checkpoint and catalog
}

// setFeeds copies the outcomes of the feeds.
func (r *Result) setFeeds(feeds []*feedRun) {
	r.Feeds = make([]lake.FeedRun, 0, len(feeds))
	r.late, r.spent = false, false
	for _, f := range feeds {
		r.Feeds = append(r.Feeds, f.FeedRun)
		r.late = r.late || errors.Is(f.failure, ErrDeadline)
		r.spent = r.spent || errors.Is(f.failure, extract.ErrBudget)
	}
}

// committed fills in what the commit says.
func (r *Result) committed(made *lake.Commit) {
	for i := range made.Lost {
		r.warn(made.Lost[i].Warning())
	}
	r.Commit, r.KnownAt, r.Outcome, r.Files = made.Number, made.KnownAt, made.Outcome, len(made.Add)
	for _, file := range made.Add {
		r.BytesWritten += file.Bytes
	}
}

func (r *Result) warn(text string) { r.Warnings = append(r.Warnings, text) }

// warnFeeds adds the warnings about single feeds.
func (r *Result) warnFeeds(feeds []*feedRun) {
	for i := range r.Feeds {
		for _, text := range []string{missedWarning(&r.Feeds[i]), unprovedWarning(&r.Feeds[i], r.SnapshotDate), r.Feeds[i].QuarantineWarning()} {
			if text != "" {
				r.warn(text)
			}
		}
	}
	for _, f := range feeds {
		r.Warnings = append(r.Warnings, f.warnings...)
	}
}

// stopwatch measures the seconds between laps.
type stopwatch struct {
	clock func() time.Time
	last  time.Time
}

func (w *stopwatch) lap() float64 {
	now := w.clock()
	defer func() { w.last = now }()
	return now.Sub(w.last).Seconds()
}

// Count returns the sum of one figure over the feeds that are part of the commit.
func (r *Result) Count(figure func(*lake.FeedRun) int64) int64 {
	var sum int64
	for i := range r.Feeds {
		if r.Feeds[i].Outcome == lake.OutcomeDone {
			sum += figure(&r.Feeds[i])
		}
	}
	return sum
}

// Outcomes that callers branch on; compare with errors.Is. ErrNothingDone is joined to the others if no feed could be
// committed.
var (
	ErrFeedsFailed = errors.New("some feeds failed")
	ErrFeedsHeld   = errors.New("the removal guard held some feeds")
	ErrDeadline    = errors.New("the deadline has passed")
	ErrContract    = errors.New("the data has schema drift that the lake has not seen before")
	ErrClock       = runclock.ErrWrong
	ErrNothingDone = errors.New("nothing was committed")
)

// verdict returns the error of a run that came to its end; nil if every feed is done, or skipped because the account
// does not include it.
func (r *Result) verdict() error {
	var failed, held []string
	for i := range r.Feeds {
		f := &r.Feeds[i]
		switch f.Outcome {
		case lake.OutcomeFailed:
			failed = append(failed, fmt.Sprintf("%s: %s", f.Feed, f.Error))
		case lake.OutcomeHeld:
			held = append(held, fmt.Sprintf("%s: %s", f.Feed, f.Error))
		}
	}
	var errs []error
	if len(held) > 0 {
		errs = append(errs, fmt.Errorf("%w:\n  %s", ErrFeedsHeld, strings.Join(held, "\n  ")))
	}
	if len(failed) > 0 {
		errs = append(errs, fmt.Errorf("%w:\n  %s", ErrFeedsFailed, strings.Join(failed, "\n  ")))
	}
	if r.late {
		errs = append(errs, fmt.Errorf("%w: the next run pulls the feeds that were not complete", ErrDeadline))
	}
	if r.spent {
		errs = append(errs, fmt.Errorf("%w: the next run pulls the feeds that were not complete", extract.ErrBudget))
	}
	return errors.Join(errs...)
}
