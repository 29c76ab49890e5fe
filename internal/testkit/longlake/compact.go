package longlake

import (
	"context"
	"slices"
	"time"

	"dealflow/load"
	"dealflow/schemas/lake"
)

// compactAfter is the number of small files of a folder above which a run merges them, as the pipeline's
// runs do.
const compactAfter = 32

// compactIfNeeded merges history files where a night has left many, as a commit a minute after it.
func (b *builder) compactIfNeeded(ctx context.Context, known time.Time) error {
	groups := b.lake.Log().Compactable(known.Year(), compactAfter+1)
	if len(groups) == 0 {
		return nil
	}
	known = known.Add(time.Minute)
	return b.run(ctx, runID(b.config.Seed, "compact", known), known, func(run *load.Run) error {
		commit := lake.Commit{Command: "compact", KnownAt: lake.At(known), StartedAt: lake.At(known), FinishedAt: lake.At(known)}
		for _, group := range groups {
			if err := run.Merge(ctx, group); err != nil {
				return err
			}
			for _, file := range group {
				commit.Remove = append(commit.Remove, file.Path)
			}
		}
		slices.Sort(commit.Remove)
		return b.commit(ctx, run, commit)
	})
}
