package upgrade

import (
	"context"
	"fmt"
	"strings"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// newPath returns the path of a file in the present format: keys in paths are no longer names of columns.
func newPath(path string) string {
	return strings.NewReplacer("/market=", "/mkt=", "/snapshot_date=", "/day=").Replace(path)
}

// convert reads commit number of the older lake and returns its bytes in the present format. previous is the SHA-256 of the
// commit before it in the new lake.
func convert(ctx context.Context, from store.Store, number int64, previous string) ([]byte, error) {
	key := lake.CommitKey(number)
	old, err := store.Read(ctx, from, key)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	c, err := lake.DecodeCommit(old)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	c.FormatVersion, c.PreviousSHA256, c.UpgradedFrom = lake.FormatVersion, previous, lake.SHA256(old)
	for i := range c.Add {
		c.Add[i].Path = newPath(c.Add[i].Path)
	}
	for i := range c.Remove {
		c.Remove[i] = newPath(c.Remove[i])
	}
	return c.Encode()
}
