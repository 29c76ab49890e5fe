package longlake

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dealflow/schemas/lake"
)

const (
	evening     = 22 * time.Hour  // of a night's day, UTC: when it is committed
	reading     = 5 * time.Minute // from the start of a run to its commit
	dailyMonths = 3               // at the end of the history, in which there is a night each business day
)

// Night is one run.
type Night struct {
	RunID    string
	Observed time.Time // the start of the run; the market is read as of this instant
	KnownAt  time.Time // of its commit
	Day      string    // its snapshot_date, YYYY-MM-DD
	Snapshot bool      // the lake contains the snapshot of the day
}

// Nights lists the nights of a lake, in order: the last business day of each month, and in the last
// quarter every business day. Business days are Monday to Friday, holidays too.
func Nights(config Config) []Night {
	config = config.withDefaults()
	daily := end.AddDate(0, -dailyMonths, 0)
	snapshots := end.AddDate(0, -max(config.SnapshotMonths, 0), 0)
	var nights []Night
	for day := config.start(); day.Before(end); day = day.AddDate(0, 0, 1) {
		last := nextBusinessDay(day).Month() != day.Month()
		if weekend(day) || !last && day.Before(daily) {
			continue
		}
		known := day.Add(evening)
		nights = append(nights, Night{
			RunID: runID(config.Seed, "run", known.Add(-reading)), Observed: known.Add(-reading), KnownAt: known, Day: lake.DateOf(day),
			Snapshot: last && !day.Before(snapshots),
		})
	}
	return nights
}

func nextBusinessDay(day time.Time) time.Time {
	for day = day.AddDate(0, 0, 1); weekend(day); {
		day = day.AddDate(0, 0, 1)
	}
	return day
}

func weekend(day time.Time) bool {
	return day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
}

// runID returns the id of a run: a UUIDv7 of its start, with a digest in place of the random part.
func runID(seed uint64, command string, start time.Time) string {
	digest := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", command, seed, start.UnixMilli()))
	id := uuid.UUID(digest[:16])
	var millis [8]byte
	binary.BigEndian.PutUint64(millis[:], uint64(start.UnixMilli()))
	copy(id[:6], millis[2:])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}
