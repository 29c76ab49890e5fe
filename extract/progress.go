package extract

import (
	"sync/atomic"
	"time"

	"dealflow/schemas/api"
)

// Progress is the state of an extraction at one instant, to show to a user.
type Progress struct {
	Feed   api.Feed      // the zero Feed for a token request
	Phase  string        // "token", "walk", "sweep", "check", "changes", "peek" or "confirm"
	Round  int           // 1 for the first walk, 2 for the first sweep or second walk, …; 0 where there are no rounds
	Pages  int           // pages of this feed so far, all rounds together
	Deals  int           // deals in the spool
	Bytes  int64         // bytes received for this feed, as sent over the network
	Wait   time.Duration // if not 0, a wait of this length begins
	Reason string        // why it waits
}

// Counts is the work done for one feed.
type Counts struct {
	Pages         int           // list pages received completely
	Requests      int           // requests sent, retries included; token requests belong to no feed
	Bytes         int64         // body bytes received, as sent over the network (compressed)
	Retries       int           // requests that had to be sent again
	Waits         int           // waits begun: the server asked for it, after a failure, or to keep to the rate
	Waited        time.Duration // time spent in waits
	Sweeps        int           // rounds after the first walk: sweeps and further walks
	Restarts      int           // walks and sweeps restarted because a cursor was no longer accepted
	Confirmations int           // deals requested by id
}

// tally counts the same as Counts. It is safe for concurrent use.
type tally struct {
	pages, requests, bytes, retries, waits, waited, sweeps, restarts, confirmations atomic.Int64
}

func (t *tally) counts() Counts {
	return Counts{
		Pages: int(t.pages.Load()), Requests: int(t.requests.Load()), Bytes: t.bytes.Load(), Retries: int(t.retries.Load()),
		Waits: int(t.waits.Load()), Waited: time.Duration(t.waited.Load()), Sweeps: int(t.sweeps.Load()),
		Restarts: int(t.restarts.Load()), Confirmations: int(t.confirmations.Load()),
	}
}

// minus returns the difference from an earlier Counts.
func (c Counts) minus(before Counts) Counts {
	return Counts{
		Pages: c.Pages - before.Pages, Requests: c.Requests - before.Requests, Bytes: c.Bytes - before.Bytes, Retries: c.Retries - before.Retries,
		Waits: c.Waits - before.Waits, Waited: c.Waited - before.Waited, Sweeps: c.Sweeps - before.Sweeps,
		Restarts: c.Restarts - before.Restarts, Confirmations: c.Confirmations - before.Confirmations,
	}
}
