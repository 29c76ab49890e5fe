package pull

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/extract"
	"dealflow/internal/catalog"
	"dealflow/load/mirror"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Contract says what a run does about drift that the lake has not seen since the feed's last complete snapshot. Drift
// is fields and values that schemas/api/openapi.yaml does not describe.
type Contract string

const (
	// ContractReport commits and reports the drift.
	ContractReport Contract = "report"
	// ContractFreeze commits nothing until a person accepts the drift: ErrContract.
	ContractFreeze Contract = "freeze"
)

// Config says what a run does. Fields without a default must be set.
type Config struct {
	Client *extract.Client // of this run alone: its counts become the run's
	Base   api.Base        // the client's base URL
	Store  store.Store     // of the lake
	RunID  string          // UUIDv7

	// Clock returns the machine's instants. With ServerClock, a run's time begins with the server's first Date instead.
	Clock       func() time.Time
	ServerClock bool

	// Elapsed returns the time that has passed since some instant, suspends of the machine included. Default: by Clock.
	Elapsed func() time.Duration

	Feeds          []api.Feed       // default: all twelve
	SnapshotDate   string           // YYYY-MM-DD; default: the day of the run's start
	DayZone        string           // IANA name of the time zone of days; default: the lake's, UTC for a new lake
	AcceptDayZone  bool             // count days in another time zone than the lake's from now on
	Deadline       time.Duration    // from the run's start; feeds that are not proved complete by then fail; default: none
	Contract       Contract         // default ContractReport
	AcceptClock    bool             // run although the clock seems wrong
	AcceptRemovals bool             // commit feeds that the removal guard would hold
	AcceptLost     bool             // continue after a lost commit; this one records it
	SingleWriter   bool             // run on a store that cannot create an object only once; the caller ensures that no other process writes
	Workers        int              // feeds flattened at once; default 2
	Stretch        int              // the least deals between two ends of a snapshot's row groups, as in parquet.Stretch; default: as there
	OneByOne       bool             // put one file after the other, so that the calls to the store have one order; default: side by side
	WorkDir        string           // local folder for unfinished files; default: the system's
	Owner          string           // for people who read the lease; default "dealflow"
	Version        string           // of this program
	Ambiguous      bool             // programs with other code may have the same Version: no rows are taken over from an earlier snapshot
	Memory         memory.Allocator // default: Go's
	SpareHeap      int64            // bytes by which Go's heap may grow between collections while feeds are read and written, also if the process's setting says less; default: as that says
	Log            *slog.Logger     // default: nothing is logged
	AcceptChecks   []string         // names of quality checks that hold nothing this time, or "all"
	GiveWay        bool             // of a run: wait for other commands, and do nothing if another run takes the same snapshots; default: it works at the same time
	WaitForLease   time.Duration    // with GiveWay: how long to wait at most
	NoCatalog      bool             // build no catalog: nothing is checked before the commit or published after it
	Cache          *mirror.Cache    // for a lake that is no local folder; default: a new one for this run

	// FeedDone is called when a feed is finished, with any outcome. Several goroutines may call it at once. Default:
	// none.
	FeedDone func(lake.FeedRun)
}

func (c *Config) withDefaults() (Config, error) {
	d := *c
	var faults []error
	require := func(ok bool, name string) {
		if !ok {
			faults = append(faults, fmt.Errorf("pull: %s is not set", name))
		}
	}
	require(d.Client != nil, "Client")
	require(d.Store != nil, "Store")
	require(d.RunID != "", "RunID")
	require(d.Clock != nil, "Clock")
	if d.SnapshotDate != "" {
		if _, err := time.Parse(time.DateOnly, d.SnapshotDate); err != nil {
			faults = append(faults, fmt.Errorf("snapshot date %q: want YYYY-MM-DD", d.SnapshotDate))
		}
	}
	if _, err := lake.Zone(d.DayZone); err != nil {
		faults = append(faults, err)
	}
	switch d.Contract {
	case "":
		d.Contract = ContractReport
	case ContractReport, ContractFreeze:
	default:
		faults = append(faults, fmt.Errorf("contract %q: want %s or %s", d.Contract, ContractReport, ContractFreeze))
	}
	if err := catalog.KnowsChecks(d.AcceptChecks); err != nil {
		faults = append(faults, err)
	}
	if len(d.Feeds) == 0 {
		d.Feeds = api.Feeds()
	}
	if d.Workers <= 0 {
		d.Workers = 2
	}
	if d.Owner == "" {
		d.Owner = "dealflow"
	}
	if d.Memory == nil {
		d.Memory = memory.DefaultAllocator
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.FeedDone == nil {
		d.FeedDone = func(lake.FeedRun) {}
	}
	return d, errors.Join(faults...)
}
