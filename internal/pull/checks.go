package pull

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dealflow/internal/catalog"
	"dealflow/schemas/lake"
)

// ErrQuality means that a quality check holds the run: nothing was committed.
var ErrQuality = errors.New("a quality check holds the run")

// check builds the catalog as it will be after the commit, over files that no commit names yet, and runs the declared
// checks on it. Their results go into the commit. If a check holds, the run ends, even if building the catalog failed
// too. A check that could not be asked holds if it might have held: a doubt about the data is not committed as if there
// were none. Checks that only warn stay a warning.
func (r *run) check(ctx context.Context, commit *lake.Commit, result *Result) error {
	if r.NoCatalog {
		return nil
	}
	checks, err := r.buildAndCheck(ctx, commit)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var found []string // by the checks that hold
	held := &result.Held
	if err != nil {
		why, _, _ := strings.Cut(err.Error(), "\n") // without the traces of DuckDB
		if checks, held.Unasked = catalog.WithUnasked(checks, why, r.AcceptChecks); len(held.Unasked) == 0 {
			result.warn(fmt.Sprintf("quality checks could not be run: %v", err))
			r.Log.Warn("the quality checks could not be run", "error", err)
		}
	}
	commit.Checks, result.Checks = checks, checks
	for _, c := range checks {
		switch c.Outcome {
		case lake.CheckHeld:
			held.Checks = append(held.Checks, c.Name)
			found = append(found, c.Name+": "+c.Detail)
		case lake.CheckWarned, lake.CheckAccepted:
			result.warn("check " + c.Name + ": " + c.Detail)
		}
	}
	var faults []error
	if len(found) > 0 {
		faults = append(faults, fmt.Errorf("%w:\n  %s\nnothing was committed; check the source, then run once with --accept-checks and the names of these checks to accept it", ErrQuality, strings.Join(found, "\n  ")))
	}
	if len(held.Unasked) > 0 {
		faults = append(faults, fmt.Errorf("%w: %s could not be run: %w\nnothing was committed; correct the cause (free disk in --work-dir; damaged files: `dealflow verify --read-data`) and run again, or run once with --accept-checks all to commit without them", ErrQuality, strings.Join(held.Unasked, ", "), err))
	}
	return errors.Join(faults...)
}

// buildAndCheck builds the catalog and returns the results of its checks.
func (r *run) buildAndCheck(ctx context.Context, commit *lake.Commit) (checks []lake.Check, err error) {
	if err := r.dropCatalog(); err != nil {
		return nil, err
	}
	pending := r.session.Prepare(*commit)
	r.catalog, checks, err = r.maker().MakeAndCheck(ctx, &pending, r.AcceptChecks)
	return checks, err
}

func (r *run) maker() *catalog.Maker {
	return &catalog.Maker{Lake: r.lake, Cache: r.Cache, WorkDir: r.WorkDir, Log: r.Log}
}

func (r *run) dropCatalog() error {
	made := r.catalog
	r.catalog = nil
	return made.Close()
}
