package metrics

import (
	"time"

	"dealflow/internal/exitcode"
)

// Health is what status says of a lake, in numbers. A zero time means that there is none.
type Health struct {
	State       string    // ok, warning or problem
	Findings    []Finding // each kind of status once
	MaxAge      time.Duration
	Refused     bool // the next run would be refused now
	AtWork      bool // a command holds the lease
	Waiting     int  // attempts in the work folder of this machine
	LastSuccess time.Time
	LastFailure time.Time
	FailureOpen bool // nothing of that command has succeeded since
	LastVerify  time.Time
	VerifyBad   bool
	Succeeded   map[string]time.Time // newest success that the lake knows, by command
	Size        Size
	Night       Night
	Feeds       []Feed
}

// Finding is the number of findings of a kind.
type Finding struct {
	Kind, Severity string
	Count          int
}

// Size is what a lake has grown to.
type Size struct {
	Commit        int64 // number of the newest commit
	CatalogCommit int64 // number of the commit that the catalog shows; 0: no catalog
	Files         int
	Bytes         int64
	OlderFiles    int // files of an older schema
}

// Night is the newest run that made a commit.
type Night struct {
	KnownAt       time.Time
	Seconds       float64
	Requests      int64
	BytesReceived int64
	BytesAdded    int64
	FilesAdded    int
}

// Feed is a feed that the lake has pulled.
type Feed struct {
	Name        string        // such as bond/ig/priced
	SnapshotAt  time.Time     // of the newest complete snapshot
	MaxAge      time.Duration // age from which that snapshot is a problem; 0: its age is not judged
	Deals       int64         // in that snapshot
	Held        bool
	Failed      bool // in the last pull
	Quarantined int64
	Drift       int64 // values
	Unproved    int   // deals that are kept without evidence
}

// Ending says how a command ended.
type Ending struct {
	Command   string // such as run
	StartedAt time.Time
	EndedAt   time.Time
	ExitCode  int
	Skipped   bool  // it gave way to another command, and did nothing
	Requests  int64 // sent to the API
	Warnings  int
}

// Succeeded says whether the command did what it should: it is done, with warnings or without.
func (e *Ending) Succeeded() bool { return !e.Skipped && exitcode.Succeeded(e.ExitCode) }
