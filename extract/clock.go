package extract

import "time"

// Clock returns the instants of a run. It must be safe for concurrent use.
type Clock interface {
	// Dated is called when the header of a successful answer has arrived, with the answer's Date; zero if it has none
	// that can be read. It returns the server's time to go by: the Date, or another instant if the Date cannot be right.
	Dated(date time.Time) time.Time
	// Now returns the present instant. The client asks for it when it has read an answer.
	Now() time.Time
}

// SetClock makes the client take instants of observation from a clock. It must be called before the first request.
// Without a clock an answer's instant is its Date.
func (c *Client) SetClock(clock Clock) { c.clock = clock }

// observed returns the instant of observation for an answer, UTC.
func (c *Client) observed(a *answer) (time.Time, error) {
	if c.clock == nil {
		return a.date()
	}
	return c.clock.Now().UTC(), nil
}
