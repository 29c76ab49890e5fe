package testkit

import "github.com/apache/arrow/go/v17/parquet/compress"

// WarmCodecs creates the encoder and decoder of Parquet files, which all files share, outside of any bubble of
// testing/synctest. They pass their workers through channels, and a channel of one bubble cannot be used in another. TestMain
// of a package with such tests calls it.
func WarmCodecs() {
	codec, err := compress.GetCodec(compress.Codecs.Zstd)
	if err != nil {
		panic(err)
	}
	packed := codec.EncodeLevel(make([]byte, 0, 100), []byte("warm"), compress.DefaultCompressionLevel)
	codec.Decode(make([]byte, 4), packed)
}
