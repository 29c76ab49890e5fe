package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"dealflow/internal/catalog"
	"dealflow/schemas/lake"
)

func newCatalog(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "catalog",
		Short: "Rebuild and publish catalog.duckdb",
		Long: `catalog makes catalog.duckdb from the commit log and history, all of it anew, and puts it into the
lake. Every run publishes one by itself, which goes on from the last; this is for a lake that was
copied, a catalog that was lost or damaged, and after a change of aliases.`,
		Example: "  dealflow catalog --lake /data/deals",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runCatalog(cmd.Context(), a) },
	}
}

func runCatalog(ctx context.Context, a *app) error {
	l, err := a.openLake(ctx)
	if err != nil {
		return err
	}
	cache, err := a.settings.cache(l.Store())
	if err != nil {
		return err
	}
	if err := catalog.Publish(ctx, l, a.settings.workDir, cache); err != nil {
		return err
	}
	result := struct {
		Lake    string `json:"lake"`
		Commit  int64  `json:"commit"`
		Catalog string `json:"catalog"`
	}{l.Store().URL(), l.Log().Number, l.Store().URL() + "/" + lake.CatalogKey}
	if a.settings.json {
		return printJSON(a.Stdout, result)
	}
	_, err = fmt.Fprintf(a.Stderr, "published %s, which shows commit %d\n", result.Catalog, result.Commit)
	return err
}
