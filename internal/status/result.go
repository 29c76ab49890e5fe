package status

import (
	"time"

	"dealflow/internal/attempts"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// LiveFiles is what is said of the live files.
type LiveFiles struct {
	Files          int   `json:"files"`
	Bytes          int64 `json:"bytes"`
	OlderFiles     int   `json:"older_files"` // of an older schema: `dealflow replay` writes them again
	olderSnapshots bool  // some of these are of snapshots
}

// Result is the object that status --json prints; fields are only ever added. docs/reference/status.md has them.
type Result struct {
	Lake string `json:"lake"`
	Verdict
	Commit        int64        `json:"commit"`
	KnownAt       lake.Instant `json:"known_at"` // known_at of the last pull; age_seconds and outcome are also those of that pull
	AgeSeconds    int64        `json:"age_seconds"`
	SnapshotDate  string       `json:"snapshot_date"`
	Outcome       string       `json:"outcome"`
	CatalogCommit int64        `json:"catalog_commit"` // 0: no catalog, or none that can be read
	CatalogFlaw   string       `json:"catalog_flaw"`   // why readers do not use the catalog; "" for none
	LiveFiles
	Lost          []lake.LostCommit `json:"lost"`           // commits that the lake has lost and that no commit records
	Checks        []lake.Check      `json:"checks"`         // checks of the last pull that did not pass
	DayZone       string            `json:"day_zone"`       // time zone of days
	Refused       string            `json:"refused"`        // why the next run would be refused now; "" if it would not, or if now is not known
	RefusedBefore lake.Instant      `json:"refused_before"` // a run that starts before this instant, by its clock, is refused
	Iceberg       Tables            `json:"iceberg"`
	History
	Feeds []Feed `json:"feeds"`

	lake *load.Lake // of which this is said
}

// Opened returns the lake of which this is said, as it was read.
func (s *Result) Opened() *load.Lake { return s.lake }

// Attempts returns the attempts that were read: the newest ones, and the newest of each command.
func (s *Result) Attempts() []attempts.Attempt { return s.made }

// Verdict is what status says in short.
type Verdict struct {
	State         string       `json:"state"`           // ok, warning, problem; or unknown, if the lake could not be read
	Now           lake.Instant `json:"now"`             // instant for which the verdict holds
	MaxAgeSeconds int64        `json:"max_age_seconds"` // greatest age of a feed's snapshot that is no problem; 0: ages are not judged
	Findings      []Finding    `json:"findings"`        // problems first
}

// Feed is the state of one feed in the lake, and its last pull.
type Feed struct {
	Feed         api.Feed      `json:"feed"`
	SnapshotDate string        `json:"snapshot_date"` // date of the latest snapshot; "" for none
	Deals        int64         `json:"deals"`         // in that snapshot
	KnownAt      *lake.Instant `json:"known_at"`      // known_at of the latest commit that pulled the feed: run, sync or retry
	Last         *lake.FeedRun `json:"last"`          // the last pull, also if it failed; null for none

	Held           *load.Hold `json:"held"`            // why the removal guard holds the feed; null if it does not
	UnprovedAbsent int        `json:"unproved_absent"` // number of deals in that snapshot that no list shows, kept without evidence

	SnapshotAt  *lake.Instant `json:"snapshot_at"` // known_at of the latest complete snapshot; null for none
	AgeSeconds  *int64        `json:"age_seconds"` // since snapshot_at; null for none
	Stale       bool          `json:"stale"`       // it is older than max_age_seconds
	judged      bool          // its age is compared with max_age_seconds
	LastFailure *FeedFailure  `json:"last_failure"` // since the latest complete snapshot; null for none
}

// FeedFailure is how a feed failed, or was held, in a commit or in an attempt without one.
type FeedFailure struct {
	RunID     string       `json:"run_id"`
	StartedAt lake.Instant `json:"started_at"`
	Outcome   string       `json:"outcome"`
	Error     string       `json:"error"`
}

// History is what became of the commands on the lake.
type History struct {
	Lease       *Lease    `json:"lease"`        // null if no command is at work
	LastSuccess *Success  `json:"last_success"` // the newest pull that made a commit; null for none
	LastFailure *Attempt  `json:"last_failure"` // the newest attempt that failed, of any command; null if none is recorded
	LastVerify  *Attempt  `json:"last_verify"`  // null if none is recorded
	Watch       *Watch    `json:"watch"`        // the newest watch; null if there was none
	Waiting     []Attempt `json:"waiting"`      // attempts that wait in the work folder of this machine to be put into the lake
	Nights      []Night   `json:"nights"`       // the last runs that made a commit, newest first
	made        []attempts.Attempt
	succeeded   map[string]lake.Instant // by command
}

// Unknown is the object that status --json prints if the lake cannot be read.
type Unknown struct {
	Lake string `json:"lake"`
	Verdict
	Waiting []Attempt `json:"waiting"`
}

// Unreadable returns what can be said of a lake that cannot be read. waiting are the attempts on it that wait on this machine.
func Unreadable(lakeURL string, waiting []attempts.Attempt, now time.Time, reason error) *Unknown {
	u := &Unknown{Lake: lakeURL, Waiting: []Attempt{}}
	for i := range waiting {
		u.Waiting = append(u.Waiting, ShortOf(&waiting[i]))
	}
	u.State, u.Now = unknown, lake.At(now)
	u.add("unreadable", "", "`dealflow doctor` tries the store; `dealflow verify` says what is damaged", "%s", reason.Error())
	return u
}

// Empty returns what is said of a place without a commit.
func (s *Result) Empty() *Unknown {
	u := &Unknown{Lake: s.Lake, Verdict: s.Verdict, Waiting: s.Waiting}
	u.State = unknown
	return u
}

const unknown = "unknown" // the state of a lake that could not be read
