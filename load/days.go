package load

import (
	"slices"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// feedDays is a set of feeds and days whose snapshots were taken back.
type feedDays map[feedDay]bool

type feedDay struct {
	feed api.Feed
	day  string // YYYY-MM-DD
}

// add adds what a commit takes back.
func (d feedDays) add(c *lake.Commit) {
	for _, dropped := range c.DroppedDays {
		for _, feed := range dropped.Feeds {
			d[feedDay{feed, dropped.Day}] = true
		}
	}
}

// has says whether the snapshot of a feed and day is in the set. Only a snapshot, or the finding that the account does
// not include the feed, can be taken back.
func (d feedDays) has(f *lake.FeedRun, day string) bool {
	return (f.Outcome == lake.OutcomeDone || f.Outcome == lake.OutcomeSkipped) && d[feedDay{f.Feed, day}]
}

// SnapshotDay returns the day of the newest snapshot that was not taken back, YYYY-MM-DD; "" for none.
func (g *Log) SnapshotDay() string {
	day, dropped := "", feedDays{}
	for n := range slices.Backward(g.Commits) {
		run := &g.Commits[n]
		for i := range run.Feeds {
			if f := &run.Feeds[i]; f.Outcome == lake.OutcomeDone && !dropped.has(f, run.SnapshotDate) {
				day = max(day, run.SnapshotDate)
			}
		}
		dropped.add(run)
	}
	return day
}

// LastSnapshot returns the newest run that took a snapshot of the feed that was not taken back; nil for none.
func (g *Log) LastSnapshot(feed api.Feed) *lake.Commit {
	for run := range g.FeedRuns(feed, lake.OutcomeDone) {
		return run
	}
	return nil
}

// DayZone returns the IANA name of the time zone of the lake's days; "" for a lake without a snapshot.
func (g *Log) DayZone() string {
	for n := range slices.Backward(g.Commits) {
		switch run := &g.Commits[n]; {
		case run.SnapshotDate == "":
		case run.DayZone == "":
			return lake.UTC
		default:
			return run.DayZone
		}
	}
	return ""
}

// Today returns the day of an instant in the time zone of the lake's days.
func (g *Log) Today(now time.Time) (string, error) {
	zone, err := lake.Zone(g.DayZone())
	if err != nil {
		return "", err
	}
	return lake.DateIn(now, zone), nil
}
