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

// Contract says what a run does with values that depart from the API document in a way that the last
// commit did not have.
type Contract string

const (
	// ContractReport commits and reports them.
	ContractReport Contract = "report"
	// ContractFreeze commits nothing until somebody has looked: ErrContract.
	ContractFreeze Contract = "freeze"
)

// Config says what a run shall do. Fields without a default must be set.
type Config struct {
	Client *extract.Client // of this run alone: its counts become the run's
	Base   api.Base        // the address the client works against
	Store  store.Store     // where the lake lies
	RunID  string          // UUIDv7

	// Clock gives the machine's instants. With ServerClock instants come from the server's Date
	// header instead (simulated and replayed markets).
	Clock       func() time.Time
	ServerClock bool

	Feeds          []api.Feed       // default: all twelve
	SnapshotDate   string           // YYYY-MM-DD; default: the UTC date of the run's start
	Deadline       time.Duration    // feeds not proved complete by then, counted from the start, have failed; default: none
	Contract       Contract         // default ContractReport
	AcceptClock    bool             // go on with a clock that seems wrong
	AcceptRemovals bool             // go on where the removal guard would hold a feed
	SingleWriter   bool             // go on with a store that cannot create an object only once: nobody else may write
	Workers        int              // feeds flattened at once; default 2
	WorkDir        string           // local folder for unfinished files; default: the system's
	Owner          string           // who runs, for people who read the lease; default "dealflow"
	Version        string           // of this program
	Memory         memory.Allocator // default: Go's
	Log            *slog.Logger     // default: nothing is logged
	AcceptChecks   []string         // names of quality checks that hold nothing this time
	NoCatalog      bool             // make no catalog: nothing is checked before the commit or published after it
	Cache          *mirror.Cache    // of a lake that is no folder of this machine; default: one for this run alone

	// FeedDone is called when a feed is finished, whatever its outcome, from several goroutines;
	// nil: nobody watches.
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
