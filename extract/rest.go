package extract

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Rest moves what the spool has in memory for each deal to the end of its work file, until Wake. In between only Feed, Rejects,
// PageDrift, Wake and Close may be called; the other methods panic. A resting spool stays as it is.
func (s *Spool) Rest() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deals == nil {
		return nil
	}
	var line []byte
	for id, entry := range s.deals {
		line = entry.append(line[:0], id)
		if _, err := s.out.Write(line); err != nil {
			return fmt.Errorf("spool: %w", err) // an *fs.PathError, which names the file
		}
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.flushed = s.size
	s.rested, s.deals, s.out, s.older = len(s.deals), nil, nil, nil
	return nil
}

// Wake undoes Rest.
func (s *Spool) Wake() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deals != nil {
		return nil
	}
	index := bufio.NewReader(io.NewSectionReader(s.file, s.size, int64(s.rested)*restingSize))
	deals := make(map[int64]spoolEntry, s.rested)
	var line [restingSize]byte
	for range s.rested {
		if _, err := io.ReadFull(index, line[:]); err != nil {
			return fmt.Errorf("spool %s: %w", s.file.Name(), err)
		}
		id, entry := entryOf(&line)
		deals[id] = entry
	}
	// The next payload is written over the index.
	if _, err := s.file.Seek(s.size, io.SeekStart); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.deals, s.out = deals, bufio.NewWriterSize(s.file, spoolBuffer)
	return nil
}

// restingSize is the size of an entry in the work file, in bytes.
const restingSize = 8 + 8 + 8 + 8 + 4 + 4 + 32

// append appends the entry as it is in the work file.
func (e *spoolEntry) append(line []byte, id int64) []byte {
	for _, n := range []int64{id, e.offset, e.observed, e.since} {
		line = binary.LittleEndian.AppendUint64(line, uint64(n))
	}
	line = binary.LittleEndian.AppendUint32(line, e.length)
	line = binary.LittleEndian.AppendUint32(line, e.template)
	return append(line, e.hash[:]...)
}

// entryOf is the opposite of append.
func entryOf(line *[restingSize]byte) (id int64, e spoolEntry) {
	for i, n := range []*int64{&id, &e.offset, &e.observed, &e.since} {
		*n = int64(binary.LittleEndian.Uint64(line[8*i:]))
	}
	e.length, e.template = binary.LittleEndian.Uint32(line[32:]), binary.LittleEndian.Uint32(line[36:])
	copy(e.hash[:], line[40:])
	return id, e
}

// index returns the entries of all deals. The caller holds the lock.
func (s *Spool) index() map[int64]spoolEntry {
	if s.deals == nil {
		panic("spool " + s.file.Name() + ": it rests; call Wake first")
	}
	return s.deals
}
