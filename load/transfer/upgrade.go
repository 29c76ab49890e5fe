package transfer

import (
	"context"
	"fmt"
	"strings"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Upgrade makes a lake of the present format version from an older one. It may be run again after any failure, and goes
// on where it ended. A later call adds the commits that the older lake has made since, as long as the new lake has made
// none of its own: ErrOwnCommits. On a folder the files of both lakes are the same files on disk.
func Upgrade(ctx context.Context, cfg Config) (*Result, error) {
	old, err := load.Open(ctx, cfg.From)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("upgrade %s to %s", cfg.From.URL(), cfg.To.URL())
	if format := old.Log().Format; format == lake.FormatVersion {
		return nil, fmt.Errorf("upgrade %s: the lake is of format version %d already: use it as it is; nothing was written to %s", cfg.From.URL(), format, cfg.To.URL())
	}
	t := newTransfer(cfg, old)
	t.command, t.convert, t.path = "upgrade", toPresent, presentPath
	t.copyFile = func(ctx context.Context, file *lake.File, to string) error {
		return store.Copy(ctx, cfg.From, file.Path, cfg.To, to)
	}
	if err := t.do(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return &t.result, nil
}

// presentPath returns the path of a file in the present format: keys in paths are no longer names of columns.
func presentPath(path string) string {
	return strings.NewReplacer("/market=", "/mkt=", "/snapshot_date=", "/day=").Replace(path)
}

// toPresent returns the bytes of an older lake's commit in the present format.
func toPresent(old []byte, c *lake.Commit, previous string) ([]byte, error) {
	c.FormatVersion, c.PreviousSHA256, c.UpgradedFrom = lake.FormatVersion, previous, lake.SHA256(old)
	for i := range c.Add {
		c.Add[i].Path = presentPath(c.Add[i].Path)
	}
	for i := range c.Remove {
		c.Remove[i] = presentPath(c.Remove[i])
	}
	return c.Encode()
}
