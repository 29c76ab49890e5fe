package export

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dealflow/schemas/lake"
)

// Since says where an export begins: after a commit.
type Since struct {
	Full   bool   // before the first commit
	Last   bool   // after the last commit of the newest export in the target
	Number int64  // of the commit, unless Full or Last
	SHA256 string // of the commit, or the beginning of it; "" if the caller does not know it
}

// ErrUsage is the error for what the caller asks for, and what no lake could answer.
var ErrUsage = errors.New("cannot export")

// ErrFork means that the lake has another commit in the place of one that was exported.
var ErrFork = errors.New("the lake is not the one that was exported")

// minHash is the least length of the beginning of a hash that identifies a commit.
const minHash = 12

// ParseSince reads "last", the number of a commit, or number:SHA-256.
func ParseSince(text string) (Since, error) {
	if text == "last" {
		return Since{Last: true}, nil
	}
	number, hash, named := strings.Cut(text, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	isHash := len(hash) >= minHash && len(hash) <= 64 && strings.Trim(hash, "0123456789abcdef") == ""
	if err != nil || n < 1 || named && !isHash {
		return Since{}, fmt.Errorf("%w: %q: want last, the number of a commit such as 41, or 41:SHA-256 as in a manifest", ErrUsage, text)
	}
	return Since{Number: n, SHA256: hash}, nil
}

// forkError says what the lake has in place of a commit. found is its commit with that number; zero for none.
func forkError(wanted, found lake.NamedCommit) error {
	has := "and ends before it"
	if found.Number > 0 {
		has = "and has " + found.String()
	}
	return fmt.Errorf("%w: the last export ended with %s, %s. Either a commit was lost (run `dealflow verify`), or this is another lake; to begin again, run `dealflow export --full` with a new target", ErrFork, wanted, "the lake does not have that commit, "+has)
}
