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

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/s3test"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// asProgram is the environment variable that makes the test's binary run as dealflow.
const asProgram = "TEST_AS_PROGRAM"

// killedCommands is a market before its second night, and the commands to kill.
type killedCommands struct {
	api      string
	commands []killedCommand
}

// killedCommand is a command and its effect on a lake.
type killedCommand struct {
	args     []string
	base     store.Store   // the lake before
	complete []string      // live files of the lake after an undisturbed command
	took     time.Duration // duration of that command
}

// location is the lake's location: as a store, and as settings of the program.
type location struct {
	store    store.Store
	settings []string // environment of the program
}

// TestKilledFolder kills the program with signal 9 at random moments of its second night, and of the maintenance after it,
// with the lake in a folder. The lake is complete each time. When the same command is run again, the lake is equal to that
// of an undisturbed command. TEST_KILLS is the number of kills; every second one is of a run. Default 2.
func TestKilledFolder(t *testing.T) {
	t.Parallel()
	testKilled(t, func(t *testing.T, _ int) location {
		root := t.TempDir()
		s, err := dirstore.New(root)
		if err != nil {
			t.Fatal(err)
		}
		return location{s, []string{"DEALFLOW_LAKE=" + root}}
	})
}

// TestKilledS3 is TestKilledFolder with the lake on a real S3 server.
func TestKilledS3(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	server := s3test.Start(t, s3test.Options{})
	testKilled(t, func(t *testing.T, n int) location {
		prefix := fmt.Sprintf("killed-%d", n)
		return location{server.Store(t, prefix), []string{
			"DEALFLOW_LAKE=s3://" + server.Bucket + "/" + prefix, "AWS_ENDPOINT_URL_S3=" + server.Endpoint, "AWS_REGION=" + server.Region,
			"AWS_ACCESS_KEY_ID=" + server.AccessKey, "AWS_SECRET_ACCESS_KEY=" + server.SecretKey,
		}}
	})
}

func testKilled(t *testing.T, open func(*testing.T, int) location) {
	kills, err := strconv.Atoi(cmp.Or(os.Getenv("TEST_KILLS"), "2"))
	if err != nil {
		t.Fatalf("TEST_KILLS: %v", err)
	}
	k := newKilledCommands(t, open)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	first := random.IntN(len(k.commands)) // a small number of kills tries all commands in the course of time
	finished := 0
	for n := range kills {
		c := k.commands[0]
		if n%2 == 1 {
			c = k.commands[1+(first+n/2)%(len(k.commands)-1)]
		}
		p := open(t, n+100)
		storetest.Copy(t, c.base, p.store)
		after := time.Duration(random.Int64N(int64(c.took) + 1))
		if k.program(t, p, after, c.args...) == 0 {
			finished++
		}
		if code := k.program(t, p, 0, "verify", "--read-data"); code != 0 {
			t.Fatalf("%v killed after %s: verify ends with exit code %d", c.args, after, code)
		}
		if code := k.program(t, p, 0, c.args...); code != 0 {
			t.Fatalf("%v killed after %s: run again, it ends with exit code %d", c.args, after, code)
		}
		if got := liveFiles(t, p.store); !slices.Equal(got, c.complete) {
			missing := slices.DeleteFunc(slices.Clone(c.complete), func(file string) bool { return slices.Contains(got, file) })
			t.Fatalf("%v killed after %s and run again: the lake has %d files, want %d; it lacks %.2000q", c.args, after, len(got), len(c.complete), missing)
		}
	}
	t.Logf("%d commands killed, %d of them had ended before", kills-finished, finished)
}

// newNight runs the first night of a market into a lake, and moves the market's clock to the second one.
func newNight(t *testing.T, p location) *killedCommands {
	t.Helper()
	clock := sim.NewManualClock(time.Date(2026, 1, 7, 22, 0, 0, 0, time.UTC))
	server, err := serve.New(serve.Config{Source: sim.New(sim.Config{Seed: 5, Deals: 60, Clock: clock.Now})})
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(server.Handler())
	t.Cleanup(api.Close)
	k := &killedCommands{api: api.URL}
	if code := k.program(t, p, 0, "run"); code != 0 {
		t.Fatalf("first night: exit code %d", code)
	}
	clock.Set(clock.Now().AddDate(0, 0, 1))
	return k
}

// newKilledCommands runs each command once without a disturbance: the run of a second night, then on its lake each of
// the maintenance commands.
func newKilledCommands(t *testing.T, open func(*testing.T, int) location) *killedCommands {
	p := open(t, 0)
	k := newNight(t, p)
	for i, args := range [][]string{{"run"}, {"compact"}, {"expire", "--apply", "--keep-days", "1"}, {"replay", "--snapshots", "--force"}} {
		c := killedCommand{args: args, base: storetest.Clone(t, p.store)}
		if i > 1 { // each on the lake that the run left
			c.base = k.commands[1].base
			p = open(t, i)
			storetest.Copy(t, c.base, p.store)
		}
		before, began := liveFiles(t, c.base), time.Now()
		if code := k.program(t, p, 0, args...); code != 0 {
			t.Fatalf("%v: exit code %d", args, code)
		}
		c.took, c.complete = time.Since(began), liveFiles(t, p.store)
		if slices.Equal(c.complete, before) && i < 3 {
			t.Fatalf("%v changes nothing: it tries nothing", args)
		}
		k.commands = append(k.commands, c)
	}
	return k
}

// program runs dealflow in another process and returns its exit code. If after is positive, it kills the process after
// that time and returns -1.
func (k *killedCommands) program(t *testing.T, p location, after time.Duration, args ...string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Dir = t.TempDir()
	cmd.Env = slices.Concat([]string{
		asProgram + "=1", "HOME=" + cmd.Dir, "TMPDIR=" + cmd.Dir, "DEALFLOW_API=" + k.api, "DEALFLOW_CLOCK=server",
		"DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo",
	}, asQuick(), p.settings)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // fails if the process has ended
		defer timer.Stop()
	}
	err := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code > 0 {
		t.Logf("%v: %v\n%s", args, err, output.String())
	}
	return cmd.ProcessState.ExitCode()
}

// liveFiles returns folder and SHA-256 of the live files of the flattened tables. They are equal for runs that read the
// same data.
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
