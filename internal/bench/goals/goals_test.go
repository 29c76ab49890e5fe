package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "whole.txt")
	measured := `goos: linux
BenchmarkFloor/deals=10k/download-gzip-2   3   0.5 cpu-s  140 json-MB  0.5 wall-s
BenchmarkFloor/deals=10k/flatten-2         3   0.5 cpu-s  0.3 wall-s
BenchmarkFloor/deals=10k/flatten-2         3   0.7 cpu-s  0.4 wall-s
BenchmarkFloor/deals=10k/tokenise-2        3   0.2 cpu-s  0.1 wall-s
BenchmarkRun/deals=10k/first-night/cores=2-2   3   8 cpu-s  300 peak-MiB  2.5 wall-s
PASS
`
	if err := os.WriteFile(path, []byte(measured), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := published([]string{path}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| first night, wall time by that of the bare download with gzip | ≤ 4.50 × | 5 × | missed |", // 2.5 s by 0.5 s
		"| flattening, JSON a core | ≥ 200 MB/s | 280 MB/s | met |",                                   // 140 MB in the lesser 0.5 s
		"| flattening by bare tokenising, speed | ≥ 0.60 × | 0.40 × | missed |",
		"| dlt's wall time by that of the first night | ≥ 9 × | not measured | |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
}

// TestOneExecution checks that a ratio is of figures of one file, although the least of one of them is in another.
func TestOneExecution(t *testing.T) {
	const usual = "BenchmarkRun/deals=10k/usual-night-2  3  3 wall-s\n"
	var paths []string
	for name, measured := range map[string]string{
		"peers.txt": "BenchmarkRun/deals=10k/first-night/cores=2-2  3  4 wall-s\n",
		"whole.txt": "BenchmarkRun/deals=10k/first-night/cores=2-2  3  6 wall-s\n" + usual,
	} {
		paths = append(paths, filepath.Join(t.TempDir(), name))
		if err := os.WriteFile(paths[len(paths)-1], []byte(measured), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := published(paths, &out); err != nil || !strings.Contains(out.String(), "| usual night, wall time by that of the first | ≤ 0.50 × | 0.50 × | met |") {
		t.Errorf("%v\n%s", err, &out)
	}
}

func TestUnreadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "whole.txt")
	if err := os.WriteFile(path, []byte("BenchmarkRun-2  3  many cpu-s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := published([]string{path}, new(strings.Builder)); err == nil {
		t.Error("no error for a metric that is no number")
	}
}

// TestGuards lets through what is fast enough, and fails what is slow, asks for memory too often, or was not measured.
func TestGuards(t *testing.T) {
	fast := `BenchmarkTokens/bond/ig/priced-2   9  500 cpu-ns/op  0 allocs/op
BenchmarkTokens/bond/ig/expected-2   9  500 cpu-ns/op  0 allocs/op
BenchmarkTokens/loan/ll/priced-2     9  500 cpu-ns/op  0 allocs/op
BenchmarkFlatten/bond/ig/priced-2    9  1000 cpu-ns/op  0 allocs/op
BenchmarkFlatten/bond/ig/expected-2  9  1000 cpu-ns/op  0 allocs/op
BenchmarkFlatten/loan/ll/priced-2    9  1000 cpu-ns/op  0 allocs/op
`
	for measured, fails := range map[string]string{
		fast: "",
		strings.Replace(fast, "1000 cpu-ns/op", "6000 cpu-ns/op", 1):                      "flattening bond/ig/priced by bare tokenising",
		strings.Replace(fast, "1000 cpu-ns/op  0 allocs", "1000 cpu-ns/op  1 allocs", 1):  "allocations",
		strings.Replace(fast, "BenchmarkFlatten/loan/ll/priced", "BenchmarkFlatten/x", 1): "loan/ll/priced",
	} {
		path := filepath.Join(t.TempDir(), "rooms.txt")
		if err := os.WriteFile(path, []byte(measured), 0o600); err != nil {
			t.Fatal(err)
		}
		err := guarded([]string{path}, new(strings.Builder))
		if (err == nil) != (fails == "") || err != nil && !strings.Contains(err.Error(), fails) {
			t.Errorf("got %v, want %q in\n%s", err, fails, measured)
		}
	}
}
