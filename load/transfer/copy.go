package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// tries is how often Copy begins, at most, because expiry on the source deleted files on the way.
const tries = 3

// Copy copies a lake: the data files that its commits up to the last one need, the commits, and the user's files. It
// compares the bytes of each file with the hash in its commit, except where an S3 server copies the object itself. It
// leaves out what belongs to one place alone: the lease, holds, probes, checkpoints, and the catalog. The target gets its
// own hint and checkpoint; its catalog is the caller's part.
//
// It may be run again after any failure, and goes on where it ended. A later call adds the commits that the source has
// made since, as long as the target has made none of its own: ErrOwnCommits. Other programs may write to the source at
// the same time.
func Copy(ctx context.Context, cfg Config) (*Result, error) {
	what := fmt.Sprintf("copy %s to %s", cfg.From.URL(), cfg.To.URL())
	for try := 1; ; try++ {
		result, err := copyOnce(ctx, cfg)
		switch {
		case err == nil:
			return result, nil
		case errors.Is(err, ErrGone) && cfg.Until == 0 && try < tries:
			continue // a later commit of the source no longer needs the file
		}
		return nil, fmt.Errorf("%s: %w", what, err)
	}
}

func copyOnce(ctx context.Context, cfg Config) (*Result, error) {
	from, err := load.Open(ctx, cfg.From)
	if err != nil {
		return nil, err
	}
	if newest := from.Log().Number; cfg.Until < 0 || cfg.Until > newest {
		return nil, fmt.Errorf("commit %d does not exist: want one from 1 to %d", cfg.Until, newest)
	}
	t := newTransfer(cfg, from)
	t.command, t.path, t.copyFile, t.refreshes = "copy", func(path string) string { return path }, t.copyChecked, true
	t.convert = func(data []byte, _ *lake.Commit, _ string) ([]byte, error) { return data, nil }
	return &t.result, t.do(ctx)
}

// copyChecked copies a data file. A folder's files are never links here: a copy must survive damage to the source.
func (t *transfer) copyChecked(ctx context.Context, file *lake.File, to string) error {
	if copier, ok := t.To.(store.Copier); ok && store.LocalPath(t.From) == "" {
		if err := copier.CopyFrom(ctx, t.From, file.Path, to); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	data, err := store.Read(ctx, t.From, file.Path)
	if err != nil {
		return fmt.Errorf("copy %s: %w", file.Path, err)
	}
	if got := lake.SHA256(data); got != file.SHA256 {
		return fmt.Errorf("copy %s: the file has SHA-256 %.12s and %d bytes, but its commit says %.12s and %d: the source is damaged; run `dealflow verify --read-data` on it", file.Path, got, len(data), file.SHA256, file.Bytes)
	}
	return t.To.Put(ctx, to, bytes.NewReader(data), store.CreateOnly)
}
