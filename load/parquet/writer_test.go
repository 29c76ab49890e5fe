package parquet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/internal/testkit"
	"dealflow/load/parquet"
	"dealflow/schemas/lake"
)

// TestSameRowsSameBytes writes the same records many times: values of all types, NULLs, small dictionaries, and ones so
// large that the Parquet library by default would give them up in the middle.
func TestSameRowsSameBytes(t *testing.T) {
	const times = 20
	types := map[string]bool{}
	for _, c := range []struct {
		table string
		rows  int
		texts int // bytes of a text
	}{{"bond_priced_deals", 200, 20}, {"loan_priced_tranche_banks", 1500, 2000}, {lake.DealVersions, 200, 20}} {
		t.Run(c.table, func(t *testing.T) {
			table, ok := lake.TableByName(c.table)
			if !ok {
				table = &lake.Table{Name: c.table}
			}
			rows := int64(c.rows)
			mem := testkit.Allocator(t)
			columns := lake.DealVersionColumns()
			if table.Name != lake.DealVersions {
				columns = table.SnapshotColumns()
			}
			schema := lake.ArrowSchema(columns)
			for _, field := range schema.Fields() {
				types[field.Type.Name()] = true
			}
			groups := []arrow.Record{fill(mem, schema, 1, c.rows, c.texts), fill(mem, schema, 2, c.rows, c.texts)}
			defer groups[0].Release()
			defer groups[1].Release()
			out := &output{dir: t.TempDir(), mem: mem}
			for range times {
				w := out.create(t, table.Name, columns)
				for _, group := range groups {
					if err := w.Write(group, 1, rows); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.Finish(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if len(out.files) != times {
				t.Fatalf("%d files, want %d", len(out.files), times)
			}
			for i, file := range out.files {
				if first := out.files[0]; file.SHA256 != first.SHA256 || file.Bytes != first.Bytes || file.Rows != 2*rows {
					t.Errorf("file %d: %d rows, %d bytes, %.12s; want %d, %d, %.12s as in the first file",
						i, file.Rows, file.Bytes, file.SHA256, 2*rows, first.Bytes, first.SHA256)
				}
			}
		})
	}
	if want := []string{"bool", "date32", "decimal", "fixed_size_binary", "int32", "int64", "timestamp", "utf8"}; !slices.Equal(sorted(types), want) {
		t.Errorf("types that were written: got %q, want %q", sorted(types), want)
	}
}

// TestWriteBoth writes the rows of each table into a snapshot's file and into one of history together: both files have the
// bytes that they have when each is written by itself.
func TestWriteBoth(t *testing.T) {
	for _, table := range lake.Tables() {
		t.Run(table.Name, func(t *testing.T) {
			mem := testkit.Allocator(t)
			snapshot, history := table.SnapshotColumns(), table.HistoryColumns()
			out := &output{dir: t.TempDir(), mem: mem}
			alone := [2]*parquet.Writer{out.create(t, table.Name, snapshot), out.create(t, table.Name, history)}
			together := [2]*parquet.Writer{out.create(t, table.Name, snapshot), out.create(t, table.Name, history)}
			for seed := range uint64(3) {
				rows := fill(mem, lake.ArrowSchema(snapshot), seed, 300, 20)
				defer rows.Release()
				first := array.NewRecord(lake.ArrowSchema(history), rows.Columns()[:len(history)], rows.NumRows())
				defer first.Release()
				low, high := int64(10-seed), int64(100+seed)
				if err := errors.Join(alone[0].Write(rows, low, high), alone[1].Write(first, low, high), together[0].WriteBoth(rows, together[1], first, low, high)); err != nil {
					t.Fatal(err)
				}
			}
			for _, w := range slices.Concat(alone[:], together[:]) {
				if err := w.Finish(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for i, name := range []string{"snapshot", "history"} {
				if want, got := out.files[i], out.files[2+i]; !reflect.DeepEqual(got, want) || got.Rows != 900 || got.MinDealID != 8 || got.MaxDealID != 102 {
					t.Errorf("%s: got %+v, want %+v", name, got, want)
				}
			}
		})
	}
}

func sorted(set map[string]bool) []string {
	var names []string
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// output collects the files that writers finish.
type output struct {
	dir   string // for unfinished files
	mem   memory.Allocator
	files []lake.File
}

func (o *output) create(t *testing.T, table string, columns []lake.Column) *parquet.Writer {
	t.Helper()
	w, err := parquet.Create(o.mem, o.dir, lake.File{Path: table + ".parquet", Table: table, SchemaVersion: lake.SchemaVersion}, columns, o.put)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (o *output) put(_ context.Context, file lake.File, body *parquet.Finished) error {
	defer body.Close()
	size, err := body.Seek(0, io.SeekEnd)
	if err == nil && size != file.Bytes {
		err = fmt.Errorf("the body has %d bytes, the file says %d", size, file.Bytes)
	}
	o.files = append(o.files, file)
	return err
}

// fill returns a record of a schema: odd columns have few values and even ones many, and nullable columns have some
// NULLs. The caller releases it.
func fill(mem memory.Allocator, schema *arrow.Schema, seed uint64, rows, texts int) arrow.Record {
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	random := rand.New(rand.NewPCG(seed, 0))
	for i, field := range schema.Fields() {
		values := []int64{1 << 40, 5}[i%2]
		for range rows {
			if field.Nullable && random.IntN(4) == 0 {
				b.Field(i).AppendNull()
				continue
			}
			appendValue(b.Field(i), random.Int64N(values), texts)
		}
	}
	return b.NewRecord()
}

// noTexts makes all texts of fill empty.
const noTexts = -1

func appendValue(b array.Builder, n int64, texts int) {
	switch b := b.(type) {
	case *array.StringBuilder:
		if texts == noTexts {
			b.AppendEmptyValue()
			return
		}
		b.Append(fmt.Sprintf("%0*d", texts, n))
	case *array.BooleanBuilder:
		b.Append(n%2 == 0)
	case *array.Int32Builder:
		b.Append(int32(n))
	case *array.Int64Builder:
		b.Append(n)
	case *array.Date32Builder:
		b.Append(arrow.Date32(n % 40_000))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(n))
	case *array.Decimal128Builder:
		b.Append(decimal128.FromI64(n - 2))
	case *array.FixedSizeBinaryBuilder:
		b.Append(slices.Repeat([]byte{byte(n), byte(n >> 8)}, 16))
	default:
		panic(fmt.Sprintf("no values of type %T", b))
	}
}

// TestAbort aborts a file: it is not put, nothing of it is left, and no memory is kept.
func TestAbort(t *testing.T) {
	mem := testkit.Allocator(t)
	columns := lake.Tables()[0].SnapshotColumns()
	group := fill(mem, lake.ArrowSchema(columns), 1, 10, 20)
	defer group.Release()
	out := &output{dir: t.TempDir(), mem: mem}
	w := out.create(t, "any", columns)
	if err := w.Write(group, 1, 10); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(out.dir)
	if err != nil || len(left) != 0 || len(out.files) != 0 {
		t.Errorf("%v is left and %v was put, %v", left, out.files, err)
	}
}
