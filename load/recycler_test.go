package load

import (
	"bytes"
	"testing"
)

// SpoilRecycled fills the buffers that are kept for reuse with rubbish.
func SpoilRecycled() {
	var buffers []*[]byte
	for i := range kept {
		for {
			buffer, ok := kept[i].Get().(*[]byte)
			if !ok {
				break
			}
			for j := range *buffer {
				(*buffer)[j] = 0xa5
			}
			buffers = append(buffers, buffer)
		}
	}
	for _, buffer := range buffers {
		recycler{}.Free(*buffer)
	}
}

func TestRecycler(t *testing.T) {
	var r recycler
	for _, size := range []int{0, 1, 4095, 4096, 4097, 1 << 20, 1<<24 + 1} {
		buffer := r.Allocate(size)
		if len(buffer) != size {
			t.Fatalf("%d bytes, want %d", len(buffer), size)
		}
		for i := range buffer {
			buffer[i] = byte(i)
		}
		before := bytes.Clone(buffer)
		grown := r.Reallocate(2*size+1, buffer)
		if len(grown) != 2*size+1 || !bytes.Equal(grown[:size], before) {
			t.Fatalf("growing from %d bytes lost some", size)
		}
		if shrunk := r.Reallocate(size/2, grown); len(shrunk) != size/2 || !bytes.Equal(shrunk, before[:size/2]) {
			t.Fatalf("shrinking to %d bytes lost some", size/2)
		}
		r.Free(grown)
	}
}
