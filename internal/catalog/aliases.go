package catalog

import (
	"context"
	"errors"
	"fmt"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
	"dealflow/sql/names"
)

// aliases reads the user's files of aliases. If they cannot be parsed, it warns and keeps the last catalog's aliases: a
// typing error in them must not stop a run.
func (m *Maker) aliases(ctx context.Context) (names.Declared, error) {
	aliases, err := readAliases(ctx, m.Lake)
	var wrong *aliasError
	if errors.As(err, &wrong) {
		m.Log.Warn("the aliases cannot be read; if the previous catalog can be extended, its aliases stay", "error", wrong)
		return names.Declared{Keep: true}, nil
	}
	return aliases, err
}

// aliasError is an error in the content of a lake's files of aliases.
type aliasError struct{ err error }

func (e *aliasError) Error() string { return e.err.Error() }
func (e *aliasError) Unwrap() error { return e.err }

func readAliases(ctx context.Context, l *load.Lake) (names.Declared, error) {
	var files [3][]byte
	for i, key := range lake.UserFiles() {
		data, err := l.Object(ctx, key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return names.Declared{}, err
		}
		files[i] = data
	}
	aliases, err := names.Parse(files[0], files[1], files[2])
	if err != nil {
		return aliases, &aliasError{fmt.Errorf("aliases in %s: %w", l.Store().URL(), err)}
	}
	return aliases, nil
}
