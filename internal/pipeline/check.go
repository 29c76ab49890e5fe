package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dealflow/schemas/lake"
	"dealflow/sql"
)

// ErrQuality says that a quality check held the run: nothing was committed.
var ErrQuality = errors.New("a quality check holds the run")

// check makes the catalog as it will be after the commit, over files that nobody sees yet, and asks the
// declared checks of it. Their results go into the commit. Where one of them holds, the run ends, whatever became of
// the catalog. Where they cannot be asked, the commit says so and is made: what is not kept today is lost for good.
func (r *run) check(ctx context.Context, commit *lake.Commit, result *Result) error {
	if r.NoCatalog {
		return nil
	}
	checks, err := r.ask(ctx, commit)
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

// ask makes the catalog and asks it.
func (r *run) ask(ctx context.Context, commit *lake.Commit) (checks []lake.Check, err error) {
	if err := r.dropCatalog(); err != nil {
		return nil, err
	}
	pending := r.load.Prepare(*commit)
	build := func(c *sql.Catalog, ctx context.Context, path string) (err error) {
		checks, err = c.BuildAndCheck(ctx, path, pending.Add, r.AcceptChecks)
		return err
	}
	r.catalog, err = r.maker().makeBy(ctx, shownBy(r.lake.Log()).with(&pending), "", build)
	return checks, err
}

func (r *run) maker() *catalogMaker {
	return &catalogMaker{lake: r.lake, cache: r.Cache, workDir: r.WorkDir, log: r.Log}
}

func (r *run) dropCatalog() error {
	made := r.catalog
	r.catalog = nil
	return made.close()
}

// publish puts the catalog into the lake: the one that was checked, unless more was committed since.
func (r *run) publish(ctx context.Context) error {
	if r.catalog == nil || r.catalog.number != r.lake.Log().Number {
		previous := ""
		if r.catalog != nil {
			previous = r.catalog.path
		}
		made, err := r.maker().make(ctx, shownBy(r.lake.Log()), previous)
		if err != nil {
			return err
		}
		if err := errors.Join(r.dropCatalog(), made.publish(ctx, r.lake)); err != nil {
			return errors.Join(err, made.close())
		}
		return made.close()
	}
	return r.catalog.publish(ctx, r.lake)
}

// KnowsChecks refuses names of checks that there are not.
func KnowsChecks(names []string) error {
	var known []string
	for _, c := range sql.QualityChecks() {
		known = append(known, c.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("check %q: there is none of that name, but %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}
