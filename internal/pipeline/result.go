package pipeline

import (
	"errors"
	"fmt"
	"strings"

	"dealflow/schemas/lake"
)

// Result says what a run did. It is the object that --json prints; fields are only ever added.
type Result struct {
	Command      string         `json:"command"`
	Lake         string         `json:"lake"` // the lake's root
	RunID        string         `json:"run_id"`
	Commit       int64          `json:"commit"` // 0: nothing was committed
	KnownAt      lake.Instant   `json:"known_at"`
	SnapshotDate string         `json:"snapshot_date"`
	Outcome      string         `json:"outcome"` // done, partial, or failed where nothing was committed
	Feeds        []lake.FeedRun `json:"feeds"`
	Files        int            `json:"files"`         // that the commit names
	BytesWritten int64          `json:"bytes_written"` // their size
	Seconds      float64        `json:"seconds"`       // of the machine's clock
	Warnings     []string       `json:"warnings"`
}

// Count adds up one figure over the feeds that are part of the commit.
func (r *Result) Count(figure func(*lake.FeedRun) int64) int64 {
	var sum int64
	for i := range r.Feeds {
		if r.Feeds[i].Outcome == lake.OutcomeDone {
			sum += figure(&r.Feeds[i])
		}
	}
	return sum
}

// Outcomes that a caller tells apart; compare with errors.Is. ErrNothingDone stands beside the others where
// no feed could be committed.
var (
	ErrFeedsFailed = errors.New("some feeds failed")
	ErrFeedsHeld   = errors.New("the removal guard held some feeds")
	ErrClock       = errors.New("the clock cannot be right")
	ErrNothingDone = errors.New("nothing was committed")
)

// verdict is the error of a run that came to its end: nil where every feed is done or no part of the
// account.
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
	return errors.Join(errs...)
}
