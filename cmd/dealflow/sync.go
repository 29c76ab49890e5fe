package main

import (
	"github.com/spf13/cobra"

	"dealflow/internal/attempts"
	"dealflow/internal/pull"
)

func newSync(a *app) *cobra.Command {
	var o pullOptions
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Pull what changed since the last run or sync, into history only",
		Long: `sync pulls what changed since the last run or sync, and commits it to history. It takes seconds on
a quiet day: schedule it every five minutes, next to the nightly run.

It follows the updatedSince links that the last run or sync saved. Bond expected lists have no such
link and are read completely.

sync takes no snapshot and removes no deal. The nightly run does both, and reports what syncs
missed. If nothing changed, nothing is committed. If another run is at work, sync ends at once.`,
		Example: `  dealflow sync --api https://api.example.com --lake /data/deals
  dealflow sync --feeds bond/ig/priced,bond/ig/expected --deadline 4m`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.pullWith(cmd.Context(), pullCommand{name: "sync", execute: pull.Sync, policy: attempts.OnFailure}, o, nil)
		},
	}
	o.add(a, cmd.Flags())
	a.settings.addTelling(cmd.Flags())
	return cmd
}
