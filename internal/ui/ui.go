package ui

import (
	"io/fs"

	"dealflow/internal/ui/deals"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/operator"
	"dealflow/internal/ui/study"
)

// New returns the server of the explorer. It adds the pages to config.
func New(config frame.Config, now operator.Source) (*frame.Server, error) {
	config.Templates = []fs.FS{operator.Templates, deals.Templates, study.Templates}
	config.State = now.State
	// The order of the navigation: how the lake is, what is in it, how to ask more.
	for _, pages := range [][]frame.Page{operator.Pages(now), deals.Pages(), study.Pages()} {
		config.Pages = append(config.Pages, pages...)
	}
	return frame.New(config)
}
