package pull

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"dealflow/extract"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// The removal guard (docs/explanation/extraction.md). Deals that the list lacked in the last snapshot already count in none of
// these numbers.
const (
	guardCount           = 10             // number of priced deals that may always vanish
	guardPercent         = 10             // percentage of a priced feed that may vanish in one run
	guardExpectedCount   = 20             // number of expected deals that may always leave unpriced
	guardExpectedPercent = 60             // percentage of an expected feed that may leave unpriced between two nights
	guardAge             = 30 * time.Hour // after more than this, expected deals may leave in any number
	guardSmall           = 3              // number of deals that an empty list may remove
	maxConfirmations     = 500            // number of a feed's deals that one run requests by id for the first time, and of those that answered before
	maxRepeated          = 50             // number of deals without evidence that one run requests by id again
)

// heldError means that a feed is held until a person has looked at it.
type heldError struct {
	text string
	hold load.Hold // without what does not follow from the absence
}

func (e *heldError) Error() string { return e.text }

// RemovalCommand is the command, in backquotes, that takes the missing deals of feeds for gone; without feeds those of all. day is
// that of the snapshot, "" if it is not known.
func RemovalCommand(day string, feeds ...api.Feed) string {
	command := "`dealflow run"
	names := make([]string, len(feeds))
	for i, feed := range feeds {
		names[i] = feed.String()
	}
	if len(names) > 0 {
		command += " --feeds " + strings.Join(names, ",")
	}
	if day != "" {
		command += " --snapshot-date " + day
	}
	return command + " --accept-removals`"
}

// heldAdvice is between what held a feed and what to do.
const heldAdvice = "; look at the source; if the deals are gone, "

// HeldBy returns what held a feed, of the reason that its run gave. What the run advised was for its own day.
func HeldBy(reason string) string {
	by, _, _ := strings.Cut(reason, heldAdvice)
	return by
}

// absence is the current deals that a complete snapshot lacks.
type absence struct {
	feed     api.Feed
	day      string  // of the snapshot
	fresh    []int64 // absent for the first time, by deal_id
	again    []int64 // kept without evidence by the last snapshot already, by deal_id
	standing []int64 // absent in the last snapshot already, and returned by id, by deal_id
	known    int     // number of current deals, without again and standing
	listed   int     // number of deals that the list shows, readable or not
}

func (a *absence) held(form string, args ...any) error {
	return &heldError{
		text: fmt.Sprintf(form, args...) + heldAdvice + RemovalCommand(a.day, a.feed),
		hold: load.Hold{Listed: int64(a.listed), Known: int64(a.known), Absent: int64(len(a.fresh))},
	}
}

// guard returns a heldError if more deals are absent than is plausible, whatever the API says of them by id.
func (a *absence) guard() error {
	gone := len(a.fresh)
	switch {
	case a.listed == 0 && gone > guardSmall:
		return a.held("the list is empty, but %d deals are current", a.known)
	case a.feed.Kind == api.Priced && gone > guardCount && gone*100 > a.known*guardPercent:
		return a.held("%d of %d deals vanished from the list", gone, a.known)
	case gone > maxConfirmations:
		return a.held("%d deals vanished from the list, too many to ask for one by one", gone)
	}
	return nil
}

// guardEmpty returns a heldError if the answers by id do not explain why a list is empty.
func (a *absence) guardEmpty(confirmed *extract.Confirmation) error {
	if a.listed > 0 || len(a.fresh) == 0 {
		return nil
	}
	if !confirmed.Believed {
		return a.held("the list is empty, but %d deals are current, and no other feed of the service shows a deal that is answered by id", a.known)
	}
	for _, id := range a.fresh {
		if !confirmed.Answers[id].Proved {
			return a.held("the list is empty, but %d deals are current, and the API gives no evidence that deal %d is gone", a.known, id)
		}
	}
	return nil
}

// guardLeaving returns a heldError if more expected deals leave than is plausible between two nights, other than by
// pricing. After a longer time it returns a warning: expected deals live for days. But a hold does not end by age.
func (r *run) guardLeaving(ctx context.Context, f *feedRun, a *absence, removals []transform.Removal) (warning string, err error) {
	leaving := 0
	for _, removal := range removals {
		if contains(a.fresh, removal.ID) && removal.Reason != lake.ReasonPriced {
			leaving++
		}
	}
	if f.Feed.Kind != api.Expected || leaving <= guardExpectedCount || leaving*100 <= a.known*guardExpectedPercent {
		return "", nil
	}
	open, err := r.lake.Hold(ctx, f.Feed)
	if err != nil {
		return "", err
	}
	last := r.lake.Log().LastSnapshot(f.Feed)
	if open != nil || last == nil || r.started.Sub(last.StartedAt.Time) < guardAge {
		return "", a.held("%d of %d deals left the list and did not price", leaving, a.known)
	}
	return fmt.Sprintf("%s: %d of %d deals left the list and did not price; the last snapshot before was started at %s", f.Feed, leaving, a.known, last.StartedAt), nil
}

// rememberHolds writes the holds of a run that committed nothing.
func (r *run) rememberHolds(ctx context.Context, feeds []*feedRun, result *Result) {
	if result.Commit != 0 || ctx.Err() != nil {
		return
	}
	for _, f := range feeds {
		if f.hold == nil || f.Outcome != lake.OutcomeHeld {
			continue
		}
		hold := *f.hold
		hold.Feed, hold.Since, hold.Reason, hold.RunID = f.Feed, lake.At(r.started), f.Error, r.RunID
		if err := r.lake.RememberHold(ctx, hold); err != nil {
			result.warn(fmt.Sprintf("the hold was not remembered: %v", err))
			r.Log.Warn("the hold was not remembered", "feed", f.Feed.String(), "error", err)
		}
	}
}

// listings is what the lists of a run's feeds show. A feed whose list is empty needs to know it of the others of its
// service.
type listings map[api.Feed]*listing

// listing is the list of one feed. done is closed when it was read, or could not be.
type listing struct {
	done    chan struct{}
	shown   []int64 // some deals of the list
	emptied bool    // the list is empty, and was not before
}

func newListings(feeds []api.Feed) listings {
	all := listings{}
	for _, feed := range feeds {
		all[feed] = &listing{done: make(chan struct{})}
	}
	return all
}

// show publishes a feed's list. With an error of the feed it shows nothing.
func (r *run) show(f *feedRun, err error) {
	own := r.listings[f.Feed]
	defer close(own.done)
	if err != nil || f.Outcome != lake.OutcomeDone || !r.command.complete {
		return
	}
	known := r.latest[f.Feed]
	unproved, standing := r.lake.Log().Absent(f.Feed)
	own.shown = f.probes
	own.emptied = f.listed == 0 && slices.ContainsFunc(transform.Absent(known, f.observations()), func(id int64) bool {
		return !contains(unproved, id) && !contains(standing, id)
	})
}

// neighbours returns deals that the lists of the other feeds of the service show. It waits until these are read. If a
// further feed of the service is empty as well, or was held and is not part of this run, it returns no deals but that
// feed.
func (r *run) neighbours(ctx context.Context, feed api.Feed) (shown []extract.Shown, empty *api.Feed, err error) {
	for _, other := range api.Feeds() {
		if other.Service != feed.Service || other == feed {
			continue
		}
		list := r.listings[other]
		if list == nil {
			hold, err := r.lake.Hold(ctx, other)
			if hold != nil || err != nil {
				return nil, &other, err
			}
			continue
		}
		select {
		case <-list.done:
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("%s: waiting for the list of %s: %w", feed, other, context.Cause(ctx))
		}
		if list.emptied {
			return nil, &other, nil
		}
		if len(list.shown) > 0 {
			shown = append(shown, extract.Shown{Feed: other, IDs: list.shown})
		}
	}
	return shown, nil, nil
}
