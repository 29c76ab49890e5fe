package iceberg

import (
	"cmp"
	"context"
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
	states := &stateCache{store: s, states: map[string]*stored{}}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(putsAtOnce)
	for _, key := range keptMetadata(n.listed, named, now.Add(-grace)) {
		group.Go(func() error {
			table, stateKeys, err := states.ofTable(ctx, key)
			if err != nil {
				return fmt.Errorf("what the Iceberg metadata %s needs cannot be read: %w; run `dealflow iceberg off`, or restore it", key, err)
			}
			mu.Lock()
			defer mu.Unlock()
			n.objects[key] = true
			for _, stateKey := range stateKeys {
				n.objects[stateKey] = true
			}
			n.objects[key[:strings.LastIndexByte(key, '/')+1]+hintName] = true
			table.objects(func(o object) { n.objects[o.Key] = true })
			for data := range table.dataFiles() {
				n.Data[data] = true
			}
			return nil
		})
	}
	return n, group.Wait()
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

// stateCache reads each state once.
type stateCache struct {
	store  store.Store
	mu     sync.Mutex
	states map[string]*stored
}

// ofTable returns the state of the table whose metadata has a key, and the keys of the objects that it is read from.
func (c *stateCache) ofTable(ctx context.Context, metadataKey string) (*tableState, []string, error) {
	var m struct {
		Properties map[string]string `json:"properties"`
	}
	if err := readJSON(ctx, c.store, metadataKey, &m); err != nil {
		return nil, nil, err
	}
	key := m.Properties[stateProperty]
	if !strings.HasPrefix(key, lake.IcebergPrefix) {
		return nil, nil, fmt.Errorf("property %s is %q, want a key under %s", stateProperty, key, lake.IcebergPrefix)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.states[key]
	if s == nil {
		var err error
		if s, err = readState(ctx, c.store, key); err != nil {
			return nil, nil, err
		}
		c.states[key] = s
	}
	parts := strings.Split(strings.TrimPrefix(metadataKey, lake.IcebergPrefix), "/")
	table := s.Tables[parts[0]+"."+parts[1]]
	if table == nil {
		return nil, nil, fmt.Errorf("%s does not have the table", key)
	}
	return table, []string{key, s.baseKey}, nil
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
