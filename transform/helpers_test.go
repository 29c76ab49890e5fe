package transform_test

import (
	"testing"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

func mustFeed(t testing.TB, text string) api.Feed {
	t.Helper()
	feed, err := api.ParseFeed(text)
	if err != nil {
		t.Fatal(err)
	}
	return feed
}

func mustBase(t testing.TB, url string) api.Base {
	t.Helper()
	base, err := api.ParseBase(url)
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// withoutHelpers removes the helper columns from a table's rows: the documented columns remain.
func withoutHelpers[Row ~map[string]any](table *lake.Table, rows []Row) []Row {
	for _, row := range rows {
		for _, helper := range table.Helpers {
			delete(row, helper.Name)
		}
	}
	return rows
}
