package parquet

import (
	"cmp"
	"encoding/json"
	"fmt"

	"dealflow/schemas/lake"
)

// Stretch counts the deals of a snapshot in the order of their ids, and says where row groups end. The deals are written in
// stretches of Least to four times as many, and no row group has rows of two.
//
// From Least deals on, a stretch ends before the next deal with one of Least ids, by a hash. So most ends depend only on the
// ids near them: a deal that comes or goes moves no end far away, and the row groups of all other stretches are those of the
// day before. (Programs for backups call it content-defined chunking.)
type Stretch struct {
	Least int // default LeastStretch

	deals int // so far
}

// LeastStretch was measured: docs/bench/README.md#row-groups-of-a-snapshot.
const LeastStretch = 1024

// EndsBefore counts the next deal, and says whether a stretch ends before it.
func (s *Stretch) EndsBefore(dealID int64) bool {
	least := cmp.Or(s.Least, LeastStretch)
	ends := s.deals == 4*least || s.deals >= least && mayEnd(dealID, least)
	if ends {
		s.deals = 0
	}
	s.deals++
	return ends
}

// mayEnd multiplies by 2^64 divided by the golden ratio (Knuth, The Art of Computer Programming, 6.4): the upper half of
// the product spreads the ids evenly, also those that follow one another.
func mayEnd(dealID int64, least int) bool {
	return uint64(dealID)*0x9E3779B97F4A7C15>>32%uint64(least) == 0
}

// StretchNotes has a note of each stretch, by the id of its first deal.
type StretchNotes map[int64]StretchNote

// StretchNote says what drift the payloads of a stretch have that are those of their versions. The payload of an unchanged deal may have
// other bytes than that of its version, and so other drift: that is not noted.
type StretchNote struct {
	Drift  []lake.Drift `json:"drift"`            // nil: more than is noted
	Others string       `json:"others,omitempty"` // names the deals with other payloads, by the writer's rule; "": none
}

// mostNoted is 16 KiB: the most bytes that the drift of a stretch takes as JSON.
const mostNoted = 16 << 10

func (n StretchNotes) add(first int64, note StretchNote) {
	if data, err := json.Marshal(note.Drift); err != nil || len(data) > mostNoted {
		note.Drift = nil
	}
	n[first] = note
}

// stretchesKey is the key of the metadata under which a file has its StretchNotes, as JSON.
const stretchesKey = "dealflow.stretches"

// noteStretches writes notes into the file's metadata.
func (w *Writer) noteStretches(n StretchNotes) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return w.parquet.footer.AppendKeyValueMetadata(stretchesKey, string(data))
}

// Stretches returns what a file of a snapshot says of its stretches; nil for a file without notes.
func (f *File) Stretches() (StretchNotes, error) {
	value := f.footer.MetaData().KeyValueMetadata().FindValue(stretchesKey)
	if value == nil {
		return nil, nil //nolint:nilnil // it has none
	}
	var n StretchNotes
	if err := json.Unmarshal([]byte(*value), &n); err != nil {
		return nil, fmt.Errorf("read %s: %s: %w", f.key, stretchesKey, err)
	}
	return n, nil
}

// Stretches writes the rows of deals in stretches: those of a snapshot, or of history, where each version counts as a deal. It is
// not safe for concurrent use.
type Stretches struct {
	Tables  *Tables
	Stretch Stretch
	Drift   func() []lake.Drift // takes the drift of the deals since the last call; nil for history: no notes are made

	begun bool
	first int64 // deal of the stretch
}

// Begin is called before the rows of a deal are added to the tables. If a stretch ends there, it is written.
func (s *Stretches) Begin(dealID int64) error {
	if s.Stretch.EndsBefore(dealID) {
		if err := s.End(); err != nil {
			return err
		}
	}
	if !s.begun {
		s.begun, s.first = true, dealID
	}
	return nil
}

// End writes the last stretch.
func (s *Stretches) End() error {
	if s.begun && s.Drift != nil {
		s.Tables.NoteStretch(s.first, StretchNote{Drift: s.Drift()})
	}
	s.begun = false
	return s.Tables.Flush()
}
