package maintain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"dealflow/load"
	"dealflow/load/iceberg"
	"dealflow/load/runs"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Retention says which daily snapshots are kept. The newest day of each feed is always kept.
type Retention struct {
	Days      int  // number of days, counted back from the newest day of any feed in the lake, or from today if that is earlier
	MonthEnds bool // keep also the last day of each month of a feed
}

// expiredDay is the snapshot of a feed and day that is no longer kept.
type expiredDay struct {
	Feed  api.Feed
	Day   string      // YYYY-MM-DD
	Files []lake.File // of all of the feed's tables; a shared file may have rows of other feeds, too
}

// parts returns the feed's rows in the files.
func (d *expiredDay) parts() []Part {
	parts := make([]Part, len(d.Files))
	for i, file := range d.Files {
		parts[i] = Part{file, d.Feed.Market}
	}
	return parts
}

// expired lists the snapshots that a policy does not keep, by feed and day. A snapshot's tables go together, even if
// one has no rows on that day. Days count from the newest snapshot, not from a clock: a lake that is no longer filled
// keeps what it has. But a snapshot of a day to come, which is a mistake, does not count: then days count from today.
func expired(log *load.Log, keep Retention, now time.Time) ([]expiredDay, error) {
	last, err := lastDay(log, now)
	if err != nil || last.IsZero() {
		return nil, err
	}
	byFeed := log.SnapshotFiles()
	from := last.AddDate(0, 0, 1-keep.Days).Format(time.DateOnly)
	var gone []expiredDay
	for _, feed := range api.Feeds() {
		days := byFeed[feed]
		for _, day := range expiredDays(slices.Sorted(maps.Keys(days)), from, keep.MonthEnds) {
			gone = append(gone, expiredDay{feed, day, days[day]})
		}
	}
	return gone, nil
}

// lastDay returns the day from which retention counts back: that of the newest snapshot, or today if that is earlier. It
// is zero if there are no snapshots.
func lastDay(log *load.Log, now time.Time) (last time.Time, err error) {
	newest := ""
	for _, f := range log.AllFiles() {
		newest = max(newest, f.Day())
	}
	if newest == "" {
		return last, nil
	}
	today, err := log.Today(now)
	if err != nil {
		return last, err
	}
	if last, err = time.Parse(time.DateOnly, min(newest, today)); err != nil {
		return last, fmt.Errorf("snapshot date %q in the log: want YYYY-MM-DD; run `dealflow verify`", newest)
	}
	return last, nil
}

// expiredDays returns the sorted days that are not kept.
func expiredDays(days []string, from string, monthEnds bool) []string {
	var expired []string
	for i, day := range days {
		last := i == len(days)-1
		monthEnd := last || month(days[i+1]) != month(day)
		if !last && day < from && (!monthEnds || !monthEnd) {
			expired = append(expired, day)
		}
	}
	return expired
}

// month returns the YYYY-MM of YYYY-MM-DD.
func month(day string) string { return day[:min(len(day), len("2006-01"))] }

// removable is what may be deleted without loss.
type removable struct {
	Data        []store.Object   // data files that are garbage
	Checkpoints []store.Object   // checkpoints, and states, that newer ones have replaced
	Attempts    []store.Object   // records of attempts older than AttemptsLife
	Unfinished  []store.Leftover // unfinished uploads
	Waiting     load.Garbage     // garbage that is too young to delete
	Tables      []store.Object   // objects of Iceberg tables that no reader needs
	Pinned      load.Garbage     // garbage that published Iceberg tables still need
}

// findRemovable finds what may be deleted at an instant of the store's clock (store.Now). It lists what exists, then
// reads the log again. It returns:
//   - data files that are not part of the lake, were put longer ago than load.Grace, and were not removed by a commit
//     younger than that;
//   - checkpoints and states older than load.Grace, except those of the newest two checkpoints;
//   - records of attempts older than AttemptsLife;
//   - objects of Iceberg tables that are older than load.Grace and not needed (iceberg.FindNeeded);
//   - unfinished uploads older than load.Grace.
//
// A data file that published Iceberg tables need is kept, whatever its age.
func findRemovable(ctx context.Context, l *load.Lake, now time.Time) (*removable, error) {
	old := now.Add(-load.Grace)
	var data []store.Object
	for _, prefix := range lake.DataPrefixes() {
		found, err := store.Listed(ctx, l.Store(), prefix)
		if err != nil {
			return nil, err
		}
		data = append(data, found...)
	}
	checkpoints, err := store.Listed(ctx, l.Store(), lake.CheckpointsPrefix)
	if err != nil {
		return nil, err
	}
	records, err := store.Listed(ctx, l.Store(), lake.AttemptsPrefix)
	if err != nil {
		return nil, err
	}
	needed, err := iceberg.FindNeeded(ctx, l.Store(), now, load.Grace)
	if err != nil {
		return nil, err
	}
	// Files that a run has put and committed since the listing are live now.
	if err := l.Refresh(ctx); err != nil {
		return nil, err
	}
	if err := checkNoHole(ctx, l); err != nil {
		return nil, err
	}
	data = slices.DeleteFunc(data, func(o store.Object) bool { return l.Log().Live(o.Key) })
	found := &removable{Checkpoints: replacedCheckpoints(checkpoints, l.Log().Number, old), Attempts: oldAttempts(records, now), Tables: needed.Garbage(old)}
	if found.Unfinished, err = unfinished(ctx, l.Store(), old); err != nil || len(data) == 0 {
		return found, err
	}
	recent, err := runs.RemovedSince(ctx, l.Store(), l.Log().Number, old)
	if err != nil {
		return nil, err
	}
	for _, object := range data {
		if needed.Data[object.Key] {
			found.Pinned.Files++
			found.Pinned.Bytes += object.Size
			continue
		}
		if object.Modified.Before(old) && !recent[object.Key] {
			found.Data = append(found.Data, object)
			continue
		}
		found.Waiting.Files++
		found.Waiting.Bytes += object.Size
	}
	return found, nil
}

// checkNoHole returns an error for a log with a hole: files that later commits added would look like garbage.
func checkNoHole(ctx context.Context, l *load.Lake) error {
	end := l.Log().Number
	for object, err := range store.ListAfter(ctx, l.Store(), lake.CommitsPrefix, lake.CommitKey(end+1)) {
		if err != nil {
			return err
		}
		if n, ok := lake.CommitNumber(object.Key); ok && object.Key == lake.CommitKey(n) {
			return fmt.Errorf("the log is damaged: it ends with commit %d, but commit %d exists; nothing was removed; restore the missing commits from a copy, then run `dealflow verify`", end, n)
		}
	}
	return nil
}

func unfinished(ctx context.Context, s store.Store, before time.Time) ([]store.Leftover, error) {
	cleaner, ok := s.(store.Cleaner)
	if !ok {
		return nil, nil
	}
	return cleaner.Leftovers(ctx, before)
}

// replacedCheckpoints returns the checkpoints and states that are older than an instant and do not belong to the two
// newest checkpoints up to a commit. Readers use the second newest if the newest cannot be read.
func replacedCheckpoints(objects []store.Object, commit int64, old time.Time) []store.Object {
	var numbers []int64
	for _, object := range objects {
		if n, ok := lake.CommitNumber(object.Key); ok && object.Key == lake.CheckpointKey(n) && n <= commit {
			numbers = append(numbers, n)
		}
	}
	slices.SortFunc(numbers, func(a, b int64) int { return cmp.Compare(b, a) })
	if len(numbers) < 3 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(objects), func(o store.Object) bool {
		n, ok := lake.CommitNumber(o.Key)
		ours := ok && (o.Key == lake.CheckpointKey(n) || o.Key == lake.StateKey(n))
		return !ours || n >= numbers[1] || !o.Modified.Before(old)
	})
}

// AttemptsLife is how long the records of attempts are kept: a year, and a month in which to look back at it.
const AttemptsLife = 400 * 24 * time.Hour

// oldAttempts returns the records that were put longer ago than AttemptsLife, by the store's clock. The day in a key is by
// the clock of the machine that made the attempt, which may have been wrong.
func oldAttempts(objects []store.Object, now time.Time) []store.Object {
	return slices.DeleteFunc(objects, func(o store.Object) bool { return !o.Modified.Before(now.Add(-AttemptsLife)) })
}

// sweepBatch is the number of objects that one request deletes: S3's limit.
const sweepBatch = 1000

// sweep deletes what was found, and returns how much it deleted. After an error it continues with the rest; its error
// names what was not deleted, which the next sweep finds again.
func sweep(ctx context.Context, s store.Store, found *removable) (gone load.Garbage, err error) {
	var faults []error
	for batch := range slices.Chunk(slices.Concat(found.Data, found.Checkpoints, found.Attempts, found.Tables), sweepBatch) {
		if err := ctx.Err(); err != nil {
			return gone, errors.Join(append(faults, err)...)
		}
		keys := make([]string, len(batch))
		var size int64
		for i, object := range batch {
			keys[i] = object.Key
			size += object.Size
		}
		if err := s.Delete(ctx, keys...); err != nil {
			faults = append(faults, err)
			continue
		}
		gone.Files += int64(len(batch))
		gone.Bytes += size
	}
	if cleaner, ok := s.(store.Cleaner); ok && len(found.Unfinished) > 0 {
		faults = append(faults, cleaner.Clean(ctx, found.Unfinished...))
	}
	return gone, errors.Join(faults...)
}
