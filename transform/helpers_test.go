package transform_test

import (
	"testing"

	"dealflow/schemas/api"
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
