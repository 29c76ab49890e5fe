package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// results are the metrics of benchmarks by name and unit. If a benchmark ran several times, the least value of each
// metric counts: that of the least disturbance.
type results map[string]map[string]float64

// benchmarkName matches a benchmark's name without the number of processors after it.
var benchmarkName = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?$`)

// read takes in what `go test -bench` printed.
func (r results) read(from io.Reader) error {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 {
			continue
		}
		name := benchmarkName.FindStringSubmatch(fields[0])
		if _, err := strconv.Atoi(fields[1]); name == nil || err != nil {
			continue
		}
		metrics := r[name[1]]
		if metrics == nil {
			metrics = map[string]float64{}
			r[name[1]] = metrics
		}
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return fmt.Errorf("%q: %w", lines.Text(), err)
			}
			if before, ok := metrics[fields[i+1]]; !ok || value < before {
				metrics[fields[i+1]] = value
			}
		}
	}
	return lines.Err()
}

// figure is a metric that may not have been measured.
type figure struct {
	value float64
	known bool
}

// metric returns a metric by benchmark, such as `Run/deals=10k/quiet-sync`, and unit, such as `wall-s`.
func (r results) metric(name, unit string) figure {
	value, ok := r[name][unit]
	return figure{value, ok}
}

func (f figure) over(g figure) figure {
	if !g.known || g.value == 0 {
		return figure{}
	}
	return figure{f.value / g.value, f.known}
}

func sum(figures ...figure) figure {
	total := figure{known: true}
	for _, f := range figures {
		total.value += f.value
		total.known = total.known && f.known
	}
	return total
}
