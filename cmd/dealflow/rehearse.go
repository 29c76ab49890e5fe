package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dealflow/internal/config"
	"dealflow/internal/logs"
)

// rehearsed is a command that another one starts, or judges, as it would begin: with the settings of its own section.
type rehearsed struct {
	*app
	cmd *cobra.Command
}

// rehearse reads a command line as the program would in an environment, and does nothing. file is the settings file, if it need not be read again. The
// error is that with which the command would end before it begins; there is a command nevertheless if its settings could be read.
func rehearse(env environment, line []string, file *settingsText) (*rehearsed, error) {
	r := &rehearsed{app: &app{environment: env, work: new(workFolder), sink: logs.NewSink(io.Discard, "dealflow"), file: file}}
	r.settings.s3 = env.S3
	root := r.root()
	cmd, rest, err := root.Find(line)
	if err != nil {
		return nil, &usageError{err}
	}
	r.cmd = cmd
	if err := cmd.ParseFlags(rest); err != nil {
		return nil, flagError(cmd, err)
	}
	if err := r.loadSettings(cmd); err != nil {
		return nil, err
	}
	if cmd.PreRunE != nil {
		return r, cmd.PreRunE(cmd, cmd.Flags().Args())
	}
	return r, nil
}

// passedOn returns the flags that a command gets from another one, cmd: those on that one's command line, which file of settings to read among
// them, and those of that one's own section (DEALFLOW_WATCH_…); unless the command has its own, where these come first.
func (a *app) passedOn(cmd, command *cobra.Command, theirsFirst bool) (line []string) {
	found := func(command, flag string) (string, bool) {
		value, ok := a.settings.sources.Find(config.Setting{Command: command, Name: underscored(flag)})
		return value.Text, ok
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		theirs := command.Flags().Lookup(f.Name)
		if theirs == nil {
			theirs = command.InheritedFlags().Lookup(f.Name)
		}
		if theirs == nil || f.Name == "help" || !settingOf(command, theirs).Shared && !notInFile[f.Name] { // expire has other feeds
			return
		}
		value, given := f.Value.String(), f.Changed
		if !given {
			if _, own := found(command.Name(), f.Name); !own || !theirsFirst {
				value, given = found(cmd.Name(), f.Name)
			}
		}
		if given {
			line = append(line, fmt.Sprintf("--%s=%s", f.Name, value))
		}
	})
	return line
}

// rehearseRun rehearses the run that doctor is asked about. What doctor's own lines look like is not passed on.
func (a *app) rehearseRun(cmd *cobra.Command) (*rehearsed, error) {
	command, err := commandNamed(cmd.Root(), []string{"run"})
	if err != nil {
		return nil, err
	}
	line := slices.DeleteFunc(a.passedOn(cmd, command, false), func(flag string) bool {
		name, _, _ := strings.Cut(flag, "=")
		return slices.Contains([]string{"--quiet", "--verbose", "--json", "--log-format"}, name)
	})
	return rehearse(a.environment, append([]string{"run"}, line...), a.file)
}

// takeOver gives doctor the settings with which a run would begin, but those of doctor's own lines.
func (a *app) takeOver(r *rehearsed, o *pullOptions) {
	own := a.settings
	a.settings = r.settings
	a.settings.json, a.settings.quiet, a.settings.verbose, a.settings.format, a.settings.log = own.json, own.quiet, own.verbose, own.format, own.log
	o.feeds, o.authEncoding = r.cmd.Flag("feeds").Value.String(), r.cmd.Flag("auth-encoding").Value.String()
}
