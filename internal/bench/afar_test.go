//go:build unix

package bench_test

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"dealflow/internal/testkit/s3test"
)

// What is usual between a company's own machine and a region of a cloud.
const (
	storeDelay = 30 * time.Millisecond // before each answer of the store
	apiDelay   = 80 * time.Millisecond // before each answer of the API
	storeSpeed = 50e6                  // bytes a second of each answer of the store
)

// slow is an answer through a connection of bounded speed.
type slow struct {
	http.ResponseWriter
	ctx  context.Context
	pace *rate.Limiter
}

func (s *slow) Write(p []byte) (int, error) {
	written := 0
	for part := range slices.Chunk(p, s.pace.Burst()) {
		if err := s.pace.WaitN(s.ctx, len(part)); err != nil {
			return written, err
		}
		n, err := s.ResponseWriter.Write(part)
		if written += n; err != nil {
			return written, err
		}
	}
	return written, nil
}

func (s *slow) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// BenchmarkAfar measures commands of the program, or of the one that TEST_PROGRAM names, whose lake is on an S3 server that is far away, as the API is: on a young lake, on one
// with twenty commits since its checkpoint, and once more with Iceberg tables. The servers use the same processors.
func BenchmarkAfar(b *testing.B) {
	s, commits, delay, tries := sizes()[0], 20, storeDelay, 3
	if testing.Short() {
		commits, delay, tries = 8, 0, 1
	} else {
		s.Delay = apiDelay
	}
	m := newMarket(b, s)
	var requests atomic.Int64
	server := s3test.Start(b, s3test.Options{}).Front(b, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			time.Sleep(delay) // the distance that is to be measured
			server.ServeHTTP(&slow{ResponseWriter: w, ctx: r.Context(), pace: rate.NewLimiter(storeSpeed, 1<<16)}, r)
		})
	})

	home, cache := b.TempDir(), b.TempDir()
	path := cmp.Or(os.Getenv("TEST_PROGRAM"), program(b))
	env := append(os.Environ(), "HOME="+home, "DEALFLOW_CACHE_DIR="+cache, "DEALFLOW_LAKE=s3://"+server.Bucket+"/lake", "DEALFLOW_API="+m.address,
		"DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo", "DEALFLOW_CLOCK=server",
		"AWS_ENDPOINT_URL_S3="+server.Endpoint, "AWS_REGION="+server.Region,
		"AWS_ACCESS_KEY_ID="+server.AccessKey, "AWS_SECRET_ACCESS_KEY="+server.SecretKey)
	do := func(args ...string) (usage, int64) {
		before := requests.Load()
		took, _ := execute(b, commandLine{Args: append([]string{path}, args...), Env: env, Dir: home})
		return took, requests.Load() - before
	}
	measured := func(what string, args ...string) {
		took, sent := do(args...)
		b.Run(what, func(b *testing.B) {
			took.report(b)
			b.ReportMetric(float64(sent), "store-requests")
		})
	}
	day := firstNight
	night := func() {
		m.night(b, day)
		day++
	}
	night()
	measured("first-run", "run")
	night()
	do("run")
	do("sync")
	night()
	measured("usual-run/commit=4", "run")
	measured("quiet-sync/commit=4", "sync")
	for n := 6; n <= commits-2; n++ {
		night()
		do("sync")
	}
	night()
	measured("usual-run/commit="+strconv.Itoa(commits), "run")
	measured("quiet-sync/commit="+strconv.Itoa(commits), "sync")
	night()
	measured("sync-with-news", "sync")
	const query = "SELECT count(*) FROM bond_priced_deals"
	measured("query-cold", "query", "--cache-dir", b.TempDir(), query)
	do("query", query)
	measured("query-warm", "query", query)
	measured("status", "status", "--max-age", "100000h")
	measured("runs", "runs")
	measured("doctor", "doctor")
	measured("catalog", "catalog")
	measured("verify", "verify")
	measured("verify-read-data", "verify", "--read-data")
	measured("compact", "compact")
	// Nights of one lake, each of which does about the same, with Iceberg tables and without.
	nights := func(what string) {
		var best usage
		var fewest int64 = math.MaxInt64
		for range tries {
			night()
			took, sent := do("run")
			best, fewest = least(best, took), min(fewest, sent)
		}
		b.Run(what, func(b *testing.B) {
			best.report(b)
			b.ReportMetric(float64(fewest), "store-requests")
		})
	}
	nights("usual-run/compacted")
	night()
	measured("usual-run/empty-cache", "run", "--cache-dir", b.TempDir())
	if exec.Command(path, "help", "iceberg", "on").Run() == nil {
		do("iceberg", "on")
		nights("usual-run/iceberg")
	}
}
