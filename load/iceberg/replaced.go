package iceberg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// published.json and the hints say which metadata readers are given. What they are given no more must stay for the grace: an
// object under replacedPrefix says what that was, and the store dates it. The dates of metadata do not say it: a
// publication that failed has put some that no reader was given.

// replacedPrefix begins the keys of the objects that say what was replaced.
const replacedPrefix = lake.IcebergPrefix + "replaced/"

// replaced is metadata that readers were given until the object was put.
type replaced struct {
	FormatVersion int                 `json:"format_version"`
	States        map[string][]string `json:"states"` // keys of metadata by that of the state from which it was made
}

// putReplaced says that readers are given some metadata no more. If that was said before, it is said again now.
func putReplaced(ctx context.Context, s store.Store, states map[string][]string) (size int, err error) {
	for _, metadata := range states {
		slices.Sort(metadata)
	}
	data, err := json.Marshal(&replaced{FormatVersion: formatVersion, States: states})
	if err != nil {
		return 0, err
	}
	key := fmt.Sprintf("%s%.24s.json", replacedPrefix, lake.SHA256(data))
	return len(data), s.Put(ctx, key, bytes.NewReader(data), store.Replace)
}

// addReplaced adds what was replaced at or after an instant to the keys of metadata by state.
func (n *Needed) addReplaced(ctx context.Context, s store.Store, since time.Time, states map[string][]string) error {
	for _, o := range n.listed {
		if !strings.HasPrefix(o.Key, replacedPrefix) || o.Modified.Before(since) {
			continue
		}
		var r replaced
		if err := readJSON(ctx, s, o.Key, &r); err != nil {
			return err
		}
		if r.FormatVersion > formatVersion {
			return newer(o.Key, r.FormatVersion, formatVersion)
		}
		n.objects[o.Key] = true
		for state, metadata := range r.States {
			states[state] = append(states[state], metadata...)
		}
	}
	return nil
}

// readHints returns the keys of the metadata that hints name. A hint that is absent, or no number, leads no reader anywhere.
func readHints(ctx context.Context, s store.Store, hints []string) ([]string, error) {
	named := make([]string, len(hints))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, key := range hints {
		group.Go(func() error {
			text, err := store.Read(ctx, s, key)
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			if err == nil {
				named[i], _ = hinted(key, text)
			}
			return err
		})
	}
	err := group.Wait()
	return slices.DeleteFunc(named, func(key string) bool { return key == "" }), err
}

// hinted returns the key of the metadata that a hint names; false for a text that is no version.
func hinted(hintKey string, text []byte) (metadataKey string, ok bool) {
	version, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || version < 1 {
		return "", false
	}
	return strings.TrimSuffix(hintKey, hintName) + metadataName(version), true
}

// errNoState is the error of metadata that does not say from which state it was made.
var errNoState = errors.New("it names no state")

// stateOf returns the key of the state from which metadata was made.
func stateOf(ctx context.Context, s store.Store, metadataKey string) (string, error) {
	data, err := store.Read(ctx, s, metadataKey)
	if err != nil {
		return "", err
	}
	var m struct {
		Properties map[string]string `json:"properties"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return "", fmt.Errorf("%w: %w", errNoState, err)
	}
	key := m.Properties[stateProperty]
	if !strings.HasPrefix(key, lake.IcebergPrefix) {
		return "", fmt.Errorf("%w: property %s is %q, want a key under %s", errNoState, stateProperty, key, lake.IcebergPrefix)
	}
	return key, nil
}

// byState returns the keys of metadata by that of the state from which it was made. skip says after which errors metadata is left
// out.
func byState(ctx context.Context, s store.Store, metadata []string, skip func(error) bool) (map[string][]string, error) {
	var mu sync.Mutex
	states := map[string][]string{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, key := range metadata {
		group.Go(func() error {
			state, err := stateOf(ctx, s, key)
			switch {
			case err == nil:
				mu.Lock()
				defer mu.Unlock()
				states[state] = append(states[state], key)
			case !skip(err):
				return unreadable(key, err)
			}
			return nil
		})
	}
	return states, group.Wait()
}

// isUseless says whether no reader can be using metadata that could not be read.
func isUseless(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, errNoState)
}

// never is the skip of byState that leaves nothing out.
func never(error) bool { return false }

// recordReplaced says what a publication is about to replace: what is published, unless that has the given state, and what
// hints name that a failed publication did not replace. The last hint is put after all others: if it names what is published,
// they do.
func (p *publication) recordReplaced(ctx context.Context, before *Published, state string) error {
	if before.State == "" {
		return nil // nothing was published, or Off has said what was
	}
	all := Tables()
	last := all[len(all)-1]
	published := map[string]bool{}
	for i := range before.Tables {
		published[before.Tables[i].Metadata()] = true
	}
	served, err := readHints(ctx, p.store, []string{last.hintKey()})
	if err != nil {
		return err
	}
	if at := before.find(last); at == nil || !slices.Contains(served, at.Metadata()) {
		hints := make([]string, len(all))
		for i, t := range all {
			hints[i] = t.hintKey()
		}
		if served, err = readHints(ctx, p.store, hints); err != nil {
			return err
		}
	}
	behind := slices.DeleteFunc(served, func(key string) bool { return published[key] })
	states, err := byState(ctx, p.store, behind, isUseless)
	if err != nil {
		return err
	}
	if before.State != state {
		for key := range published {
			states[before.State] = append(states[before.State], key)
		}
	}
	if len(states) == 0 {
		return nil
	}
	n, err := putReplaced(ctx, p.store, states)
	p.count(n)
	return err
}
