package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man <folder>",
		Short: "Write the manual pages, a file for each command",
		Long: `man writes the manual pages of all commands into a folder, which it creates if needed. The same
program writes the same bytes.`,
		Example: "  dealflow man /usr/local/share/man/man1",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := os.MkdirAll(words[0], 0o755); err != nil {
				return err
			}
			at := revisionTime()
			if at.IsZero() {
				at = time.Unix(0, 0).UTC()
			}
			return doc.GenManTree(cmd.Root(), &doc.GenManHeader{Source: "dealflow " + version(), Manual: "dealflow", Section: "1", Date: &at}, words[0])
		},
	}
}
