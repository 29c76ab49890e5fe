package columnar

import "github.com/apache/arrow/go/v17/arrow/memory"

// buffer is memory that grows.
type buffer struct {
	bytes  []byte         // all that there is room for
	memory *memory.Buffer // its owner; nil until there is room for something
}

// reserve makes room for a total number of bytes. The new bytes are undefined.
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

// reserveZero is reserve for a buffer whose bytes are zero until they are written.
func (b *buffer) reserveZero(mem memory.Allocator, size int) {
	before := len(b.bytes)
	b.reserve(mem, size)
	clear(b.bytes[before:])
}

func (b *buffer) setBit(i int) { b.bytes[i/8] |= 1 << (i % 8) }

// take returns the first bytes of the buffer and empties it. The caller releases them.
func (b *buffer) take(size int) *memory.Buffer {
	taken := b.memory
	b.memory, b.bytes = nil, nil
	if taken == nil {
		return memory.NewBufferBytes(nil)
	}
	taken.ResizeNoShrink(size)
	return taken
}
