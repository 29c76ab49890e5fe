package longlake

import (
	"maps"
	"slices"

	"dealflow/schemas/lake"
	"dealflow/transform"
)

// A run reports the drift of all current deals, but each night only new versions are flattened. So the drift is
// stored by deal, and added up.

// recordDrift stores the drift of a deal that has a new version.
func (f *feed) recordDrift(id int64, payload []byte, drifted bool) error {
	delete(f.drift, id)
	if !drifted {
		return nil
	}
	alone := transform.NewFlattener(f.feed, f.base)
	if _, err := alone.Read(payload); err != nil {
		return err
	}
	f.drift[id] = alone.TakeDrift()
	return nil
}

// sumDrift adds up the drift of the current deals. The example is that of the first of them.
func (f *feed) sumDrift() []lake.Drift {
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
