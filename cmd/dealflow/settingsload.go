package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dealflow/internal/config"
	"dealflow/internal/logs"
)

// loadSettings sets the flags that are not on the command line: from the environment, or else from the settings file.
func (a *app) loadSettings(cmd *cobra.Command) error {
	// Of DEALFLOW_JSON, which all commands see, only those that have such a result take notice.
	if a.settings.json && noJSON[cmd.CommandPath()] {
		return usagef("--json: `%s` has no result in JSON; for JSON lines on stderr, pass --log-format json", cmd.CommandPath())
	}
	if noSettings[cmd.Name()] {
		return nil
	}
	s := &a.settings
	if err := a.readSources(cmd); err != nil {
		return err
	}
	s.sources.command = cmd
	// A value for another command is checked, too: it is mended when it is written, not on the night of that command.
	other := (&app{environment: a.environment}).root()
	var faults []error
	eachFlag(other, func(cmd *cobra.Command, f *pflag.Flag) { faults = append(faults, s.set(cmd, f)) })
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed {
			faults = append(faults, s.set(cmd, f))
		}
	})
	for _, fault := range faults {
		if fault != nil {
			return fault
		}
	}
	// A file with several lakes, of which none is chosen, does not mean the default one.
	if !cmd.Flag(lakeSetting.Name).Changed && len(s.sources.OnlyInProfiles(lakeSetting)) > 0 {
		s.lake = ""
	}
	// Commands that do not run say whether the next run will be refused.
	ofRun := func(name, flag string, value *string) {
		if cmd.Flags().Lookup(flag) == nil {
			found, _ := s.sources.Find(config.Setting{Command: "run", Name: name, Shared: true})
			*value = found.Text
		}
	}
	ofRun("clock", "clock", &s.clock)
	ofRun("day_zone", "day-zone", &s.dayZone)
	if err := s.check(); err != nil {
		return err
	}
	a.sink.JSON = s.format == logJSON
	s.log = a.logger()
	return a.reportUnknown()
}

// readSources reads the environment and the settings file.
func (a *app) readSources(cmd *cobra.Command) (err error) {
	s := &a.settings
	cfg := config.Config{Settings: declared(cmd.Root()), Environ: a.Environ, Profile: s.profile, Chosen: s.profile != ""}
	if cfg.Profile == "" {
		cfg.Profile = a.getenv(config.Prefix + "PROFILE")
	}
	if a.file == nil {
		a.file, err = a.readSettingsFile()
	}
	if errors.Is(err, fs.ErrNotExist) && cmd.Name() == "init" {
		err = nil // init may write that very file
	}
	if err != nil {
		return err
	}
	if a.file != nil {
		cfg.Path, cfg.Text = a.file.path, a.file.text
	}
	if s.sources.Sources, err = config.Read(cfg); err != nil {
		return &usageError{err}
	}
	return nil
}

// settingsText is the settings file. Its path is "" if there is none.
type settingsText struct {
	path string
	text []byte
}

// readSettingsFile reads the settings file. It may be a pipe, which can be read once.
func (a *app) readSettingsFile() (*settingsText, error) {
	path := a.settings.config
	if path == "" {
		path = a.getenv(config.Prefix + "CONFIG")
	}
	named := path != ""
	if !named {
		path = defaultConfig
	}
	text, err := os.ReadFile(path)
	switch {
	case err == nil:
		return &settingsText{path, text}, nil
	case named || !errors.Is(err, fs.ErrNotExist):
		return nil, usagef("settings file: %w", err)
	}
	if _, err := os.Lstat(path); err == nil { // a link to a disk that is not mounted
		return nil, usagef("settings file: %s is a link to a file that is not there", path)
	}
	if text, err := os.ReadFile(likeConfig); err == nil && config.HasLake(text) {
		return nil, usagef("settings file: %s is not read, because its name is not %s: rename it, or name it with --config", likeConfig, path)
	}
	return new(settingsText), nil
}

// set sets a flag of a command from the environment or the settings file.
func (s *settings) set(cmd *cobra.Command, f *pflag.Flag) error {
	found, ok := s.sources.Find(settingOf(cmd, f))
	if !ok {
		return nil
	}
	if err := f.Value.Set(found.Text); err != nil {
		return &usageError{refusal(f, found.From, err)}
	}
	return nil
}

// check checks the settings that all commands have in common.
func (s *settings) check() error {
	if s.quiet && s.verbose {
		return usagef("got both --quiet and --verbose, want one of them")
	}
	if s.workDir == "" {
		if err := checkWorkFolder(os.TempDir()); err != nil {
			return usagef("the system's folder for unfinished files (TMPDIR) %w; or set --work-dir", err)
		}
	}
	return nil
}

// reportUnknown warns of variables that no setting has. A cluster may set some: a service named dealflow makes
// DEALFLOW_PORT. With --strict they are an error.
func (a *app) reportUnknown() error {
	unknown := a.settings.sources.Unknown()
	if a.settings.strict && len(unknown) > 0 {
		var all []string
		for _, u := range unknown {
			all = append(all, u.String())
		}
		return usagef("no setting has the variable %s; unset it, or leave out --strict", strings.Join(all, ", or "))
	}
	for _, u := range unknown {
		a.say().Warn("unknown variable", "variable", u.Name, "near", u.Near, logs.Text("no setting has %s; it is ignored", u))
	}
	return nil
}
