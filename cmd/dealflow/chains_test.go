package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dealflow/internal/testkit"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// far is a store of which each request takes one step of virtual time, and nothing else takes any. As many requests as a
// program likes are on their way at once. So the steps that a command takes are its longest chain: requests of which each
// waited for the answer to the one before. The requests are those of s3store for small objects.
type far struct{ memstore.Mem }

const step = 30 * time.Millisecond

func (f *far) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	time.Sleep(step)
	return f.Mem.Put(ctx, key, body, mode)
}

func (f *far) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	time.Sleep(step)
	return f.Mem.Get(ctx, key)
}

// OpenAt takes the step of an open and of all reads: the first request brings the last megabyte.
func (f *far) OpenAt(ctx context.Context, key string) (store.ReaderAtCloser, error) {
	time.Sleep(step)
	return f.Mem.OpenAt(ctx, key)
}

func (f *far) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		time.Sleep(step)
		for object, err := range f.Mem.List(ctx, prefix) {
			if !yield(object, err) {
				return
			}
		}
	}
}

func (f *far) Delete(ctx context.Context, keys ...string) error {
	time.Sleep(step)
	return f.Mem.Delete(ctx, keys...)
}

func (f *far) Tag(ctx context.Context, key string) (string, error) {
	time.Sleep(step)
	return f.Mem.Tag(ctx, key)
}

func (f *far) ReplaceIf(ctx context.Context, key string, body io.ReadSeeker, tag string) error {
	time.Sleep(step)
	return f.Mem.ReplaceIf(ctx, key, body, tag)
}

// direct answers requests to the API at once.
type direct struct{ server http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	d.server.ServeHTTP(answer, r)
	response := answer.Result()
	response.Request = r
	return response, nil
}

// TestChains counts how often each command waits for a store that is far away, whatever the speed of the machine: no change
// adds a round trip unseen. Next to each chain is the longest that was aimed at (docs/bench). TestRequests counts the requests to
// a real S3 server.
func TestChains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 7, 22, 0, 0, 0, time.UTC)))
		source, err := serve.New(serve.Config{Source: sim.New(sim.Config{Seed: 5, Deals: 20, Clock: time.Now})})
		if err != nil {
			t.Fatal(err)
		}
		lake, home, cache := new(far), t.TempDir(), t.TempDir()
		var chains strings.Builder
		program := func(args ...string) (steps int) {
			t.Helper()
			var output bytes.Buffer
			began := time.Now()
			code := Main(t.Context(), append(args, "--quiet"), environment{
				Environ: append(asQuick(),
					"HOME="+home, "TMPDIR="+home, "DEALFLOW_CACHE_DIR="+cache, "DEALFLOW_LAKE=s3://far/lake", "DEALFLOW_WORK_DIR="+home,
					"DEALFLOW_API=http://localhost", "DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo", "DEALFLOW_CLOCK=server",
				),
				Now: time.Now, Stdin: strings.NewReader(""), Stdout: &output, Stderr: &output,
				API: direct{source.Handler()}, S3: func(string) store.Store { return lake }, Only: true,
			})
			took := time.Since(began)
			if code != 0 {
				t.Fatalf("%v: exit code %d\n%s", args, code, output.String())
			}
			if took%step != 0 {
				t.Errorf("%v took %s, want steps of %s: it waits for something else than the store", args, took, step)
			}
			return int(took / step)
		}
		// bounded is do for a chain that differs by one or two: tables are made a few at a time, in any order.
		bounded := func(what string, aim int, args ...string) (steps int) {
			t.Helper()
			if steps = program(args...); steps > aim {
				t.Errorf("%s: a chain of %d requests, want %d at most", what, steps, aim)
			}
			return steps
		}
		do := func(what string, aim int, args ...string) {
			t.Helper()
			fmt.Fprintf(&chains, "%-32s %3d of %3d\n", what, bounded(what, aim, args...), aim)
		}
		night := func() { time.Sleep(24 * time.Hour) }
		do("first run", 35, "run")
		night()
		do("run, commit 2", 30, "run")
		do("sync without news, commit 3", 10, "sync")
		for range 6 { // enough: chains grow where more than store.SideBySide objects are read
			night()
			program("sync")
		}
		night()
		do("run, aged", 30, "run")
		do("sync without news, aged", 10, "sync")
		time.Sleep(2 * time.Hour)
		do("sync with news, aged", 25, "sync")
		const query = "SELECT count(*) FROM bond_priced_deals"
		do("query, cold", 8, "query", "--cache-dir", t.TempDir(), query)
		program("query", query)
		do("query, warm", 4, "query", query)
		do("status", 4, "status", "--max-age", "1000h")
		do("runs", 4, "runs")
		do("doctor", 12, "doctor")
		do("catalog", 20, "catalog")
		do("verify", 50, "verify")
		do("verify --read-data", 50, "verify", "--read-data")
		do("compact", 35, "compact")
		night()
		do("run, compacted", 30, "run")
		night()
		do("run, empty cache", 30, "run", "--cache-dir", t.TempDir())
		bounded("iceberg on", 40, "iceberg", "on")
		for range 2 { // the first is the lake's sixteenth commit, whose spans of commits become larger ones
			night()
			bounded("run with Iceberg tables", 35, "run")
		}
		testkit.Golden(t, testkit.Root(t)+"/testdata/traces/chains.txt", []byte(chains.String()))
	})
}
