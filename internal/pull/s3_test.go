package pull_test

import (
	"fmt"
	"slices"
	"testing"

	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/s3test"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// TestTruthOnS3 is TestTruth with the lake on a real S3 server: the catalog is built over remote files, published
// there, fetched, and read through the cache.
func TestTruthOnS3(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 7, Deals: 25})
	w.Store = s3test.Start(t, s3test.Options{}).Store(t, "truth")
	world.CheckNights(t, w, 3)
	w.Later(1)
	world.WantSound(t, w.Store)
}

// TestMetamorphic pulls the same nights in different ways: the versions and the bytes of the seventeen tables are the
// same.
func TestMetamorphic(t *testing.T) {
	t.Parallel()
	var want []string
	type way struct {
		name    string
		prepare func(t *testing.T, w *world.World)
		change  world.Change
	}
	for _, way := range testkit.Sample([]way{
		{"plain", func(*testing.T, *world.World) {}, func(*pull.Config) {}},
		{"pages of one", func(_ *testing.T, w *world.World) { w.Pages = 1 }, func(*pull.Config) {}},
		{"pages of a thousand", func(_ *testing.T, w *world.World) { w.Pages = 1000 }, func(*pull.Config) {}},
		{"one worker", func(*testing.T, *world.World) {}, func(c *pull.Config) { c.Workers = 1 }},
		{"eight workers", func(*testing.T, *world.World) {}, func(c *pull.Config) { c.Workers = 8 }},
		{"memory", func(_ *testing.T, w *world.World) { w.Store = new(memstore.Mem) }, func(*pull.Config) {}},
		{"S3", func(t *testing.T, w *world.World) { w.Store = s3test.Start(t, s3test.Options{}).Store(t, "lake") }, func(*pull.Config) {}},
	}, 1) {
		w := world.New(t, sim.Config{Seed: 12, Deals: 20})
		w.Stretch = 8
		way.prepare(t, w)
		for night := range 3 {
			w.Night(t, 3*night, world.Quiet, way.change)
		}
		got := world.Sums(w.Log(t))
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got other files than plain", way.name)
		}
	}
	if tables := foldersOf(want); tables != 2*17 {
		t.Errorf("%d tables have files, want snapshots and history of all 17", tables)
	}
}

// TestMetamorphicSyncs checks that syncs lead to the same contents of all deals, and to the same versions if syncs saw
// no more changes than the nights did.
func TestMetamorphicSyncs(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	contents := func(syncs bool) map[api.Feed]map[int64]lake.Digest {
		w := world.New(t, sim.Config{Seed: 13, Deals: 30})
		w.Store = new(memstore.Mem)
		for night := range 4 {
			if syncs && night > 0 {
				w.Clock.Set(world.Epoch.AddDate(0, 0, night).Add(15 * 3600e9))
				w.MustSync(t, world.Quiet)
			}
			w.Evening(night)
			if _, err := w.Run(t, world.Quiet); err != nil {
				t.Fatal(err)
			}
		}
		l, err := load.Open(t.Context(), w.Store)
		if err != nil {
			t.Fatal(err)
		}
		latest, err := l.Latest(t.Context(), testkit.Allocator(t))
		if err != nil {
			t.Fatal(err)
		}
		live := map[api.Feed]map[int64]lake.Digest{}
		for feed, deals := range latest {
			live[feed] = map[int64]lake.Digest{}
			for id, latest := range deals {
				if !latest.Removed {
					live[feed][id] = latest.ContentHash
				}
			}
		}
		world.WantSound(t, w.Store)
		return live
	}
	with, without := contents(true), contents(false)
	if got, want := fmt.Sprint(with), fmt.Sprint(without); got != want {
		t.Error("with syncs in between the deals that stand differ from those without")
	}
}
