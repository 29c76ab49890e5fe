package ui

import (
	"dealflow/internal/ui/asof"
)

// page is a kind of page. Its path is below the base; a part in braces is a variable.
type page struct {
	path   string
	word   string   // of the navigation
	key    string   // second key of the shortcut, after g; "" for a page that the navigation does not have
	params []string // query parameters that it knows
	live   bool     // it also says what is so now, if it is not pinned
	show   func(*request) (*content, error)
	main   func(*request) (asof.Query, error) // its main table, for downloads; nil: none
	move   func(*request) (string, error)     // where to go instead, "" for nowhere; nil: never
}

// pages are all pages, in the order of the navigation.
var pages []page

func init() {
	pages = []page{
		{path: "", word: "Health", key: "h", live: true, show: showHealth},
		{path: "feeds", word: "Health", show: showFeeds, main: mainFeeds},
		{path: "deals", word: "Deals", key: "d", params: dealParams, show: showDeals, main: mainDeals},
		{path: "deals/{service}/{market}/{kind}/{deal}", word: "Deals", params: []string{"tab", "v", "against", "all"}, show: showDeal, main: mainDeal},
		{path: "deals/{service}/{market}/{kind}/{deal}/payload-{version}", word: "Deals", show: showPayload},
		{path: "changes", word: "Changes", key: "c", params: changeParams, show: showChanges, main: mainChanges},
		{path: "tables", word: "Tables", key: "t", params: []string{"q"}, show: showTables, main: mainTables},
		{path: "tables/{table}", word: "Tables", params: []string{"q"}, show: showDeclared, main: mainDeclared},
		{path: "runs", word: "Runs", key: "r", live: true, params: []string{"command", "outcome"}, show: showRuns, main: mainRuns},
		{path: "runs/last", word: "Runs", move: moveToLast},
		{path: "runs/{commit}", word: "Runs", live: true, show: showRun, main: mainRun},
	}
}
