package pull

import (
	"testing"

	"dealflow/schemas/api"
)

// TestGuard checks the bounds of the removal guard before any request by id.
func TestGuard(t *testing.T) {
	for _, c := range []struct {
		kind                 api.Kind
		listed, fresh, known int
		held                 bool
	}{
		{api.Priced, 99, 11, 110, false}, // 10 % is not more than 10 %
		{api.Priced, 98, 11, 109, true},
		{api.Priced, 1, 10, 11, false}, // 10 are not more than 10
		{api.Priced, 1, 11, 12, true},
		{api.Priced, 0, 3, 3, false}, // what the API says by id decides
		{api.Priced, 0, 4, 4, true},
		{api.Priced, 0, 0, 0, false},
		{api.Priced, 40, 11, 50, true}, // new deals do not make up for those that vanished
		{api.Priced, 9_500, 500, 10_000, false},
		{api.Priced, 9_499, 501, 10_000, true},
		{api.Expected, 1, 11, 12, false}, // expected deals leave by nature
		{api.Expected, 0, 3, 3, false},
		{api.Expected, 0, 4, 4, true},
		{api.Expected, 100, 500, 600, false},
		{api.Expected, 100, 501, 601, true},
	} {
		a := &absence{feed: api.Feed{Service: api.Bond, Market: "IG", Kind: c.kind}, fresh: make([]int64, c.fresh), again: make([]int64, 700), known: c.known, listed: c.listed}
		if err := a.guard(); (err != nil) != c.held {
			t.Errorf("%s: %d listed, %d absent of %d: got %v, want held %t", c.kind, c.listed, c.fresh, c.known, err, c.held)
		}
	}
}
