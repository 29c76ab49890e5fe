package state

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"dealflow/schemas/lake"
)

// Records is a work file with versions of a feed's deals: a caller that needs its memory for something else reads them back
// later. The zero value has none.
type Records struct {
	Path string // "" for none
	Len  int
}

// WriteRecords writes versions by deal to a new file in a folder. The caller removes the folder. Without versions it makes no
// file.
func WriteRecords(folder string, versions iter.Seq2[int64, *lake.LatestVersion]) (r Records, err error) {
	var file *os.File
	var out *bufio.Writer
	var line []byte
	for id, version := range versions {
		if file == nil {
			if file, err = os.CreateTemp(folder, "*.versions"); err != nil {
				return r, fmt.Errorf("work folder: %w", err)
			}
			defer func() { err = errors.Join(err, file.Close()) }()
			out, r.Path = bufio.NewWriter(file), file.Name()
		}
		line = Append(line[:0], id, version)
		if _, err := out.Write(line); err != nil {
			return r, err // an *fs.PathError, which names the file
		}
		r.Len++
	}
	if file == nil {
		return r, nil
	}
	return r, out.Flush()
}

// AddTo reads the versions back and adds them to the latest ones. A file that is not as it was written is an error, after which
// some may have been added.
func (r Records) AddTo(latest lake.Latest) (err error) {
	if r.Len == 0 {
		return nil
	}
	file, err := os.Open(r.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	in := bufio.NewReader(file)
	var line [RecordSize]byte
	for range r.Len {
		if _, err := io.ReadFull(in, line[:]); err != nil {
			return fmt.Errorf("read %s: %w", r.Path, err)
		}
		id, version := Record(line[:])
		latest[id] = version
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: there is more than %d versions", r.Path, r.Len)
	}
	return nil
}
