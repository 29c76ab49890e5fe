package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dealflow/internal/config"
)

// Annotations of flags.
const (
	sharedFlag = "dealflow_shared" // of several commands with one meaning
	listFlag   = "dealflow_list"   // entries with commas: a list in the settings file
	secretFlag = "dealflow_secret" // the value may have a token, and is not shown
)

// shared calls add, and marks the flags that it adds as flags of several commands with one meaning: DEALFLOW_FEEDS is
// for all commands that pull.
func shared(flags *pflag.FlagSet, add func(*pflag.FlagSet)) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	add(set)
	set.VisitAll(func(f *pflag.Flag) { annotate(f, sharedFlag) })
	flags.AddFlagSet(set)
}

func annotate(f *pflag.Flag, mark string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[mark] = []string{"true"}
}

// unflagged is a setting that has no flag, because the process list shows flags or because it belongs to a secret.
type unflagged struct {
	config.Setting
	usage string
}

// unflaggedSettings are all of them. Each secret can also come from a file or a command.
var unflaggedSettings = slices.Concat([]unflagged{
	{config.Setting{Name: "client_id"}, "name of the API's account"},
},
	secretSetting("client_secret", "secret of the API's account", "this secret, such as: pass show dealflow"),
	secretSetting("signing_key", "keys that sign tokens and cursors of serve, the newest first, with commas or white space between them", "these keys"),
	secretSetting("webhook_token", "token that is sent to the URLs of --on-success and --on-failure", "this token"),
	secretSetting("openlineage_token", "token that is sent to the URL of --openlineage", "this token"),
)

// secretSetting returns a secret and the settings that say where it comes from. it is what a file contains, and a command
// prints; an example of such a command may follow it.
func secretSetting(name, usage, it string) []unflagged {
	contained, _, _ := strings.Cut(it, ",")
	return []unflagged{
		{config.Setting{Name: name, Kind: config.NotInFile}, usage},
		{config.Setting{Name: name + "_file"}, "file that contains " + contained},
		{config.Setting{Name: name + "_command"}, "shell command that prints " + it},
	}
}

// secretVariables returns the variables of the environment that hold secrets of ours.
func secretVariables() (names []string) {
	for _, s := range unflaggedSettings {
		if s.Kind == config.NotInFile {
			names = append(names, s.Variable())
		}
	}
	return names
}

// notInFile are flags that say which part of which file to read.
var notInFile = map[string]bool{"config": true, "profile": true}

// settingOf returns a flag of a command as a setting. cmd is nil for a flag of all commands.
func settingOf(cmd *cobra.Command, f *pflag.Flag) config.Setting {
	s := config.Setting{Name: underscored(f.Name), List: f.Annotations[listFlag] != nil}
	if notInFile[f.Name] {
		s.Kind = config.NotInFile
		return s
	}
	if cmd != nil && cmd.HasParent() {
		_, words, _ := strings.Cut(cmd.CommandPath(), " ")
		s.Command, s.Shared = underscored(words), f.Annotations[sharedFlag] != nil || cmd.LocalFlags().Lookup(f.Name) == nil
	}
	if config.Once(s.Command, s.Name) {
		s.Kind = config.CommandLine
	}
	return s
}

var underscore = strings.NewReplacer("-", "_", " ", "_")

func underscored(words string) string { return underscore.Replace(words) }

// eachFlag calls visit for each flag of each command that has settings, those of all commands included. cmd is nil for
// a flag of all commands by itself.
func eachFlag(root *cobra.Command, visit func(cmd *cobra.Command, f *pflag.Flag)) {
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { visit(nil, f) })
	var walk func(*cobra.Command)
	walk = func(parent *cobra.Command) {
		for _, cmd := range parent.Commands() {
			if group := cmd.HasSubCommands() && !cmd.HasLocalFlags(); !group && cmd.IsAvailableCommand() && !noSettings[cmd.Name()] {
				root.PersistentFlags().VisitAll(func(f *pflag.Flag) { visit(cmd, f) })
				cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
					if f.Name != "help" && root.PersistentFlags().Lookup(f.Name) == nil {
						visit(cmd, f)
					}
				})
			}
			walk(cmd)
		}
	}
	walk(root)
}

// noSettings are commands that read no settings: cobra's own, and man.
var noSettings = map[string]bool{
	"help": true, "completion": true, "bash": true, "zsh": true, "fish": true, "powershell": true, "man": true,
	cobra.ShellCompRequestCmd: true, cobra.ShellCompNoDescRequestCmd: true,
}

// noJSON are commands without a result that --json could print.
var noJSON = map[string]bool{
	"dealflow ddl": true, "dealflow demo": true, "dealflow man": true, "dealflow serve": true, "dealflow serve hash-secret": true,
	"dealflow ui": true, "dealflow watch": true, "dealflow help": true,
	"dealflow completion bash": true, "dealflow completion zsh": true, "dealflow completion fish": true, "dealflow completion powershell": true,
}

// declared returns all settings of the program.
func declared(root *cobra.Command) (all []config.Setting) {
	eachFlag(root, func(cmd *cobra.Command, f *pflag.Flag) {
		if s := settingOf(cmd, f); cmd == nil || s.Command != "" {
			all = append(all, s)
		}
	})
	for _, s := range unflaggedSettings {
		all = append(all, s.Setting)
	}
	return all
}

// showVariables adds to the help of each flag the variable that sets it.
func showVariables(root *cobra.Command) {
	shown := map[*pflag.Flag]bool{}
	eachFlag(root, func(cmd *cobra.Command, f *pflag.Flag) {
		if s := settingOf(cmd, f); s.Kind != config.CommandLine && !shown[f] {
			if s.Shared {
				s = s.Plain()
			}
			shown[f] = true
			f.Usage += " [" + s.Variable() + "]"
		}
	})
}
