package dirstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"dealflow/load/store"
)

// Leftovers implements store.Cleaner: temporary files that never got the name of their object.
func (d *Dir) Leftovers(ctx context.Context, before time.Time) ([]store.Leftover, error) {
	var found []store.Leftover
	err := d.files(ctx, d.root, func(key string, folder bool) bool { return folder || unfinished(key) }, func(key string, info fs.FileInfo) {
		if info.ModTime().Before(before) {
			found = append(found, store.Leftover{Key: key, Begun: info.ModTime()})
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list unfinished files in %s: %w", d.root, err)
	}
	return found, nil
}

// Clean implements store.Cleaner.
func (d *Dir) Clean(ctx context.Context, leftovers ...store.Leftover) error {
	var faults []error
	for _, l := range leftovers {
		if err := d.clean(ctx, l.Key); err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, fmt.Errorf("remove %s: %w", l.Key, err))
		}
	}
	return errors.Join(faults...)
}

func (d *Dir) clean(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !filepath.IsLocal(filepath.FromSlash(key)) || !unfinished(key) {
		return errors.New("not an unfinished file")
	}
	return os.Remove(filepath.Join(d.root, filepath.FromSlash(key)))
}

func unfinished(key string) bool {
	return strings.HasPrefix(path.Base(key), store.TempPrefix) && key != lockName
}
