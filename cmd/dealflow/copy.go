package main

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/spf13/cobra"

	"dealflow/internal/catalog"
	"dealflow/internal/logs"
	"dealflow/internal/words"
	"dealflow/load"
	"dealflow/load/iceberg"
	"dealflow/load/transfer"
	"dealflow/load/verify"
	"dealflow/schemas/lake"
)

func newCopy(a *app) *cobra.Command {
	var until int64
	cmd := &cobra.Command{
		Use:     "copy SOURCE TARGET",
		Aliases: []string{"restore"},
		Short:   "Copy a lake to another folder or bucket, as a backup or back from one",
		Long: `copy makes TARGET the same lake as SOURCE: the same commits, instants and data files, so every answer
as of an instant is the same. Each is a folder or s3://bucket/prefix. Runs, syncs and maintenance may
work on SOURCE at the same time. The bytes of each file are compared with its commit, except where an
S3 server copies the object itself: verify --read-data on TARGET reads those. In the end TARGET gets
its own catalog, and Iceberg tables if SOURCE has them, and its log and the presence of all its files
are checked.

A copy that was interrupted goes on when you run it again, and a later call adds what SOURCE has
gained since. That works until TARGET has a commit of its own; after that, copy ends with exit code 1.

To restore, copy the other way, into an empty folder or prefix.`,
		Example: "  dealflow copy /data/deals s3://backup/deals\n  dealflow copy s3://backup/deals /data/restored",
		Args:    args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("until") && until < 1 {
				return usagef("--until %d: want the number of a commit, from 1 on; without --until copy takes all", until)
			}
			if cmd.Flag(lakeSetting.Name).Changed {
				return usagef("--lake: copy goes from its first argument to its second; leave --lake out")
			}
			return runCopy(cmd.Context(), a, args[0], args[1], until)
		},
	}
	cmd.Flags().Int64Var(&until, "until", 0, "number of the last commit to copy; unset: the newest")
	return cmd
}

// copyResult is the object that `copy --json` prints; fields are only ever added.
type copyResult struct {
	*transfer.Result
	Next string `json:"next"` // the command to run next
}

func runCopy(ctx context.Context, a *app, from, to string, until int64) error {
	source, err := a.settings.storeAt(ctx, "the source", "", from)
	if err != nil {
		return err
	}
	target, err := a.settings.storeAt(ctx, "the target", "", to)
	if err != nil {
		return err
	}
	made, err := transfer.Copy(ctx, transfer.Config{From: source, To: target, Until: until, Memory: memory.DefaultAllocator, Clock: a.Now})
	if err != nil {
		return err
	}
	if _, err := verify.Lake(ctx, target, verify.Config{WorkDir: a.workDir()}); err != nil {
		return fmt.Errorf("the lake is copied, but the copy is not sound: %w; run `dealflow verify --lake %s`", err, to)
	}
	l, err := load.Open(ctx, target)
	if err != nil {
		return err
	}
	result := copyResult{Result: made, Next: "dealflow verify --lake " + to + " --read-data"}
	if l.Log().Format == lake.FormatVersion {
		cache, err := a.settings.cache(target)
		if err != nil {
			return err
		}
		if err := catalog.Publish(ctx, l, a.workDir(), cache); err != nil {
			return fmt.Errorf("the lake is copied, but its catalog was not published: %w; run `dealflow catalog --lake %s`", err, to)
		}
		if _, err := iceberg.Follow(ctx, l, iceberg.Config{Clock: a.Now}); err != nil {
			return fmt.Errorf("the lake is copied, but its Iceberg tables were not published: %w; run `dealflow iceberg publish --lake %s`", err, to)
		}
	}
	if a.settings.json {
		return printJSON(a.Stdout, result)
	}
	a.say().Info("copied", "from", made.From, "to", made.To, "commits", made.Commits, "files", made.Files, "bytes", made.Bytes, "next", result.Next,
		logs.Text("copied %s to %s: commits 1 to %d (%d now), %d files, %s (%d now); next: %s",
			made.From, made.To, made.Commits, made.Added, made.Files, words.Size(made.Bytes), made.Copied, result.Next))
	return nil
}
