package parquet

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestCompress decompresses with another implementation, which must detect each flipped bit.
func TestCompress(t *testing.T) {
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	for name, text := range map[string][]byte{"empty": {}, "one": {'x'}, "noise": noise, "text": bytes.Repeat([]byte("a deal "), 30)} {
		packed, err := Compress(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := dec.DecodeAll(packed, nil); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		for bit := range 8 * len(packed) {
			damaged := bytes.Clone(packed)
			damaged[bit/8] ^= 1 << (bit % 8)
			if got, err := dec.DecodeAll(damaged, nil); err == nil && !bytes.Equal(got, text) {
				t.Errorf("%s: bit %d flipped reads as other text", name, bit)
			}
		}
	}
}
