package transform

import (
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// DealVersion is one row of history/deal_versions. Payload is nil for a removal, as are the hashes.
type DealVersion struct {
	Feed            api.Feed
	DealID          int64
	Version         int32
	Change          string
	Reason          string // lake.Reason…; "" unless the change is a removal
	KnownAt         time.Time
	ObservedAt      time.Time
	RunID           string
	ContentHash     lake.Digest
	PayloadHash     lake.Digest
	SourceUpdatedAt time.Time // zero if the feed has none
	UpdatedSince    string    // "" if the feed has none
	Payload         []byte
}

// VersionBatches collects rows of history/deal_versions until Take returns them as Arrow records. It is not safe for
// concurrent use. Release frees the rows that were not taken.
type VersionBatches struct {
	builder      *array.RecordBuilder
	payloads     *array.StringBuilder // the builder's last column, which has most of the bytes
	taken        int                  // bytes of payloads in the previous batch
	rows, bytes  int
	minID, maxID int64
}

// NewVersionBatches returns an empty collection.
func NewVersionBatches(mem memory.Allocator) *VersionBatches {
	columns := lake.DealVersionColumns()
	builder := array.NewRecordBuilder(mem, lake.ArrowSchema(columns))
	return &VersionBatches{builder: builder, payloads: builder.Field(len(columns) - 1).(*array.StringBuilder)}
}

// Bytes returns the approximate size of the collected rows in memory, in bytes.
func (b *VersionBatches) Bytes() int { return b.bytes }

// Append copies one row. It writes the fields in the order of lake.DealVersionColumns.
func (b *VersionBatches) Append(v *DealVersion) {
	if b.rows == 0 {
		b.minID, b.maxID = v.DealID, v.DealID
		b.payloads.ReserveData(b.taken + b.taken/8) // else it grows by doubling, and copies each time
	}
	b.minID, b.maxID = min(b.minID, v.DealID), max(b.maxID, v.DealID)
	b.rows++
	b.bytes += 256 + len(v.Payload) + len(v.UpdatedSince)

	w := rowWriter{builder: b.builder}
	hasContent := v.Change != lake.Removed
	w.text(string(v.Feed.Service), true)
	w.text(string(v.Feed.Market), true)
	w.text(string(v.Feed.Kind), true)
	w.int64(v.DealID)
	w.int32(v.Version)
	w.text(v.Change, true)
	w.text(v.Reason, v.Reason != "")
	w.instant(v.KnownAt, true)
	w.instant(v.ObservedAt, true)
	w.text(v.RunID, true)
	w.hash(v.ContentHash, hasContent)
	w.int32(lake.HashVersion)
	w.hash(v.PayloadHash, hasContent)
	w.int32(lake.SchemaVersion)
	w.instant(v.SourceUpdatedAt, !v.SourceUpdatedAt.IsZero())
	w.text(v.UpdatedSince, v.UpdatedSince != "")
	w.bytes(v.Payload, hasContent)
}

// Take returns the collected rows and resets the collection. The caller releases the record; the batch's Table is nil.
func (b *VersionBatches) Take() lake.Batch {
	b.taken = b.payloads.DataLen()
	batch := lake.Batch{Record: b.builder.NewRecord(), MinDealID: b.minID, MaxDealID: b.maxID}
	b.rows, b.bytes, b.minID, b.maxID = 0, 0, 0, 0
	return batch
}

// Release frees the builder and the rows that were not taken.
func (b *VersionBatches) Release() { b.builder.Release() }

// rowWriter appends one row, column after column.
type rowWriter struct {
	builder *array.RecordBuilder
	column  int
}

func (w *rowWriter) next() array.Builder {
	b := w.builder.Field(w.column)
	w.column++
	return b
}

func (w *rowWriter) text(s string, valid bool) {
	if b := w.next().(*array.StringBuilder); valid {
		b.Append(s)
	} else {
		b.AppendNull()
	}
}

func (w *rowWriter) bytes(s []byte, valid bool) {
	if b := w.next().(*array.StringBuilder); valid {
		b.BinaryBuilder.Append(s)
	} else {
		b.AppendNull()
	}
}

func (w *rowWriter) int64(n int64) { w.next().(*array.Int64Builder).Append(n) }
func (w *rowWriter) int32(n int32) { w.next().(*array.Int32Builder).Append(n) }

func (w *rowWriter) instant(t time.Time, valid bool) {
	if b := w.next().(*array.TimestampBuilder); valid {
		b.Append(arrow.Timestamp(t.UnixMicro()))
	} else {
		b.AppendNull()
	}
}

func (w *rowWriter) hash(h lake.Digest, valid bool) {
	if b := w.next().(*array.FixedSizeBinaryBuilder); valid {
		b.Append(h[:])
	} else {
		b.AppendNull()
	}
}
