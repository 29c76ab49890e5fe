package ui

import (
	"cmp"
	"context"
	"io/fs"
	"slices"

	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/console"
	"dealflow/internal/ui/deals"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/operator"
	"dealflow/internal/ui/study"
)

// words are those of the navigation, in its order.
var words = []string{"Health", "Pipeline", "Deals", "Changes", "Analyses", "Tables", "SQL", "Runs"}

// New returns the server of the explorer. It adds the pages to config. described is what the analyses say of
// themselves; asked is what the console has.
func New(config frame.Config, now operator.Source, described []study.Analysis, asked console.Source) (*frame.Server, error) {
	config.Templates = []fs.FS{operator.Templates, deals.Templates, study.Templates, console.Templates}
	config.State = now.State
	config.Pages = slices.Concat(operator.Pages(now), deals.Pages(), study.Pages(described), console.Pages(asked))
	slices.SortStableFunc(config.Pages, func(a, b frame.Page) int {
		return cmp.Compare(slices.Index(words, a.Word), slices.Index(words, b.Word))
	})
	return frame.New(config)
}

// Prepare asks what readers will ask first of an edition: for asof.Config.Opened.
func Prepare(ctx context.Context, v *asof.View) { deals.AskPipeline(ctx, v) }
