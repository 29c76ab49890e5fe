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

// storeRequest is a request to a store: what was done, and when.
type storeRequest struct {
	verb, key  string
	begun, end time.Time
}

// requestLog is between the program and an S3 server. It keeps what passes, and can make the server as far away as a real
// one.
type requestLog struct {
	delay time.Duration // of each request
	mu    sync.Mutex
	all   []storeRequest
}

func (l *requestLog) wrap(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := storeRequest{verb: r.Method, key: r.URL.Path, begun: time.Now()}
		if r.Method == http.MethodGet && r.URL.Query().Has("list-type") {
			q.verb = "LIST"
		}
		if l.delay > 0 {
			time.Sleep(l.delay) // the distance that is to be measured
		}
		server.ServeHTTP(w, r)
		q.end = time.Now()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, q)
	})
}

// take returns the requests since the last call.
func (l *requestLog) take() []storeRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

// connections is the number of requests that the program sends at once, at most (s3store.Config.Parallel).
const connections = 16

// isData says whether a request puts a data file. A command puts each as soon as it is written, together with others.
func (r *storeRequest) isData() bool {
	return r.verb == http.MethodPut && (strings.Contains(r.key, "/history/") || strings.Contains(r.key, "/snapshots/"))
}

// chain returns the greatest number of requests of which each began after the one before had ended. What depends on each
// other is such a chain. Two kinds of requests count as begun earlier, because they had not waited for an answer: one that
// began when others ended with all connections in use, and one that puts a data file. So the chain is that of a program with
// any number of connections and processors. delay is that of each request.
func chain(requests []storeRequest, delay time.Duration) (longest int) {
	slices.SortFunc(requests, func(a, b storeRequest) int { return a.begun.Compare(b.begun) })
	ready := make([]time.Time, len(requests))
	firstData := -1
	for i, r := range requests {
		ready[i] = r.begun
		inUse, first := 0, r.begun
		for j := range i {
			if requests[j].end.After(r.begun.Add(-delay / 4)) { // it ended about when this one began
				inUse++
				if ready[j].Before(first) {
					first = ready[j]
				}
			}
		}
		if inUse >= connections-1 {
			ready[i] = first
		}
		if r.isData() {
			if firstData < 0 {
				firstData = i
			}
			ready[i] = ready[firstData]
		}
	}
	order := make([]int, len(requests))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return requests[a].end.Compare(requests[b].end) })
	var last time.Time
	for _, i := range order {
		if ready[i].After(last) {
			longest, last = longest+1, requests[i].end
		}
	}
	return longest
}

// TestRequests counts the requests of each command to an S3 server, on a young lake and on one with commits since its
// checkpoint: no change adds a round trip unseen. With TEST_LATENCY=30ms it measures the longest chains and the times with
// such a distance instead, and prints them.
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
			t.Logf("%-34s %6.1f s %5d requests, longest chain %4d", what, took.Seconds(), len(requests), chain(requests, log.delay))
			return
		}
		verbs := map[string]int{}
		for _, r := range requests {
			verbs[r.verb]++
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
	if log.delay == 0 {
		testkit.Golden(t, testkit.Root(t)+"/testdata/traces/requests.txt", []byte(counts.String()))
	}
}
