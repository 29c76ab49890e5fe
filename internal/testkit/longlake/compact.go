package longlake

import (
	"context"
	"time"

	"dealflow/internal/maintain"
)

// compactIfNeeded merges history files if a night has left many, as a run does after its commit.
func (b *builder) compactIfNeeded(ctx context.Context, known time.Time) error {
	now := func() time.Time { return known }
	_, err := maintain.CompactAfterRun(ctx, b.lake, maintain.Config{
		Store: b.lake.Store(), RunID: runID(b.config.Seed, "compact", known), Clock: now, WorkDir: b.work, Version: "longlake",
	}, nil, now)
	return err
}
