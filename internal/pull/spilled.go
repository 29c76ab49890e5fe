package pull

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"dealflow/load/state"
	"dealflow/schemas/lake"
)

// spilled is the new versions of a feed in a work file: DuckDB needs the memory of those of a large feed. The zero value is
// empty.
type spilled struct {
	path string
	n    int
}

// spill writes the new versions among the feed's decisions to a file in a folder, and drops the decisions.
func (f *feedRun) spill(folder string) (err error) {
	if f.news == 0 {
		f.decisions = nil
		return nil
	}
	file, err := os.CreateTemp(folder, "*.versions")
	if err != nil {
		return fmt.Errorf("work folder: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	f.came = spilled{path: file.Name()}
	out := bufio.NewWriter(file)
	var line []byte
	for i := range f.decisions {
		d := &f.decisions[i]
		if d.Change == "" {
			continue
		}
		line = state.Append(line[:0], d.ID, &d.Latest)
		if _, err := out.Write(line); err != nil {
			return err // an *fs.PathError, which names the file
		}
		f.came.n++
	}
	f.decisions = nil
	return out.Flush()
}

// addTo adds the versions to the latest ones.
func (s spilled) addTo(latest lake.Latest) (err error) {
	if s.n == 0 {
		return nil
	}
	file, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	in := bufio.NewReader(file)
	var line [state.RecordSize]byte
	for range s.n {
		if _, err := io.ReadFull(in, line[:]); err != nil {
			return fmt.Errorf("read %s: %w", s.path, err)
		}
		id, version := state.Record(line[:])
		latest[id] = version
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: there is more than %d versions", s.path, s.n)
	}
	return nil
}
