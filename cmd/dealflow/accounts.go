package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

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

// signingKeys reads the keys from the environment or from a file. There is no flag for them, because flags are visible
// in process lists. Keys are separated by white space or commas.
func (a *app) signingKeys() ([][]byte, error) {
	text := a.Getenv("DEALFLOW_SIGNING_KEY")
	if path := a.Getenv("DEALFLOW_SIGNING_KEY_FILE"); text == "" && path != "" {
		data, warning, err := readSecretFile(path)
		if err != nil {
			return nil, usagef("signing key file: %w", err)
		}
		if warning != "" {
			fmt.Fprintln(a.Stderr, "warning: signing key file "+warning)
		}
		text = string(data)
		if strings.TrimSpace(text) == "" {
			return nil, usagef("signing key file %s: it is empty", path)
		}
	}
	var keys [][]byte
	for i, key := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",\r\n\t ", r) }) {
		if len(key) < serve.MinSigningKey {
			return nil, usagef("signing key %d: got %d characters, want %d at least (`openssl rand -base64 32` makes one)", i+1, len(key), serve.MinSigningKey)
		}
		keys = append(keys, []byte(key))
	}
	return keys, nil
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
