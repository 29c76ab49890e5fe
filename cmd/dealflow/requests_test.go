package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/s3test"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// requestLog is between the program and an S3 server. It keeps what was asked for, and can make the server as far away as a
// real one.
type requestLog struct {
	delay time.Duration // of each request
	mu    sync.Mutex
	verbs []string
}

func (l *requestLog) wrap(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		verb := r.Method
		if r.Method == http.MethodGet && r.URL.Query().Has("list-type") {
			verb = "LIST"
		}
		if l.delay > 0 {
			time.Sleep(l.delay) // the distance that is to be measured
		}
		server.ServeHTTP(w, r)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.verbs = append(l.verbs, verb)
	})
}

// take returns the verbs of the requests since the last call.
func (l *requestLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	verbs := l.verbs
	l.verbs = nil
	return verbs
}

// TestRequests counts the requests of each command to an S3 server, on a young lake and on one with commits since its
// checkpoint: no change adds a request unseen. With TEST_LATENCY=30ms it measures the times with such a distance instead, and
// prints them. TestChains counts how many of them wait for each other.
func TestRequests(t *testing.T) {
	var log requestLog
	if text := os.Getenv("TEST_LATENCY"); text != "" {
		delay, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		log.delay = delay
	} else {
		t.Parallel()
	}
	server := s3test.Start(t, s3test.Options{}).Front(t, log.wrap)
	clock := sim.NewManualClock(time.Date(2026, 1, 7, 22, 0, 0, 0, time.UTC))
	source, err := serve.New(serve.Config{Source: sim.New(sim.Config{Seed: 5, Deals: 20, Clock: clock.Now})})
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(source.Handler())
	t.Cleanup(api.Close)
	p := location{settings: []string{
		"DEALFLOW_LAKE=s3://" + server.Bucket + "/requests", "AWS_ENDPOINT_URL_S3=" + server.Endpoint, "AWS_REGION=" + server.Region,
		"AWS_ACCESS_KEY_ID=" + server.AccessKey, "AWS_SECRET_ACCESS_KEY=" + server.SecretKey, "DEALFLOW_CACHE_DIR=" + t.TempDir(),
	}}
	k := &killedCommands{api: api.URL}
	var counts strings.Builder
	do := func(what string, args ...string) {
		t.Helper()
		log.take()
		began := time.Now()
		// Quiet: a run that takes long on a busy machine reads the lake once more, to say how far it is.
		if code := k.program(t, p, 0, append(args, "--quiet")...); code != 0 {
			t.Fatalf("%s: exit code %d", what, code)
		}
		took, requests := time.Since(began), log.take()
		if log.delay > 0 {
			t.Logf("%-34s %6.1f s %5d requests", what, took.Seconds(), len(requests))
			return
		}
		verbs := map[string]int{}
		for _, verb := range requests {
			verbs[verb]++
		}
		fmt.Fprintf(&counts, "%-34s %4d", what, len(requests))
		for _, verb := range slices.Sorted(maps.Keys(verbs)) {
			fmt.Fprintf(&counts, " %s %d", verb, verbs[verb])
		}
		counts.WriteByte('\n')
	}
	night := func() { clock.Set(clock.Now().Add(24 * time.Hour)) }
	do("first run", "run")
	night()
	do("run, commit 2", "run")
	do("sync without news, commit 3", "sync")
	for number := 4; number < 20; number++ {
		if log.delay == 0 && number > 6 {
			break // the lake is aged enough to count
		}
		night()
		if code := k.program(t, p, 0, "sync"); code != 0 {
			t.Fatalf("sync %d: exit code %d", number, code)
		}
	}
	night()
	do("run, aged", "run")
	do("sync without news, aged", "sync")
	clock.Set(clock.Now().Add(2 * time.Hour))
	do("sync with news, aged", "sync")
	const query = "SELECT count(*) FROM bond_priced_deals"
	do("query, cold", "query", "--cache-dir", t.TempDir(), query)
	do("query", "query", query)
	do("query, warm", "query", query)
	do("status", "status", "--max-age", "1000h")
	do("runs", "runs")
	do("doctor", "doctor")
	do("catalog", "catalog")
	do("verify", "verify")
	do("verify --read-data", "verify", "--read-data")
	do("compact", "compact")
	do("expire", "expire")
	night()
	do("run, compacted", "run")
	do("iceberg on", "iceberg", "on")
	night()
	do("run with Iceberg tables", "run")
	if log.delay == 0 {
		testkit.Golden(t, testkit.Root(t)+"/testdata/traces/requests.txt", []byte(counts.String()))
	}
}
