package api_test

import (
	"slices"
	"testing"

	"dealflow/schemas/api"
)

// TestSpellings has each way in which a server may spell a secret that it sends back.
func TestSpellings(t *testing.T) {
	for text, want := range map[string][]string{
		"":        nil,
		"plain-1": {"plain-1", "cGxhaW4tMQ=="},
		`S&t+ ü/"x'`: {
			`S&t+ ü/"x'`, "S%26t%2B+%C3%BC%2F%22x%27", "S&t+%20%C3%BC%2F%22x%27", "S%26t%2B%20%C3%BC%2F%22x'", // Go's two, and JavaScript's
			"S%26t%2b+%c3%bc%2f%22x%27", "S&t+%20%c3%bc%2f%22x%27", "S%26t%2b%20%c3%bc%2f%22x'",
			"S&amp;t+ ü/&#34;x&#39;", `S\u0026t+ ü/\"x'`, "UyZ0KyDDvC8ieCc=",
		},
	} {
		got := api.NewSecret(text).Spellings()
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
