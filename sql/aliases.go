package sql

import (
	"bytes"
	"context"
	"crypto/sha256"
	stdsql "database/sql"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Aliases maps names of banks and borrowers to canonical names.
type Aliases struct {
	Banks, Borrowers []Alias
	Version          string // a hash of the declared files; "" if there are none
	Keep             bool   // the files cannot be read: keep the aliases of the previous catalog, if there is one
}

// Alias is one name of a bank or borrower. From ValidFrom on, or always, it means the canonical name.
type Alias struct {
	Alias     string `json:"alias"`
	Canonical string `json:"canonical"`
	ValidFrom string `json:"valid_from,omitempty"` // YYYY-MM-DD; "" for always
}

// aliasHeading is the first line of a file of aliases.
const aliasHeading = "alias,canonical,valid_from"

// ParseAliases reads two alias files as CSV with the heading alias,canonical,valid_from; nil for a missing file. The
// error names the file, the line and what is wrong.
func ParseAliases(banks, borrowers []byte) (Aliases, error) {
	var a Aliases
	var bankErr, borrowerErr error
	a.Banks, bankErr = parseAliases("banks.csv", banks)
	a.Borrowers, borrowerErr = parseAliases("borrowers.csv", borrowers)
	if len(banks)+len(borrowers) > 0 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s%s", len(banks), banks, borrowers))
		a.Version = hex.EncodeToString(sum[:8])
	}
	return a, errors.Join(bankErr, borrowerErr)
}

func parseAliases(name string, data []byte) ([]Alias, error) {
	if len(data) == 0 {
		return nil, nil
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if !utf8.Valid(line) {
			return nil, fmt.Errorf("%s line %d: not valid UTF-8; save the file as UTF-8", name, i+1)
		}
	}
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	in.FieldsPerRecord = 3
	heading, err := in.Read()
	if err == nil && strings.Join(heading, ",") != aliasHeading {
		err = fmt.Errorf("its first line is %q", strings.Join(heading, ","))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; want the heading %s", name, err, aliasHeading)
	}
	var all []Alias
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return withCanonical(all), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		a := Alias{Alias: strings.TrimSpace(record[0]), Canonical: strings.TrimSpace(record[1]), ValidFrom: strings.TrimSpace(record[2])}
		line, _ := in.FieldPos(0)
		if a.Alias == "" || a.Canonical == "" {
			return nil, fmt.Errorf("%s line %d: want both an alias and a canonical name", name, line)
		}
		if _, err := time.Parse(time.DateOnly, a.ValidFrom); a.ValidFrom != "" && err != nil {
			return nil, fmt.Errorf("%s line %d: valid_from %q: want YYYY-MM-DD, or nothing for always", name, line, a.ValidFrom)
		}
		all = append(all, a)
	}
}

// withCanonical adds each canonical name as an alias of itself, unless it is declared as an alias. A name that the
// source already spells that way then counts as known.
func withCanonical(aliases []Alias) []Alias {
	known := map[string]bool{}
	for _, a := range aliases {
		known[a.Alias] = true
	}
	for _, a := range slices.Clone(aliases) {
		if !known[a.Canonical] {
			known[a.Canonical] = true
			aliases = append(aliases, Alias{Alias: a.Canonical, Canonical: a.Canonical})
		}
	}
	return aliases
}

// fillAliases replaces the rows of the alias tables, unless Aliases.Keep is set.
func (c *Catalog) fillAliases(ctx context.Context, conn *stdsql.Conn) error {
	if c.Aliases.Keep {
		return nil
	}
	if _, err := conn.ExecContext(ctx, "UPDATE _dealflow.catalog SET alias_version = ?", c.Aliases.Version); err != nil {
		return err
	}
	for table, aliases := range map[string][]Alias{"bank_alias": c.Aliases.Banks, "borrower_alias": c.Aliases.Borrowers} {
		if err := fillNames(ctx, conn, table, aliases); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}

func fillNames(ctx context.Context, conn *stdsql.Conn, table string, aliases []Alias) error {
	if _, err := conn.ExecContext(ctx, "DELETE FROM _dealflow."+table); err != nil || len(aliases) == 0 {
		return err
	}
	data, err := json.Marshal(aliases)
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "INSERT INTO _dealflow."+table+
		` SELECT unnest(from_json(?::JSON, '[{"alias": "VARCHAR", "canonical": "VARCHAR", "valid_from": "DATE"}]'), max_depth := 2)`, string(data))
	return err
}
