package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dealflow/internal/words"
	"dealflow/load"
)

// leaseResult is the object that lease show --json and lease break --json print; fields are only ever added.
type leaseResult struct {
	Lake    string          `json:"lake"`
	State   load.LeaseState `json:"state"`   // held, absent, expired or dead (its process has ended)
	Lease   *load.Lease     `json:"lease"`   // null if it is absent
	Removed bool            `json:"removed"` // by lease break
}

func newLease(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lease",
		Short: "Show or remove the lease, by which commands give way to each other",
		Long: `A command that writes to the lake takes the lease while it is at work, renews it every five minutes,
and drops it at its end. Others give way to it, or wait. After a crash the lease ends by itself: at
once for commands on the same machine, elsewhere within a quarter of an hour. Safety never depends
on it: two commits never take the same number.`,
		Args: cobra.ArbitraryArgs,
		RunE: unknownCommand,
	}
	cmd.AddCommand(newLeaseShow(a), newLeaseBreak(a))
	return cmd
}

func newLeaseShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "show",
		Short:   "Show who holds the lease",
		Example: "  dealflow lease show --lake /data/deals --json",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runLease(cmd.Context(), a, false) },
	}
}

func newLeaseBreak(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "break",
		Short: "Remove the lease of a command that is no longer at work",
		Long: `break removes the lease, so that the next command need not wait until it expires: use it for a
command that has died on another machine. A command that is at work loses nothing: it takes its
lease again when it renews it.`,
		Example: "  dealflow lease break --lake s3://bucket/deals",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runLease(cmd.Context(), a, true) },
	}
}

func runLease(ctx context.Context, a *app, remove bool) error {
	l, noLake := a.openLake(ctx)
	if noLake != nil && !errors.Is(noLake, load.ErrNoLake) { // the first run holds the lease before there is a commit
		return noLake
	}
	r := leaseResult{Lake: l.Store().URL()}
	var err error
	if r.Lease, r.State, err = l.StoredLease(ctx, a.Now()); err != nil {
		return err
	}
	if r.Lease == nil && noLake != nil {
		return noLake
	}
	if remove && r.Lease != nil {
		if err := l.BreakLease(ctx); err != nil {
			return err
		}
		r.Removed = true
	}
	if a.settings.json {
		return printJSON(a.Stdout, r)
	}
	return a.printLease(&r)
}

func (a *app) printLease(r *leaseResult) error {
	if r.Lease == nil {
		_, err := fmt.Fprintf(a.Stdout, "no command holds the lease of %s\n", r.Lake)
		return err
	}
	state := string(r.State)
	switch {
	case r.Removed:
		state = "removed"
	case r.State == load.LeaseDead:
		state = "dead: its process has ended, and no command waits for it"
	case r.State == load.LeaseExpired:
		state = "expired: no command waits for it"
	}
	rows := [][]string{
		{"state", state}, {"command", r.Lease.Command}, {"run", r.Lease.RunID}, {"owner", r.Lease.Owner}, {"expires at", r.Lease.ExpiresAt.String()},
		{"API", r.Lease.API}, {"snapshot", r.Lease.SnapshotDate},
	}
	if len(r.Lease.Feeds) > 0 {
		var feeds []string
		for _, f := range r.Lease.Feeds {
			feeds = append(feeds, f.String())
		}
		rows = append(rows, []string{"feeds", strings.Join(feeds, ",")})
	}
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(a.Stdout, "%-11s %s\n", row[0], words.Printable(row[1])); err != nil {
			return err
		}
	}
	return nil
}
