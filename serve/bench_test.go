package serve_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"dealflow/serve/sim"
)

// BenchmarkPages requests pages over HTTP, with one client per processor, and clients and server in one process. MB/s
// counts JSON before compression.
func BenchmarkPages(b *testing.B) {
	client, _, _ := market(b, sim.Config{Seed: 1, Deals: 1200})
	client.http.Transport.(*http.Transport).MaxIdleConnsPerHost = 16
	for _, size := range []int{100, 1000} {
		for _, encoding := range []string{"identity", "gzip"} {
			b.Run(fmt.Sprintf("size=%d/%s", size, encoding), func(b *testing.B) {
				path := fmt.Sprintf("/v3/bond/ig/priced-deal?pageSize=%d", size)
				_, _, plain := client.get(path, "Accept-Encoding", "identity")
				took := newTimes(b)
				b.SetBytes(int64(len(plain)))
				b.ReportAllocs()
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						began := time.Now()
						if n := ask(b, client, path, encoding); encoding == "identity" && n != len(plain) {
							b.Errorf("%d bytes, want %d", n, len(plain))
						}
						took.add(time.Since(began))
					}
				})
				took.report()
			})
		}
	}
}

func ask(b *testing.B, client *client, path, encoding string) int {
	request, err := http.NewRequest(http.MethodGet, client.base+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+client.token)
	request.Header.Set("Accept-Encoding", encoding)
	response, err := client.http.Do(request)
	if err != nil {
		b.Error(err)
		return 0
	}
	defer response.Body.Close()
	n, err := io.Copy(io.Discard, response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Errorf("%d, %v", response.StatusCode, err)
	}
	return int(n)
}

// times are the durations of a benchmark's requests.
type times struct {
	b    *testing.B
	mu   sync.Mutex
	took []time.Duration
}

func newTimes(b *testing.B) *times { return &times{b: b} }

func (t *times) add(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.took = append(t.took, took)
}

func (t *times) report() {
	slices.Sort(t.took)
	at := func(q float64) float64 { return float64(t.took[int(q*float64(len(t.took)-1))].Microseconds()) / 1000 }
	t.b.ReportMetric(float64(len(t.took))/t.b.Elapsed().Seconds(), "req/s")
	t.b.ReportMetric(at(0.5), "p50-ms")
	t.b.ReportMetric(at(0.99), "p99-ms")
}
