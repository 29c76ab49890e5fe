// Package names reads the files in which users name banks, borrowers and roles.
// Takes: the bytes of banks.csv, borrowers.csv and roles.csv.
// Gives: their rows, and a version of them.
// Keeps: two lines that contradict each other are an error; none of them wins.
// Fails: with an error that names the file, the line and what is wrong.
// May change here: the files' columns.
package names

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Declared maps names of banks and borrowers to canonical names, and says which roles of banks are a lead's.
type Declared struct {
	Banks, Borrowers []Alias
	Roles            []Role // they take precedence over the roles that a catalog knows
	Version          string // a hash of the declared files; "" if there are none
	Keep             bool   // the files cannot be read: keep the aliases of the previous catalog, if there is one
}

// Role is a bank's role in a bond deal.
type Role struct {
	Role   string `json:"role"`
	IsLead bool   `json:"is_lead"`
}

// Alias is one name of a bank or borrower. From ValidFrom on, or always, it means the canonical name.
type Alias struct {
	Alias     string `json:"alias"`
	Canonical string `json:"canonical"`
	ValidFrom string `json:"valid_from,omitempty"` // YYYY-MM-DD; "" for always
}

// The first lines of the files.
const (
	aliasHeading = "alias,canonical,valid_from"
	roleHeading  = "role,lead"
)

// Parse reads the files of aliases (alias,canonical,valid_from) and of roles (role,lead) as CSV; nil for a missing
// file. The error names the file, the line and what is wrong.
func Parse(banks, borrowers, roles []byte) (Declared, error) {
	var a Declared
	var bankErr, borrowerErr, roleErr error
	a.Banks, bankErr = parseAliases("banks.csv", banks)
	a.Borrowers, borrowerErr = parseAliases("borrowers.csv", borrowers)
	a.Roles, roleErr = parseRoles("roles.csv", roles)
	if len(banks)+len(borrowers)+len(roles) > 0 {
		files := fmt.Appendf(nil, "%d %s%s", len(banks), banks, borrowers)
		if len(roles) > 0 {
			files = fmt.Appendf(files, "\n%d roles %s", len(roles), roles)
		}
		sum := sha256.Sum256(files)
		a.Version = hex.EncodeToString(sum[:8])
	}
	return a, errors.Join(bankErr, borrowerErr, roleErr)
}

func parseAliases(name string, data []byte) (all []Alias, err error) {
	said := map[string]string{}
	err = readCSV(name, aliasHeading, data, func(record []string) error {
		a := Alias{Alias: record[0], Canonical: record[1], ValidFrom: record[2]}
		if a.Alias == "" || a.Canonical == "" {
			return errors.New("want both an alias and a canonical name")
		}
		if _, err := time.Parse(time.DateOnly, a.ValidFrom); a.ValidFrom != "" && err != nil {
			return fmt.Errorf("valid_from %q: want YYYY-MM-DD, or nothing for always", a.ValidFrom)
		}
		if err := say(said, foldName(a.Alias)+" from "+a.ValidFrom, a.Canonical); err != nil {
			return fmt.Errorf("alias %q: %w", a.Alias, err)
		}
		all = append(all, a)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return withCanonical(all), nil
}

// say records the meaning that a file gives to a key. It fails if an earlier line gives another one.
func say(said map[string]string, key, meaning string) error {
	before, ok := said[key]
	if ok && before != meaning {
		return fmt.Errorf("it is %q here, and %q in an earlier line: keep one of them", meaning, before)
	}
	said[key] = meaning
	return nil
}

// foldName spells a name as analyses compare it: in lower case, with single spaces.
func foldName(name string) string {
	return smallLetters.Replace(strings.ToLower(strings.Join(strings.Fields(name), " ")))
}

// smallLetters are small letters that have no capital of their own.
var smallLetters = strings.NewReplacer("ς", "σ", "ß", "ss")

func parseRoles(name string, data []byte) (all []Role, err error) {
	said := map[string]string{}
	err = readCSV(name, roleHeading, data, func(record []string) error {
		lead := strings.ToLower(record[1])
		if record[0] == "" || lead != "true" && lead != "false" {
			return fmt.Errorf("role %q, lead %q: want a role, and true or false", record[0], record[1])
		}
		if err := say(said, foldName(record[0]), lead); err != nil {
			return fmt.Errorf("role %q: %w", record[0], err)
		}
		all = append(all, Role{record[0], lead == "true"})
		return nil
	})
	return all, err
}

// readCSV passes the records of a file with a heading to add, without white space around the values. Errors name the
// file and the line.
func readCSV(name, heading string, data []byte, add func(record []string) error) error {
	if len(data) == 0 {
		return nil
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if !utf8.Valid(line) {
			return fmt.Errorf("%s line %d: not valid UTF-8; save the file as UTF-8", name, i+1)
		}
	}
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	in.FieldsPerRecord = strings.Count(heading, ",") + 1
	first, err := in.Read()
	if err == nil && strings.Join(first, ",") != heading {
		err = fmt.Errorf("its first line is %q", strings.Join(first, ","))
	}
	if err != nil {
		return fmt.Errorf("%s: %w; want the heading %s", name, err, heading)
	}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for i := range record {
			record[i] = strings.TrimSpace(record[i])
		}
		line, _ := in.FieldPos(0)
		if err := add(record); err != nil {
			return fmt.Errorf("%s line %d: %w", name, line, err)
		}
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
