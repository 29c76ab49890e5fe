package iceberg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// A state is stored whole, or as its difference from an earlier one that is stored whole, its base: after a night nearly all
// blocks and snapshots are those of the base.

// differenceVersion is the version of a stored difference: the next after that of the state that it gives.
const differenceVersion = stateVersion + 1

// difference is a state as its difference from a base.
type difference struct {
	FormatVersion int    `json:"format_version"`
	Location      string `json:"location"`
	Schema        int    `json:"schema_version"`
	lake.NamedCommit
	Base      string                      `json:"base"`       // key of the base
	BaseBytes int                         `json:"base_bytes"` // size of the base's object
	Changed   map[string]*tableDifference `json:"changed"`    // by Table.String
}

// tableDifference is a table's difference from the base.
type tableDifference struct {
	Blocks    []int      `json:"blocks"`    // indices of blocks of the base; -1 for the next one of New
	New       []*block   `json:"new"`       // blocks that the base does not have
	Snapshots []int      `json:"snapshots"` // indices of snapshots of the base; -1 for the next one of Added
	Added     []snapshot `json:"added"`     // snapshots that the base does not have
}

// baseShare is the greatest share of its base's size that a difference may have: a larger state is stored whole, and is the
// base of later ones.
const baseShare = 4

// stored is a state that was read, and the whole one that it is, or is a difference from.
type stored struct {
	*state
	base      *state
	baseKey   string
	baseBytes int
}

// readState reads a state.
func readState(ctx context.Context, s store.Store, key string) (*stored, error) {
	data, size, err := readPacked(ctx, s, key)
	if err != nil {
		return nil, err
	}
	var d struct { // whole, or a difference
		difference
		Tables map[string]*tableState `json:"tables"`
	}
	err = jsonv2.Unmarshal(data, &d) // half the time of encoding/json, for megabytes
	if d.FormatVersion > differenceVersion {
		return nil, newer(key, d.FormatVersion, differenceVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	if d.Base == "" {
		whole := &state{d.FormatVersion, d.Location, d.Schema, d.NamedCommit, d.Tables}
		return &stored{whole, whole, key, size}, whole.check(key)
	}
	if !strings.HasPrefix(d.Base, statesPrefix) || d.Base == key {
		return nil, fmt.Errorf("%s: its base is %q, want a key under %s", key, d.Base, statesPrefix)
	}
	base, err := readState(ctx, s, d.Base)
	if err != nil {
		return nil, err
	}
	if base.baseKey != d.Base {
		return nil, fmt.Errorf("%s: its base %s is a difference, too", key, d.Base)
	}
	st, err := d.apply(base.state)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return &stored{st, base.state, d.Base, d.BaseBytes}, st.check(key)
}

// readPacked reads a compressed object, and returns its size, too.
func readPacked(ctx context.Context, s store.Store, key string) (data []byte, size int, err error) {
	packed, err := store.Read(ctx, s, key)
	if err != nil {
		return nil, 0, err
	}
	if data, err = parquet.Decompress(bytes.NewReader(packed)); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", key, err)
	}
	return data, len(packed), nil
}

// check returns an error if a table's snapshot names a block that is not there.
func (s *state) check(key string) error {
	for name, t := range s.Tables {
		if err := t.check(); err != nil {
			return fmt.Errorf("%s: table %s: %w", key, name, err)
		}
	}
	return nil
}

// apply returns the state whose difference from a base this is.
func (d *difference) apply(base *state) (*state, error) {
	s := &state{FormatVersion: d.FormatVersion - 1, Location: d.Location, Schema: d.Schema, NamedCommit: d.NamedCommit, Tables: map[string]*tableState{}}
	for name, t := range d.Changed {
		if t == nil {
			return nil, fmt.Errorf("table %s is null", name)
		}
		before := base.Tables[name]
		if before == nil {
			before = &tableState{}
		}
		made, err := t.apply(before)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
		s.Tables[name] = made
	}
	return s, nil
}

var errNoBase = errors.New("the base does not have what the difference names")

func (d *tableDifference) apply(base *tableState) (*tableState, error) {
	made := &tableState{Blocks: []*block{}}
	added, place := d.New, map[int]int{} // by index in the base: index here
	for i, n := range d.Blocks {
		switch {
		case n >= 0 && n < len(base.Blocks):
			place[n] = i
			made.Blocks = append(made.Blocks, base.Blocks[n])
		case n == -1 && len(added) > 0:
			made.Blocks, added = append(made.Blocks, added[0]), added[1:]
		default:
			return nil, errNoBase
		}
	}
	snapshots := d.Added
	for _, n := range d.Snapshots {
		switch {
		case n >= 0 && n < len(base.Snapshots):
			kept := base.Snapshots[n]
			kept.Blocks = slices.Clone(kept.Blocks)
			for i, number := range kept.Blocks {
				here, ok := place[number]
				if !ok {
					return nil, errNoBase
				}
				kept.Blocks[i] = here
			}
			made.Snapshots = append(made.Snapshots, kept)
		case n == -1 && len(snapshots) > 0:
			made.Snapshots, snapshots = append(made.Snapshots, snapshots[0]), snapshots[1:]
		default:
			return nil, errNoBase
		}
	}
	return made, nil
}

// differenceFrom returns the table's difference from a base. Blocks that a publication took over are those of the base
// themselves, so that they need not be compared.
func (s *tableState) differenceFrom(base *tableState) *tableDifference {
	d := &tableDifference{Blocks: make([]int, len(s.Blocks)), Snapshots: make([]int, len(s.Snapshots)), New: []*block{}, Added: []snapshot{}}
	if base == nil {
		base = &tableState{}
	}
	numbers := make(map[*block]int, len(base.Blocks))
	for i, b := range base.Blocks {
		numbers[b] = i
	}
	for i, b := range s.Blocks {
		n, ok := numbers[b]
		if !ok {
			n, d.New = -1, append(d.New, b)
		}
		d.Blocks[i] = n
	}
	for i := range s.Snapshots {
		kept := &s.Snapshots[i]
		d.Snapshots[i] = slices.IndexFunc(base.Snapshots, func(b snapshot) bool { return b.isSame(kept, d.Blocks) })
		if d.Snapshots[i] < 0 {
			d.Added = append(d.Added, *kept)
		}
	}
	return d
}

// isSame says whether a snapshot of a base is one of a state. numbers are the indices in the base of the state's blocks.
func (s *snapshot) isSame(kept *snapshot, numbers []int) bool {
	if s.Commit != kept.Commit || s.SHA256 != kept.SHA256 || s.List != kept.List || !s.KnownAt.Equal(kept.KnownAt.Time) || len(s.Blocks) != len(kept.Blocks) {
		return false
	}
	for i, n := range kept.Blocks {
		if numbers[n] != s.Blocks[i] {
			return false
		}
	}
	return true
}

// isSame says whether two states say the same.
func (s *state) isSame(other *state) bool {
	if s.Number != other.Number || s.SHA256 != other.SHA256 {
		return false
	}
	one, err1 := json.Marshal(s)
	two, err2 := json.Marshal(other)
	return errors.Join(err1, err2) == nil && bytes.Equal(one, two)
}

// pack returns the bytes of the state's object: whole, or if the one before is given and that is much shorter, as the
// difference from the base of that.
func (s *state) pack(before *stored) ([]byte, error) {
	if before != nil {
		d := &difference{
			FormatVersion: differenceVersion, Location: s.Location, Schema: s.Schema, NamedCommit: s.NamedCommit,
			Base: before.baseKey, BaseBytes: before.baseBytes, Changed: map[string]*tableDifference{},
		}
		for name, t := range s.Tables {
			d.Changed[name] = t.differenceFrom(before.base.Tables[name])
		}
		packed, err := packJSON(d)
		if err != nil || len(packed)*baseShare <= before.baseBytes {
			return packed, err
		}
	}
	return packJSON(s)
}

func packJSON(value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return parquet.Compress(data)
}
