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
	if s.resting {
		return nil
	}
	for id, entry := range s.deals {
		if err := binary.Write(s.out, binary.LittleEndian, restingEntry{ID: id, Entry: entry}); err != nil {
			return fmt.Errorf("spool: %w", err) // an *fs.PathError, which names the file
		}
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.flushed = s.size
	s.resting, s.rested = true, len(s.deals)
	s.deals, s.out, s.older = nil, nil, nil
	return nil
}

// Wake undoes Rest.
func (s *Spool) Wake() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.resting {
		return nil
	}
	size := int64(s.rested) * int64(binary.Size(restingEntry{}))
	index := bufio.NewReader(io.NewSectionReader(s.file, s.size, size))
	deals := make(map[int64]spoolEntry, s.rested)
	for range s.rested {
		var held restingEntry
		if err := binary.Read(index, binary.LittleEndian, &held); err != nil {
			return fmt.Errorf("spool %s: %w", s.file.Name(), err)
		}
		deals[held.ID] = held.Entry
	}
	// The next payload is written over the index.
	if _, err := s.file.Seek(s.size, io.SeekStart); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.deals, s.out = deals, bufio.NewWriterSize(s.file, spoolBuffer)
	s.resting = false
	return nil
}

// restingEntry is an entry in the work file.
type restingEntry struct {
	ID    int64
	Entry spoolEntry
}

// index returns the entries of all deals. The caller holds the lock.
func (s *Spool) index() map[int64]spoolEntry {
	if s.resting {
		panic("spool " + s.file.Name() + ": it rests; call Wake first")
	}
	return s.deals
}
