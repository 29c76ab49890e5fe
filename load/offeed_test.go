package load_test

import (
	"errors"
	"fmt"
	"testing"

	"dealflow/load"
	"dealflow/schemas/api"
)

// TestOfFeed names the feed of an error, except of a file that could not be put: another feed may have written it.
func TestOfFeed(t *testing.T) {
	t.Parallel()
	feed := api.Feed{Service: api.Loan, Market: api.LL, Kind: api.Expected}
	if err := load.OfFeed(feed, nil); err != nil {
		t.Errorf("of no error: %v", err)
	}
	fault := errors.New("put snapshots/a.parquet: no space")
	for _, c := range []struct {
		err  error
		want string
	}{
		{fault, "loan/ll/expected: put snapshots/a.parquet: no space"},
		{&load.PutError{Err: fault}, "put snapshots/a.parquet: no space"},
		{fmt.Errorf("write rows: %w", &load.PutError{Err: fault}), "write rows: put snapshots/a.parquet: no space"},
	} {
		if err := load.OfFeed(feed, c.err); err.Error() != c.want || !errors.Is(err, fault) {
			t.Errorf("got %q, want %q", err, c.want)
		}
	}
}
