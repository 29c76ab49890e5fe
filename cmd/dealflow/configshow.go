package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dealflow/internal/config"
	"dealflow/internal/notify"
	"dealflow/internal/words"
)

// shownSetting is a setting as `config show --json` prints it; fields are only ever added.
type shownSetting struct {
	Setting  string `json:"setting"`  // its name in the settings file, such as expire.keep_days
	Variable string `json:"variable"` // its name in the environment
	Value    string `json:"value"`
	Origin   string `json:"origin"` // a flag, a variable, a line of the settings file, or "default"
}

// hidden is shown in place of a secret.
const hidden = "(set, not shown)"

func newConfig(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings, and where each is from",
		Args:  cobra.ArbitraryArgs,
		RunE:  unknownCommand,
	}
	cmd.AddCommand(newConfigShow(a))
	return cmd
}

func newConfigShow(a *app) *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use:   "show [command]",
		Short: "Show the settings of all commands, or those that one command would use",
		Long: `show prints each setting by its name in the settings file, with the value that is used now. With the
words of a command it prints what that command would use. Secrets are not shown, and no command that
prints a secret is run.

A setting that only one command has is under that command's name: expire.keep_days. A setting of
several commands may have another value for one of them: sync.deadline.`,
		Example: "  dealflow config show --origin\n  dealflow config show run --origin\n  dealflow config show quarantine retry --profile test --json",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(cmd *cobra.Command, words []string) error { return runConfigShow(a, cmd, words, origin) },
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "also print where each value is from")
	return cmd
}

func runConfigShow(a *app, cmd *cobra.Command, named []string, origin bool) error {
	var all []shownSetting
	if len(named) == 0 {
		all = a.allSettings(cmd)
	} else {
		command, err := commandNamed(cmd.Root(), named)
		if err != nil {
			return err
		}
		all = a.settingsOf(cmd, command)
	}
	if a.settings.json {
		return printJSON(a.Stdout, all)
	}
	headings := []string{"setting", "value", "origin"}
	if !origin {
		headings = headings[:2]
	}
	var rows [][]string
	for _, s := range all {
		rows = append(rows, []string{s.Setting, words.Printable(s.Value), words.Printable(s.Origin)}[:len(headings)])
	}
	return printTable(a.Stdout, headings, rows)
}

// allSettings returns the settings of all commands, then those of single commands.
func (a *app) allSettings(shower *cobra.Command) (all []shownSetting) {
	seen := map[string]bool{}
	var single []shownSetting
	eachFlag(shower.Root(), func(cmd *cobra.Command, f *pflag.Flag) {
		s := settingOf(cmd, f)
		if s.Kind == config.CommandLine {
			return
		}
		if s.Shared || s.Command == "" {
			if plain := s.Plain(); !seen[plain.Key()] {
				seen[plain.Key()] = true
				all = append(all, a.showFlag(shower, plain, f))
			}
			if s = withoutShared(s); s.Command == "" || !a.isSet(s) {
				return
			}
		}
		if !seen[s.Key()] {
			seen[s.Key()] = true
			single = append(single, a.showFlag(shower, s, f))
		}
	})
	return slices.Concat(all, a.showUnflagged(), single)
}

// settingsOf returns what a command would use.
func (a *app) settingsOf(shower, command *cobra.Command) (all []shownSetting) {
	eachFlag(shower.Root(), func(cmd *cobra.Command, f *pflag.Flag) {
		if s := settingOf(cmd, f); cmd == command && s.Kind != config.CommandLine {
			shown := a.showFlag(shower, s, f)
			if s.Shared {
				shown.Setting, shown.Variable = s.Plain().Key(), s.Plain().Variable()
			}
			all = append(all, shown)
		}
	})
	return append(all, a.showUnflagged()...)
}

func withoutShared(s config.Setting) config.Setting {
	s.Shared = false
	return s
}

func (a *app) isSet(s config.Setting) bool {
	_, ok := a.settings.sources.Find(s)
	return ok
}

// showFlag returns the value of a setting that has a flag. Flags on the command line of shower count.
func (a *app) showFlag(shower *cobra.Command, s config.Setting, f *pflag.Flag) shownSetting {
	shown := shownSetting{s.Key(), s.Variable(), f.DefValue, "default"}
	if given := shower.InheritedFlags().Lookup(f.Name); given != nil && given.Changed {
		shown.Value, shown.Origin = given.Value.String(), "flag --"+f.Name
	} else if found, ok := a.settings.sources.Find(s); ok {
		shown.Value, shown.Origin = found.Text, found.From
	} else if f.Name == "profile" && a.settings.sources.Profile() != "" {
		shown.Value, shown.Origin = a.settings.sources.Profile(), "the settings file"
	} else if f.Name == lakeSetting.Name && a.settings.lake == "" {
		shown.Value, shown.Origin = "", "profiles alone, of which none is chosen"
	}
	if f.Annotations[secretFlag] != nil && shown.Value != "" {
		if notify.IsURL(shown.Value) {
			shown.Value = notify.Shown(shown.Value)
		} else if isFile := f.Name == "openlineage" && !strings.Contains(shown.Value, ":/"); !isFile {
			shown.Value = hidden
		}
		return shown
	}
	shown.Value = shownAddress(shown.Value)
	return shown
}

// showUnflagged returns the settings without a flag: the account, and where secrets are.
func (a *app) showUnflagged() (all []shownSetting) {
	for _, s := range unflaggedSettings {
		shown := shownSetting{s.Key(), s.Variable(), "", "default"}
		if found, ok := a.settings.sources.Find(s.Setting); ok {
			shown.Value, shown.Origin = found.Text, found.From
			if s.Kind == config.NotInFile || strings.HasSuffix(s.Name, "_command") { // a command may contain a token
				shown.Value = hidden
			}
		}
		all = append(all, shown)
	}
	return all
}
