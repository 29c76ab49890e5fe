package iceberg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
// published or hinted at, and that which was within the grace.
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
	hints := slices.DeleteFunc(keysOf(n.listed), func(key string) bool { return !strings.HasSuffix(key, "/"+hintName) })
	served, err := readHints(ctx, s, hints)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, key := range served {
		named[key] = true
	}
	if published != nil {
		for i := range published.Tables {
			named[published.Tables[i].Metadata()] = true
		}
	}
	since := now.Add(-grace)
	kept, err := byState(ctx, s, keptMetadata(n.listed, named, since), never)
	if err != nil {
		return nil, err
	}
	present := maps.Clone(kept) // states of metadata that exists
	if err := n.addReplaced(ctx, s, since, kept); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(statesAtOnce)
	for key, metadata := range kept {
		group.Go(func() error {
			state, err := readState(ctx, s, key)
			switch {
			case errors.Is(err, store.ErrNotFound) && present[key] == nil:
				return nil // it was removed by hand after the tables
			case err != nil && present[key] == nil:
				return fmt.Errorf("what replaced Iceberg tables need cannot be read: %w; restore it, or delete it", err)
			case err != nil:
				return unreadable(metadata[0], err)
			}
			slices.Sort(metadata)
			mu.Lock()
			defer mu.Unlock()
			n.objects[key], n.objects[state.baseKey] = true, true
			for _, m := range slices.Compact(metadata) {
				if err := n.add(state, m); err != nil {
					return unreadable(m, fmt.Errorf("%s: %w", key, err))
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
	if len(parts) < 2 || state.Tables[parts[0]+"."+parts[1]] == nil {
		return errors.New("the state does not have the table")
	}
	table := state.Tables[parts[0]+"."+parts[1]]
	n.objects[metadataKey] = true
	n.objects[metadataKey[:strings.LastIndexByte(metadataKey, '/')+1]+hintName] = true
	table.objects(func(o object) { n.objects[o.Key] = true })
	for data := range table.dataFiles() {
		n.Data[data] = true
	}
	return nil
}

func unreadable(metadataKey string, err error) error {
	return fmt.Errorf("what the Iceberg metadata %s needs cannot be read: %w; run `dealflow iceberg off`, or restore it", metadataKey, err)
}

// Garbage returns the objects that are not needed, and were put before an instant of the store's clock.
func (n *Needed) Garbage(before time.Time) []store.Object {
	return slices.DeleteFunc(slices.Clone(n.listed), func(o store.Object) bool { return n.objects[o.Key] || !o.Modified.Before(before) })
}

// keptMetadata returns the keys of the metadata that readers may still use: of each table the newest, that which is
// named, and each whose next version was put at or after an instant. Only of what earlier programs have published nothing else
// says when it was replaced.
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

func keysOf(objects []store.Object) []string {
	keys := make([]string, len(objects))
	for i := range objects {
		keys[i] = objects[i].Key
	}
	return keys
}

// Off removes the tables: no reader finds them from then on. What names metadata goes first, so that nothing names absent metadata.
// expire deletes the other objects after their grace, because a reader may have begun: what all metadata needed counts as replaced
// now, except metadata that cannot be read.
func Off(ctx context.Context, s store.Store) error {
	settings, err := ReadSettings(ctx, s)
	if err != nil {
		return err
	}
	last := settings.LastVersion
	var hints, metadata []string
	for object, err := range s.List(ctx, lake.IcebergPrefix) {
		if err != nil {
			return err
		}
		if strings.HasSuffix(object.Key, "/"+hintName) {
			hints = append(hints, object.Key)
		} else if version, ok := metadataVersion(object.Key); ok {
			metadata = append(metadata, object.Key)
			last = max(last, version)
		}
	}
	states, err := byState(ctx, s, metadata, isUseless)
	if err != nil {
		return err
	}
	if len(states) > 0 {
		if _, err := putReplaced(ctx, s, states); err != nil {
			return err
		}
	}
	if last > settings.LastVersion {
		settings.LastVersion = last
		if err := WriteSettings(ctx, s, settings); err != nil {
			return err
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
