package verify

import (
	"context"
	"errors"
	"fmt"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// checkStates compares the state files of the checkpoints with history.
func (v *verifier) checkStates(ctx context.Context, indexes map[api.Feed]versionIndex) error {
	known := map[int64]lake.Instant{}
	for i := range v.log.Runs {
		known[v.log.Runs[i].Number] = v.log.Runs[i].KnownAt
	}
	for _, n := range v.log.checkpoints {
		watch := watchStore(v.store)
		heads, err := load.ReadState(ctx, watch, n)
		switch fault := watch.fault(); {
		case ctx.Err() != nil:
			return ctx.Err()
		case fault != nil:
			return fault
		case errors.Is(err, store.ErrNotFound): // readers read all of history instead
		case err != nil:
			v.report(Finding{Check: State, Path: lake.StateKey(n), Detail: err.Error()})
		default:
			for feed, index := range indexes {
				v.checkState(n, feed, heads[feed], index.headsAt(known[n].UnixMicro()))
			}
		}
	}
	return nil
}

// headPrefix is a lake.Head with only the first eight bytes of its hashes.
type headPrefix struct {
	version          int32
	removed          bool
	content, payload uint64
}

// headsAt returns the newest version of each deal as of an instant in microseconds.
func (x versionIndex) headsAt(instant int64) map[int64]headPrefix {
	heads := map[int64]headPrefix{}
	for i := range x {
		e := &x[i]
		if e.knownAt > instant {
			continue
		}
		head := heads[e.deal]
		head.version, head.removed = e.version, e.change == wasRemoved
		if !head.removed {
			head.content, head.payload = e.content, e.payload
		}
		heads[e.deal] = head
	}
	return heads
}

func (v *verifier) checkState(n int64, feed api.Feed, stated lake.Heads, want map[int64]headPrefix) {
	fault := func(deal int64, format string, args ...any) {
		v.report(Finding{Check: State, Path: lake.StateKey(n), DealID: &deal, Detail: fmt.Sprintf("%s: ", feed) + fmt.Sprintf(format, args...)})
	}
	for deal, head := range stated {
		w, known := want[deal]
		got := headPrefix{head.Version, head.Removed, hashPrefix(head.ContentHash[:]), hashPrefix(head.PayloadHash[:])}
		switch {
		case !known:
			fault(deal, "the state has the deal, which history does not know by then")
		case got.version != w.version || got.removed != w.removed:
			fault(deal, "the state says version %d (removed: %t), history says %d (%t)", got.version, got.removed, w.version, w.removed)
		case got != w:
			fault(deal, "the state's hashes of the deal are not those of history")
		}
	}
	for deal := range want {
		if _, ok := stated[deal]; !ok {
			fault(deal, "the state lacks the deal")
		}
	}
}
