// Package state knows the newest version of every deal, and writes them as the bytes of the state file of a checkpoint.
// Takes: rows of deal_versions, or versions by feed and deal. Gives: Newest; Encode and Decode.
// Keeps: pure; the same versions give the same bytes.
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

// Head is the first line of a state file. Records of stateRecord bytes follow, one per deal, in the order of
// api.Feeds and then of deal_id. A record is deal_id (int64), version (int32), removed (one byte), content_hash,
// payload_hash; integers are little-endian.
type Head struct {
	FormatVersion   int    `json:"format_version"`
	DealflowVersion string `json:"dealflow_version,omitempty"`
	lake.Needs
	Commit      int64          `json:"commit"`
	HashVersion int            `json:"hash_version"`
	Deals       map[string]int `json:"deals"` // by feed
}

// stateRecord is the size of a record of a state file in bytes.
const stateRecord = 8 + 4 + 1 + 32 + 32

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
			h := deals[id]
			out = binary.LittleEndian.AppendUint64(out, uint64(id))
			out = binary.LittleEndian.AppendUint32(out, uint32(h.Version))
			removed := byte(0)
			if h.Removed {
				removed = 1
			}
			out = append(out, removed)
			out = append(out, h.ContentHash[:]...)
			out = append(out, h.PayloadHash[:]...)
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
	if head.FormatVersion < 1 || head.HashVersion != lake.HashVersion || head.Commit != number || len(body) != total*stateRecord {
		return nil, errors.New("not a complete state file of this format")
	}
	latest := map[api.Feed]lake.Latest{}
	for _, feed := range api.Feeds() {
		deals := make(lake.Latest, head.Deals[feed.String()])
		for range head.Deals[feed.String()] {
			h := lake.LatestVersion{Version: int32(binary.LittleEndian.Uint32(body[8:])), Removed: body[12] == 1}
			copy(h.ContentHash[:], body[13:45])
			copy(h.PayloadHash[:], body[45:77])
			deals[int64(binary.LittleEndian.Uint64(body))] = h
			body = body[stateRecord:]
		}
		latest[feed] = deals
	}
	return latest, nil
}
