package verify

import (
	"context"
	"errors"
	"fmt"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/verify/watchstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// checkStates compares the state files of the checkpoints with history.
func (v *verifier) checkStates(ctx context.Context, indexes map[api.Feed]versionIndex) error {
	for _, n := range v.log.checkpoints {
		watch := watchstore.New(v.store)
		latest, err := load.ReadState(ctx, watch, n)
		switch fault := watch.Fault(); {
		case ctx.Err() != nil:
			return ctx.Err()
		case fault != nil:
			return fault
		case errors.Is(err, store.ErrNotFound): // readers read all of history instead
		case err != nil:
			v.report(Finding{Check: State, Path: lake.StateKey(n), Detail: err.Error()})
		default:
			for feed, index := range indexes {
				v.checkState(n, feed, latest[feed], index.latestAt(v.log.known[n]))
			}
		}
	}
	return nil
}

// shortHashes is a lake.LatestVersion with only the first eight bytes of its hashes.
type shortHashes struct {
	version          int32
	removed          bool
	content, payload uint64
}

// latestAt returns the newest version of each deal as of an instant in microseconds.
func (x versionIndex) latestAt(instant int64) map[int64]shortHashes {
	latest := map[int64]shortHashes{}
	for i := range x {
		e := &x[i]
		if e.knownAt > instant {
			continue
		}
		deal := latest[e.deal]
		deal.version, deal.removed = e.version, e.change == wasRemoved
		if !deal.removed {
			deal.content, deal.payload = e.content, e.payload
		}
		latest[e.deal] = deal
	}
	return latest
}

func (v *verifier) checkState(n int64, feed api.Feed, stated lake.Latest, want map[int64]shortHashes) {
	fault := func(deal int64, format string, args ...any) {
		v.report(Finding{Check: State, Path: lake.StateKey(n), DealID: &deal, Detail: fmt.Sprintf("%s: ", feed) + fmt.Sprintf(format, args...)})
	}
	for deal, latest := range stated {
		w, known := want[deal]
		got := shortHashes{latest.Version, latest.Removed, hashPrefix(latest.ContentHash[:]), hashPrefix(latest.PayloadHash[:])}
		switch {
		case !known:
			fault(deal, "the state has the deal, but history up to that commit does not")
		case got.version != w.version || got.removed != w.removed:
			fault(deal, "the state has version %d (removed: %t), want %d (removed: %t) as in history", got.version, got.removed, w.version, w.removed)
		case got != w:
			fault(deal, "the state's hashes of the deal differ from those of history")
		}
	}
	for deal := range want {
		if _, ok := stated[deal]; !ok {
			fault(deal, "the state does not have the deal, but history has it")
		}
	}
}
