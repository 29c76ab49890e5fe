package pull

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"dealflow/schemas/lake"
)

// spilled is the new versions of a feed in a work file: DuckDB needs the memory of those of a large feed. The zero value is
// empty.
type spilled struct {
	path string
	n    int
}

// spilledVersion is a deal's new version in the file.
type spilledVersion struct {
	ID     int64
	Latest lake.LatestVersion
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
	for i := range f.decisions {
		d := &f.decisions[i]
		if d.Change == "" {
			continue
		}
		if err := binary.Write(out, binary.LittleEndian, spilledVersion{d.ID, d.Latest}); err != nil {
			return err // an *fs.PathError, which names the file
		}
		f.came.n++
	}
	f.decisions = nil
	return out.Flush()
}

// addTo adds the versions to the latest ones.
func (s spilled) addTo(latest lake.Latest) error {
	if s.n == 0 {
		return nil
	}
	file, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer file.Close() // read-only: a failing close loses nothing
	in := bufio.NewReader(file)
	for range s.n {
		var v spilledVersion
		if err := binary.Read(in, binary.LittleEndian, &v); err != nil {
			return fmt.Errorf("read %s: %w", s.path, err)
		}
		latest[v.ID] = v.Latest
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: there is more than %d versions", s.path, s.n)
	}
	return nil
}
