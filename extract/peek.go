package extract

import (
	"context"
	"fmt"

	"dealflow/schemas/api"
)

// Peek gets the first page of a feed's list and returns the number of its records, and whether there are more pages. A nil
// error proves that the account may read the feed. Errors are those of Snapshot.
func (c *Client) Peek(ctx context.Context, feed api.Feed) (records int, more bool, err error) {
	j := c.job(feed, "peek")
	j.round = 1
	first, err := j.fetchFirst(ctx, j.list())
	if err != nil {
		return 0, false, fmt.Errorf("%s: %w", feed, j.describe(&pageError{number: 1, err: err}))
	}
	defer first.answer.release()
	return len(first.records), first.page.Next != "", nil
}
