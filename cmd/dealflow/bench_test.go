//go:build unix

package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"dealflow/serve"
	"dealflow/serve/sim"
)

// BenchmarkRunMemory runs the first night of ever larger markets in a process of its own and reports the most
// memory that it had, DuckDB's for the catalog included: it is to grow with the number of deals (about a
// hundred bytes each, and the version index), not with the size of payloads.
func BenchmarkRunMemory(b *testing.B) {
	for _, deals := range []int{300, 3000, 12_000} {
		b.Run(fmt.Sprintf("deals=%d", deals), func(b *testing.B) {
			clock := sim.NewManualClock(time.Date(2026, 1, 7, 22, 0, 0, 0, time.UTC))
			server, err := serve.New(serve.Config{Source: sim.New(sim.Config{Seed: 3, Deals: deals, Clock: clock.Now})})
			if err != nil {
				b.Fatal(err)
			}
			api := httptest.NewServer(server.Handler())
			defer api.Close()
			for b.Loop() {
				cmd := exec.CommandContext(b.Context(), os.Args[0], "run")
				cmd.Dir = b.TempDir()
				cmd.Env = []string{
					asProgram + "=1", "HOME=" + cmd.Dir, "DEALFLOW_LAKE=" + cmd.Dir + "/lake", "DEALFLOW_API=" + api.URL, "DEALFLOW_CLOCK=server",
					"DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo",
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
					b.ReportMetric(float64(usage.Maxrss)/1024, "peak-MiB")
				}
			}
		})
	}
}
