package testkit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Allocator returns an allocator. If memory is not released at the end of the test, the test fails.
func Allocator(t testing.TB) memory.Allocator {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

// Rows renders an Arrow record as one JSON object per row, columns in order, without those named in omit. Decimals are
// text in full scale, dates YYYY-MM-DD, instants UTC with six digits.
func Rows(record arrow.Record, omit ...string) []string {
	skip := map[string]bool{}
	for _, name := range omit {
		skip[name] = true
	}
	rows := make([]string, record.NumRows())
	for i := range rows {
		var row bytes.Buffer
		row.WriteByte('{')
		for c, field := range record.Schema().Fields() {
			if skip[field.Name] {
				continue
			}
			if row.Len() > 1 {
				row.WriteByte(',')
			}
			fmt.Fprintf(&row, "%q:%s", field.Name, jsonText(cell(record.Column(c), i)))
		}
		row.WriteByte('}')
		rows[i] = row.String()
	}
	return rows
}

// cell converts one value for JSON.
func cell(column arrow.Array, i int) any {
	if column.IsNull(i) {
		return nil
	}
	switch a := column.(type) {
	case *array.Dictionary:
		return cell(a.Dictionary(), a.GetValueIndex(i))
	case *array.String:
		return a.Value(i)
	case *array.Boolean:
		return a.Value(i)
	case *array.Int32:
		return a.Value(i)
	case *array.Int64:
		return a.Value(i)
	case *array.Date32:
		return a.Value(i).ToTime().Format(time.DateOnly)
	case *array.Timestamp:
		return a.Value(i).ToTime(arrow.Microsecond).Format("2006-01-02T15:04:05.000000Z")
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.FixedSizeBinary:
		return hex.EncodeToString(a.Value(i))
	}
	panic(fmt.Sprintf("no rendering for %s", column.DataType()))
}

func jsonText(value any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
