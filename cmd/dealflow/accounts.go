package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"dealflow/serve"
)

// readAccounts reads an accounts file.
func readAccounts(path string) ([]serve.Account, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usagef("--accounts: %w", err)
	}
	accounts, err := serve.ParseAccounts(data)
	if err != nil {
		return nil, usagef("--accounts %s: %w", path, err)
	}
	return accounts, nil
}

func newHashSecret(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "hash-secret",
		Short: "Read a secret from stdin and print its hash for an accounts file",
		Example: `  dealflow serve hash-secret < secret.txt
  openssl rand -base64 24 | tee secret.txt | dealflow serve hash-secret`,
		Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			data, err := io.ReadAll(io.LimitReader(a.Stdin, 4096))
			if err != nil {
				return err
			}
			hash, err := serve.HashSecret(string(bytes.TrimRight(data, "\r\n")))
			if err != nil {
				return usagef("%w", err)
			}
			fmt.Fprintln(a.Stdout, hash)
			return nil
		},
	}
}
