package metrics

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// ErrPrevious is the error if the file that was there cannot be read. The new one is written nevertheless, without what
// the old one said.
var ErrPrevious = errors.New("the previous metrics file cannot be read; its last successes are only those that the lake knows")

// ErrNotMetrics is the error if the path is that of something else: a device, a folder, a file of another program. It is left as
// it is.
var ErrNotMetrics = errors.New("it is no metrics file of this program, and is left as it is; name another one")

// WriteFile writes the metrics of a lake to a file in the text format, for the textfile collector of node_exporter. The
// file is replaced at once, under a lock on its folder. It keeps of the file that is there: other lakes, other commands,
// the newest success of this one, and all of a lake that could not be read. What is no metrics file of this program is not
// replaced: ErrNotMetrics.
func WriteFile(path string, l *Lake) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // the link stays
	}
	unlock, err := lock(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("metrics file: %w", err)
	}
	defer unlock()
	registry := prometheus.NewRegistry()
	if err := registry.Register(l); err != nil {
		return fmt.Errorf("metrics file %s: %w", path, err)
	}
	families, err := registry.Gather()
	if err != nil {
		return fmt.Errorf("metrics file %s: %w", path, err)
	}
	previous, flaw := readFile(path)
	if errors.Is(flaw, ErrNotMetrics) {
		return flaw
	}
	merged := merge(previous, families)
	err = prometheus.WriteToTextfile(path, prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return merged, nil }))
	if err != nil {
		return fmt.Errorf("metrics file: %w", err)
	}
	return flaw
}

// CheckFile returns ErrNotMetrics for a path at which WriteFile would write nothing.
func CheckFile(path string) error {
	if _, err := readFile(path); errors.Is(err, ErrNotMetrics) {
		return err
	}
	return nil
}

// readFile returns the metrics of a file by name; none for a file that does not exist, or that a crash has left empty.
func readFile(path string) (map[string]*dto.MetricFamily, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.Mode().IsRegular() { // to open it may wait without end
		return nil, fmt.Errorf("%s: %w", path, ErrNotMetrics)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrPrevious, path, err)
	}
	if data = bytes.Trim(data, "\x00"); len(data) == 0 {
		return nil, nil
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	found, err := parser.TextToMetricFamilies(bytes.NewReader(data))
	foreign := func(name string) bool { return !strings.HasPrefix(name, prefix) }
	if !beginning.Match(data) || slices.ContainsFunc(slices.Collect(maps.Keys(found)), foreign) {
		return nil, fmt.Errorf("%s: %w", path, ErrNotMetrics)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrPrevious, path, err)
	}
	return found, nil
}

// prefix begins the names of this program's metrics.
const prefix = "dealflow_"

// beginning matches the first line of a metrics file of this program, also of one that is damaged further on.
var beginning = regexp.MustCompile(`^\s*(# (HELP|TYPE) )?` + prefix)

// lock locks a folder until the function that it returns is called. Where the file system cannot lock, it does nothing.
func lock(folder string) (func(), error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil && !errors.Is(err, syscall.ENOTSUP) && !errors.Is(err, syscall.ENOLCK) && !errors.Is(err, syscall.EBADF) {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", folder, err), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// merge adds to the metrics of a lake what an earlier file said and they do not.
func merge(previous map[string]*dto.MetricFamily, now []*dto.MetricFamily) (merged []*dto.MetricFamily) {
	byName := map[string]*dto.MetricFamily{}
	for _, f := range now {
		byName[f.GetName()] = f
	}
	for i := range table {
		m := &table[i]
		family, before := byName[m.name], previous[m.name]
		if before.GetType() != dto.MetricType_GAUGE { // no metric of ours
			before = nil
		}
		if family == nil && before == nil {
			continue
		}
		if family == nil {
			family = &dto.MetricFamily{Name: &m.name, Help: &m.help, Type: dto.MetricType_GAUGE.Enum()}
		}
		current := family.Metric // what is kept does not replace anything
		for _, old := range before.GetMetric() {
			same := find(current, label(old, "lake"), label(old, "command"))
			switch {
			case label(old, "lake") == "":
			case same == nil:
				family.Metric = append(family.Metric, old)
			case m == commandSuccess && old.GetGauge().GetValue() > same.GetGauge().GetValue():
				same.Gauge = old.Gauge
			}
		}
		if len(family.Metric) > 0 {
			merged = append(merged, family)
		}
	}
	return merged
}

// find returns a value of a lake and a command; nil for none.
func find(values []*dto.Metric, url, command string) *dto.Metric {
	for _, v := range values {
		if label(v, "lake") == url && label(v, "command") == command {
			return v
		}
	}
	return nil
}

func label(m *dto.Metric, name string) string {
	for _, pair := range m.GetLabel() {
		if pair.GetName() == name {
			return pair.GetValue()
		}
	}
	return ""
}
