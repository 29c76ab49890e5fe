package main

import (
	"github.com/spf13/cobra"

	"dealflow/internal/pull"
)

func newSync(a *app) *cobra.Command {
	var o pullOptions
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Pull what changed since, into history alone, as one commit",
		Long: `sync follows the updatedSince links that the last run or sync has saved (bond expected lists have
none: they are read whole), and writes the new versions into history. It takes seconds on a quiet
day: schedule it every five minutes. It never declares a removal and takes no snapshot; the nightly
run does both, and says what syncs had missed.

Where nothing is new, nothing is committed. Where a run is at work, sync ends at once.`,
		Example: `  dealflow sync --api https://api.example.com --lake /data/deals
  dealflow sync --feeds bond/ig/priced,bond/ig/expected --deadline 4m`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.pullWith(cmd.Context(), o, pull.Sync, nil)
		},
	}
	o.add(a, cmd.Flags())
	return cmd
}
