package ui_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dealflow/internal/catalog"
	"dealflow/internal/testkit/longlake"
	"dealflow/internal/ui"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/console"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/operator"
	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/store/dirstore"
)

// BenchmarkPipeline asks for the page of the pipeline of the fifteen-year lake, as runs leave it (longlake.BenchmarkConfig): as of
// another of its last nights each time, or since another one, with another filter each time, and again what is in memory.
func BenchmarkPipeline(b *testing.B) {
	site, nights := serveYears(b)
	for name, page := range map[string]func(i int) string{
		"instant": func(i int) string {
			n := len(nights) - 1 - i%lastNights
			return fmt.Sprintf("/as-of/%s/pipeline?since=%s", nights[n], nights[n-1-i/lastNights])
		},
		"filter": func(i int) string {
			markets := []string{}
			for bit, market := range []string{"IG", "HY", "EM", "LL", "CF", "AF"} {
				if (i%63+1)>>bit&1 == 1 {
					markets = append(markets, market)
				}
			}
			return fmt.Sprintf("/pipeline?market=%s&since=%s", strings.Join(markets, ","), nights[len(nights)-2-i/63])
		},
		"again": func(int) string { return "/pipeline" },
	} {
		b.Run(name, func(b *testing.B) {
			get(b, site+"/pipeline") // footers that were read stay in memory
			i := 0
			for b.Loop() {
				get(b, site+page(i))
				i++
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "wall-s")
		})
	}
}

// lastNights are fewer than those of the lake that are a day apart.
const lastNights = 8

// serveYears serves the explorer of that lake, and returns its address and the instants of its nights.
func serveYears(b *testing.B) (address string, nights []string) {
	b.Helper()
	s, err := dirstore.New(longlake.Clone(b, longlake.Open(b, longlake.BenchmarkConfig())))
	if err != nil {
		b.Fatal(err)
	}
	l, err := load.Open(b.Context(), s)
	if err != nil {
		b.Fatal(err)
	}
	if err := catalog.Publish(b.Context(), l, b.TempDir(), nil); err != nil {
		b.Fatal(err)
	}
	cache, err := mirror.NewCache(filepath.Join(b.TempDir(), "cache"), 1<<30)
	if err != nil {
		b.Fatal(err)
	}
	work := b.TempDir()
	shown, err := asof.Open(b.Context(), asof.Config{Every: time.Hour, Clock: time.Now, Newer: func(ctx context.Context, _ int64) (*asof.Edition, error) {
		return openEdition(ctx, l, work, cache)
	}})
	if err != nil {
		b.Fatal(err)
	}
	server, err := ui.New(frame.Config{Lake: shown, URL: "folder", Version: "bench", WorkDir: work, Clock: time.Now, Log: slog.New(slog.DiscardHandler)}, operator.Source{}, nil, console.Source{})
	if err != nil {
		b.Fatal(err)
	}
	site := httptest.NewServer(server)
	b.Cleanup(func() {
		site.Close()
		if err := shown.Close(); err != nil {
			b.Error(err)
		}
	})
	for i := range l.Log().Commits {
		if c := &l.Log().Commits[i]; c.SnapshotDate != "" {
			nights = append(nights, asof.Path(c.KnownAt))
		}
	}
	return site.URL, nights
}

func get(b *testing.B, address string) {
	b.Helper()
	answer, err := http.Get(address)
	if err != nil {
		b.Fatal(err)
	}
	n, err := io.Copy(io.Discard, answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode != http.StatusOK || n < 1000 {
		b.Fatalf("%s: %s, %d bytes, %v", address, answer.Status, n, err)
	}
}
