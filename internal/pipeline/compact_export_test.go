package pipeline

import (
	"context"
	"errors"
)

// CompactBehind is what a run does behind its commit.
func CompactBehind(ctx context.Context, cfg Config) (result *MaintainResult, err error) {
	r := &run{command: "run"}
	if r.Config, err = cfg.withoutClient(); err != nil {
		return nil, err
	}
	r.began, r.started, r.latest = r.Clock(), r.Clock(), r.Clock()
	if err := r.openLake(ctx); err != nil {
		return nil, err
	}
	if _, err := r.begin(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close(ctx)) }()
	return r.compactIfNeeded(ctx)
}
