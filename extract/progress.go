package extract

import (
	"sync/atomic"
	"time"

	"dealflow/schemas/api"
)

// Progress is one moment of an extraction, for a person who watches.
type Progress struct {
	Feed   api.Feed      // the zero Feed for a token request
	Phase  string        // "token", "walk", "sweep", "check", "changes", "peek" or "confirm"
	Round  int           // 1 for the first walk, 2 for the first sweep or second walk, …; 0 where there are no rounds
	Pages  int           // pages of this feed so far, all rounds together
	Deals  int           // deals in the spool
	Bytes  int64         // bytes received for this feed, as sent over the network
	Wait   time.Duration // longer than 0: a wait of this length begins
	Reason string        // why it waits
}

// Counts is the work done for one feed.
type Counts struct {
	Pages         int           // list pages received whole
	Requests      int           // requests sent, repeated ones too; token requests belong to no feed
	Bytes         int64         // body bytes received, as sent over the network (compressed)
	Retries       int           // requests that had to be sent again
	Waits         int           // waits begun: the server asked for it, after a failure, or to keep to the rate
	Waited        time.Duration // time spent in them
	Sweeps        int           // rounds after the first walk: sweeps and further walks
	Restarts      int           // walks and sweeps begun again because a cursor was no longer taken
	Confirmations int           // deals asked for by id
}

// tally is Counts while they grow, from several goroutines.
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

// minus gives what was counted since an earlier reading.
func (c Counts) minus(before Counts) Counts {
	return Counts{
		Pages: c.Pages - before.Pages, Requests: c.Requests - before.Requests, Bytes: c.Bytes - before.Bytes, Retries: c.Retries - before.Retries,
		Waits: c.Waits - before.Waits, Waited: c.Waited - before.Waited, Sweeps: c.Sweeps - before.Sweeps,
		Restarts: c.Restarts - before.Restarts, Confirmations: c.Confirmations - before.Confirmations,
	}
}
