package maintain

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load/mirror"
	"dealflow/load/store"
)

// Config says where and how a command works. Fields without a default must be set.
type Config struct {
	Store      store.Store      // of the lake
	RunID      string           // UUIDv7
	Clock      func() time.Time // the machine's
	WorkDir    string           // local folder for unfinished files; default: the system's
	Owner      string           // for people who read the lease; default "dealflow"
	Version    string           // of this program
	Memory     memory.Allocator // default: Go's
	Workers    int              // markets that are replayed at once; default 2
	Log        *slog.Logger     // default: nothing is logged
	NoCatalog  bool             // publish no catalog
	AcceptLost bool             // work on a lake that has lost a commit; this command's commit records it
	Cache      *mirror.Cache    // for a lake that is no local folder; default: a new one for this command
}

func (c *Config) withDefaults() (Config, error) {
	d := *c
	var faults []error
	require := func(ok bool, name string) {
		if !ok {
			faults = append(faults, fmt.Errorf("maintain: %s is not set", name))
		}
	}
	require(d.Store != nil, "Store")
	require(d.RunID != "", "RunID")
	require(d.Clock != nil, "Clock")
	if d.Owner == "" {
		d.Owner = "dealflow"
	}
	if d.Memory == nil {
		d.Memory = memory.DefaultAllocator
	}
	if d.Workers <= 0 {
		d.Workers = 2
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	return d, errors.Join(faults...)
}
