package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests do not depend on the machine's zones
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// plan returns a plan with a run each night and nothing else.
func plan(t *testing.T, zoneName, run string) *Plan {
	t.Helper()
	clock, err := ParseTimeOfDay(run)
	if err != nil {
		t.Fatal(err)
	}
	return &Plan{Zone: zone(t, zoneName), Run: clock}
}

// TestNights lists the nights of days on which clocks are changed. The instants are from the history of the zones: the
// first instant of a day at which its clocks show the time of the run or later.
func TestNights(t *testing.T) {
	for _, c := range []struct {
		name, zone, run, from string // from: an instant before the first night
		nights                string // day and instant in UTC
	}{
		{"no change", "UTC", "22:00", "2026-06-01T00:00:00Z", "2026-06-01 06-01T22:00 2026-06-02 06-02T22:00"},
		{"spring, at noon", "Europe/Berlin", "12:00", "2026-03-28T00:00:00Z", "2026-03-28 03-28T11:00 2026-03-29 03-29T10:00 2026-03-30 03-30T10:00"},
		{"spring, a time that does not exist", "Europe/Berlin", "02:30", "2026-03-28T00:00:00Z", "2026-03-28 03-28T01:30 2026-03-29 03-29T01:00 2026-03-30 03-30T00:30"},
		{"autumn, a time that exists twice", "Europe/Berlin", "02:30", "2026-10-24T00:00:00Z", "2026-10-24 10-24T00:30 2026-10-25 10-25T00:30 2026-10-26 10-26T01:30"},
		{"autumn, at the change", "Europe/Berlin", "02:00", "2026-10-24T12:00:00Z", "2026-10-25 10-25T00:00 2026-10-26 10-26T01:00"},
		{"New York, spring", "America/New_York", "22:00", "2026-03-07T12:00:00Z", "2026-03-07 03-08T03:00 2026-03-08 03-09T02:00"},
		{"New York, autumn", "America/New_York", "22:00", "2026-10-31T12:00:00Z", "2026-10-31 11-01T02:00 2026-11-01 11-02T03:00"},
		{"half an hour", "Australia/Lord_Howe", "02:10", "2026-10-03T00:00:00Z", "2026-10-04 10-03T15:30 2026-10-05 10-04T15:10"},
		{"no midnight, spring in Santiago", "America/Santiago", "00:00", "2026-09-05T12:00:00Z", "2026-09-06 09-06T04:00 2026-09-07 09-07T03:00"},
		{"two midnights, autumn in Santiago", "America/Santiago", "23:30", "2026-04-04T12:00:00Z", "2026-04-04 04-05T02:30 2026-04-05 04-06T03:30"},
		{"change to the day before, Saint John's", "America/St_Johns", "23:30", "2010-11-05T12:00:00Z", "2010-11-05 11-06T02:00 2010-11-06 11-07T02:00 2010-11-07 11-08T03:00"},
		{"no midnight, Saint John's", "America/St_Johns", "00:00", "2010-11-06T12:00:00Z", "2010-11-07 11-07T02:30 2010-11-08 11-08T03:30"},
		{"a day that does not exist", "Pacific/Apia", "22:00", "2011-12-29T12:00:00Z", "2011-12-29 12-30T08:00 2011-12-31 12-31T08:00"},
		{"a day that exists twice", "Pacific/Kwajalein", "22:00", "1969-09-29T00:00:00Z", "1969-09-29 09-29T11:00 1969-09-30 09-30T11:00 1969-10-01 10-02T10:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plan(t, c.zone, c.run)
			fields := strings.Fields(c.nights)
			from := at(t, c.from)
			var nights []Slot
			for range len(fields) / 2 {
				next := p.nextRun(from)
				nights = append(nights, next)
				from = next.Start
			}
			for i, night := range nights {
				day, instant := fields[2*i], night.At.UTC().Format("01-02T15:04")
				if night.Day != day || instant != fields[2*i+1] {
					t.Errorf("night %d: got %s at %s, want %s at %s", i, night.Day, instant, day, fields[2*i+1])
				}
				if last := p.LastRun(night.Start); last != night {
					t.Errorf("at the start of %s the last night is %v, want it", night.Day, last)
				}
				if i > 0 && p.LastRun(night.Start.Add(-time.Nanosecond)) != nights[i-1] {
					t.Errorf("right before %s the last night is %v, want %v", night.Day, p.LastRun(night.Start.Add(-time.Nanosecond)), nights[i-1])
				}
			}
		})
	}
}

// TestEveryDayHasOneNight walks through three years of several zones. Each day that the zone has is the day of one night,
// whose instant is on that day, and nights are in order.
func TestEveryDayHasOneNight(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Africa/Cairo", "Asia/Kathmandu", "Pacific/Apia", "America/Havana", "Australia/Lord_Howe"} {
		for _, run := range []string{"00:00", "00:30", "02:30", "12:00", "23:59"} {
			p := plan(t, name, run)
			p.Jitter, p.Seed = 10*time.Minute, "lake"
			night := p.nextRun(at(t, "2024-01-01T12:00:00Z"))
			for range 3 * 366 {
				next := p.nextRun(night.Start)
				tomorrow, err := time.Parse(time.DateOnly, night.Day)
				if err != nil {
					t.Fatal(err)
				}
				if want := tomorrow.AddDate(0, 0, 1).Format(time.DateOnly); next.Day != want || next.At.In(p.Zone).Format(time.DateOnly) != want || !next.At.After(night.At) {
					t.Fatalf("%s %s: after %v comes %v, want a night of %s", name, run, night, next, want)
				}
				if late := next.Start.Sub(next.At); late < 0 || late >= p.Jitter {
					t.Fatalf("%s: a night begins %s after its instant, want less than the jitter", name, late)
				}
				night = next
			}
		}
	}
}

// TestJitter checks that the delay of a night is the same each time, and differs between nights and lakes.
func TestJitter(t *testing.T) {
	p, other := plan(t, "UTC", "22:00"), plan(t, "UTC", "22:00")
	p.Jitter, p.Seed, other.Jitter, other.Seed = time.Hour, "one", time.Hour, "two"
	delays, same := map[time.Duration]bool{}, 0
	for night, n := p.nextRun(at(t, "2026-01-01T00:00:00Z")), 0; n < 100; n++ {
		if again := p.LastRun(night.Start.Add(time.Second)); again != night {
			t.Fatalf("got %v and %v for the same night", night, again)
		}
		delays[night.Start.Sub(night.At)] = true
		if other.nextRun(night.At.Add(-time.Hour)).Start.Equal(night.Start) {
			same++
		}
		night = p.nextRun(night.Start)
	}
	if len(delays) < 90 || same > 10 {
		t.Errorf("100 nights have %d delays, and %d of them are those of another lake: want nearly all different", len(delays), same)
	}
}

// TestDue has what is due, command by command, in the course of time. Each step is an instant, and the command that is
// wanted then: "run DAY", "sync", "maintain", or "-" for none. A command that is due is carried out at once, unless the
// step says what became of it.
func TestDue(t *testing.T) {
	weekly, err := ParseTimeOfWeek("Sat 06:00")
	if err != nil {
		t.Fatal(err)
	}
	type step struct{ at, want, then string }
	for _, c := range []struct {
		name  string
		plan  Plan
		state State
		steps []step
	}{
		{"a new lake gets a run at once, of today", Plan{Sync: time.Hour}, State{}, []step{
			{"2026-01-07T15:00:00Z", "run 2026-01-07", "fails"}, {"2026-01-07T15:01:00Z", "-", ""}, {"2026-01-07T15:15:00Z", "run 2026-01-07", ""},
			{"2026-01-07T15:16:00Z", "sync", ""}, {"2026-01-07T15:59:00Z", "-", ""}, {"2026-01-07T16:00:00Z", "sync", ""}, {"2026-01-07T22:00:00Z", "run 2026-01-07", ""},
		}},
		{"nights and syncs", Plan{Sync: 5 * time.Minute}, at5(t, "2026-01-06T22:00:00Z"), []step{
			{"2026-01-07T21:55:00Z", "sync", ""}, {"2026-01-07T21:59:59Z", "-", ""}, {"2026-01-07T22:00:00Z", "run 2026-01-07", ""}, {"2026-01-07T22:00:10Z", "sync", ""},
			{"2026-01-07T22:00:20Z", "-", ""}, {"2026-01-07T22:05:00Z", "sync", ""},
		}},
		{"a run of an hour: its syncs become one", Plan{Sync: 5 * time.Minute}, at5(t, "2026-01-06T22:00:00Z"), []step{
			{"2026-01-07T22:00:00Z", "run 2026-01-07", ""}, {"2026-01-07T23:01:00Z", "sync", ""}, {"2026-01-07T23:01:01Z", "-", ""},
		}},
		{"asleep over one night", Plan{}, at5(t, "2026-01-06T22:00:00Z"), []step{
			{"2026-01-07T20:00:00Z", "-", ""}, {"2026-01-08T09:00:00Z", "run 2026-01-07", ""}, {"2026-01-08T09:01:00Z", "-", ""}, {"2026-01-08T22:00:00Z", "run 2026-01-08", ""},
		}},
		{"asleep over three nights: the last one alone", Plan{}, at5(t, "2026-01-06T22:00:00Z"), []step{
			{"2026-01-10T09:00:00Z", "run 2026-01-09", ""}, {"2026-01-10T09:00:01Z", "-", ""}, {"2026-01-10T22:00:00Z", "run 2026-01-10", ""},
		}},
		{"the clock is set back a little: no second run", Plan{}, at5(t, "2026-01-06T22:00:00Z"), []step{
			{"2026-01-07T22:00:00Z", "run 2026-01-07", ""}, {"2026-01-07T21:30:00Z", "-", ""}, {"2026-01-07T22:00:00Z", "-", ""}, {"2026-01-08T22:00:00Z", "run 2026-01-08", ""},
		}},
		{"the clock was wrong by a year: the next night is due", Plan{Sync: time.Hour}, at5(t, "2027-01-06T22:00:00Z"), []step{
			{"2026-01-07T20:00:00Z", "sync", ""}, {"2026-01-07T20:00:01Z", "-", ""}, {"2026-01-07T22:00:00Z", "run 2026-01-07", ""},
		}},
		{"the clock is set back while a failure waits", Plan{}, at5(t, "2026-01-06T22:00:00Z"), []step{
			{"2026-01-07T22:00:00Z", "run 2026-01-07", "fails"}, {"2026-01-07T10:00:00Z", "-", ""}, {"2026-01-07T22:00:00Z", "run 2026-01-07", ""},
		}},
		{"a failure is tried again until the night after", Plan{}, at5(t, "2026-01-06T22:00:00Z"), []step{
			{"2026-01-07T22:00:00Z", "run 2026-01-07", "fails"}, {"2026-01-07T22:14:59Z", "-", ""}, {"2026-01-07T22:15:00Z", "run 2026-01-07", "fails"},
			{"2026-01-07T22:30:00Z", "run 2026-01-07", "fails"}, {"2026-01-08T21:59:00Z", "run 2026-01-07", "fails"}, {"2026-01-08T22:00:00Z", "run 2026-01-08", ""}, {"2026-01-08T22:30:00Z", "-", ""},
		}},
		{"maintenance once a week, after the run", Plan{Maintain: &weekly}, at5(t, "2026-01-08T22:00:00Z"), []step{
			{"2026-01-10T05:59:00Z", "run 2026-01-09", ""}, {"2026-01-10T05:59:30Z", "-", ""}, {"2026-01-10T06:00:00Z", "maintain", ""}, {"2026-01-10T06:00:01Z", "-", ""},
			{"2026-01-19T09:00:00Z", "run 2026-01-18", ""}, {"2026-01-19T09:00:01Z", "maintain", ""}, {"2026-01-19T09:00:02Z", "-", ""},
		}},
		{"a new lake needs no maintenance of the week before", Plan{Maintain: &weekly}, State{}, []step{
			{"2026-01-07T15:00:00Z", "run 2026-01-07", ""}, {"2026-01-07T15:01:00Z", "-", ""},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, s := c.plan, c.state
			p.Zone, p.Run = time.UTC, TimeOfDay{Hour: 22}
			for _, step := range c.steps {
				now := at(t, step.at)
				due, wake := p.Next(&s, now)
				got := "-"
				if due != nil {
					got = string(due.Command)
				}
				if got == string(Run) {
					got += " " + due.Slot.Day
				}
				if got != step.want {
					t.Fatalf("at %s: got %s, want %s", step.at, got, step.want)
				}
				if due == nil && !wake.After(now) {
					t.Fatalf("at %s: nothing is due, and the next look is at %s", step.at, wake)
				}
				switch {
				case due == nil:
				case step.then == "fails":
					s.Of(due.Command).Retry = now.Add(15 * time.Minute)
				default:
					s.Has, *s.Of(due.Command) = true, Progress{Settled: now}
				}
			}
		})
	}
}

// at5 is the state of a lake whose last run and maintenance began at an instant.
func at5(t *testing.T, text string) State {
	t.Helper()
	p := Progress{Settled: at(t, text)}
	return State{Has: true, Run: p, Maintain: p, Sync: p}
}

// TestWake checks that nothing becomes due before the instant to look again, in a year with changes of the clock, with syncs
// and without.
func TestWake(t *testing.T) {
	weekly, _ := ParseTimeOfWeek("Sun 12:30")
	for _, syncs := range []int{0, 4} { // a day
		p := &Plan{Zone: zone(t, "America/New_York"), Run: TimeOfDay{Hour: 2, Minute: 30}, Maintain: &weekly, Jitter: 7 * time.Minute, Seed: "x"}
		if syncs > 0 {
			p.Sync = 24 * time.Hour / time.Duration(syncs)
		}
		s, now := at5(t, "2026-01-01T12:00:00Z"), at(t, "2026-01-01T12:00:01Z")
		counts, days := map[Command]int{}, map[string]int{}
		for now.Before(at(t, "2027-01-01T12:00:00Z")) {
			due, wake := p.Next(&s, now)
			if due != nil {
				counts[due.Command]++
				if due.Command == Run {
					days[due.Slot.Day]++
				}
				s.Of(due.Command).Settled = now
				now = now.Add(time.Second)
				continue
			}
			if early, _ := p.Next(&s, wake.Add(-time.Nanosecond)); early != nil {
				t.Fatalf("at %s the next look is at %s, and right before it %s is due", now, wake, early.Command)
			}
			if late, _ := p.Next(&s, wake); late == nil && wake.Sub(now) < 24*time.Hour { // it looks once a day at least
				t.Fatalf("at %s the next look is at %s, and nothing is due then", now, wake)
			}
			now = wake
		}
		if counts[Run] != 365 || len(days) != 365 || counts[Maintain] != 52 || counts[Sync] != syncs*365 {
			t.Errorf("got %v, of %d days; want 365 runs, 52 maintenances and %d syncs", counts, len(days), syncs*365)
		}
	}
}

// TestBetween checks which nights are between two instants.
func TestBetween(t *testing.T) {
	p := plan(t, "Pacific/Apia", "22:00")
	var got []string
	for _, night := range p.Between(at(t, "2011-12-29T08:00:00Z"), p.LastRun(at(t, "2012-01-02T08:00:00Z"))) {
		got = append(got, night.Day)
	}
	if !slices.Equal(got, []string{"2011-12-29", "2011-12-31", "2012-01-01"}) {
		t.Errorf("got %q, want the days between 2011-12-28 and 2012-01-02, except the one that this zone does not have", got)
	}
	if got := p.Between(time.Time{}, p.LastRun(at(t, "2012-01-02T08:00:00Z"))); got != nil {
		t.Errorf("of a new lake: got %v, want none", got)
	}
}

// TestParse checks the forms of times.
func TestParse(t *testing.T) {
	for _, text := range []string{"22:00", "00:00", "23:59"} {
		if got, err := ParseTimeOfDay(text); err != nil || got.String() != text {
			t.Errorf("%q: got %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "24:00", "22:60", "22", "10pm", "9:00", " 22:00"} {
		if got, err := ParseTimeOfDay(text); err == nil {
			t.Errorf("%q: got %s, want an error", text, got)
		}
	}
	if got, err := ParseTimeOfWeek("sat 06:00"); err != nil || got.String() != "Sat 06:00" {
		t.Errorf("got %s, %v", got, err)
	}
	for _, text := range []string{"", "Sat", "06:00", "Satur 06:00", "Sat 6:00", "Sat  06:00"} {
		if got, err := ParseTimeOfWeek(text); err == nil {
			t.Errorf("%q: got %s, want an error", text, got)
		}
	}
}
