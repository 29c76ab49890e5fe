package columnar

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/schemas/lake"
)

// dirtyAllocator returns memory that is not zero.
type dirtyAllocator struct{ memory.Allocator }

func (a dirtyAllocator) Allocate(size int) []byte {
	b := a.Allocator.Allocate(size)
	for i := range b {
		b[i] = 0xa5
	}
	return b
}

func (a dirtyAllocator) Reallocate(size int, b []byte) []byte {
	grown := a.Allocate(size)
	copy(grown, b)
	a.Free(b)
	return grown
}

// TestColumn collects random cells, many of them NULL, and compares each batch with the array of Arrow's own builder.
func TestColumn(t *testing.T) {
	types := []arrow.DataType{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}}
	for _, typ := range []lake.Type{lake.Text, lake.Bool, lake.Int32, lake.Int64, lake.Date, lake.Timestamp, lake.Money, lake.Rate, lake.Price} {
		types = append(types, typ.Arrow())
	}
	for seed, typ := range types {
		for _, share := range []float64{0, 0.02, 0.5, 1} {
			t.Run(fmt.Sprintf("%s %g set", typ, share), func(t *testing.T) {
				mem := memory.NewCheckedAllocator(dirtyAllocator{memory.NewGoAllocator()})
				defer mem.AssertSize(t, 0)
				random := rand.New(rand.NewPCG(1, uint64(seed)))
				c := NewColumn(mem, typ)
				defer c.Release()
				for _, rows := range []int{0, 1, 7, 64, 300, 40, 301} {
					compareBatch(t, random, &c, typ, rows, share)
				}
				c.Reserve(9)
				c.Put(3, &Cell{Set: true, Text: []byte("left over")})
			})
		}
	}
}

// compareBatch fills a column and a builder with the same rows.
func compareBatch(t *testing.T, random *rand.Rand, c *Column, typ arrow.DataType, rows int, share float64) {
	t.Helper()
	builder := array.NewBuilder(memory.NewGoAllocator(), typ)
	defer builder.Release()
	for row := range rows {
		c.Reserve(row + 1 + random.IntN(9))
		if random.Float64() >= share {
			builder.AppendNull()
			continue
		}
		v := randomCell(random)
		c.Put(row, &v)
		appendCell(t, builder, &v)
	}
	got, want := c.Take(rows), builder.NewArray()
	defer got.Release()
	defer want.Release()
	if !array.Equal(got, want) || got.NullN() != want.NullN() || got.Len() != rows {
		t.Fatalf("%d rows: got %v, want %v", rows, got, want)
	}
}

// randomCell returns a cell with a value of every type.
func randomCell(random *rand.Rand) Cell {
	text := make([]byte, random.IntN(40))
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	n := random.Int64() >> random.IntN(64) // often zero, which is false
	return Cell{Set: true, Text: text, N: n, Num: decimal128.New(random.Int64N(9)-4, random.Uint64())}
}

func appendCell(t *testing.T, builder array.Builder, v *Cell) {
	t.Helper()
	switch b := builder.(type) {
	case *array.StringBuilder:
		b.BinaryBuilder.Append(v.Text)
	case *array.BinaryDictionaryBuilder:
		if err := b.Append(v.Text); err != nil {
			t.Fatal(err)
		}
	case *array.BooleanBuilder:
		b.Append(v.N != 0)
	case *array.Int32Builder:
		b.Append(int32(v.N))
	case *array.Int64Builder:
		b.Append(v.N)
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.N))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.N))
	case *array.Decimal128Builder:
		b.Append(v.Num)
	default:
		t.Fatalf("no builder for %T", builder)
	}
}
