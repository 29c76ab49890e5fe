package load

import (
	"bytes"
	"sync"

	libzstd "github.com/DataDog/zstd"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/zstd"
)

// zstdLevel is the level of the pages of Parquet files: the reference implementation's default.
const zstdLevel = 3

// cZstd compresses pages by the reference implementation: in four fifths of the time of the Parquet
// library's own codec, and smaller (docs/bench). Whatever else is zstd is left to that one.
type cZstd struct{ compress.Codec }

// packer compresses one page at a time.
type packer struct {
	context libzstd.Ctx
	scratch []byte
}

// packers holds some for reuse: one in use belongs to whoever got it.
var packers = sync.Pool{New: func() any { return &packer{context: libzstd.NewCtx()} }}

func init() {
	codec, err := compress.GetCodec(compress.Codecs.Zstd)
	if err != nil {
		panic(err) // the library always has it
	}
	compress.RegisterCodec(compress.Codecs.Zstd, cZstd{codec})
}

// CompressBound asks the Parquet library for no room: it would make, and zero, as much for every page as that
// takes at worst.
func (cZstd) CompressBound(int64) int64 { return 0 }

// Encode compresses src. The caller owns the result.
func (c cZstd) Encode(dst, src []byte) []byte {
	return c.EncodeLevel(dst, src, compress.DefaultCompressionLevel)
}

// EncodeLevel compresses at the one level in use.
func (c cZstd) EncodeLevel(_, src []byte, level int) []byte {
	p := packers.Get().(*packer)
	defer packers.Put(p)
	packed, err := p.context.CompressLevel(p.scratch[:cap(p.scratch)], src, zstdLevel)
	if err != nil || level != compress.DefaultCompressionLevel {
		return c.Codec.EncodeLevel(make([]byte, c.Codec.CompressBound(int64(len(src)))), src, level)
	}
	p.scratch = packed
	return bytes.Clone(packed)
}

// zstdEncoder packs the small objects that are no Parquet.
var zstdEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithZeroFrames(true))
})
