package main

import (
	"context"
	"errors"
	"fmt"

	"dealflow/internal/pull"
	"dealflow/internal/words"
)

// dryRun says what a run would do, and writes nothing: no lease, no attempt.
func (a *app) dryRun(ctx context.Context, o pullOptions, more func(*pull.Config)) error {
	cfg, who, err := a.pullConfig(ctx, o)
	if err != nil {
		return err
	}
	if err := a.checkRequired(ctx, cfg.Store); err != nil {
		return err
	}
	client, err := a.client(cfg.Base, who, o, 0, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	more(&cfg)
	cfg.Client, cfg.RunID = client, "dry run"
	plan, err := pull.PlanRun(ctx, a.complete(cfg))
	if plan == nil {
		return err
	}
	return errors.Join(err, a.printPlan(plan))
}

func (a *app) printPlan(p *pull.Plan) error {
	if a.settings.json {
		return printJSON(a.Stdout, p)
	}
	for _, warning := range p.Warnings {
		a.warn(warning)
	}
	if p.Busy != nil {
		a.warn(fmt.Sprintf("%s is at work (run %s of %s): the run would give way or wait", p.Busy.Command, p.Busy.RunID, words.Printable(p.Busy.Owner)))
	}
	where := fmt.Sprintf("after commit %d of %s", p.AfterCommit, p.Lake)
	if p.NewLake {
		where = "the first commit of a new lake in " + p.Lake
	}
	fmt.Fprintf(a.Stdout, "would write the snapshots of %s (%s), %s\n\n", p.SnapshotDate, p.DayZone, where)
	var rows [][]string
	for i := range p.Feeds {
		f := &p.Feeds[i]
		first, note := "", ""
		switch {
		case f.Error != "":
			note = words.Printable(f.Error)
		case f.Held:
			note = "held: `dealflow status` says why"
		case f.Action == pull.ActionNone:
			note = "the day's snapshot is there"
		case f.Replaces > 0:
			note = fmt.Sprintf("replaces %d files of that day", f.Replaces)
		}
		if f.Action == pull.ActionPull {
			if first = fmt.Sprint(f.FirstPage); f.More {
				first += " and more"
			}
		}
		rows = append(rows, []string{f.Feed.String(), f.Action, first, fmt.Sprint(f.LastDeals), fmt.Sprint(f.LastRequests), words.Size(f.LastReceived), words.Size(f.LastWritten), note})
	}
	if err := printTable(a.Stdout, []string{"feed", "action", ">first page", ">last: deals", ">requests", ">received", ">written", "note"}, rows); err != nil {
		return err
	}
	if p.NewLake {
		_, err := fmt.Fprintln(a.Stdout, "\nthere is no last time to go by; nothing was written now")
		return err
	}
	sum := p.Sum
	_, err := fmt.Fprintf(a.Stdout, "\nif it is as the last time: %d deals, %d requests, %s received, %s written; nothing was written now\n",
		sum(func(f *pull.PlannedFeed) int64 { return f.LastDeals }), sum(func(f *pull.PlannedFeed) int64 { return f.LastRequests }),
		words.Size(sum(func(f *pull.PlannedFeed) int64 { return f.LastReceived })), words.Size(sum(func(f *pull.PlannedFeed) int64 { return f.LastWritten })))
	return err
}
