package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"dealflow/internal/attempts"
	"dealflow/internal/logs"
	"dealflow/internal/maintain"
	"dealflow/internal/words"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// expireOptions are the flags of expire.
type expireOptions struct {
	keep        maintain.Retention
	apply       bool
	acceptLost  bool
	garbageOnly bool
	dropDay     string
	feeds       string
}

func newExpire(a *app) *cobra.Command {
	var o expireOptions
	cmd := &cobra.Command{
		Use:   "expire",
		Short: "Remove old snapshots and garbage; only lists them without --apply",
		Long: `expire removes old daily snapshots, and garbage whose grace has passed. Without --apply it changes
nothing and prints what it would remove.

The snapshots of the last --keep-days days stay. Days count back from the newest snapshot of the lake,
which is the first of them, or from today if that is earlier. Older ones are removed.
The last snapshot of each month stays (--keep-month-ends), and so does the newest of each feed.
History never expires: every as-of answer stays the same.

Garbage is a file that no live commit names. Its grace is seven days by the store's clock, from the
day on which it was put or a commit dropped it. So the files of a snapshot that expires today are
removed by an expire in a week. Old checkpoints and unfinished uploads are removed too, and records
of attempts that are older than 400 days.

If the disk is full, expire removes garbage before it writes anything. --garbage-only does that and
nothing else, for a store that reports in its own words that it is full.

--drop-day takes back the snapshots of one day, of all feeds or of --feeds, and does nothing else. The
next run may then take snapshots of earlier days, and of that day, again. Use it if a run had a wrong
--snapshot-date.`,
		Example: `  dealflow expire --lake /data/deals
  dealflow expire --keep-days 90 --apply
  dealflow expire --drop-day 2062-01-01 --apply`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			changed := cmd.Flags().Changed
			switch {
			case o.dropDay != "" && (changed("keep-days") || changed("keep-month-ends")):
				return usagef("--drop-day takes back one day and drops no other: leave --keep-days and --keep-month-ends out")
			case o.dropDay != "" && o.garbageOnly:
				return a.garbageOnlyRefused(cmd)
			case o.garbageOnly && changed("keep-days"):
				return usagef("--garbage-only keeps all snapshots: leave --keep-days out")
			case o.dropDay == "" && changed("feeds"):
				return usagef("--feeds belongs to --drop-day: name the day whose snapshots of these feeds are to be taken back")
			}
			return runExpire(cmd.Context(), a, o)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.keep.Days, "keep-days", 35, "number of days of snapshots to keep, counted back from the newest or from today, whichever is earlier")
	flags.BoolVar(&o.keep.MonthEnds, "keep-month-ends", true, "always keep the last snapshot of each month")
	flags.BoolVar(&o.apply, "apply", false, "remove them; without it, only list them")
	addAcceptLost(flags, &o.acceptLost)
	a.settings.addTelling(flags)
	flags.BoolVar(&o.garbageOnly, "garbage-only", false, "keep all snapshots: remove garbage only, and write nothing before that")
	flags.StringVar(&o.dropDay, "drop-day", "", "take back the snapshots of this day, YYYY-MM-DD, and do nothing else")
	flags.StringVar(&o.feeds, "feeds", "", "with --drop-day: the feeds whose snapshots are taken back, comma-separated (default: all twelve)")
	annotate(flags.Lookup("feeds"), listFlag)
	return cmd
}

// garbageOnlyRefused says that --drop-day needs --garbage-only to be off, and where that is from.
func (a *app) garbageOnlyRefused(cmd *cobra.Command) error {
	f := cmd.Flags().Lookup("garbage-only")
	if f.Changed {
		return usagef("--drop-day takes back the snapshots of a day, and --garbage-only keeps all: leave it out")
	}
	found, _ := a.settings.sources.Find(settingOf(cmd, f))
	return usagef("--drop-day takes back the snapshots of a day, and --garbage-only, from %s, keeps all: pass --garbage-only=false", found.From)
}

func runExpire(ctx context.Context, a *app, o expireOptions) error {
	feeds, err := api.ParseFeeds(o.feeds)
	if err != nil {
		return usagef("--feeds: %w", err)
	}
	expire := func(at *attempt) error {
		cfg, err := a.maintainConfig(at, o.acceptLost)
		if err != nil {
			return err
		}
		result, err := maintain.Expire(ctx, maintain.ExpireConfig{
			Config: cfg, Keep: o.keep, Apply: o.apply, GarbageOnly: o.garbageOnly, DropDay: o.dropDay, DropFeeds: feeds,
		})
		if result == nil {
			return err
		}
		return a.endMaintenance(at, &result.Result, result, err, func() error { return a.printExpired(result, err == nil) })
	}
	switch {
	case !o.apply: // it changes nothing, and needs the right to read only
		return a.unrecorded(ctx, expire)
	case o.garbageOnly: // the disk may be full: it writes nothing before it has made room
		return a.recorded(ctx, "expire", attempts.EndOnly, expire)
	}
	return a.recorded(ctx, "expire", attempts.Both, expire)
}

func (a *app) printExpired(r *maintain.ExpireResult, complete bool) error {
	if a.settings.json {
		return printJSON(a.Stdout, r)
	}
	var rows [][]string
	for _, f := range r.Expired {
		rows = append(rows, []string{f.Feed.String(), fmt.Sprint(len(f.Days)), f.Days[0], f.Days[len(f.Days)-1], fmt.Sprint(f.Files), words.Size(f.Bytes)})
	}
	if len(rows) > 0 {
		if err := printTable(a.Stdout, []string{"feed", ">days", "from", "to", ">files", ">bytes"}, rows); err != nil {
			return err
		}
	}
	a.printMaintained(&r.Result)
	if r.Outcome == lake.OutcomeSkipped || !complete {
		return nil
	}
	a.printDone(r)
	return nil
}

// printDone prints what expire did, or would do, in sums.
func (a *app) printDone(r *maintain.ExpireResult) {
	day := "would take back the snapshots of " + r.DroppedDay
	did := "would remove"
	if r.Applied {
		did = "removed"
	}
	if r.Commit > 0 {
		day = "took back the snapshots of " + r.DroppedDay + "; expire deletes their files after their grace"
	}
	if r.DroppedDay != "" {
		a.say().Info("day taken back", "applied", r.Applied, "day", r.DroppedDay, logs.Text("%s", day))
	} else {
		a.say().Info("garbage", "applied", r.Applied, "files", r.Garbage.Files, "bytes", r.Garbage.Bytes, "checkpoints", r.Checkpoints.Files, "attempts", r.Attempts.Files,
			"unfinished", r.Unfinished, "waiting_files", r.Waiting.Files, "waiting_bytes", r.Waiting.Bytes,
			logs.Text("%s garbage: %d files (%s), %d checkpoint files (%s), %d records of attempts, %d unfinished; waiting for the end of their grace: %d files (%s)",
				did, r.Garbage.Files, words.Size(r.Garbage.Bytes), r.Checkpoints.Files, words.Size(r.Checkpoints.Bytes), r.Attempts.Files, r.Unfinished, r.Waiting.Files, words.Size(r.Waiting.Bytes)))
	}
	if r.Pinned.Files > 0 {
		a.say().Info("tables keep files", "files", r.Pinned.Files, "bytes", r.Pinned.Bytes,
			logs.Text("%d more files (%s) stay, because the published Iceberg tables name them; `dealflow iceberg publish`, then expire a week later", r.Pinned.Files, words.Size(r.Pinned.Bytes)))
	}
	if r.Tables.Files > 0 {
		a.say().Info("garbage of tables", "applied", r.Applied, "files", r.Tables.Files, "bytes", r.Tables.Bytes,
			logs.Text("%s of earlier Iceberg tables: %d objects (%s)", did, r.Tables.Files, words.Size(r.Tables.Bytes)))
	}
	if !r.Applied {
		a.say().Info("nothing was removed", logs.Text("nothing was removed; run again with --apply to remove"))
	}
}
