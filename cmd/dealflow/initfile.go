package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"dealflow/internal/config"
	"dealflow/internal/logs"
)

func newInit(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init [file]",
		Short: "Write a settings file with a comment for each setting",
		Long: `init writes a settings file, ` + defaultConfig + ` in this folder if none is named. It has all settings, each with
its meaning and its default, as comments. The flags of the command line are settings in it. A file
that exists is left as it is.`,
		Example: "  dealflow init --lake /data/deals --api https://api.example.com\n  dealflow init /etc/dealflow.yaml",
		Args:    args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			path := defaultConfig
			if len(words) == 1 {
				path = words[0]
			}
			if err := checkPath(path); err != nil {
				return usagef("settings file %w", err)
			}
			if cmd.Flag("api").Changed { // an address with a password would be in the file
				if _, err := a.settings.base(); err != nil {
					return err
				}
			}
			return runInit(a, cmd, path)
		},
	}
	shared(cmd.Flags(), a.settings.addAPI)
	return cmd
}

func runInit(a *app, cmd *cobra.Command, path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return usagef("settings file %s: it exists; name another file, or remove it", path)
	}
	if err != nil {
		return usagef("settings file: %w", err)
	}
	_, err = file.WriteString(settingsFile(cmd))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("settings file %s: %w", path, err)
	}
	if a.settings.json {
		return printJSON(a.Stdout, struct {
			File string `json:"file"`
		}{path})
	}
	a.say().Info("settings file written", "path", path, logs.Text("wrote %s; edit it, then run `dealflow doctor --config %s`", path, path))
	return nil
}

const fileBeginning = `# Settings of dealflow. A flag comes before a variable of the environment, and a variable before this file.
# Remove the # before a setting to set it. ` + "`dealflow config show --origin`" + ` shows what is used, and why.
`

const fileSections = `
# Settings of one command are under its name. Those above can be there, too, for that command alone.
`

const fileProfiles = `
# A profile has settings of one lake, in place of those above: dealflow --profile test status
#profiles:
#  test:
#    lake: test-lake
#    api: http://127.0.0.1:8900
`

// settingsFile returns a settings file with all settings as comments. Flags that are on cmd's command line are set.
func settingsFile(cmd *cobra.Command) string {
	var all, single strings.Builder
	seen := map[string]bool{}
	section := ""
	eachFlag(cmd.Root(), func(command *cobra.Command, f *pflag.Flag) {
		s := settingOf(command, f)
		indent := "  "
		b := &single
		if s.Shared || s.Command == "" {
			s, b, indent = s.Plain(), &all, ""
		}
		if s.Kind != config.Anywhere || notInFile[f.Name] || seen[s.Key()] {
			return
		}
		seen[s.Key()] = true
		if s.Command != section && s.Command != "" {
			section = s.Command
			fmt.Fprintf(b, "\n#%s:\n", section)
		}
		usage, _, _ := strings.Cut(f.Usage, " ["+config.Prefix)
		mark, value := "#", f.DefValue
		if given := cmd.Flags().Lookup(f.Name); given != nil && given.Changed && indent == "" {
			mark, value = "", given.Value.String()
		}
		fmt.Fprintf(b, "%s# %s\n%s%s%s: %s\n", strings.Repeat("\n", 1-len(indent)/2), usage, mark, indent, s.Name, inFile(f, value))
	})
	for _, s := range unflaggedSettings {
		if s.Kind == config.Anywhere {
			fmt.Fprintf(&all, "\n# %s\n#%s: …\n", s.usage, s.Name)
		}
	}
	return fileBeginning + all.String() + fileSections + single.String() + fileProfiles
}

// inFile returns a flag's value as the settings file has it.
func inFile(f *pflag.Flag, value string) string {
	if value == "" {
		return "…"
	}
	if f.Value.Type() != "string" {
		return value
	}
	text, err := yaml.Marshal(value)
	if err != nil { // a string has a form in YAML
		return value
	}
	return strings.TrimSpace(string(text))
}
