package pull

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dealflow/internal/catalog"
	"dealflow/schemas/lake"
)

// ErrQuality means that a quality check holds the run: nothing was committed.
var ErrQuality = errors.New("a quality check holds the run")

// check builds the catalog as it will be after the commit, over files that no commit names yet, and runs the declared
// checks on it. Their results go into the commit. If a check holds, the run ends, even if building the catalog failed
// too. If the checks cannot run, the commit says so and is still made: data that is not kept today is lost for good.
func (r *run) check(ctx context.Context, commit *lake.Commit, result *Result) error {
	if r.NoCatalog {
		return nil
	}
	checks, err := r.buildAndCheck(ctx, commit)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !slices.ContainsFunc(checks, func(c lake.Check) bool { return c.Outcome == lake.CheckHeld }) {
		why, _, _ := strings.Cut(err.Error(), "\n") // without the traces of DuckDB
		checks = []lake.Check{{Name: "all", Severity: lake.SeverityWarn, Outcome: lake.CheckFailed, Detail: why}}
		r.warner(result)("the quality checks could not be asked", err)
	}
	commit.Checks, result.Checks = checks, checks
	var held []string
	for _, c := range checks {
		switch c.Outcome {
		case lake.CheckHeld:
			held = append(held, c.Name+": "+c.Detail)
		case lake.CheckWarned, lake.CheckAccepted:
			result.warn("check " + c.Name + ": " + c.Detail)
		}
	}
	if len(held) == 0 {
		return nil
	}
	return fmt.Errorf("%w:\n  %s\nnothing was committed; look at the source, then run with --accept-checks and the names to let it through once", ErrQuality, strings.Join(held, "\n  "))
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
