package pull

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"dealflow/internal/pull/runclock"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// ErrDayZone means that a run would count days in another time zone than the lake does.
var ErrDayZone = errors.New("another time zone of days")

// chooseDay sets the day of the snapshots, and its time zone. A command that writes no snapshots has neither. A day that
// is older than the newest snapshot's is an error: a snapshot of the past cannot be taken. So is a day later than
// tomorrow, because no run could take a snapshot of an earlier day after that.
func (o *opened) chooseDay(cfg *Config, log *load.Log) error {
	name := cmp.Or(cfg.DayZone, log.DayZone(), lake.UTC)
	if lakes := cmp.Or(log.DayZone(), name); name != lakes && !cfg.AcceptDayZone {
		return fmt.Errorf("%w: the lake counts days in %s, and --day-zone is %s; leave --day-zone out, or pass --accept-day-zone to count days in %s from now on",
			ErrDayZone, lakes, name, name)
	}
	zone, err := lake.Zone(name)
	if err != nil {
		return err
	}
	o.day, o.zone = cmp.Or(cfg.SnapshotDate, lake.DateIn(o.started, zone)), name
	if tomorrow := lake.DateIn(o.started.In(zone).AddDate(0, 0, 1), zone); o.day > tomorrow {
		return fmt.Errorf("snapshot date %s: want %s (tomorrow in %s, by the run's clock) or an earlier day, because no earlier day could get a snapshot after it; see whether --snapshot-date is right",
			o.day, tomorrow, name)
	}
	if last := log.SnapshotDay(); o.day < last {
		return fmt.Errorf("snapshot date %s is older than the last one, %s: a snapshot of the past cannot be taken, so runs are refused until %s; if that day is wrong, `dealflow expire --drop-day %s --apply` takes it back",
			o.day, last, last, last)
	}
	return nil
}

// checkKnownAt returns an error for a clock that says less than the lake's last commit, by more than the tolerance.
func checkKnownAt(last lake.Instant, now time.Time) error {
	if now.Before(last.Add(-runclock.Tolerance)) {
		return fmt.Errorf("%w: it shows %s, but the lake's last commit was at %s, so runs are refused until %s; %s",
			ErrClock, lake.At(now), last, lake.At(last.Add(-runclock.Tolerance)), clockAdvice)
	}
	return nil
}

// NextRun says when the next run would be refused: before the instant from, by its clock. If dated is set, now is an
// instant of that clock, and refusal has the reasons for which a run that starts then would be refused; nil if it would
// not. Otherwise refusal has only the reasons that no instant changes. dayZone is as in Config.
func NextRun(l *load.Lake, now time.Time, dayZone string, dated bool) (from lake.Instant, refusal error) {
	log := l.Log()
	from = lake.At(log.KnownAt.Add(-runclock.Tolerance))
	if zone, err := lake.Zone(cmp.Or(log.DayZone(), dayZone)); err == nil {
		if day, err := time.ParseInLocation(time.DateOnly, log.SnapshotDay(), zone); err == nil && day.After(from.Time) {
			from = lake.At(day)
		}
	}
	if !dated {
		now = from.Time
	}
	next := opened{started: now}
	return from, errors.Join(l.CheckWritable(), checkKnownAt(log.KnownAt, now), next.chooseDay(&Config{DayZone: dayZone}, log))
}
