package pull

import (
	"testing"

	"dealflow/schemas/api"
)

// TestGuard checks the bounds of the removal guard.
func TestGuard(t *testing.T) {
	for _, c := range []struct {
		kind                  api.Kind
		listed, absent, stood int
		held                  bool
	}{
		{api.Priced, 99, 11, 110, false}, // 10 % is not more than 10 %
		{api.Priced, 98, 11, 109, true},
		{api.Priced, 1, 10, 11, false}, // 10 are not more than 10
		{api.Priced, 1, 11, 12, true},
		{api.Priced, 0, 10, 10, false},
		{api.Priced, 0, 11, 11, true},
		{api.Priced, 40, 11, 50, true}, // new deals do not make up for those that vanished
		{api.Priced, 9_500, 500, 10_000, false},
		{api.Priced, 9_499, 501, 10_000, true},
		{api.Expected, 1, 11, 12, false}, // expected deals leave by nature
		{api.Expected, 0, 10, 10, false},
		{api.Expected, 0, 11, 11, true},
		{api.Expected, 100, 500, 600, false},
		{api.Expected, 100, 501, 601, true},
	} {
		feed := api.Feed{Service: api.Bond, Market: api.HY, Kind: c.kind}
		if err := guard(feed, c.listed, c.absent, c.stood); (err != nil) != c.held {
			t.Errorf("%s: %d listed, %d absent of %d: got %v, want held %t", c.kind, c.listed, c.absent, c.stood, err, c.held)
		}
	}
}
