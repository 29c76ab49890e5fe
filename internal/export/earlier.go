package export

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// earlier is the exports that are in a target. Their keys are listed at once; a manifest is read when it is asked for,
// because after a year of syncs there may be a hundred thousand.
type earlier struct {
	target store.Store
	keys   []commitRange // the newest end first
}

// commitRange is the commits of an export, by their numbers: after from, up to to.
type commitRange struct{ from, to int64 }

func (r commitRange) key() string { return manifestKey(r.from, r.to) }

// sideBySide is the number of manifests that are read at a time.
const sideBySide = 16

func listEarlier(ctx context.Context, target store.Store) (*earlier, error) {
	e := &earlier{target: target}
	for object, err := range target.List(ctx, manifestPrefix) {
		if err != nil {
			return nil, fmt.Errorf("list the exports in %s: %w", target.URL(), err)
		}
		var r commitRange
		if _, err := fmt.Sscanf(object.Key, manifestPrefix+"%d-%d.json", &r.from, &r.to); err != nil || r.key() != object.Key {
			return nil, fmt.Errorf("%s of %s is no manifest of an export: its name is not FROM-TO.json; use another target", object.Key, target.URL())
		}
		e.keys = append(e.keys, r)
	}
	slices.SortFunc(e.keys, func(a, b commitRange) int { return cmp.Or(cmp.Compare(b.to, a.to), cmp.Compare(b.from, a.from)) })
	return e, nil
}

// read reads manifests, in the order of their keys.
func (e *earlier) read(ctx context.Context, keys []commitRange) ([]*Manifest, error) {
	found := make([]*Manifest, len(keys))
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(sideBySide)
	for i, r := range keys {
		reading.Go(func() (err error) {
			found[i], err = readManifest(ctx, e.target, r.key())
			return err
		})
	}
	return found, reading.Wait()
}

// find returns the manifest of an export; nil if there is none.
func (e *earlier) find(ctx context.Context, r commitRange) (*Manifest, error) {
	if !slices.Contains(e.keys, r) {
		return nil, nil
	}
	return readManifest(ctx, e.target, r.key())
}

// newest returns the manifest of the newest export; nil if there is none.
func (e *earlier) newest(ctx context.Context) (*Manifest, error) {
	if len(e.keys) == 0 {
		return nil, nil
	}
	return readManifest(ctx, e.target, e.keys[0].key())
}

// where returns the manifests of the exports whose commits are wanted.
func (e *earlier) where(ctx context.Context, wanted func(commitRange) bool) ([]*Manifest, error) {
	return e.read(ctx, slices.DeleteFunc(slices.Clone(e.keys), func(r commitRange) bool { return !wanted(r) }))
}

// lastCommits returns, for each table that was exported, the commit with which its newest export ended. It reads the
// newest manifests first, until it has met the tables of these names, or all if there are none: of a target with all tables, one.
func (e *earlier) lastCommits(ctx context.Context, names []string) (map[string]lake.NamedCommit, error) {
	last := map[string]lake.NamedCommit{}
	wanted := names
	if wanted == nil {
		for _, table := range lake.Tables() {
			wanted = append(wanted, table.Name)
		}
	}
	isMissing := func(name string) bool { _, met := last[name]; return !met }
	step := 1
	for rest := e.keys; len(rest) > 0 && slices.ContainsFunc(wanted, isMissing); step = sideBySide {
		some := rest[:min(step, len(rest))]
		rest = rest[len(some):]
		manifests, err := e.read(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, m := range manifests {
			for _, name := range m.tableNames() {
				if _, met := last[name]; !met {
					last[name] = m.To
				}
			}
		}
	}
	return last, nil
}
