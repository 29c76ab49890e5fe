package deals

import (
	"embed"

	"dealflow/internal/ui/frame"
)

// Templates are those of the pages.
//
//go:embed templates/*.html
var Templates embed.FS

// Pages returns the pages.
func Pages() []frame.Page {
	return []frame.Page{
		{Path: "pipeline", Word: "Pipeline", Title: "Pipeline", Key: "p", Params: pipelineParams, Show: showPipeline, Main: mainPipeline},
		{Path: "deals", Word: "Deals", Title: "Deals", Key: "d", Params: dealParams, Show: showDeals, Main: mainDeals},
		{Path: "deals/{service}/{market}/{kind}/{deal}", Word: "Deals", Params: []string{"tab", "v", "against", "all"}, Show: showDeal, Main: mainDeal},
		{Path: "deals/{service}/{market}/{kind}/{deal}/payload-{version}", Word: "Deals", Whole: true, Show: showPayload},
		{Path: "changes", Word: "Changes", Title: "Changes", Key: "c", Params: changeParams, Show: showChanges, Main: mainChanges},
	}
}
