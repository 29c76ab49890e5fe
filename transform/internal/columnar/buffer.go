package columnar

import "github.com/apache/arrow/go/v17/arrow/memory"

// buffer is a block of memory that grows.
type buffer struct {
	bytes  []byte         // all reserved bytes
	memory *memory.Buffer // owner of bytes; nil until reserve is called
}

// reserve grows the buffer to a total number of bytes. The content of new bytes is undefined.
func (b *buffer) reserve(mem memory.Allocator, size int) {
	if size <= len(b.bytes) {
		return
	}
	if b.memory == nil {
		b.memory = memory.NewResizableBuffer(mem)
	}
	b.memory.Reserve(size)
	b.bytes = b.memory.Buf()
}

// reserveZero is reserve with new bytes set to zero.
func (b *buffer) reserveZero(mem memory.Allocator, size int) {
	before := len(b.bytes)
	b.reserve(mem, size)
	clear(b.bytes[before:])
}

func (b *buffer) setBit(i int) { b.bytes[i/8] |= 1 << (i % 8) }

// take returns the first size bytes and empties the buffer. The caller releases them.
func (b *buffer) take(size int) *memory.Buffer {
	taken := b.memory
	b.memory, b.bytes = nil, nil
	if taken == nil {
		return memory.NewBufferBytes(nil)
	}
	taken.ResizeNoShrink(size)
	return taken
}
