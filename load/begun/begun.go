// Package begun keeps the mark that a copy or an upgrade of a lake leaves in the lake that it makes.
// Takes: a store, and the number of the newest commit that a reader finds there.
// Gives: an error, with the command that goes on, if the copy or the upgrade has not finished.
// Keeps: a lake that is half made is neither read as a whole one nor written to.
// Fails: an object that is no mark names its key.
// May change here: what the mark says; fields are only ever added.
package begun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Mark is the object under lake.BegunKey, in a lake that was made from another one.
type Mark struct {
	Command string `json:"command"` // "copy" or "upgrade"
	From    string `json:"from"`    // URL of the other lake

	// Until is the last commit of a later call that puts its commits from the last to the first, so that some may stay
	// after those that a reader finds; 0 for none.
	Until int64 `json:"until,omitempty"`
}

// Read returns the mark of a lake; nil for a lake without one.
func Read(ctx context.Context, s store.Store) (*Mark, error) {
	data, err := store.Read(ctx, s, lake.BegunKey)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	var m Mark
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", lake.BegunKey, err)
	}
	return &m, nil
}

// Write puts a mark into a lake.
func (m *Mark) Write(ctx context.Context, s store.Store, mode store.PutMode) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return s.Put(ctx, lake.BegunKey, bytes.NewReader(append(data, '\n')), mode)
}

// Check returns an error for a store in which a copy or an upgrade is under way: it has files and no first commit yet, or
// commits after the newest one that a reader finds.
func Check(ctx context.Context, s store.Store, newest int64) error {
	m, err := Read(ctx, s)
	if err != nil || m == nil || newest > 0 && newest >= m.Until {
		return err
	}
	again := fmt.Sprintf("dealflow upgrade --lake %s --to %s", m.From, s.URL())
	if m.Command == "copy" {
		again = fmt.Sprintf("dealflow copy %s %s", m.From, s.URL())
	}
	if newest == 0 {
		return fmt.Errorf("`dealflow %s` from %s has not finished; run `%s` again", m.Command, m.From, again)
	}
	return fmt.Errorf("`dealflow %s` from %s has not finished: a reader finds commits up to %d, and of the later ones up to %d some may be here; run `%s` again, or, if that lake is lost, delete what this one has of %s to %s, and %s",
		m.Command, m.From, newest, m.Until, again, lake.CommitKey(newest+1), lake.CommitKey(m.Until), lake.BegunKey)
}
