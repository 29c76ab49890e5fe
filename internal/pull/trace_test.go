package pull_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load/store/memstore"
	"dealflow/load/store/tracestore"
)

// TestTrace checks what each command writes to the store, and in which order: data files, then the commit, then what is
// derived from it.
func TestTrace(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	mem := new(memstore.Mem)
	w.Store = mem
	b.WriteAll(world.LoanExpected, 1, 4, `"tranches":[{"name":"A"}]`)
	var got strings.Builder
	trace := func(what string, execute func(cfg pull.Config) error) {
		t.Helper()
		s := &tracestore.Store{Store: mem}
		cfg := w.Config(t, world.Feeds(world.LoanExpected))
		cfg.Workers, cfg.Store = 1, s
		if err := execute(cfg); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		fmt.Fprintf(&got, "-- %s --\n", what)
		for _, line := range inOrder(s.Lines()) {
			got.WriteString(anonymous(line, cfg.RunID) + "\n")
		}
	}
	run := func(cfg pull.Config) error {
		_, err := pull.Run(t.Context(), cfg)
		return err
	}
	w.Evening(0)
	trace("first run", run)
	w.Evening(1)
	b.Write(world.LoanExpected, 2, `"tranches":[{"name":"B"}]`)
	trace("run", run)
	w.Later(time.Hour)
	b.Write(world.LoanExpected, 3, `"tranches":[{"name":"B"}]`)
	trace("sync", func(cfg pull.Config) error {
		_, err := pull.Sync(t.Context(), cfg)
		return err
	})
	trace("sync without news", func(cfg pull.Config) error {
		_, err := pull.Sync(t.Context(), cfg)
		return err
	})
	w.Later(time.Hour)
	trace("compact", func(cfg pull.Config) error {
		_, err := maintain.Compact(t.Context(), upkeep(cfg))
		return err
	})
	trace("replay", func(cfg pull.Config) error {
		_, err := maintain.Replay(t.Context(), maintain.ReplayConfig{Config: upkeep(cfg), Force: true})
		return err
	})
	w.Evening(60)
	trace("run, later", run)
	trace("expire", func(cfg pull.Config) error {
		_, err := maintain.Expire(t.Context(), maintain.ExpireConfig{Config: upkeep(cfg), Keep: maintain.Retention{Days: 30, MonthEnds: false}, Apply: true})
		return err
	})
	testkit.Golden(t, testkit.Root(t)+"/testdata/traces/commands.trace", []byte(got.String()))
}

// inOrder sorts lines that follow each other and of which the order may differ: those of data files, and of the catalog and
// its packed copy.
func inOrder(lines []string) []string {
	sameKind := func(a, b string) bool {
		data := func(line string) bool {
			return strings.HasPrefix(line, "create snapshots/") || strings.HasPrefix(line, "create history/")
		}
		return data(a) && data(b) || strings.Contains(a, "catalog.duckdb") && strings.Contains(b, "catalog.duckdb")
	}
	for begin, i := 0, 1; i <= len(lines); i++ {
		if i == len(lines) || !sameKind(lines[begin], lines[i]) {
			slices.Sort(lines[begin:i])
			begin = i
		}
	}
	return lines
}

// upkeep returns the configuration of a maintenance command, with a run's store and run id.
func upkeep(cfg pull.Config) maintain.Config {
	return maintain.Config{
		Store: cfg.Store, RunID: cfg.RunID, Clock: cfg.Clock, WorkDir: cfg.WorkDir, Version: cfg.Version, Memory: cfg.Memory, NoCatalog: cfg.NoCatalog,
	}
}

var (
	uuidForm   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	randomForm = regexp.MustCompile(`(probe|clock)-[a-z0-9]{20,}`)
)

// anonymous removes from a line what differs from run to run.
func anonymous(line, runID string) string {
	line = strings.ReplaceAll(line, runID, "RUN")
	line = uuidForm.ReplaceAllString(line, "EARLIER")
	return randomForm.ReplaceAllString(line, "$1-RANDOM")
}
