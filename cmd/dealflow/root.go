package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dealflow/internal/config"
	"dealflow/internal/logs"
)

// app contains what the commands share: the environment and the settings.
type app struct {
	environment
	settings settings
	file     *settingsText // nil before it is read
	work     *workFolder
	sink     *logs.Sink
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
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.loadSettings(cmd) },
	}
	root.Version = version()
	root.SetFlagErrorFunc(flagError)
	a.settings.addGlobal(root.PersistentFlags())
	root.AddCommand(
		newDemo(a), newRun(a), newSync(a), newWatch(a), newServe(a), newQuery(a), newExport(a), newDDL(a), newFiles(a), newReport(a), newUI(a), newCatalog(a), newStatus(a), newRuns(a), newQuarantine(a), newVerify(a), newCompact(a), newExpire(a), newReplay(a), newIceberg(a), newUpgrade(a), newCopy(a), newLease(a), newDoctor(a), newInit(a), newConfig(a), newMan(), newVersion(a), newWorker(a),
	)
	checkValues(root)
	showVariables(root)
	a.addCompletions(root)
	return root
}

// likelyFlag asks about the flag that an unknown one most probably means; "" for none, and for another error.
func likelyFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return ""
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	near := config.Suggest(unknown.GetSpecifiedName(), known)
	if near != "" {
		near = "--" + near
	}
	return config.DidYouMean(near)
}

// unknownCommand runs if the first word is not a command. Flags without a command are refused: the word that was meant as
// one may be the value of a flag, as in dealflow --lake $LAKE run, where LAKE is not set.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return noCommand(cmd, args[0], args[0])
	}
	var given []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Annotations[secretFlag] == nil {
			given = append(given, fmt.Sprintf("--%s has the value %q", f.Name, f.Value))
		}
	})
	if len(given) > 0 {
		return usagef("no command; %s; see `%s --help`", strings.Join(given, ", "), cmd.CommandPath())
	}
	return cmd.Help()
}

// noCommand says that a command has no command below it of this name. All words are what the user has written.
func noCommand(below *cobra.Command, name, words string) error {
	below.SuggestionsMinimumDistance = 2
	near := strings.Join(below.SuggestionsFor(name), ", ")
	return usagef("unknown command %q%s; see `dealflow --help`", words, config.DidYouMean(near))
}

// commandNamed returns the command of these words.
func commandNamed(root *cobra.Command, words []string) (*cobra.Command, error) {
	found, rest, err := root.Find(words)
	switch {
	case err != nil:
		return nil, &usageError{err}
	case len(rest) > 0:
		return nil, noCommand(found, rest[0], strings.Join(words, " "))
	}
	return found, nil
}

// refuseUnknown adds the commands help and completion of cobra to the root. Theirs print the help for a word that they do
// not know, and end with 0.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, unknownCommand
		case "help":
			show := cmd.Run
			cmd.Run, cmd.RunE = nil, func(cmd *cobra.Command, words []string) error {
				if _, err := commandNamed(root, words); err != nil {
					return err
				}
				show(cmd, words)
				return nil
			}
		}
	}
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

// The forms of --log-format.
const (
	logText = "text"
	logJSON = "json"
)

// wantsJSON reports whether a command line or the environment asks for lines in JSON. It looks at words alone: it serves
// for a command line that cannot be understood.
func (a *app) wantsJSON(args []string) bool {
	line := " " + strings.Join(args, " ") + " "
	return strings.Contains(line, " --log-format=json ") || strings.Contains(line, " --log-format json ") || a.getenv(config.Prefix+"LOG_FORMAT") == logJSON
}

// logger returns the logger of packages: for warnings and errors, and with --verbose for each step.
func (a *app) logger() *slog.Logger {
	level := slog.LevelWarn
	if a.settings.verbose {
		level = slog.LevelDebug
	}
	return a.sink.Logger(level)
}

// say returns the logger for what a command says to its user. With --quiet, it drops what is neither a warning nor an
// error.
func (a *app) say() *slog.Logger {
	level := slog.LevelInfo
	if a.settings.quiet {
		level = slog.LevelWarn
	}
	return a.sink.Logger(level)
}

// warn prints a warning of a result.
func (a *app) warn(detail string) {
	a.say().Warn(logs.Warning, "detail", detail, logs.Text("%s", detail))
}
