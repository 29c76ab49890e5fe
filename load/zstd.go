package load

import (
	"sync"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/zstd"
)

// The Parquet library makes a new zstd encoder for every page, which costs more than compressing a
// small one. This codec is its own but for one encoder shared by all.
type sharedZstd struct{ compress.Codec }

var zstdEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithZeroFrames(true))
})

func init() {
	codec, err := compress.GetCodec(compress.Codecs.Zstd)
	if err != nil {
		panic(err) // the library always has it
	}
	compress.RegisterCodec(compress.Codecs.Zstd, sharedZstd{codec})
}

// EncodeLevel compresses at the default level, the only one in use.
func (s sharedZstd) EncodeLevel(dst, src []byte, level int) []byte {
	encoder, err := zstdEncoder()
	if err != nil || level != compress.DefaultCompressionLevel {
		return s.Codec.EncodeLevel(dst, src, level)
	}
	return encoder.EncodeAll(src, dst[:0])
}
