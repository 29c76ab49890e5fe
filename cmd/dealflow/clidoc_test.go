package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"dealflow/internal/testkit"
)

// TestCLIDoc compares docs/cli.md with the help of the commands.
func TestCLIDoc(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Commands\n\nThis page is made from the program's help: `go test ./cmd/dealflow -run TestCLIDoc -update`. What `--json` prints is in [run-report.md](run-report.md).\n")
	describe(&page, newRoot(environment{Getenv: func(string) string { return "" }}))
	testkit.Golden(t, "../../docs/cli.md", []byte(page.String()))
}

func describe(page *strings.Builder, cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	help := strings.TrimSpace(cmd.Long)
	if help == "" {
		help = cmd.Short
	}
	fmt.Fprintf(page, "\n## %s\n\n```\n%s\n\n%s```\n", cmd.CommandPath(), help, cmd.UsageString())
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			describe(page, sub)
		}
	}
}
