package study

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
		{Path: "tables", Word: "Tables", Key: "t", Params: []string{"q"}, Show: showTables, Main: mainTables},
		{Path: "tables/{table}", Word: "Tables", Params: []string{"q"}, Show: showDeclared, Main: mainDeclared},
	}
}
