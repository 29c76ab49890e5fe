package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
)

// app contains what the commands share: the environment and the settings.
type app struct {
	environment
	settings settings
	work     *workFolder
}

// root returns the root command, with all commands below it.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "dealflow",
		Short: "Record the full history of a deal API, and query it as of any instant",
		Long: `dealflow records the full history of a bond and loan deal API that has none.
You can query any table as it was known at any instant.

Start here:

  dealflow demo                 a simulated market, ten nights of runs, first queries
  dealflow doctor               check everything that a run needs
  dealflow run                  pull complete snapshots of all feeds, once a night
  dealflow query "FROM bond_priced_deals_as_of('2026-11-01') LIMIT 5"

A setting comes from its flag, else the environment (DEALFLOW_*), else the settings file (--config),
else the default.

` + exitTable(),
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
		Args:              cobra.ArbitraryArgs,
		RunE:              unknownCommand,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.settings.load(cmd, a.Getenv) },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see `%s --help`", err, cmd.CommandPath())
	})
	a.settings.addGlobal(root.PersistentFlags())
	root.AddCommand(
		newDemo(a), newRun(a), newSync(a), newServe(a), newQuery(a), newReport(a), newCatalog(a), newStatus(a), newRuns(a), newQuarantine(a), newVerify(a), newCompact(a), newExpire(a), newReplay(a), newUpgrade(a), newCopy(a), newLease(a), newDoctor(a), newVersion(a),
	)
	return root
}

// unknownCommand runs if the first word is not a command.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf(" (did you mean %s?)", strings.Join(near, ", "))
	}
	return usagef("unknown command %q%s; see `dealflow --help`", args[0], hint)
}

// args wraps an argument check so that its error is a usage error.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usagef("%w; see `%s --help`", err, cmd.CommandPath())
		}
		return nil
	}
}

// logger returns a logger that writes text to a terminal and JSON otherwise.
func (a *app) logger() *slog.Logger {
	level := slog.LevelWarn
	if a.settings.verbose {
		level = slog.LevelDebug
	}
	options := &slog.HandlerOptions{Level: level}
	if isTerminal(a.Stderr) {
		return slog.New(slog.NewTextHandler(a.Stderr, options))
	}
	return slog.New(slog.NewJSONHandler(a.Stderr, options))
}
