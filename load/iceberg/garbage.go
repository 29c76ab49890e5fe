package iceberg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Needed is what readers of published tables may still read. A table's newest metadata is needed, that which is
// published, and that which was the newest within the grace.
type Needed struct {
	Data    map[string]bool // keys of data files
	objects map[string]bool // keys under lake.IcebergPrefix
	listed  []store.Object  // that exist there
}

// FindNeeded finds what is needed at an instant of the store's clock. An error means that nothing may be deleted.
func FindNeeded(ctx context.Context, s store.Store, now time.Time, grace time.Duration) (*Needed, error) {
	n := &Needed{Data: map[string]bool{}, objects: map[string]bool{settingsKey: true, PublishedKey: true}}
	for object, err := range s.List(ctx, lake.IcebergPrefix) {
		if err != nil {
			return nil, err
		}
		n.listed = append(n.listed, object)
	}
	if len(n.listed) == 0 {
		return n, nil
	}
	published, err := ReadPublished(ctx, s)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	if published != nil {
		for i := range published.Tables {
			named[published.Tables[i].Metadata()] = true
		}
	}
	kept, err := byState(ctx, s, keptMetadata(n.listed, named, now.Add(-grace)))
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(statesAtOnce)
	for key, metadata := range kept {
		group.Go(func() error {
			state, err := readState(ctx, s, key)
			if err != nil {
				return unreadable(metadata[0], err)
			}
			mu.Lock()
			defer mu.Unlock()
			n.objects[key], n.objects[state.baseKey] = true, true
			for _, m := range metadata {
				if err := n.add(state, m); err != nil {
					return unreadable(m, err)
				}
			}
			return nil
		})
	}
	return n, group.Wait()
}

// statesAtOnce is the number of states that are in memory at once: each has all files of all tables.
const statesAtOnce = 2

// add adds what a table's metadata needs. state is the one from which it was made.
func (n *Needed) add(state *stored, metadataKey string) error {
	parts := strings.Split(strings.TrimPrefix(metadataKey, lake.IcebergPrefix), "/")
	table := state.Tables[parts[0]+"."+parts[1]]
	if table == nil {
		return errors.New("its state does not have the table")
	}
	n.objects[metadataKey] = true
	n.objects[metadataKey[:strings.LastIndexByte(metadataKey, '/')+1]+hintName] = true
	table.objects(func(o object) { n.objects[o.Key] = true })
	for data := range table.dataFiles() {
		n.Data[data] = true
	}
	return nil
}

// byState returns the keys of metadata by that of the state from which it was made.
func byState(ctx context.Context, s store.Store, metadata []string) (map[string][]string, error) {
	keys := make([]string, len(metadata))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(putsAtOnce)
	for i, key := range metadata {
		group.Go(func() error {
			var m struct {
				Properties map[string]string `json:"properties"`
			}
			if err := readJSON(ctx, s, key, &m); err != nil {
				return unreadable(key, err)
			}
			if keys[i] = m.Properties[stateProperty]; !strings.HasPrefix(keys[i], lake.IcebergPrefix) {
				return unreadable(key, fmt.Errorf("property %s is %q, want a key under %s", stateProperty, keys[i], lake.IcebergPrefix))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	byState := map[string][]string{}
	for i, key := range keys {
		byState[key] = append(byState[key], metadata[i])
	}
	return byState, nil
}

func unreadable(metadataKey string, err error) error {
	return fmt.Errorf("what the Iceberg metadata %s needs cannot be read: %w; run `dealflow iceberg off`, or restore it", metadataKey, err)
}

// Garbage returns the objects that are not needed, and were put before an instant of the store's clock.
func (n *Needed) Garbage(before time.Time) []store.Object {
	return slices.DeleteFunc(slices.Clone(n.listed), func(o store.Object) bool { return n.objects[o.Key] || !o.Modified.Before(before) })
}

// keptMetadata returns the keys of the metadata that readers may still use: of each table the newest, that which is
// named, and each that was replaced at or after an instant.
func keptMetadata(listed []store.Object, named map[string]bool, since time.Time) []string {
	type version struct {
		number int64
		object store.Object
	}
	versions := map[string][]version{} // by folder
	for _, object := range listed {
		if number, ok := metadataVersion(object.Key); ok {
			folder := object.Key[:strings.LastIndexByte(object.Key, '/')]
			versions[folder] = append(versions[folder], version{number, object})
		}
	}
	var kept []string
	for _, all := range versions {
		slices.SortFunc(all, func(a, b version) int { return cmp.Compare(a.number, b.number) })
		for i, v := range all {
			if i == len(all)-1 || named[v.object.Key] || !all[i+1].object.Modified.Before(since) {
				kept = append(kept, v.object.Key)
			}
		}
	}
	slices.Sort(kept)
	return kept
}

// Off removes the tables: no reader finds them from then on. What names metadata goes first, so that nothing names absent metadata.
// expire deletes the other objects after their grace, because a reader may have begun.
func Off(ctx context.Context, s store.Store) error {
	var hints, metadata []string
	for object, err := range s.List(ctx, lake.IcebergPrefix) {
		if err != nil {
			return err
		}
		if strings.HasSuffix(object.Key, "/"+hintName) {
			hints = append(hints, object.Key)
		} else if _, ok := metadataVersion(object.Key); ok {
			metadata = append(metadata, object.Key)
		}
	}
	for _, keys := range [][]string{{PublishedKey}, hints, metadata} {
		for batch := range slices.Chunk(keys, deleteBatch) {
			if err := s.Delete(ctx, batch...); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteBatch is the number of objects that one request deletes: S3's limit.
const deleteBatch = 1000

// PinnedBytes returns the size of the data files that are no part of the lake any more, and that published tables name.
func PinnedBytes(ctx context.Context, l *load.Lake, now time.Time) (sum int64, err error) {
	needed, err := FindNeeded(ctx, l.Store(), now, 0)
	if err != nil || len(needed.Data) == 0 {
		return 0, err
	}
	for _, prefix := range lake.DataPrefixes() {
		for object, err := range l.Store().List(ctx, prefix) {
			if err != nil {
				return 0, err
			}
			if needed.Data[object.Key] && !l.Log().Live(object.Key) {
				sum += object.Size
			}
		}
	}
	return sum, nil
}
