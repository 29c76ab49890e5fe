package maintain

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// ExpireConfig says what expire keeps.
type ExpireConfig struct {
	Config
	Keep        Retention
	Apply       bool // false: only report what would be done, and write nothing
	GarbageOnly bool // drop no snapshots, and with Apply write nothing: garbage is deleted, nothing else happens

	// DropDay is a day (YYYY-MM-DD) whose snapshots are taken back. Then nothing else is done, and Keep is not used.
	// Default: none.
	DropDay   string
	DropFeeds []api.Feed // the feeds whose snapshots of DropDay are taken back; default: all
}

// ExpireResult says what expire removed, or would remove. `--json` prints this object; fields are only ever added.
type ExpireResult struct {
	Result
	Applied       bool          `json:"applied"`               // false: the result is what would be done
	KeepDays      int           `json:"keep_days"`             // counted back from the newest snapshot or today, whichever is earlier
	KeepMonthEnds bool          `json:"keep_month_ends"`       // and the last snapshot of each month
	DroppedDay    string        `json:"dropped_day,omitempty"` // the day that was taken back
	GarbageOnly   bool          `json:"garbage_only"`          // no snapshot was to be dropped, and nothing was written
	Expired       []ExpiredFeed `json:"expired"`               // snapshots that the policy does not keep, or that were taken back
	Garbage       load.Garbage  `json:"garbage"`               // data files that are no part of the lake and older than load.Grace
	Checkpoints   load.Garbage  `json:"checkpoints"`           // checkpoints and states that newer ones have replaced
	Attempts      load.Garbage  `json:"attempts"`              // records of attempts older than AttemptsLife
	Tables        load.Garbage  `json:"tables"`                // objects of Iceberg tables that no reader needs
	Pinned        load.Garbage  `json:"pinned"`                // garbage that published Iceberg tables still need, so that it stays
	Unfinished    int           `json:"unfinished"`            // unfinished uploads older than load.Grace
	Waiting       load.Garbage  `json:"waiting"`               // younger garbage, which a later expire removes

	decided int64 // the newest commit when it was decided which snapshots to take back; 0: not yet
}

// ExpiredFeed is the expired snapshots of one feed.
type ExpiredFeed struct {
	Feed  api.Feed `json:"feed"`
	Days  []string `json:"days"`  // YYYY-MM-DD, oldest first
	Files int      `json:"files"` // a file that several markets share counts for each of them
	Bytes int64    `json:"bytes"` // of such a file, this market's share of an equal division
}

// Expire drops the snapshots that a policy does not keep, as one commit. Then it deletes what findRemovable finds, by
// the store's clock. A later expire deletes the dropped files after load.Grace. Expire never changes history. It may be
// run again after any failure. With cfg.DropDay it only takes back the snapshots of that day.
//
// Dropping snapshots writes a commit first. On a full disk that fails; then Expire deletes garbage without writing
// anything, as with GarbageOnly, and begins again once.
//
// If another command holds the lease, nothing is done (lake.OutcomeSkipped). Errors and the result are those of
// Compact; if an error comes after the commit, Result.Commit is set.
func Expire(ctx context.Context, cfg ExpireConfig) (*ExpireResult, error) {
	result := &ExpireResult{
		Applied: cfg.Apply, KeepDays: cfg.Keep.Days, KeepMonthEnds: cfg.Keep.MonthEnds, DroppedDay: cfg.DropDay, GarbageOnly: cfg.GarbageOnly, Expired: []ExpiredFeed{},
	}
	switch {
	case cfg.DropDay != "" && cfg.GarbageOnly:
		return nil, errors.New("expire: got both a day to take back and garbage only, want one of them")
	case cfg.DropDay != "":
		if err := cfg.checkDrop(); err != nil {
			return nil, fmt.Errorf("expire: %w", err)
		}
	case cfg.Keep.Days < 1:
		return nil, fmt.Errorf("expire: keep %d days: want 1 or more", cfg.Keep.Days)
	}
	if !cfg.Apply || cfg.GarbageOnly {
		if err := result.withoutCommit(ctx, cfg); err != nil {
			return nil, err
		}
		return result, nil
	}
	begun, err := result.apply(ctx, cfg)
	if result.Commit == 0 && isFull(err) {
		return result.makeRoom(ctx, cfg, err)
	}
	if !begun {
		return nil, err
	}
	return result, err
}

// apply drops snapshots and deletes garbage, under the lease. The result is set if begun is true.
func (r *ExpireResult) apply(ctx context.Context, cfg ExpireConfig) (begun bool, err error) {
	r.Expired = []ExpiredFeed{}
	return execute(ctx, cfg.Config, lake.CommandExpire, &r.Result, func(ctx context.Context, w *work) error {
		if cfg.DropDay != "" {
			return w.dropDay(ctx, cfg, r)
		}
		if err := w.expireSnapshots(ctx, cfg.Keep, r); err != nil {
			return err
		}
		return w.removeGarbage(ctx, r)
	})
}

// isFull says whether something failed because a disk is full, or a user's share of it.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// makeRoom deletes garbage after apply has found a full disk, and applies again. full is the error of the first time.
func (r *ExpireResult) makeRoom(ctx context.Context, cfg ExpireConfig, full error) (*ExpireResult, error) {
	garbage := *r
	garbage.GarbageOnly, garbage.Expired = true, []ExpiredFeed{}
	room := cfg
	room.DropDay = ""
	err := garbage.withoutCommit(ctx, room)
	if err == nil && garbage.Outcome == lake.OutcomeSkipped {
		return &garbage, nil
	}
	if err == nil && garbage.Outcome != lake.OutcomeDone {
		err = errors.New("there is no garbage to delete; free some space by hand (catalog.duckdb can be deleted: `dealflow catalog` builds it again), then run `dealflow expire --apply`")
	}
	if err != nil {
		return nil, fmt.Errorf("expire: the disk is full: %w; %w", full, err)
	}
	begun, err := r.apply(ctx, cfg)
	if !begun {
		return &garbage, err
	}
	r.Garbage.Files += garbage.Garbage.Files
	r.Garbage.Bytes += garbage.Garbage.Bytes
	r.Checkpoints.Files += garbage.Checkpoints.Files
	r.Checkpoints.Bytes += garbage.Checkpoints.Bytes
	r.Attempts.Files += garbage.Attempts.Files
	r.Attempts.Bytes += garbage.Attempts.Bytes
	r.Tables.Files += garbage.Tables.Files
	r.Tables.Bytes += garbage.Tables.Bytes
	r.Unfinished += garbage.Unfinished
	r.warn(fmt.Sprintf("the disk was full (%v): garbage was deleted before anything was written", full))
	return r, err
}

// expireSnapshots drops snapshots from the lake, as one commit.
func (w *work) expireSnapshots(ctx context.Context, keep Retention, result *ExpireResult) error {
	days, err := expired(w.lake.Log(), keep, w.started)
	if err != nil {
		return err
	}
	result.addDays(days)
	if len(days) == 0 && !w.hasLost() {
		return nil
	}
	remove, err := w.takeOut(ctx, days)
	if err != nil {
		return err
	}
	return w.commit(ctx, remove, &result.Result)
}

// takeOut is TakeOut for the snapshots of some days.
func (w *work) takeOut(ctx context.Context, days []expiredDay) ([]string, error) {
	var parts []Part
	for i := range days {
		parts = append(parts, days[i].parts()...)
	}
	return TakeOut(ctx, w.lake, w.tx, w.Cache, parts)
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
			feed.Bytes += file.Bytes / int64(len(file.Markets()))
		}
	}
}

// removeGarbage deletes what findRemovable finds.
func (w *work) removeGarbage(ctx context.Context, result *ExpireResult) error {
	now, err := store.Now(ctx, w.Store, w.RunID, load.Grace)
	if err != nil {
		return err
	}
	garbage, err := findRemovable(ctx, w.lake, now)
	if err != nil {
		return err
	}
	return result.sweep(ctx, w.Store, garbage)
}

// sweep deletes what was found.
func (r *ExpireResult) sweep(ctx context.Context, s store.Store, garbage *removable) error {
	r.count(garbage)
	if gone, err := sweep(ctx, s, garbage); err != nil {
		return fmt.Errorf("expire: only %d files (%d bytes) of the garbage were removed; the next `dealflow expire --apply` tries again: %w", gone.Files, gone.Bytes, err)
	}
	if r.Commit == 0 {
		r.Outcome = lake.OutcomeUnchanged
		if len(garbage.Data)+len(garbage.Checkpoints)+len(garbage.Attempts)+len(garbage.Tables)+len(garbage.Unfinished) > 0 {
			r.Outcome = lake.OutcomeDone
		}
	}
	return nil
}

func (r *ExpireResult) count(found *removable) {
	add := func(sum *load.Garbage, objects []store.Object) {
		for _, object := range objects {
			sum.Files++
			sum.Bytes += object.Size
		}
	}
	add(&r.Garbage, found.Data)
	add(&r.Checkpoints, found.Checkpoints)
	add(&r.Attempts, found.Attempts)
	add(&r.Tables, found.Tables)
	r.Unfinished, r.Waiting, r.Pinned = len(found.Unfinished), found.Waiting, found.Pinned
}

// withoutCommit writes nothing: no lease, commit, or object that would tell the store's time. It finds what would be
// done, and with cfg.Apply or after a full disk deletes the garbage.
func (r *ExpireResult) withoutCommit(ctx context.Context, cfg ExpireConfig) error {
	config, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	l, err := load.OpenAccepting(ctx, config.Store, config.AcceptLost)
	if err != nil {
		return err
	}
	if cfg.Apply {
		if err := l.CheckWritable(); err != nil { // also of a newer program, which keeps files for what this one does not know
			return err
		}
	}
	began := config.Clock()
	defer func() { r.Seconds = config.Clock().Sub(began).Seconds() }()
	r.Result = Result{Command: lake.CommandExpire, Lake: l.Store().URL(), RunID: config.RunID, Outcome: lake.OutcomeUnchanged, Warnings: []string{}}
	if busy := l.Lease(ctx, began); busy != nil && cfg.Apply {
		r.giveWay(busy)
		return nil
	}
	if cfg.DropDay != "" {
		_, _, err := planDrop(l.Log(), cfg, r)
		return err
	}
	if !r.GarbageOnly {
		days, err := expired(l.Log(), cfg.Keep, began)
		if err != nil {
			return err
		}
		r.addDays(days)
	}
	now := began
	if cfg.Apply {
		// Commits and commands replace objects below it, but the newest may be old: then less is found than with store.Now, never more.
		if now, err = store.NowByReading(ctx, l.Store(), "_dealflow/", began); err != nil {
			return err
		}
	}
	garbage, err := findRemovable(ctx, l, now)
	if err != nil {
		return err
	}
	if cfg.Apply {
		return r.sweep(ctx, config.Store, garbage)
	}
	r.count(garbage)
	return nil
}
