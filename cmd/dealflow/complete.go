package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dealflow/extract"
	"dealflow/internal/config"
	"dealflow/internal/export"
	"dealflow/internal/pull"
	"dealflow/schemas/api"
)

// fixedValues are the values of flags that have few, by the flag, or by its command and the flag.
var fixedValues = map[string][]string{
	"clock": {"machine", "server"}, "contract": {string(pull.ContractReport), string(pull.ContractFreeze)}, "log-format": {logText, logJSON},
	"auth-encoding": {string(extract.AuthRaw), string(extract.AuthRFC6749)},
	"query format":  queryFormats, "export format": export.Formats, "files format": filesFormats, "retry-after": {"seconds", "date"},
	"iceberg on keep": {keepUsual, keepAll},
}

// forFlag returns what a table has for a flag: by the words of its command and its name, or by its name.
func forFlag[T any](table map[string]T, cmd *cobra.Command, f *pflag.Flag) (found T, ok bool) {
	if cmd != nil {
		_, words, _ := strings.Cut(cmd.CommandPath(), " ")
		if found, ok = table[words+" "+f.Name]; ok {
			return found, true
		}
	}
	found, ok = table[f.Name]
	return found, ok
}

// addCompletions adds what a shell proposes for the values of flags. Other flags complete files.
func (a *app) addCompletions(root *cobra.Command) {
	seen := map[*pflag.Flag]bool{}
	eachFlag(root, func(cmd *cobra.Command, f *pflag.Flag) {
		values, _ := forFlag(fixedValues, cmd, f)
		complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
		switch {
		case f.Name == "feeds":
			complete = completeFeeds
		case f.Name == "profile":
			complete = a.completeProfiles
		case values == nil:
			return
		}
		if cmd == nil {
			cmd = root
		}
		if !seen[f] {
			seen[f] = true
			if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
				panic(err) // the flag exists, and is visited once
			}
		}
	})
}

// completeFeeds proposes the feeds for the last entry of a list.
func completeFeeds(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndex(typed, ",")+1]
	var all []string
	for _, feed := range api.Feeds() {
		all = append(all, before+feed.String())
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeProfiles proposes the profiles of the settings file.
func (a *app) completeProfiles(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	file, err := a.readSettingsFile()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return config.Profiles(file.text), cobra.ShellCompDirectiveNoFileComp
}
