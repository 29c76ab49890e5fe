package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"dealflow/internal/testkit"
)

// TestCLIDoc compares docs/generated/cli.md with the help of the commands.
func TestCLIDoc(t *testing.T) {
	var page strings.Builder
	page.WriteString(testkit.Generated + "# Commands\n\nThe program's own help. What `--json` prints is in [run-report.md](../reference/run-report.md).\n")
	describe(&page, new(app).root())
	testkit.Golden(t, "../../docs/generated/cli.md", []byte(page.String()))
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
