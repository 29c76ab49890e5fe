package runlist

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"dealflow/internal/attempts"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// A Reader reads the attempts on a lake. It does not change and is safe for concurrent use.
type Reader struct {
	Lake     *load.Lake
	WorkDir  string // in which attempts of this machine wait to be recorded
	Identity string // of the lake there
	Clock    func() time.Time
	Log      *slog.Logger
}

// Attempts returns the attempts that were recorded last, at most that number of them; 0 for all. They know their
// commits, and those without an end are judged. Those that wait on this machine to be recorded are among them.
func (r *Reader) Attempts(ctx context.Context, most int) ([]attempts.Attempt, error) {
	entries, err := attempts.List(ctx, r.Lake.Store())
	if err != nil {
		return nil, err
	}
	if most > 0 && len(entries) > most {
		entries = entries[:most]
	}
	found, err := r.Resolve(ctx, entries)
	return append(found, r.Waiting(entries)...), err
}

// Waiting returns the attempts on a lake that wait on this machine to be recorded, without those among the entries.
func (r *Reader) Waiting(recorded []attempts.Entry) []attempts.Attempt {
	all, err := attempts.Waiting(r.WorkDir, r.Identity)
	if err != nil {
		r.Log.Warn("earlier attempts still wait in the work folder", "error", err)
	}
	return slices.DeleteFunc(all, func(w attempts.Attempt) bool {
		return slices.ContainsFunc(recorded, func(e attempts.Entry) bool { return e.RunID == w.RunID })
	})
}

// Resolve reads the attempts of entries, gives them their commits, and judges those without an end.
func (r *Reader) Resolve(ctx context.Context, entries []attempts.Entry) ([]attempts.Attempt, error) {
	found, err := attempts.Read(ctx, r.Lake.Store(), entries)
	if err != nil {
		return nil, err
	}
	numbers, err := numbersOf(ctx, r.Lake, found)
	if err != nil {
		return nil, err
	}
	judge := attempts.Judge{Store: r.Lake.Store(), Now: r.Clock()}
	for i := range found {
		found[i].Commit = cmp.Or(numbers[found[i].RunID], found[i].Commit)
		if err := judge.Resolve(ctx, &found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// numbersOf returns the commits of runs by run id, at least those of attempts that do not know theirs.
func numbersOf(ctx context.Context, l *load.Lake, made []attempts.Attempt) (map[string]int64, error) {
	log, numbers := l.Log(), map[string]int64{}
	for i := range log.Commits {
		numbers[log.Commits[i].RunID] = log.Commits[i].Number
	}
	old := func(a attempts.Attempt) bool {
		return a.Commit == 0 && numbers[a.RunID] == 0 && !log.Whole(1) && (a.After == nil || !log.Whole(a.After.Commit+1))
	}
	if !slices.ContainsFunc(made, old) {
		return numbers, nil
	}
	names, err := l.Names(ctx)
	if err != nil {
		return nil, err
	}
	for i := range names {
		numbers[names[i].RunID] = names[i].Number
	}
	return numbers, nil
}

// Last returns the last commits without their files, at least that number of them; 0 for all.
func Last(ctx context.Context, l *load.Lake, last int) ([]lake.Commit, error) {
	log, from := l.Log(), int64(1)
	if last > 0 {
		from = log.Number - int64(last) + 1
	}
	if log.Whole(from) {
		return log.Commits, nil
	}
	var commits []lake.Commit
	for run, err := range l.Runs(ctx, from) {
		if err != nil {
			return nil, err
		}
		commits = append(commits, *run)
	}
	return commits, nil
}
