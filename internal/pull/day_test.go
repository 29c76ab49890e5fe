package pull_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/schemas/lake"
)

func onDay(day string) world.Change { return func(c *pull.Config) { c.SnapshotDate = day } }

func inZone(zone string) world.Change { return func(c *pull.Config) { c.DayZone = zone } }

func acceptZone(c *pull.Config) { c.AcceptDayZone = true }

// TestSnapshotDayNeverGoesBack checks that a snapshot of a day before the last one is refused.
func TestSnapshotDayNeverGoesBack(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	if result := w.Night(t, 2, world.Feeds(world.Priced), onDay("2026-01-07")); result.SnapshotDate != "2026-01-07" {
		t.Errorf("snapshot date %s, want the one asked for", result.SnapshotDate)
	}
	if _, err := w.Run(t, world.Feeds(world.Priced), onDay("2026-01-06")); err == nil || !strings.Contains(err.Error(), "2026-01-07") {
		t.Errorf("the day before: got %v, want a refusal that names the last day", err)
	}
	if _, err := w.Run(t, world.Feeds(world.Priced), onDay("7 January")); err == nil || !strings.Contains(err.Error(), "YYYY-MM-DD") {
		t.Errorf("no date: got %v, want a refusal that names the form", err)
	}
	if log := w.Log(t); log.Number != 1 {
		t.Errorf("commit %d, want 1", log.Number)
	}
}

// TestSnapshotDayOfTheFuture checks that a day later than tomorrow is refused, by the server's clock and by the
// machine's: it would end all runs until then.
func TestSnapshotDayOfTheFuture(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	one := world.Feeds(world.Priced)
	w.Evening(2)
	for _, day := range []string{"2062-01-01", "2026-01-09"} {
		for what, change := range map[string]world.Change{"the server's": world.Quiet, "the machine's": machineClock(w, time.Minute)} {
			if _, err := w.Run(t, one, onDay(day), change); err == nil || !strings.Contains(err.Error(), "2026-01-08") {
				t.Errorf("%s by %s clock: got %v, want a refusal that names tomorrow", day, what, err)
			}
		}
	}
	world.WantEmpty(t, w.Root)
	if result := w.MustRun(t, one, onDay("2026-01-08"), world.Quiet); result.Commit != 1 {
		t.Errorf("tomorrow: got %+v, want a commit", result)
	}
	// In Auckland it is 11:00 of 8 January, so the 9th is tomorrow.
	far, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	far.Evening(2)
	if result := far.MustRun(t, one, onDay("2026-01-09"), inZone("Pacific/Auckland"), world.Quiet); result.Commit != 1 {
		t.Errorf("tomorrow in Auckland: got %+v, want a commit", result)
	}
}

// TestDayOfTheStart has midnight pass while the first request of a run waits: the day is that of the start.
func TestDayOfTheStart(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*world.World) world.Change{
		"the server's":  func(*world.World) world.Change { return world.Quiet },
		"the machine's": func(w *world.World) world.Change { return machineClock(w, 0) },
	} {
		w, b := world.NewBook(t)
		b.WriteAll(world.Priced, 1, 3, "")
		w.Evening(0)
		w.Interfere(func(out http.ResponseWriter, r *http.Request) bool {
			if w.Clock.Now().Day() != 5 || r.URL.Path != "/oauth/token" {
				return false
			}
			w.Later(150 * time.Minute)
			out.WriteHeader(http.StatusServiceUnavailable)
			return true
		})
		result := w.MustRun(t, world.Feeds(world.Priced), world.Quiet, change(w))
		if started := w.Log(t).Commits[0].StartedAt; result.SnapshotDate != "2026-01-05" || lake.DateOf(started.Time) != "2026-01-05" {
			t.Errorf("by %s clock: the day is %s, and the start %s; want 2026-01-05", what, result.SnapshotDate, started)
		}
		if known := w.Log(t).KnownAt; lake.DateOf(known.Time) != "2026-01-06" {
			t.Errorf("by %s clock: known at %s, want the day of the commit", what, known)
		}
	}
}

// TestDayZone checks that the first commit fixes the zone of days, that another zone is refused before any work, and
// that history stays in folders of UTC years.
func TestDayZone(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	one := world.Feeds(world.Priced)
	const newYork = "America/New_York"
	w.Clock.Set(time.Date(2027, 1, 1, 3, 0, 0, 0, time.UTC)) // 22:00 of 31 December in New York
	if result := w.MustRun(t, one, inZone(newYork), world.Quiet); result.SnapshotDate != "2026-12-31" {
		t.Errorf("22:00 in New York: snapshot date %s, want that day", result.SnapshotDate)
	}
	log := w.Log(t)
	for _, file := range log.AllFiles() {
		if year := file.Partition["year"]; year != "" && year != "2027" {
			t.Errorf("%s: want the UTC year of the start", file.Path)
		}
	}
	w.Later(24 * time.Hour)
	for _, zone := range []string{"UTC", "Europe/London"} {
		before := len(world.Keys(t, w.Store))
		_, err := w.Run(t, one, inZone(zone))
		if !errors.Is(err, pull.ErrDayZone) || !strings.Contains(err.Error(), newYork) || !strings.Contains(err.Error(), "--accept-day-zone") {
			t.Errorf("in %s: got %v, want ErrDayZone, the lake's zone and the way out", zone, err)
		}
		if after := len(world.Keys(t, w.Store)); after != before {
			t.Errorf("in %s: %d objects before and %d after, want no work", zone, before, after)
		}
	}
	if result := w.MustRun(t, one, world.Quiet); result.SnapshotDate != "2027-01-01" {
		t.Errorf("without a zone: snapshot date %s, want the day in the lake's zone", result.SnapshotDate)
	}
	w.Later(24 * time.Hour)
	if result := w.MustRun(t, one, inZone("UTC"), acceptZone, world.Quiet); result.SnapshotDate != "2027-01-03" {
		t.Errorf("accepted: snapshot date %s, want the day in UTC", result.SnapshotDate)
	}
	var zones []string
	for _, commit := range w.Log(t).Commits {
		zones = append(zones, commit.DayZone)
	}
	if got := strings.Join(zones, ","); got != newYork+","+newYork+"," {
		t.Errorf("zones of the commits: %q", got)
	}
	world.WantSound(t, w.Store)
	if _, err := w.Run(t, one, inZone("New York")); err == nil || !strings.Contains(err.Error(), "America/New_York") {
		t.Errorf("no zone: got %v, want a refusal that names the form", err)
	}
}

// TestNextRun checks that a run is refused exactly when NextRun says so. TestOldLakes has the lakes that are only read.
func TestNextRun(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	one := world.Feeds(world.Priced)
	w.Night(t, 0, one, world.Quiet, onDay("2026-01-06"))
	for _, c := range []struct {
		after   time.Duration
		zone    string
		refused string // part of the reason; "" if the run is not refused
	}{
		{-11 * time.Minute, "", "2026-01-05T22:00"},
		{time.Hour, "", "--drop-day 2026-01-06"},
		{2 * time.Hour, "Europe/Paris", "--accept-day-zone"},
		{2 * time.Hour, "", ""},
	} {
		w.Evening(0)
		w.Later(c.after)
		_, said := pull.NextRun(w.Lake(t), w.Clock.Now(), c.zone, true)
		_, err := w.Run(t, one, inZone(c.zone), world.Quiet)
		if (said == nil) != (c.refused == "") || (err == nil) != (said == nil) {
			t.Errorf("%s later, zone %q: said %v, and the run ended with %v", c.after, c.zone, said, err)
			continue
		}
		if said != nil && !strings.Contains(said.Error(), c.refused) {
			t.Errorf("%s later: got %v, want %q", c.after, said, c.refused)
		}
	}
}
