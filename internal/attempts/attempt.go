package attempts

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/google/uuid"

	"dealflow/internal/exitcode"
	"dealflow/internal/process"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// formatVersion is that of the objects of attempts. Readers ignore objects of a later version.
const formatVersion = 1

// State is what an object of an attempt says. An attempt has up to three objects: the end is believed first, then the
// kill, then the start.
type State string

// The states.
const (
	Started State = "start"
	Ended   State = "end"
	Killed  State = "killed" // put by a later command, which found that the process had ended without an end
)

var states = []State{Ended, Killed, Started} // by rank

// The outcomes that an attempt has besides those of lake.Commit.
const (
	OutcomeCancelled = "cancelled" // by a signal, such as that of a scheduler
	OutcomeKilled    = "killed"    // the process ended without a word
	OutcomeRunning   = "running"   // as far as a reader can tell
)

// Attempt is one execution of a command on a lake, as one of its objects says. It is that object's JSON; fields are only
// ever added.
type Attempt struct {
	FormatVersion   int               `json:"format_version"`
	State           State             `json:"state"`
	RunID           string            `json:"run_id"` // UUIDv7; that of the commit, if the command made one
	Command         string            `json:"command"`
	StartedAt       lake.Instant      `json:"started_at"`        // by the machine's clock
	EndedAt         lake.Instant      `json:"ended_at,omitzero"` // by the machine's clock; of a kill: when it was found; zero of a start
	Owner           string            `json:"owner"`             // host and process, for people
	Process         *process.Identity `json:"process,omitempty"`
	DealflowVersion string            `json:"dealflow_version"`
	After           *After            `json:"after,omitempty"` // the lake's newest commit when the attempt began; nil: not known
	Result
}

// After names the newest commit of a lake. It tells the order of attempts and commits without clocks.
type After struct {
	Commit int64  `json:"commit"`           // 0: there was no lake yet
	SHA256 string `json:"sha256,omitempty"` // of the commit's bytes: a later commit takes the number of one that is lost
}

// Result says how an attempt ended.
type Result struct {
	Outcome      string   `json:"outcome,omitempty"`   // "" of a start
	ExitCode     *int     `json:"exit_code,omitempty"` // nil of a start and of a kill
	Error        string   `json:"error,omitempty"`     // the message of the command
	Commit       int64    `json:"commit,omitempty"`    // number of the commit that it made; 0 for none
	SnapshotDate string   `json:"snapshot_date,omitempty"`
	Requests     int64    `json:"requests,omitempty"` // sent to the API
	Feeds        []Feed   `json:"feeds,omitempty"`    // only if there is no commit, which says more
	Warnings     []string `json:"warnings,omitempty"`

	Held         lake.Held     `json:"held,omitzero"`           // of a run, a sync or a retry; zero in older objects
	StageSeconds *StageSeconds `json:"stage_seconds,omitempty"` // of a run or a sync that made a commit; absent in older objects
	Damage       []Damage      `json:"damage,omitempty"`        // of a verify: what is not over after it, newest first
}

// Damage is what a verify found, and no later one has seen mended: none that has read as much.
type Damage struct {
	RunID     string       `json:"run_id"` // of the verify that found it
	StartedAt lake.Instant `json:"started_at"`
	ReadData  string       `json:"read_data,omitempty"` // what it read, as --read-data says: all, or n/t; "": no data
	Findings  int64        `json:"findings,omitempty"`  // of damage; 0: not known
}

// Verify is the command that finds damage.
const Verify = "verify"

// ReadAll is the ReadData of a verify that reads all data.
const ReadAll = "all"

// AfterVerify returns what is not over after a verify. earlier is what was not over before, newest first; now says what this verify has
// read and found. If it could read all that, it has seen what was found without reading, and what was found in the same data: that is
// mended, or among what it has found itself. Otherwise what was damaged may be in the files that it could not read.
func AfterVerify(earlier []Damage, now Damage, readAll bool) []Damage {
	var open []Damage
	if now.Findings > 0 {
		open = append(open, now)
	}
	for _, d := range earlier {
		if !readAll || d.ReadData != "" && d.ReadData != now.ReadData && now.ReadData != ReadAll {
			open = append(open, d)
		}
	}
	return open
}

// FoundDamage says whether the attempt is a verify that found damage.
func (a *Attempt) FoundDamage() bool {
	return a.Command == Verify && a.ExitCode != nil && *a.ExitCode == exitcode.Damage
}

// OpenDamage returns what is not over after a verify. An older program did not say: then it is what that verify itself found.
func (a *Attempt) OpenDamage() []Damage {
	if a.Damage == nil && a.FoundDamage() {
		return []Damage{{RunID: a.RunID, StartedAt: a.StartedAt}}
	}
	return a.Damage
}

// StageSeconds is the duration of each stage of a pull.
type StageSeconds struct {
	Open    float64 `json:"open"`
	Feeds   float64 `json:"feeds"`
	Commit  float64 `json:"commit"`
	Catalog float64 `json:"catalog"`
}

// Feed is what became of a feed in an attempt without a commit.
type Feed struct {
	Feed    api.Feed `json:"feed"`
	Outcome string   `json:"outcome"`
	Error   string   `json:"error,omitempty"`
}

// Failed says whether the attempt ended badly and left the lake as it was.
func (a *Attempt) Failed() bool {
	switch a.Outcome {
	case lake.OutcomeFailed, lake.OutcomeHeld, OutcomeCancelled, OutcomeKilled:
		return a.Commit == 0
	}
	return false
}

// key returns the key of the attempt's object. The day is that of the start, in UTC by the machine's clock.
func (a *Attempt) key() string {
	return fmt.Sprintf("%s%s/%s.%s.%s.json", lake.AttemptsPrefix, lake.DateOf(a.StartedAt.Time), a.RunID, a.Command, a.State)
}

// name is what the key of an attempt's object says.
type name struct {
	runID, command string
	state          State
}

// parseName reads the last part of a key. It returns false for a key that is none of an attempt.
func parseName(key string) (name, bool) {
	parts := strings.Split(path.Base(key), ".")
	if len(parts) != 4 || parts[3] != "json" || uuid.Validate(parts[0]) != nil {
		return name{}, false
	}
	n := name{parts[0], parts[1], State(parts[2])}
	return n, n.state.rank() < len(states)
}

// rank is the state's place in states, or its length.
func (s State) rank() int {
	for i, known := range states {
		if s == known {
			return i
		}
	}
	return len(states)
}

func (a *Attempt) encode() ([]byte, error) {
	data, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// decode parses an object. It returns an error for one that this program cannot read.
func decode(data []byte) (*Attempt, error) {
	var a Attempt
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	if a.FormatVersion != formatVersion {
		return nil, fmt.Errorf("attempt of format version %d: this program reads version %d", a.FormatVersion, formatVersion)
	}
	return &a, nil
}
