//go:build unix

package bench_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// usage is the time and memory that something took.
type usage struct {
	wall time.Duration
	cpu  time.Duration // of all threads, user and system
	rss  int64         // most memory used at once, in bytes; 0: unknown
}

// report reports it as metrics of a benchmark, instead of the time per iteration.
func (u usage) report(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(u.wall.Seconds(), "wall-s")
	b.ReportMetric(u.cpu.Seconds(), "cpu-s")
	if u.rss > 0 {
		b.ReportMetric(float64(u.rss)/(1<<20), "peak-MiB")
	}
}

// least keeps the smaller of two: of several executions the least disturbed.
func least(a, b usage) usage {
	if a.wall == 0 || b.wall < a.wall {
		return b
	}
	return a
}

// measure runs work in this process.
func measure(b *testing.B, work func() error) usage {
	b.Helper()
	cpu, began := ownCPU(b), time.Now()
	if err := work(); err != nil {
		b.Fatal(err)
	}
	return usage{wall: time.Since(began), cpu: ownCPU(b) - cpu}
}

func ownCPU(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return cpuOf(&r)
}

func cpuOf(r *syscall.Rusage) time.Duration {
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// asLauncher makes the test's own program run the command that the variable describes. The system counts the launching
// process's memory as the new process's own until it becomes another program. So a benchmark that uses gigabytes must
// not start the measured program itself.
const asLauncher = "TEST_BENCH_LAUNCH"

// commandLine is a program to run, and launched what came of it.
type commandLine struct {
	Args, Env []string
	Dir       string
}

type launched struct {
	Wall, CPU time.Duration
	RSS       int64
	Out, Err  []byte
	Failure   string // "" for success
}

// launch runs a command to its end, in the launcher.
func launch(described string) error {
	var c commandLine
	if err := json.Unmarshal([]byte(described), &c); err != nil {
		return err
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.Env, c.Dir, &out, &errs
	began := time.Now()
	err := cmd.Run()
	l := launched{Wall: time.Since(began), Out: out.Bytes(), Err: errs.Bytes()}
	if err != nil {
		l.Failure = err.Error()
	}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		l.CPU, l.RSS = cpuOf(r), maxRSS(r)
	}
	return json.NewEncoder(os.Stdout).Encode(l)
}

// execute runs a command to its end and gives its output.
func execute(b *testing.B, c commandLine) (usage, []byte) {
	b.Helper()
	described, err := json.Marshal(c)
	if err != nil {
		b.Fatal(err)
	}
	launcher := exec.CommandContext(b.Context(), os.Args[0])
	launcher.Env = append(os.Environ(), asLauncher+"="+string(described))
	launcher.Stderr = os.Stderr
	out, err := launcher.Output()
	if err != nil {
		b.Fatal(err)
	}
	var l launched
	if err := json.Unmarshal(out, &l); err != nil {
		b.Fatal(err)
	}
	if l.Failure != "" {
		b.Fatalf("%s: %s\n%s", c.Args, l.Failure, l.Err)
	}
	return usage{wall: l.Wall, cpu: l.CPU, rss: l.RSS}, l.Out
}

// maxRSS is the most memory that a process held, in bytes: Darwin counts bytes, the others KiB.
func maxRSS(r *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return r.Maxrss
	}
	return r.Maxrss << 10
}
