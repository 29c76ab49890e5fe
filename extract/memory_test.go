package extract

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"dealflow/schemas/api"
)

// bigPage is a list page of one deal, with a text of the given size in bytes.
func bigPage(feed api.Feed, size int) string {
	return fmt.Sprintf(`{"_embedded":{"%s":[{"%s":1,"message":"%s"}]},"_links":{}}`, feed.ListKey(), feed.IDKey(), strings.Repeat("x", size))
}

// checkMemory reports how far the claimed bytes are above the limit of 1 MiB, times share.
func checkMemory(t testing.TB, c *Client, share int64) {
	t.Helper()
	if used := c.memory.Used(); used > share<<20 || used < 0 {
		t.Errorf("%d bytes are claimed, want %d at most", used, share<<20)
	}
}

// TestPageMemory reads all feeds at once with memory for hardly more than one page. Each page is 900 KiB, and 1 KiB on
// the network.
func TestPageMemory(t *testing.T) {
	m := newMarket()
	var c *Client
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		checkMemory(t, c, 1)
		for _, feed := range api.Feeds() {
			if strings.HasSuffix(r.URL.Path, feed.Path()) {
				encoded(w, "gzip", zipped(bigPage(feed, 900<<10)))
			}
		}
		return true
	}
	cfg := m.onNetwork(t, m)
	cfg.PageMemory = 1 << 20
	c = newClient(t, cfg)
	var work sync.WaitGroup
	for _, feed := range api.Feeds() {
		spool := newSpool(t, feed)
		work.Go(func() {
			s, err := c.Snapshot(context.Background(), feed, spool)
			if err != nil || s.Deals != 1 || s.Retries != 0 {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
	work.Wait()
	checkMemory(t, c, 0)
}

// TestPagesThatWaitForEachOther lets two answers each hold half of all memory and need more: one of them gives its
// memory up and is requested again. A page that needs more than all memory fails its feed.
func TestPagesThatWaitForEachOther(t *testing.T) {
	feeds := []api.Feed{bondPriced, loanExpected}
	var both sync.WaitGroup
	both.Add(len(feeds))
	begun := map[string]bool{}
	var mu sync.Mutex
	m := newMarket()
	cfg := m.onNetwork(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			m.ServeHTTP(w, r)
			return
		}
		feed := feeds[0]
		if strings.HasSuffix(r.URL.Path, feeds[1].Path()) {
			feed = feeds[1]
		}
		page := bigPage(feed, 900<<10)
		mu.Lock()
		again := begun[r.URL.Path]
		begun[r.URL.Path] = true
		mu.Unlock()
		_, _ = io.WriteString(w, page[:600<<10])
		if !again {
			flush(w)
			both.Done()
			both.Wait() // both have sent two thirds
		}
		_, _ = io.WriteString(w, page[600<<10:])
	}))
	cfg.PageMemory = 1 << 20
	c := newClient(t, cfg)
	var work sync.WaitGroup
	requests := make([]int64, len(feeds))
	for i, feed := range feeds {
		spool := newSpool(t, feed)
		work.Go(func() {
			s, err := c.Snapshot(context.Background(), feed, spool)
			if err != nil || s.Deals != 1 || s.Retries != 0 {
				t.Errorf("got %+v, %v", s, err)
			}
			requests[i] = int64(s.Requests)
		})
	}
	work.Wait()
	if requests[0]+requests[1] != 3 {
		t.Errorf("got %d requests, want one of the two pages twice", requests)
	}
	checkMemory(t, c, 0)
}

func TestPageLargerThanMemory(t *testing.T) {
	m := newMarket()
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			encoded(w, "gzip", zipped(bigPage(bondPriced, 1<<20)))
		}
		return r.Method == http.MethodGet
	}
	cfg := m.onNetwork(t, m)
	cfg.PageMemory = 1 << 20
	c := newClient(t, cfg)
	s, err := c.Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced))
	if err == nil || !strings.Contains(err.Error(), "--page-memory") || !strings.Contains(err.Error(), "1048576 bytes") || s.Requests != 1 {
		t.Errorf("got %+v, %v; want an error that names the setting, after one request", s, err)
	}
	checkMemory(t, c, 0)
	size := 1<<20 - len(bigPage(bondPriced, 0))
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			encoded(w, "gzip", zipped(bigPage(bondPriced, size)))
		}
		return r.Method == http.MethodGet
	}
	if s, err := c.Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced)); err != nil || s.Deals != 1 {
		t.Errorf("a page of exactly the limit: got %+v, %v", s, err)
	}
	checkMemory(t, c, 0)
}
