package main

import (
	"errors"
	"fmt"
	"os"

	"dealflow/internal/attempts"
	"dealflow/load"
	"dealflow/load/store"
)

// checkPlace returns load.ErrNoLake for a lake without a commit if its folder is absent and nothing was tried there from this
// machine: then its name is more likely wrong than a first run late.
func (a *app) checkPlace(where store.Store) error {
	folder := store.LocalPath(where)
	if folder == "" {
		return nil
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	waiting, err := attempts.Waiting(a.settings.workDir, a.lakeIdentity(where))
	if err != nil || len(waiting) > 0 {
		return err
	}
	return fmt.Errorf("%w: there is no folder %s; correct --lake, or mount the disk; the first `dealflow run` of all begins a lake", load.ErrNoLake, folder)
}
