package api_test

import (
	"slices"
	"testing"

	"dealflow/schemas/api"
)

// TestSpellings has each form in which a server may send a secret back.
func TestSpellings(t *testing.T) {
	for text, want := range map[string][]string{
		"":         nil,
		"plain-1":  {"plain-1"},
		"S&t+ ü/x": {"S&t+ ü/x", "S%26t%2B+%C3%BC%2Fx", "S&t+%20%C3%BC%2Fx"},
	} {
		got := api.NewSecret(text).Spellings()
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
