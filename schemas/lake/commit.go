package lake

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"dealflow/schemas/api"
)

// FormatVersion is the version of the lake's layout and of the commit's fields. All commits of a lake have the same one.
// This program reads all versions from 1 to this one, and writes only this one: `dealflow upgrade` makes a lake of this
// version from an older one. A program that finds a later version stops.
const FormatVersion = 2

// Instant is a point in time as the commit log writes it: UTC, with microseconds.
type Instant struct{ time.Time }

const instantLayout = "2006-01-02T15:04:05.000000Z"

// At returns t in UTC, truncated to microseconds.
func At(t time.Time) Instant { return Instant{t.UTC().Truncate(time.Microsecond)} }

func (i Instant) String() string { return i.UTC().Format(instantLayout) }

// Next returns the instant one microsecond later.
func (i Instant) Next() Instant { return At(i.Add(time.Microsecond)) }

// MarshalText writes the instant with six digits of fraction.
func (i Instant) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// MarshalJSON writes the instant with six digits of fraction. It replaces the method of the embedded time.
func (i Instant) MarshalJSON() ([]byte, error) { return json.Marshal(i.String()) }

// UnmarshalJSON reads any RFC 3339 instant.
func (i *Instant) UnmarshalJSON(data []byte) error {
	if string(data) == "null" { // for time.Time it would be nothing
		return errors.New("want an instant, got null")
	}
	var t time.Time
	if err := t.UnmarshalJSON(data); err != nil {
		return err
	}
	*i = At(t)
	return nil
}

// DateOf returns the UTC calendar day of t as YYYY-MM-DD, the form of snapshot_date.
func DateOf(t time.Time) string { return DateIn(t, time.UTC) }

// DateIn returns the calendar day of t in a time zone as YYYY-MM-DD.
func DateIn(t time.Time, zone *time.Location) string { return t.In(zone).Format(time.DateOnly) }

// UTC is the name of the time zone of days if a lake has no other.
const UTC = "UTC"

// Zone returns the time zone of an IANA name; UTC for "".
func Zone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // Local is another zone on each machine
		return nil, fmt.Errorf("time zone %q: want a name of the IANA database, such as America/New_York", name)
	}
	return zone, nil
}

// The outcomes of a run and of a feed in it.
const (
	OutcomeDone    = "done"
	OutcomePartial = "partial"
	OutcomeFailed  = "failed"
	OutcomeHeld    = "held"
	OutcomeSkipped = "skipped"

	// OutcomeUnchanged is the outcome of a command that found nothing to do and committed nothing. No commit has it.
	OutcomeUnchanged = "unchanged"
)

// The commands that make commits, as Commit.Command has them. Their attempts have the same names.
const (
	CommandRun        = "run"
	CommandSync       = "sync"
	CommandQuarantine = "quarantine"
	CommandCompact    = "compact"
	CommandReplay     = "replay"
	CommandExpire     = "expire"
)

// Commit is one record of the log. It makes a run's files visible, all at once, and never changes. Commits are numbered
// from 1 without gaps.
type Commit struct {
	FormatVersion int `json:"format_version"`
	Needs
	Number          int64     `json:"commit"`
	RunID           string    `json:"run_id"`  // UUIDv7
	Command         string    `json:"command"` // run, sync, quarantine, compact, expire or replay
	KnownAt         Instant   `json:"known_at"`
	PreviousSHA256  string    `json:"previous_sha256"` // hash of the previous commit's bytes; "" for the first
	DealflowVersion string    `json:"dealflow_version"`
	StartedAt       Instant   `json:"started_at"`
	FinishedAt      Instant   `json:"finished_at"`
	SnapshotDate    string    `json:"snapshot_date,omitempty"` // YYYY-MM-DD
	DayZone         string    `json:"day_zone,omitempty"`      // IANA name of the time zone of SnapshotDate; "" for UTC
	Outcome         string    `json:"outcome"`                 // done or partial
	Feeds           []FeedRun `json:"feeds"`
	Add             []File    `json:"add"`
	Remove          []string  `json:"remove"` // paths of files that are no longer part of the lake
	Checks          []Check   `json:"checks"`

	// DriftKinds are the kinds of drift that the program reports. Commits without the field know the first three.
	DriftKinds []DriftKind `json:"drift_kinds,omitempty"`

	Corrections
}

// Corrections are what a commit says about commits before it. Most commits have none.
type Corrections struct {
	// Lost are commits before this one that were lost, and whose loss a person has accepted.
	Lost []LostCommit `json:"lost,omitempty"`

	// UpgradedFrom is the SHA-256 of the commit of format version 1 that this commit was made from; "" for others.
	UpgradedFrom string `json:"upgraded_from,omitempty"`

	DroppedDays []DroppedDay `json:"dropped_days,omitempty"` // snapshots that this commit takes back

	// Restated names the flattened tables whose rows of earlier versions read otherwise since this replay, sorted. It is
	// empty if none does, and nil if the commit is no replay, or of a program that did not say it.
	Restated []string `json:"restated,omitzero"`
}

// DroppedDay is a day whose snapshots a commit takes back: to the runs after it, those feeds have no snapshot of that
// day. History stays as it is.
type DroppedDay struct {
	Day   string     `json:"day"` // YYYY-MM-DD
	Feeds []api.Feed `json:"feeds"`
}

// Feed returns the result of a feed in the run; nil if the run did not include it. The result points into the commit.
func (c *Commit) Feed(feed api.Feed) *FeedRun {
	for i := range c.Feeds {
		if c.Feeds[i].Feed == feed {
			return &c.Feeds[i]
		}
	}
	return nil
}

// FeedRun is the result of one feed in a run. Counts are of deals, except where the name says otherwise.
type FeedRun struct {
	Feed          api.Feed `json:"feed"`
	Outcome       string   `json:"outcome"`
	Error         string   `json:"error,omitempty"`
	BaseURL       string   `json:"base_url"`
	UpdatedSince  string   `json:"updated_since,omitempty"` // link that a sync follows next, relative to base_url
	StartedAt     Instant  `json:"started_at"`
	FinishedAt    Instant  `json:"finished_at"`
	Deals         int64    `json:"deals"` // in the snapshot
	Added         int64    `json:"added"`
	Changed       int64    `json:"changed"`
	Removed       int64    `json:"removed"`
	NotEntitled   int64    `json:"out_of_entitlement"` // removed deals whose answer by id was 403
	Reappeared    int64    `json:"reappeared"`
	Unchanged     int64    `json:"unchanged"`
	Quarantined   int64    `json:"quarantined"`
	Pages         int64    `json:"pages"`
	Requests      int64    `json:"requests"`
	Bytes         int64    `json:"bytes"` // bytes of response bodies, as sent over the network
	Retries       int64    `json:"retries"`
	Waits         int64    `json:"waits"`
	WaitedMS      int64    `json:"waited_ms"`
	Sweeps        int64    `json:"sweeps"`
	Restarts      int64    `json:"restarts"` // walks and sweeps started again because the server no longer accepted a cursor
	Confirmations int64    `json:"confirmations"`
	ExtractMS     int64    `json:"extract_ms"` // time until the feed was proved complete, confirmations included
	WriteMS       int64    `json:"write_ms"`   // time to flatten and write, without waiting for a turn (extract_ms is without it too)
	SyncMissed    int64    `json:"sync_missed"`
	SyncMissedIDs []int64  `json:"sync_missed_ids,omitempty"` // the first SyncMissedListed
	Drift         []Drift  `json:"drift"`

	// UnprovedAbsent lists the deals, sorted, that this complete snapshot keeps although the list did not show them: there
	// is no evidence that they are gone. It is the whole list, not what the run adds to it.
	UnprovedAbsent []int64 `json:"unproved_absent,omitempty"`

	// StandingAbsent lists the deals, sorted, that the list did not show either, and that exist: when they were asked for by
	// id last, the API returned them. It is the whole list, too.
	StandingAbsent []int64 `json:"standing_absent,omitempty"`
}

// SyncMissedListed is the most deals that a run lists as missed by syncs. Such a deal changed, but its updatedSince
// link is older than one that an earlier sync had already followed.
const SyncMissedListed = 100

// QuarantineWarning says for people that records of the feed could not be read; "" if all could.
func (f *FeedRun) QuarantineWarning() string {
	if f.Quarantined == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %d records could not be read and are in quarantine; `dealflow quarantine list` shows them", f.Feed, f.Quarantined)
}

// DriftCount returns the sum of all counts of the feed's drift.
func (f *FeedRun) DriftCount() int64 {
	var n int64
	for _, d := range f.Drift {
		n += d.Count
	}
	return n
}

// File is one immutable data file in a commit.
type File struct {
	Path          string            `json:"path"`  // relative to the lake
	Table         string            `json:"table"` // "snapshots.<table>", "history.<table>" or "quarantine"
	Partition     map[string]string `json:"partition"`
	SchemaVersion int               `json:"schema_version"`
	Rows          int64             `json:"rows"`
	Bytes         int64             `json:"bytes"`
	SHA256        string            `json:"sha256"`
	MinDealID     int64             `json:"min_deal_id"`
	MaxDealID     int64             `json:"max_deal_id"`
	Needs
}

// ValuesOf copies files.
func ValuesOf(files []*File) []File {
	values := make([]File, len(files))
	for i := range files {
		values[i] = *files[i]
	}
	return values
}

// RunID is RunIDOf for the file's path.
func (f *File) RunID() string { return RunIDOf(f.Path) }

// Check is the result of one declared quality check of a run.
type Check struct {
	Name     string `json:"name"`
	Severity string `json:"severity"` // warn or hold
	Outcome  string `json:"outcome"`  // passed, warned, held, accepted or failed
	Count    int64  `json:"count,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

// The effect on its run of a quality check that finds something.
const (
	SeverityWarn = "warn" // the finding is reported
	SeverityHold = "hold" // nothing is committed
)

// The outcomes of a quality check.
const (
	CheckPassed   = "passed"
	CheckWarned   = "warned"
	CheckHeld     = "held"
	CheckAccepted = "accepted" // would have held, but the user accepted the check by name
	CheckFailed   = "failed"   // the check could not be asked: its query failed, or the catalog could not be built
)

// SHA256 returns the SHA-256 of data in the form of commits: 64 hexadecimal digits.
func SHA256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// IsSHA256 says whether a text has the form of a SHA-256 in commits.
func IsSHA256(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// Encode returns the commit's bytes: one JSON object and a newline.
func (c *Commit) Encode() ([]byte, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// DecodeCommit parses a commit's bytes. The error is a *FormatError for a later format version, and a *NeedsError for a
// commit that this program must not read.
func DecodeCommit(data []byte) (*Commit, error) {
	if err := CheckPreface(data); err != nil {
		return nil, err
	}
	var c Commit
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, err
	}
	if c.FormatVersion < 1 {
		return nil, &FormatError{Found: c.FormatVersion}
	}
	return &c, nil
}

// FormatError is the error for a lake in a format that this program does not know.
type FormatError struct{ Found int }

func (e *FormatError) Error() string {
	return fmt.Sprintf("lake format version %d: this program reads versions 1 to %d; use the dealflow that wrote the lake, or a later version", e.Found, FormatVersion)
}
