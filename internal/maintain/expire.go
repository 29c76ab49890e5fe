package maintain

import (
	"context"
	"fmt"

	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// ExpireConfig says what expire keeps.
type ExpireConfig struct {
	Config
	Keep  Retention
	Apply bool // false: only report what would be done, and write nothing
}

// ExpireResult says what expire removed, or would remove. `--json` prints this object; fields are only ever added.
type ExpireResult struct {
	Result
	Applied       bool          `json:"applied"`         // false: the result is what would be done
	KeepDays      int           `json:"keep_days"`       // counted back from the newest snapshot
	KeepMonthEnds bool          `json:"keep_month_ends"` // and the last snapshot of each month
	Expired       []ExpiredFeed `json:"expired"`         // snapshots that the policy does not keep
	Garbage       load.Garbage  `json:"garbage"`         // data files that are no part of the lake and older than load.Grace
	Checkpoints   load.Garbage  `json:"checkpoints"`     // checkpoints and states that newer ones have replaced
	Unfinished    int           `json:"unfinished"`      // unfinished uploads older than load.Grace
	Waiting       load.Garbage  `json:"waiting"`         // younger garbage, which a later expire removes
}

// ExpiredFeed is the expired snapshots of one feed.
type ExpiredFeed struct {
	Feed  api.Feed `json:"feed"`
	Days  []string `json:"days"` // YYYY-MM-DD, oldest first
	Files int      `json:"files"`
	Bytes int64    `json:"bytes"`
}

// Expire drops the snapshots that a policy does not keep, as one commit. Then it deletes what findRemovable finds, by
// the store's clock. A later expire deletes the dropped files after load.Grace. Expire never changes history. It may be
// run again after any failure.
//
// If another command holds the lease, nothing is done (lake.OutcomeSkipped). Errors and the result are those of
// Compact; if an error comes after the commit, Result.Commit is set.
func Expire(ctx context.Context, cfg ExpireConfig) (*ExpireResult, error) {
	if cfg.Keep.Days < 1 {
		return nil, fmt.Errorf("expire: keep %d days: want 1 or more", cfg.Keep.Days)
	}
	result := &ExpireResult{Applied: cfg.Apply, KeepDays: cfg.Keep.Days, KeepMonthEnds: cfg.Keep.MonthEnds, Expired: []ExpiredFeed{}}
	if !cfg.Apply {
		if err := result.preview(ctx, cfg); err != nil {
			return nil, err
		}
		return result, nil
	}
	begun, err := execute(ctx, cfg.Config, "expire", &result.Result, func(ctx context.Context, w *work) error {
		if err := w.expireSnapshots(ctx, cfg.Keep, result); err != nil {
			return err
		}
		return w.removeGarbage(ctx, result)
	})
	if !begun {
		return nil, err
	}
	return result, err
}

// expireSnapshots drops snapshots from the lake, as one commit.
func (w *work) expireSnapshots(ctx context.Context, keep Retention, result *ExpireResult) error {
	days, err := expired(w.lake.Log(), keep)
	if err != nil {
		return err
	}
	result.addDays(days)
	var remove []string
	for _, day := range days {
		for _, file := range day.Files {
			remove = append(remove, file.Path)
		}
	}
	if len(remove) == 0 {
		return nil
	}
	return w.commit(ctx, remove, &result.Result)
}

// addDays adds days to the sums of their feeds. The days are sorted by feed.
func (r *ExpireResult) addDays(days []expiredDay) {
	for _, day := range days {
		if n := len(r.Expired); n == 0 || r.Expired[n-1].Feed != day.Feed {
			r.Expired = append(r.Expired, ExpiredFeed{Feed: day.Feed})
		}
		feed := &r.Expired[len(r.Expired)-1]
		feed.Days = append(feed.Days, day.Day)
		feed.Files += len(day.Files)
		for _, file := range day.Files {
			feed.Bytes += file.Bytes
		}
	}
}

// removeGarbage deletes what findRemovable finds.
func (w *work) removeGarbage(ctx context.Context, result *ExpireResult) error {
	now, err := storeTime(ctx, w.Store, w.RunID)
	if err != nil {
		return err
	}
	garbage, err := findRemovable(ctx, w.lake, now)
	if err != nil {
		return err
	}
	result.count(garbage)
	if gone, err := sweep(ctx, w.Store, garbage); err != nil {
		return fmt.Errorf("expire: only %d files (%d bytes) of what is named as garbage could be removed; the next expire tries again: %w", gone.Files, gone.Bytes, err)
	}
	if result.Commit == 0 {
		result.Outcome = lake.OutcomeUnchanged
		if len(garbage.Data)+len(garbage.Checkpoints)+len(garbage.Unfinished) > 0 {
			result.Outcome = lake.OutcomeDone
		}
	}
	return nil
}

func (r *ExpireResult) count(found *removable) {
	for _, object := range found.Data {
		r.Garbage.Files++
		r.Garbage.Bytes += object.Size
	}
	for _, object := range found.Checkpoints {
		r.Checkpoints.Files++
		r.Checkpoints.Bytes += object.Size
	}
	r.Unfinished, r.Waiting = len(found.Unfinished), found.Waiting
}

// preview fills in what would be done. It uses the machine's clock: asking the store for its time would write to it.
func (r *ExpireResult) preview(ctx context.Context, cfg ExpireConfig) error {
	config, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	l, err := load.Open(ctx, config.Store)
	if err != nil {
		return err
	}
	began := config.Clock()
	r.Result = Result{Command: "expire", Lake: l.Store().URL(), RunID: config.RunID, Outcome: lake.OutcomeUnchanged, Warnings: []string{}}
	days, err := expired(l.Log(), cfg.Keep)
	if err != nil {
		return err
	}
	r.addDays(days)
	garbage, err := findRemovable(ctx, l, began)
	if err != nil {
		return err
	}
	r.count(garbage)
	r.Seconds = config.Clock().Sub(began).Seconds()
	return nil
}
