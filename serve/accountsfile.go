package serve

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"
)

// The rate of an account without a rate in the file.
const (
	fileRate  = 20
	fileBurst = 100
)

// accountsFile is the form of the accounts file.
type accountsFile struct {
	Accounts []accountEntry `yaml:"accounts"`
}

type accountEntry struct {
	ClientID   string      `yaml:"client_id"`
	SecretHash string      `yaml:"secret_hash"`
	Type       AccountType `yaml:"type"`
	Rate       *float64    `yaml:"rate"` // requests per second; 0: no limit
	Burst      int         `yaml:"burst"`
}

// ParseAccounts reads an accounts file:
//
//	accounts:
//	  - client_id: desk@example.com
//	    secret_hash: $2a$10$…   # bcrypt, as HashSecret returns it
//	    type: vip               # or free_trial
//	    rate: 20                # requests per second, 0 for no limit; default 20
//	    burst: 100              # requests at once; default 100, or twice the rate if the entry has a rate
//
// Unknown names, plain secrets and duplicate clients are errors. Errors contain no values of the file except client
// ids.
func ParseAccounts(data []byte) ([]Account, error) {
	var file accountsFile
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("accounts file: it is empty")
		}
		return nil, errors.New("accounts file: want YAML with a list \"accounts\" of client_id, secret_hash, type, and optionally rate and burst")
	}
	if err := decoder.Decode(new(accountsFile)); !errors.Is(err, io.EOF) {
		return nil, errors.New("accounts file: want one YAML document, got more")
	}
	if len(file.Accounts) == 0 {
		return nil, errors.New("accounts file: it has no account")
	}
	var list []Account
	for i, entry := range file.Accounts {
		account := Account{ClientID: entry.ClientID, SecretHash: entry.SecretHash, Type: entry.Type, Rate: fileRate, Burst: entry.Burst}
		if entry.Rate != nil {
			account.Rate = *entry.Rate
		} else {
			account.Burst = cmp.Or(account.Burst, fileBurst)
		}
		if account.Type == "" {
			return nil, fmt.Errorf("accounts file: account %d: type is not set, want %s or %s", i+1, VIP, FreeTrial)
		}
		list = append(list, account)
	}
	if err := validateAccounts(list); err != nil {
		return nil, fmt.Errorf("accounts file: %w", err)
	}
	return list, nil
}

// validateAccounts returns all errors of a list of accounts, or nil.
func validateAccounts(list []Account) error {
	var faults []error
	seen := map[string]bool{}
	for i, account := range list {
		if err := account.validate(); err != nil {
			faults = append(faults, fmt.Errorf("account %d: %w", i+1, err))
		}
		if seen[account.ClientID] {
			faults = append(faults, fmt.Errorf("account %d: duplicate client id %q", i+1, account.ClientID))
		}
		seen[account.ClientID] = true
	}
	return errors.Join(faults...)
}
