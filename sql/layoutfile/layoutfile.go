// Package layoutfile writes the id of a lake into the bytes of a DuckDB file.
// Takes: two DuckDB files that were built with two ids of lakes, and are the same otherwise.
// Gives: the bytes that DuckDB would write for any id.
// Keeps: a file whose other bytes differ, or whose checksums DuckDB computes in another way, makes no layout.
// Fails: New, for such files; Unpack, for bytes that Pack has not made.
// May change here: the form of DuckDB's files.
package layoutfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Layout is a catalog before its lake's first commit: all that is the same in every catalog of this program. Views,
// macros and comments are most of the work of building a catalog (DuckDB takes over a second to bind them), so a catalog
// from scratch begins as a copy of the layout's bytes. Only the name of the catalog's own schema, lake_<id>, differs
// from lake to lake; it is in the bytes some two thousand times, always as long. It may be used concurrently.
type Layout struct {
	database []byte // with the placeholder's id
	digits   []int  // where that id's digits are in database, in order
}

// PlaceholderID is a lake's id whose digits all differ: a digit says which one of the id it is, so that it does not
// matter where DuckDB has cut a name in two. OtherID differs from it in each digit.
const (
	PlaceholderID = "0123456789ab"
	OtherID       = "123456789abc"
)

// A DuckDB file has three headers, and then blocks. A block begins with a checksum of the rest of it.
// (storage_info.hpp and checksum.cpp in DuckDB's source.)
const (
	headersSize  = 3 * 4096
	blockSize    = 256 << 10
	checksumSize = 8
)

// New returns the layout of two databases that differ in the lake's id alone: PlaceholderID and OtherID. They must be built
// by one process: DuckDB then writes the same bytes, apart from the id and the checksums. It keeps the first one.
func New(database, other []byte) (*Layout, error) {
	if len(database) != len(other) || len(database)%blockSize != headersSize {
		return nil, fmt.Errorf("layout: databases of %d and %d bytes, want the same number of complete blocks", len(database), len(other))
	}
	l := &Layout{database: database}
	for start := headersSize; start < len(database); start += blockSize {
		if block := database[start : start+blockSize]; binary.LittleEndian.Uint64(block) != blockChecksum(block) {
			return nil, errors.New("layout: DuckDB computes the checksum of a block in another way")
		}
		for at := start + checksumSize; at < start+blockSize; at++ {
			if database[at] == other[at] {
				continue
			}
			if strings.IndexByte(PlaceholderID, database[at]) < 0 {
				return nil, errDiffer
			}
			l.digits = append(l.digits, at)
		}
	}
	if !bytes.Equal(l.ForLake(OtherID)[headersSize:], other[headersSize:]) {
		return nil, errDiffer
	}
	return l, nil
}

var errDiffer = errors.New("layout: two databases differ in more than the lake's id")

// ForLake returns the bytes of the layout for a lake, whose id has as many digits as PlaceholderID. The caller owns them.
func (l *Layout) ForLake(lakeID string) []byte {
	database := slices.Clone(l.database)
	for i, at := range l.digits {
		database[at] = lakeID[strings.IndexByte(PlaceholderID, database[at])]
		if i+1 < len(l.digits) && blockOf(l.digits[i+1]) == blockOf(at) {
			continue
		}
		block := database[blockOf(at) : blockOf(at)+blockSize]
		binary.LittleEndian.PutUint64(block, blockChecksum(block))
	}
	return database
}

// blockOf returns where the block begins that contains a byte.
func blockOf(at int) int { return at - (at-headersSize)%blockSize }

// blockChecksum computes DuckDB's checksum of a block.
func blockChecksum(block []byte) uint64 {
	sum := uint64(5381)
	for at := checksumSize; at < len(block); at += 8 {
		sum ^= binary.LittleEndian.Uint64(block[at:]) * 0xbf58476d1ce4e5b9
	}
	return sum
}

// Pack returns the layout's database and digits for Unpack, compressed.
func (l *Layout) Pack() (database, digits []byte, err error) {
	to, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return nil, nil, err
	}
	var steps []byte
	last := 0
	for _, at := range l.digits {
		steps = binary.AppendUvarint(steps, uint64(at-last))
		last = at
	}
	return to.EncodeAll(l.database, nil), to.EncodeAll(steps, nil), to.Close()
}

// Unpack reads what Pack has returned.
func Unpack(database, digits []byte) (*Layout, error) {
	from, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer from.Close()
	l := new(Layout)
	if l.database, err = from.DecodeAll(database, nil); err != nil {
		return nil, err
	}
	steps, err := from.DecodeAll(digits, nil)
	last := 0
	for len(steps) > 0 && err == nil {
		step, size := binary.Uvarint(steps)
		if size <= 0 {
			return nil, errors.New("layout: the digits cannot be read; `make generate` writes them")
		}
		last += int(step)
		l.digits, steps = append(l.digits, last), steps[size:]
	}
	return l, err
}
