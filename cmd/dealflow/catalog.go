package main

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dealflow/internal/catalog"
	"dealflow/internal/logs"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

func newCatalog(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "catalog",
		Short: "Build catalog.duckdb from scratch, and publish it",
		Long: `catalog builds catalog.duckdb from scratch, from the log and history, and puts it into the lake.

You need it after you move or copy a lake, after you change aliases, and if the catalog is lost or
damaged. Otherwise you do not: every run extends the previous catalog and publishes it.`,
		Example: "  dealflow catalog --lake /data/deals",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runCatalog(cmd.Context(), a) },
	}
}

func runCatalog(ctx context.Context, a *app) error {
	// The published catalog may be the only object that names a lost commit.
	l, err := a.openWhole(ctx)
	if err != nil {
		return err
	}
	cache, err := a.settings.cache(l.Store())
	if err != nil {
		return err
	}
	if err := a.warnOfAliases(ctx, l.Store()); err != nil {
		return err
	}
	if err := catalog.Publish(ctx, l, a.workDir(), cache); err != nil {
		return withNext(err)
	}
	result := struct {
		Lake    string `json:"lake"`
		Commit  int64  `json:"commit"`
		Catalog string `json:"catalog"`
	}{l.Store().URL(), l.Log().Number, l.Store().URL() + "/" + lake.CatalogKey}
	if a.settings.json {
		return printJSON(a.Stdout, result)
	}
	a.say().Info("catalog published", "catalog", result.Catalog, "commit", result.Commit, logs.Text("published %s, which shows commit %d", result.Catalog, result.Commit))
	return nil
}

// warnOfAliases warns of files next to those of aliases that no command reads: their names are probably misspelt. Only
// `catalog` looks for them, which people run after they have written aliases; a run does without the request.
func (a *app) warnOfAliases(ctx context.Context, s store.Store) error {
	var unknown []string
	for object, err := range s.List(ctx, path.Dir(lake.BankAliasesKey)+"/") {
		if err != nil {
			return err
		}
		if !slices.Contains(lake.UserFiles(), object.Key) {
			unknown = append(unknown, object.Key)
		}
	}
	if len(unknown) > 0 {
		files := strings.Join(unknown, ", ")
		a.logger().Warn("files are not read as aliases", "files", files, logs.Text("%s; want %s", files, strings.Join(lake.UserFiles(), ", ")))
	}
	return nil
}
