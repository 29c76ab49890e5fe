package load

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Quarantined is a record that could not be read as a deal. Raw is the bytes that were received.
type Quarantined struct {
	Feed       api.Feed
	RunID      string // of the run that received it; Transaction.Quarantine ignores it
	Reject     *api.Reject
	DealID     int64 // only if HasID
	HasID      bool
	Raw        []byte
	Page       string // the request, relative to the API's base URL
	ObservedAt lake.Instant
}

// quarantineLine is one line of a quarantine file.
type quarantineLine struct {
	Feed       api.Feed         `json:"feed"`
	RunID      string           `json:"run_id"`
	Reason     api.RejectReason `json:"reason"`
	Detail     string           `json:"detail,omitempty"`
	DealID     *int64           `json:"deal_id,omitempty"`
	Page       string           `json:"page,omitempty"`
	ObservedAt lake.Instant     `json:"observed_at"`
	Raw        string           `json:"raw,omitempty"`
	RawBase64  string           `json:"raw_base64,omitempty"` // instead of Raw if the bytes are not UTF-8
}

func (q *Quarantined) line(runID string) quarantineLine {
	line := quarantineLine{
		Feed: q.Feed, RunID: runID, Reason: q.Reject.Reason, Detail: q.Reject.Detail,
		Page: q.Page, ObservedAt: q.ObservedAt,
	}
	if q.HasID {
		line.DealID = &q.DealID
	}
	if utf8.Valid(q.Raw) {
		line.Raw = string(q.Raw)
	} else {
		line.RawBase64 = base64.StdEncoding.EncodeToString(q.Raw)
	}
	return line
}

func (l *quarantineLine) record() (Quarantined, error) {
	q := Quarantined{
		Feed: l.Feed, RunID: l.RunID, Reject: &api.Reject{Reason: l.Reason, Detail: l.Detail},
		Raw: []byte(l.Raw), Page: l.Page, ObservedAt: l.ObservedAt,
	}
	if l.DealID != nil {
		q.DealID, q.HasID = *l.DealID, true
	}
	if l.RawBase64 == "" {
		return q, nil
	}
	var err error
	q.Raw, err = base64.StdEncoding.DecodeString(l.RawBase64)
	return q, err
}

// Quarantine puts a file into the lake with the records of a feed that could not be read, with their bytes and reasons.
// Without records it does nothing.
func (t *Transaction) Quarantine(ctx context.Context, feed api.Feed, records []Quarantined) error {
	if len(records) == 0 {
		return nil
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	for i := range records {
		if err := enc.Encode(records[i].line(t.cfg.ID)); err != nil {
			return fmt.Errorf("quarantine %s: %w", feed, err)
		}
	}
	packed, err := parquet.Compress(text.Bytes())
	if err != nil {
		return fmt.Errorf("quarantine %s: %w", feed, err)
	}
	return t.putBody(ctx, lake.File{
		Path: lake.QuarantineKey(feed, t.cfg.ID, t.number(lake.QuarantineTable+"/"+feed.String(), feed.Market)), Table: lake.QuarantineTable, Partition: map[string]string{"feed": feed.String()},
		SchemaVersion: lake.SchemaVersion, Rows: int64(len(records)), Bytes: int64(len(packed)), SHA256: lake.SHA256(packed),
	}, inMemory{bytes.NewReader(packed)})
}

// inMemory is a body that need not be closed.
type inMemory struct{ io.ReadSeeker }

func (inMemory) Close() error { return nil }

// Quarantined reads the records of a feed that some runs put into quarantine, by their ids, or all with nil; oldest run first.
func (l *Lake) Quarantined(ctx context.Context, feed api.Feed, by map[string]bool) ([]Quarantined, error) {
	var records []Quarantined
	for _, file := range l.log.Files(lake.QuarantineTable) {
		if file.Partition["feed"] != feed.String() || by != nil && !lake.IsQuarantineOf(file.Path, feed, by) {
			continue
		}
		found, err := ReadQuarantine(ctx, l.store, file.Path)
		if err != nil {
			return nil, err
		}
		records = append(records, found...)
	}
	return records, nil
}

// Unread returns the records of a feed whose deal could not be read since: history has no version of it that was observed
// later. It changes records.
func (l *Lake) Unread(ctx context.Context, feed api.Feed, records []Quarantined) ([]Quarantined, error) {
	var ids []int64
	for i := range records {
		if records[i].HasID {
			ids = append(ids, records[i].DealID)
		}
	}
	slices.Sort(ids)
	read, err := l.lastObserved(ctx, feed, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(records, func(q Quarantined) bool { return q.HasID && read[q.DealID].After(q.ObservedAt.Time) }), nil
}

// ReadQuarantine reads the records of one quarantine file.
func ReadQuarantine(ctx context.Context, s store.Store, path string) ([]Quarantined, error) {
	text, err := readCompressed(ctx, s, path)
	if err != nil {
		return nil, err
	}
	var records []Quarantined
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var line quarantineLine
		err := dec.Decode(&line)
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		var q Quarantined
		if err == nil {
			q, err = line.record()
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: record %d: %w", path, len(records)+1, err)
		}
		records = append(records, q)
	}
}
