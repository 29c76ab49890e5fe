package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"testing"
	"time"

	"dealflow/internal/testkit/s3test"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// asProgram, in the environment, has the test's own binary be dealflow.
const asProgram = "TEST_AS_PROGRAM"

// killedRuns is a market with a second night ahead, and a lake that holds the first.
type killedRuns struct {
	api   string
	base  store.Store   // the lake after the first night
	whole []string      // what the lake holds after a second night that nobody disturbed
	took  time.Duration // that night
}

// place is where a lake lies: as the test sees it, and as the program is told.
type place struct {
	store    store.Store
	settings []string // of the program's environment
}

// TestKilledFolder kills the program with signal 9 at random moments of its second night, over and over,
// with the lake in a folder. The lake is whole each time, and the same night run again ends in what an
// undisturbed one ends in. TEST_KILLS says how often; default 2.
func TestKilledFolder(t *testing.T) {
	t.Parallel()
	testKilled(t, func(t *testing.T, _ int) place {
		root := t.TempDir()
		s, err := dirstore.New(root)
		if err != nil {
			t.Fatal(err)
		}
		return place{s, []string{"DEALFLOW_LAKE=" + root}}
	})
}

// TestKilledS3 is the same with the lake on a real S3 server.
func TestKilledS3(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, s3test.Options{})
	testKilled(t, func(t *testing.T, n int) place {
		prefix := fmt.Sprintf("killed-%d", n)
		return place{server.Store(t, prefix), []string{
			"DEALFLOW_LAKE=s3://" + server.Bucket + "/" + prefix, "AWS_ENDPOINT_URL_S3=" + server.Endpoint, "AWS_REGION=" + server.Region,
			"AWS_ACCESS_KEY_ID=" + server.AccessKey, "AWS_SECRET_ACCESS_KEY=" + server.SecretKey,
		}}
	})
}

func testKilled(t *testing.T, open func(*testing.T, int) place) {
	kills, err := strconv.Atoi(cmp.Or(os.Getenv("TEST_KILLS"), "2"))
	if err != nil {
		t.Fatalf("TEST_KILLS: %v", err)
	}
	k := newKilledRuns(t, open)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	finished := 0
	for n := range kills {
		p := open(t, n+1)
		storetest.Copy(t, k.base, p.store)
		after := time.Duration(random.Int64N(int64(k.took) + 1))
		if k.program(t, p, after, "run") == 0 {
			finished++
		}
		if code := k.program(t, p, 0, "verify", "--read-data"); code != 0 {
			t.Fatalf("killed after %s: verify ends with exit code %d", after, code)
		}
		if code := k.program(t, p, 0, "run"); code != 0 {
			t.Fatalf("killed after %s: run again, it ends with exit code %d", after, code)
		}
		if got := liveFiles(t, p.store); !slices.Equal(got, k.whole) {
			t.Fatalf("killed after %s and run again:\n got %q\nwant %q", after, got, k.whole)
		}
	}
	t.Logf("%d runs killed within %s, %d of them had ended before", kills-finished, k.took, finished)
}

func newKilledRuns(t *testing.T, open func(*testing.T, int) place) *killedRuns {
	clock := sim.NewManualClock(time.Date(2026, 1, 7, 22, 0, 0, 0, time.UTC))
	server, err := serve.New(serve.Config{Source: sim.New(sim.Config{Seed: 5, Deals: 60, Clock: clock.Now})})
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(server.Handler())
	t.Cleanup(api.Close)
	k := &killedRuns{api: api.URL, base: &memstore.Mem{}}
	p := open(t, 0)
	if code := k.program(t, p, 0, "run"); code != 0 {
		t.Fatalf("first night: exit code %d", code)
	}
	storetest.Copy(t, p.store, k.base)
	clock.Set(clock.Now().AddDate(0, 0, 1))
	began := time.Now()
	if code := k.program(t, p, 0, "run"); code != 0 {
		t.Fatalf("second night: exit code %d", code)
	}
	k.took, k.whole = time.Since(began), liveFiles(t, p.store)
	return k
}

// program runs dealflow in a process of its own and gives its exit code. With after it is killed when
// that time has passed; -1 says that it was.
func (k *killedRuns) program(t *testing.T, p place, after time.Duration, args ...string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Dir = t.TempDir()
	cmd.Env = slices.Concat([]string{
		asProgram + "=1", "HOME=" + cmd.Dir, "TMPDIR=" + cmd.Dir, "DEALFLOW_API=" + k.api, "DEALFLOW_CLOCK=server",
		"DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo",
	}, p.settings)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // it may have ended
		defer timer.Stop()
	}
	err := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code > 0 {
		t.Logf("%v: %v\n%s", args, err, said.String())
	}
	return cmd.ProcessState.ExitCode()
}

// liveFiles lists folder and SHA-256 of the live files of the flattened tables: what runs that saw the same
// have in common.
func liveFiles(t *testing.T, s store.Store) (all []string) {
	t.Helper()
	l, err := load.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range l.Log().AllFiles() {
		if file.Table != lake.HistoryTable(lake.DealVersions) && file.Table != lake.QuarantineTable {
			all = append(all, path.Dir(file.Path)+" "+file.SHA256)
		}
	}
	slices.Sort(all)
	return all
}
