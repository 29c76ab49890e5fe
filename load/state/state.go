// Package state knows the newest version of every deal, and writes them as the bytes of the state file of a checkpoint.
// Takes: rows of deal_versions, or versions by feed and deal. Gives: Newest and Observed; Encode and Decode, of all deals;
// Append and Record, of one; Records, a work file.
// Keeps: the same versions give the same bytes; all but Records is pure.
// Fails: a file that is not complete, or is of another format or hash version, is an error.
// May change here: the form of a record, with the lake's format version.
package state

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Head is the first line of a state file. Records follow, one per deal, in the order of api.Feeds and then of deal_id.
type Head struct {
	FormatVersion   int    `json:"format_version"`
	DealflowVersion string `json:"dealflow_version,omitempty"`
	lake.Needs
	Commit      int64          `json:"commit"`
	HashVersion int            `json:"hash_version"`
	Deals       map[string]int `json:"deals"` // by feed
}

// RecordSize is the size of a record in bytes. A record is deal_id (int64), version (int32), removed (one byte),
// content_hash, payload_hash; integers are little-endian.
const RecordSize = 8 + 4 + 1 + 32 + 32

// Append appends the record of a deal.
func Append(out []byte, id int64, v *lake.LatestVersion) []byte {
	out = binary.LittleEndian.AppendUint64(out, uint64(id))
	out = binary.LittleEndian.AppendUint32(out, uint32(v.Version))
	removed := byte(0)
	if v.Removed {
		removed = 1
	}
	out = append(out, removed)
	out = append(out, v.ContentHash[:]...)
	return append(out, v.PayloadHash[:]...)
}

// Record reads a record, which has RecordSize bytes.
func Record(record []byte) (id int64, v lake.LatestVersion) {
	v = lake.LatestVersion{Version: int32(binary.LittleEndian.Uint32(record[8:])), Removed: record[12] == 1}
	copy(v.ContentHash[:], record[13:45])
	copy(v.PayloadHash[:], record[45:77])
	return int64(binary.LittleEndian.Uint64(record)), v
}

// Encode returns a state file, not compressed yet. It sets the head's HashVersion and Deals.
func Encode(head Head, latest map[api.Feed]lake.Latest) []byte {
	head.HashVersion, head.Deals = lake.HashVersion, map[string]int{}
	for feed, deals := range latest {
		head.Deals[feed.String()] = len(deals)
	}
	out, err := json.Marshal(head)
	if err != nil {
		panic(err) // integers and strings only
	}
	out = append(out, '\n')
	for _, feed := range api.Feeds() {
		deals := latest[feed]
		for _, id := range slices.Sorted(maps.Keys(deals)) {
			v := deals[id]
			out = Append(out, id, &v)
		}
	}
	return out
}

// Decode decodes the state file of the checkpoint of commit number. It is an error if the state is of another format or
// hash version, so that its hashes cannot be compared.
func Decode(data []byte, number int64) (map[api.Feed]lake.Latest, error) {
	line, body, _ := bytes.Cut(data, []byte("\n"))
	if err := lake.CheckPreface(line); err != nil {
		return nil, err
	}
	var head Head
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, err
	}
	total := 0
	for _, n := range head.Deals {
		total += n
	}
	if head.FormatVersion < 1 || head.HashVersion != lake.HashVersion || head.Commit != number || len(body) != total*RecordSize {
		return nil, errors.New("not a complete state file of this format")
	}
	latest := map[api.Feed]lake.Latest{}
	for _, feed := range api.Feeds() {
		deals := make(lake.Latest, head.Deals[feed.String()])
		for range head.Deals[feed.String()] {
			id, v := Record(body)
			deals[id] = v
			body = body[RecordSize:]
		}
		latest[feed] = deals
	}
	return latest, nil
}
