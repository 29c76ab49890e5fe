//go:build unix

package bench_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/s3test"
	"dealflow/schemas/lake"
)

// program builds the program under measurement.
func program(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "dealflow")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-X main.releaseRevision=bench", "-o", path, "dealflow/cmd/dealflow")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

// lakeAt runs commands of the program on one lake, with one server.
type lakeAt struct {
	program string
	root    string
	address string
	cores   int      // 0: all
	store   []string // environment variables with the lake's store
}

// pull runs `run` or `sync` and gives what it took and did.
func (l *lakeAt) pull(b *testing.B, command string) (usage, *pull.Result) {
	b.Helper()
	took, out := l.command(b, command, "--json", "--clock=server")
	result := new(pull.Result)
	if err := json.Unmarshal(out, result); err != nil {
		b.Fatal(err)
	}
	return took, result
}

// command runs any command and gives what it took and printed.
func (l *lakeAt) command(b *testing.B, args ...string) (usage, []byte) {
	b.Helper()
	args = append([]string{l.program}, args...)
	if l.cores > 0 {
		args = append([]string{"taskset", "--cpu-list", fmt.Sprintf("0-%d", l.cores-1)}, args...)
	}
	home := b.TempDir()
	env := append(os.Environ(), "HOME="+home, "DEALFLOW_LAKE="+l.root, "DEALFLOW_API="+l.address,
		"DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo")
	env = append(env, l.store...)
	return execute(b, commandLine{Args: args, Env: env, Dir: home})
}

// BenchmarkRun measures complete commands of the program, catalog included: the first night, on one core and on all; a
// usual night; and a sync with nothing new. The lake is in a folder, and on S3.
func BenchmarkRun(b *testing.B) {
	path := program(b)
	for _, s := range sizes() {
		b.Run("deals="+s.Name, func(b *testing.B) {
			m := newMarket(b, s)
			m.night(b, firstNight)
			fresh := func(b *testing.B) *lakeAt {
				return &lakeAt{program: path, root: filepath.Join(b.TempDir(), "lake"), address: m.address}
			}
			for _, cores := range []int{1, 2} {
				b.Run("first-night/cores="+strconv.Itoa(cores), func(b *testing.B) {
					pulls(b, "run", func() *lakeAt {
						l := fresh(b)
						l.cores = cores
						return l
					})
				})
			}
			first := fresh(b)
			first.pull(b, "run")
			m.night(b, firstNight+1)
			after := func(l *lakeAt) *lakeAt {
				if err := os.CopyFS(l.root, os.DirFS(first.root)); err != nil {
					b.Fatal(err)
				}
				return l
			}
			b.Run("usual-night", func(b *testing.B) {
				pulls(b, "run", func() *lakeAt { return after(fresh(b)) })
			})
			b.Run("usual-night/iceberg", func(b *testing.B) {
				pulls(b, "run", func() *lakeAt {
					l := after(fresh(b))
					l.command(b, "iceberg", "on")
					return l
				})
			})
			first.pull(b, "run")
			b.Run("quiet-sync", func(b *testing.B) { pulls(b, "sync", func() *lakeAt { return first }) })
			b.Run("s3", func(b *testing.B) { runsOnS3(b, m, path) })
		})
	}
}

// runsOnS3 is the same with the lake on an S3 server, which uses the same processors. Each command begins with an empty
// cache.
func runsOnS3(b *testing.B, m *market, program string) {
	server := s3test.Start(b, s3test.Options{})
	lakes := 0
	fresh := func() *lakeAt {
		lakes++
		return &lakeAt{program: program, root: fmt.Sprintf("s3://%s/lake-%d", server.Bucket, lakes), address: m.address, store: []string{
			"AWS_ENDPOINT_URL_S3=" + server.Endpoint, "AWS_REGION=" + server.Region,
			"AWS_ACCESS_KEY_ID=" + server.AccessKey, "AWS_SECRET_ACCESS_KEY=" + server.SecretKey,
		}}
	}
	m.night(b, firstNight)
	b.Run("first-night", func(b *testing.B) { pulls(b, "run", fresh) })
	b.Run("usual-night", func(b *testing.B) {
		pulls(b, "run", func() *lakeAt {
			l := fresh()
			m.night(b, firstNight)
			l.pull(b, "run")
			m.night(b, firstNight+1)
			return l
		})
	})
	b.Run("quiet-sync", func(b *testing.B) {
		l := fresh()
		l.pull(b, "run")
		pulls(b, "sync", func() *lakeAt { return l })
	})
}

// pulls measures a command on one lake after the other, and reports the least disturbed.
func pulls(b *testing.B, command string, next func() *lakeAt) {
	var best usage
	var result *pull.Result
	for b.Loop() {
		b.StopTimer()
		l := next()
		b.StartTimer()
		took, r := l.pull(b, command)
		best, result = least(best, took), r
	}
	report(b, best, result)
}

// report shows what a command took and did.
func report(b *testing.B, took usage, r *pull.Result) {
	took.report(b)
	b.ReportMetric(float64(r.BytesWritten)/1e6, "written-MB")
	b.ReportMetric(float64(r.Count(func(f *lake.FeedRun) int64 { return f.Deals })), "deals")
	b.ReportMetric(float64(r.Count(func(f *lake.FeedRun) int64 { return f.Added + f.Changed + f.Removed + f.Reappeared })), "news")
	b.ReportMetric(float64(r.Count(func(f *lake.FeedRun) int64 { return f.Requests })), "requests")
	b.ReportMetric(r.Stages.Feeds, "feeds-s")
	b.ReportMetric(r.Stages.Commit, "commit-s")
	b.ReportMetric(r.Stages.Catalog, "catalog-s")
}
