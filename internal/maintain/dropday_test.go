package maintain_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/load"
)

func dropDay(t *testing.T, w *world.World, day string, apply bool) (*maintain.ExpireResult, error) {
	t.Helper()
	return maintain.Expire(t.Context(), maintain.ExpireConfig{Config: w.Upkeep(t), DropDay: day, Apply: apply})
}

// TestDropDay takes back tomorrow's snapshot, which ended all runs of today. Then today's can be taken, the lake is sound,
// replay finds nothing to do, and the day's number can be used again.
func TestDropDay(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	b.WriteAll(world.Expected, 1, 3, "")
	feeds := world.Feeds(world.Priced, world.Expected)
	const today, tomorrow = "2026-01-05", "2026-01-06"
	w.Night(t, 0, feeds, world.Quiet, func(c *pull.Config) { c.SnapshotDate = tomorrow })
	if _, err := w.Run(t, feeds); err == nil || !strings.Contains(err.Error(), "dealflow expire --drop-day 2026-01-06 --apply") {
		t.Fatalf("a run of an earlier day: got %v, want a refusal that names the way out", err)
	}
	both := maintain.ExpireConfig{Config: w.Upkeep(t), DropDay: tomorrow, Apply: true, GarbageOnly: true}
	if result, err := maintain.Expire(t.Context(), both); err == nil {
		t.Errorf("a day to take back and garbage only: got %+v, want an error", result)
	}
	shown, err := dropDay(t, w, tomorrow, false)
	if err != nil || shown.Applied || len(shown.Expired) != 2 || w.Log(t).Number != 1 {
		t.Errorf("without apply: got %+v, %v; want two feeds, and nothing done", shown, err)
	}
	done, err := dropDay(t, w, tomorrow, true)
	if err != nil || done.Commit != 2 || done.FilesRemoved != len(world.Keys(t, w.Store))-len(keysOutside(t, w)) || done.FilesRemoved == 0 {
		t.Errorf("got %+v, %v; want commit 2, and all files of snapshots removed", done, err)
	}
	if got := daysOf(w.Log(t), "bond_priced_deals"); len(got) != 0 {
		t.Errorf("days after: %v", got)
	}
	if _, err := dropDay(t, w, tomorrow, true); err == nil || !strings.Contains(err.Error(), tomorrow) {
		t.Errorf("a second time: got %v, want an error that names the day", err)
	}
	b.Write(world.Priced, 1, `"message":"changed"`)
	result := w.MustRun(t, feeds, world.Quiet)
	if result.SnapshotDate != today || len(result.Feeds) != 2 || w.Log(t).SnapshotDay() != today {
		t.Errorf("the run after: got %+v, want both feeds of %s", result, today)
	}
	world.WantSound(t, w.Store)
	if replayed := w.MustReplay(t, "snapshots"); replayed.Commit != 0 && replayed.FilesRemoved == 0 {
		t.Errorf("replay: %+v", replayed)
	}
	world.WantSound(t, w.Store)
	w.Night(t, 1, feeds, world.Quiet)
	if got := daysOf(w.Log(t), "bond_priced_deals"); !slices.Equal(got, []string{today, tomorrow}) {
		t.Errorf("days at last: %v", got)
	}
	world.WantSound(t, w.Store)
}

// TestDropDayOvertaken has a run of the day commit between the listing of the day's files and the commit that takes it
// back: nothing is taken back until a person has seen what that run took.
func TestDropDayOvertaken(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	b.WriteAll(world.Expected, 1, 3, "")
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	cfg := w.Upkeep(t)
	first := true
	cfg.Store = &world.Overtaken{Store: w.Store, Before: func() {
		if first {
			first = false
			w.MustRun(t, world.Feeds(world.Priced, world.Expected), world.Quiet)
		}
	}}
	done, err := maintain.Expire(t.Context(), maintain.ExpireConfig{Config: cfg, DropDay: "2026-01-05", Apply: true})
	if err == nil || errors.Is(err, load.ErrConflict) || !strings.Contains(err.Error(), "commit 2 took bond/ig/expected of that day") || done.Commit != 0 || len(done.Expired) != 0 {
		t.Fatalf("got %+v, %v; want no commit, and the run that took the day", done, err)
	}
	log := w.Log(t)
	if got := append(daysOf(log, "bond_priced_deals"), daysOf(log, "bond_expected_deals")...); len(got) != 2 || log.Number != 2 {
		t.Errorf("days after the refusal: %v, commit %d", got, log.Number)
	}
	if done, err = dropDay(t, w, "2026-01-05", true); err != nil || done.Commit != 3 || len(done.Expired) != 2 {
		t.Fatalf("again: got %+v, %v; want commit 3, and both feeds", done, err)
	}
	log = w.Log(t)
	if got := append(daysOf(log, "bond_priced_deals"), daysOf(log, "bond_expected_deals")...); len(got) != 0 || log.SnapshotDay() != "" {
		t.Errorf("days after: %v, newest %q; want none", got, log.SnapshotDay())
	}
	world.WantSound(t, w.Store)
}

// keysOutside lists the keys of the lake's objects that are not snapshots.
func keysOutside(t *testing.T, w *world.World) []string {
	t.Helper()
	return slices.DeleteFunc(world.Keys(t, w.Store), func(key string) bool { return strings.HasPrefix(key, "snapshots/") })
}
