package study

import (
	"embed"

	"dealflow/internal/ui/frame"
)

// Templates are those of the pages.
//
//go:embed templates/*.html
var Templates embed.FS

// Pages returns the pages. described is what the analyses say of themselves.
func Pages(described []Analysis) []frame.Page {
	return append(analysisPages(described),
		frame.Page{Path: "tables", Word: "Tables", Title: "Tables", Key: "t", Params: []string{"q"}, Show: showTables, Main: mainTables},
		frame.Page{Path: "tables/{table}", Word: "Tables", Params: []string{"q"}, Show: showTable, Main: mainTable},
		frame.Page{Path: "tables/{table}/{column}", Word: "Tables", Show: showColumn, Main: mainColumn},
	)
}
