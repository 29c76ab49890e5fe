package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"dealflow/internal/maintain"
	"dealflow/schemas/lake"
)

func newCompact(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compact",
		Short: "Merge small history files into larger ones, as one commit",
		Long: `compact merges the history files of a table, market and year that are smaller than 64 MiB. The
rows stay the same, and with them every answer; opening the lake gets quicker. Runs do so by
themselves where syncs have made many.

Each call takes one step: of very many files it makes fewer, and the next call goes on. The files
of before become garbage, which expire removes when its grace has passed.`,
		Example: "  dealflow compact --lake /data/deals",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runCompact(cmd.Context(), a) },
	}
	return cmd
}

func runCompact(ctx context.Context, a *app) error {
	cfg, err := a.maintainConfig(ctx)
	if err != nil {
		return err
	}
	result, err := maintain.Compact(ctx, cfg)
	if result == nil {
		return err
	}
	return errors.Join(err, a.printCompacted(result))
}

func (a *app) printCompacted(r *maintain.Result) error {
	if a.settings.json {
		return printJSON(a.Stdout, r)
	}
	a.printMaintained(r)
	if r.Outcome == lake.OutcomeUnchanged {
		_, err := fmt.Fprintf(a.Stderr, "nothing to merge in %s\n", r.Lake)
		return err
	}
	return nil
}
