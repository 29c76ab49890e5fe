package pull

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"dealflow/extract"
	"dealflow/load"
	"dealflow/schemas/api"
)

// Plan says what a run would do. `run --dry-run --json` prints this object; fields are only ever added.
type Plan struct {
	Command      string        `json:"command"` // run
	Lake         string        `json:"lake"`    // the lake's root
	NewLake      bool          `json:"new_lake"`
	AfterCommit  int64         `json:"after_commit"` // number of the lake's newest commit; 0 for a new lake
	SnapshotDate string        `json:"snapshot_date"`
	DayZone      string        `json:"day_zone"`
	Busy         *load.Lease   `json:"busy"` // the lease of a command at work, for which the run may wait; null for none
	Feeds        []PlannedFeed `json:"feeds"`
	Warnings     []string      `json:"warnings"`
}

// PlannedFeed is what a run would do with a feed.
type PlannedFeed struct {
	Feed      api.Feed `json:"feed"`
	Action    string   `json:"action"` // pull; none: the day's snapshot is there; skip: no part of the account; fail: its first page cannot be read
	Error     string   `json:"error,omitempty"`
	FirstPage int      `json:"first_page"` // records on the first page
	More      bool     `json:"more"`       // there are more pages
	Replaces  int      `json:"replaces"`   // files of an earlier snapshot of that day, which the run would replace
	Held      bool     `json:"held"`       // the removal guard holds the feed

	// Of the feed's newest snapshot, as an estimate; 0 for none.
	LastDeals    int64 `json:"last_deals"`
	LastPages    int64 `json:"last_pages"`
	LastRequests int64 `json:"last_requests"`
	LastReceived int64 `json:"last_received"` // bytes of bodies
	LastFiles    int   `json:"last_files"`    // that are part of the lake
	LastWritten  int64 `json:"last_written"`  // their size in bytes
}

// The actions of a planned feed.
const (
	ActionPull = "pull"
	ActionNone = "none"
	ActionSkip = "skip"
	ActionFail = "fail"
)

// PlanRun says what Run would do with the same configuration. It requests a token and the first page of each feed that
// would be pulled, and reads the lake. It writes nothing, takes no lease, and waits for none. Whether the store can be
// written, and whether lists, checks and the removal guard let the run pass, shows only the run.
//
// Errors that would end a run before any feed are its errors. If the first page of some feeds cannot be read, the plan
// is complete, and the error is ErrFeedsFailed, joined to ErrNothingDone if that is so for all.
func PlanRun(ctx context.Context, cfg Config) (*Plan, error) {
	r, err := newRun(cfg, completeRun)
	if err != nil {
		return nil, err
	}
	ctx, cancel := r.bounded(ctx)
	defer cancel()
	if err := r.readLake(ctx); err != nil {
		return nil, err
	}
	return r.planFeeds(ctx)
}

// planFeeds looks at the feeds of the run.
func (r *run) planFeeds(ctx context.Context) (*Plan, error) {
	log := r.lake.Log()
	p := &Plan{
		Command: r.command.name, Lake: r.Store.URL(), NewLake: log.Number == 0, AfterCommit: log.Number, SnapshotDate: r.day, DayZone: r.zone,
		Busy: r.lake.Lease(ctx, r.Clock()), Feeds: make([]PlannedFeed, len(r.Feeds)), Warnings: []string{},
	}
	if r.undated {
		p.Warnings = append(p.Warnings, undatedWarning)
	}
	plan, err := r.command.plan(ctx, r)
	if err != nil {
		return nil, err
	}
	group, bounded := errgroup.WithContext(ctx)
	for i, feed := range r.Feeds {
		group.Go(func() (err error) {
			p.Feeds[i], err = r.planFeed(bounded, feed, slices.Contains(plan, feed))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return p, p.verdict()
}

// planFeed looks at one feed. It returns only errors that would end the run.
func (r *run) planFeed(ctx context.Context, feed api.Feed, planned bool) (PlannedFeed, error) {
	log := r.lake.Log()
	f := PlannedFeed{Feed: feed, Action: ActionNone}
	if last := log.LastSnapshot(feed); last != nil {
		run := last.Feed(feed)
		f.LastDeals, f.LastPages, f.LastRequests, f.LastReceived = run.Deals, run.Pages, run.Requests, run.Bytes
		for _, file := range log.Snapshot(feed, last.SnapshotDate) {
			f.LastFiles++
			f.LastWritten += file.Bytes
		}
	}
	if !planned {
		return f, nil
	}
	hold, err := r.lake.Hold(ctx, feed)
	if err != nil {
		return f, err
	}
	f.Action, f.Held, f.Replaces = ActionPull, hold != nil, len(log.Snapshot(feed, r.day))
	f.FirstPage, f.More, err = r.Client.Peek(ctx, feed)
	var auth *extract.AuthError
	switch {
	case err == nil:
		return f, nil
	case ctx.Err() != nil || errors.As(err, &auth):
		return f, r.late(err)
	case extract.IsForbiddenOrMissing(err) && !log.EverTaken(feed):
		f.Action = ActionSkip
	default:
		f.Action = ActionFail
	}
	f.Error = withoutFeed(feed, err)
	return f, nil
}

// verdict returns the error of a plan in which first pages could not be read.
func (p *Plan) verdict() error {
	var failed []string
	pulls := 0
	for i := range p.Feeds {
		switch f := &p.Feeds[i]; f.Action {
		case ActionPull:
			pulls++
		case ActionFail:
			failed = append(failed, fmt.Sprintf("%s: %s", f.Feed, f.Error))
		}
	}
	var err error
	if len(failed) > 0 {
		err = fmt.Errorf("%w:\n  %s", ErrFeedsFailed, strings.Join(failed, "\n  "))
	}
	if pulls == 0 && len(p.Feeds) > 0 {
		err = errors.Join(ErrNothingDone, err)
	}
	return err
}

// Sum returns the sum of one figure over the feeds that would be pulled.
func (p *Plan) Sum(figure func(*PlannedFeed) int64) int64 {
	var sum int64
	for i := range p.Feeds {
		if p.Feeds[i].Action == ActionPull {
			sum += figure(&p.Feeds[i])
		}
	}
	return sum
}
