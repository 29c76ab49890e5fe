package longlake

import (
	"maps"
	"slices"

	"dealflow/schemas/lake"
	"dealflow/transform"
)

// A run tells the drift of all deals that stand, but only new versions are flattened each night. So it is
// kept by deal, and added up.

// noteDrift keeps the drift of a deal that has a new version.
func (f *feed) noteDrift(id int64, payload []byte, drifted bool) error {
	delete(f.drift, id)
	if !drifted {
		return nil
	}
	alone := transform.NewFlattener(f.feed, f.base)
	if _, err := alone.Read(payload); err != nil {
		return err
	}
	f.drift[id] = alone.Drift()
	return nil
}

// driftTonight adds up the drift of the deals that stand; the example is of the first of them.
func (f *feed) driftTonight() []lake.Drift {
	type pair struct {
		pointer string
		kind    lake.DriftKind
	}
	all := []lake.Drift{}
	places := map[pair]int{}
	for _, id := range slices.Sorted(maps.Keys(f.drift)) {
		for _, drift := range f.drift[id] {
			key := pair{drift.Pointer, drift.Kind}
			if at, ok := places[key]; ok {
				all[at].Count += drift.Count
				continue
			}
			places[key] = len(all)
			all = append(all, drift)
		}
	}
	slices.SortFunc(all, lake.CompareDrift)
	return all
}

// departures counts the drift that a flattener has met so far.
func departures(f *transform.Flattener) int64 {
	run := lake.FeedRun{Drift: f.Drift()}
	return run.DriftCount()
}
