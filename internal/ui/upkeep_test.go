package ui_test

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"dealflow/internal/maintain"
	"dealflow/internal/testkit/s3test"
	"dealflow/internal/testkit/world"
	"dealflow/internal/ui/asof"
	"dealflow/serve/sim"
)

// upkeep is what can be done to a lake, by name. None of it changes what was known at an earlier instant.
var upkeep = map[string]func(*testing.T, *world.World){
	"pull again": func(t *testing.T, w *world.World) {
		w.Later(time.Hour)
		w.MustRun(t)
	},
	"sync": func(t *testing.T, w *world.World) {
		w.Later(5 * time.Hour)
		w.MustSync(t)
	},
	"drop the day and pull again": func(t *testing.T, w *world.World) {
		commits := w.Log(t).Commits
		newest := ""
		for i := range commits {
			newest = max(newest, commits[i].SnapshotDate)
		}
		if _, err := maintain.Expire(t.Context(), maintain.ExpireConfig{Config: w.Upkeep(t), DropDay: newest, Apply: true}); err != nil {
			t.Fatal(err)
		}
		w.MustRun(t)
	},
	"compact": func(t *testing.T, w *world.World) { w.MustCompact(t) },
	"replay":  func(t *testing.T, w *world.World) { w.MustReplay(t, "snapshots", "force") },
	"expire":  func(t *testing.T, w *world.World) { w.MustExpire(t, maintain.Retention{Days: 1}, true) },
}

// TestUpkeepKeepsPages does each of these to a lake in a folder, and all of them to one on S3, and compares the pages as of
// earlier instants with what they were before.
func TestUpkeepKeepsPages(t *testing.T) {
	if os.Getenv("TEST_UPKEEP") == "" {
		t.Skip("TestExplorer has a sample; TEST_UPKEEP=1 tries all")
	}
	for _, name := range append(slices.Sorted(maps.Keys(upkeep)), "S3") {
		t.Run(name, func(t *testing.T) {
			w := world.New(t, sim.Config{Seed: 2, Deals: 12})
			todo := []string{name}
			if name == "S3" {
				w = w.WithStore(s3test.Start(t, s3test.Options{}).Store(t, "lake"))
				todo = slices.Sorted(maps.Keys(upkeep))
			}
			w.Night(t, 0)
			w.Night(t, 2)
			e := serve(t, w)
			before := map[string]map[string]string{}
			for _, c := range w.Log(t).Commits {
				base := "/as-of/" + asof.Path(c.KnownAt) + "/"
				before[base] = e.crawl(t, base, 2)
			}
			for _, one := range todo {
				upkeep[one](t, w)
			}
			w.Night(t, 4)
			for base, was := range before {
				if len(was) < 40 {
					t.Errorf("%s: %d pages: the crawl sees too little", base, len(was))
				}
				compare(t, was, e.crawl(t, base, 2))
			}
		})
	}
}
