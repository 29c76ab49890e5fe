package catalog

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
	"dealflow/sql/names"
)

// aliases reads the user's files of aliases. If they cannot be parsed, it warns and keeps the last catalog's aliases: a
// typing error in them must not stop a run.
func (m *Maker) aliases(ctx context.Context) (names.Declared, error) {
	if m.declared != nil {
		return *m.declared, nil
	}
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
	reading, ctx := errgroup.WithContext(ctx)
	for i, key := range lake.UserFiles() {
		reading.Go(func() (err error) {
			if files[i], err = l.Object(ctx, key); errors.Is(err, store.ErrNotFound) {
				return nil
			}
			return err
		})
	}
	if err := reading.Wait(); err != nil {
		return names.Declared{}, err
	}
	aliases, err := names.Parse(files[0], files[1], files[2])
	if err != nil {
		return aliases, &aliasError{fmt.Errorf("aliases in %s: %w", l.Store().URL(), err)}
	}
	return aliases, nil
}
