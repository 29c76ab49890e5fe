package pull

import (
	"fmt"
	"strings"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// checkContract returns ErrContract, under ContractFreeze, for drift that the lake has not seen since the feed's last
// complete snapshot.
func (r *run) checkContract(feeds []*feedRun) error {
	if r.Contract != ContractFreeze {
		return nil
	}
	var unknown []string
	for _, f := range feeds {
		known := r.knownDrift(f.Feed)
		for _, d := range f.Drift {
			if !known[driftKey{d.Pointer, d.Kind}] && r.wasReported(f.Feed, d.Kind) {
				unknown = append(unknown, fmt.Sprintf("%s: %s at %s, %d times, such as %s", f.Feed, d.Kind, d.Pointer, d.Count, d.Example))
			}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return fmt.Errorf("%w:\n  %s\nnothing was committed; check the source, then run once with --contract=report to accept it", ErrContract, strings.Join(unknown, "\n  "))
}

// wasReported reports whether the program of the feed's last complete snapshot reported a kind of drift. A kind that it
// did not know says nothing about the source: it holds no run until a snapshot has recorded it. Nor does a fault of this program ever
// hold one. For a feed without a snapshot the result is true.
func (r *run) wasReported(feed api.Feed, kind lake.DriftKind) bool {
	runs := r.lake.Log().SinceSnapshot(feed)
	return kind != lake.DriftFault && (len(runs) == 0 || runs[0].KnowsDrift(kind))
}

// driftKey identifies drift from run to run.
type driftKey struct {
	pointer string
	kind    lake.DriftKind
}

func (r *run) knownDrift(feed api.Feed) map[driftKey]bool {
	known := map[driftKey]bool{}
	for _, run := range r.lake.Log().SinceSnapshot(feed) {
		for _, d := range run.Feed(feed).Drift {
			known[driftKey{d.Pointer, d.Kind}] = true
		}
	}
	return known
}
