//go:build unix

package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkPeers runs other tools on the same pages, as far as they can do the work: dlt pulls the pages from the same
// server, the others flatten them from files. None of them keeps history, hashes, checks, or parses texts into numbers.
func BenchmarkPeers(b *testing.B) {
	python := os.Getenv("TEST_PYTHON")
	if python == "" {
		b.Skip("TEST_PYTHON names no Python with the tools: `make bench-peers` makes one")
	}
	for _, s := range sizes() {
		if s.Name != "1k" && s.Name != "10k" && os.Getenv("TEST_FULL") != "" {
			continue
		}
		b.Run("deals="+s.Name, func(b *testing.B) {
			m := newMarket(b, s)
			pages := savePages(b, m)
			b.Run("dlt", func(b *testing.B) { peer(b, python, "rest_api.py", "--api", m.address) })
			for _, tool := range []string{"duckdb", "polars", "pyarrow"} {
				b.Run(tool, func(b *testing.B) { peer(b, python, tool+"_json.py", "--pages", pages) })
			}
		})
	}
}

// peer runs one of the programs in .ci/peers.
func peer(b *testing.B, python, script string, args ...string) {
	path, err := filepath.Abs(filepath.Join("..", "..", ".ci", "peers", script))
	if err != nil {
		b.Fatal(err)
	}
	var best usage
	for b.Loop() {
		dir := b.TempDir()
		took, _ := execute(b, commandLine{
			Args: append([]string{python, path, "--out", filepath.Join(dir, "out")}, args...), Dir: dir,
			Env: append(os.Environ(), "HOME="+dir, "PYTHONDONTWRITEBYTECODE=1", "DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo"),
		})
		best = least(best, took)
	}
	best.report(b)
}

// savePages writes the pages of the first evening to files: bond-IG-priced-0001.json.
func savePages(b *testing.B, m *market) string {
	b.Helper()
	lists := m.night(b, firstNight)
	client, err := newBareClient(m.address)
	if err != nil {
		b.Fatal(err)
	}
	all, err := client.pages(lists)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	for i, list := range lists {
		for n, body := range all[i] {
			name := fmt.Sprintf("%s-%s-%s-%04d.json", list.Feed.Service, strings.ToUpper(string(list.Feed.Market)), list.Feed.Kind, n+1)
			if err := os.WriteFile(filepath.Join(dir, name), body, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	return dir
}
