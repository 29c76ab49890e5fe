package simulation

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"go.uber.org/goleak"

	"dealflow/internal/testkit/oracle"
	_ "dealflow/load" // its zstd codec replaces the Parquet library's
)

var oneSeed = flag.Int64("seed", -1, "simulate this seed alone, and say what happens")

func TestMain(m *testing.M) {
	warmUp()
	debug.SetGCPercent(400) // small heaps would be collected all the time
	goleak.VerifyTestMain(m)
}

// warmUp creates the codecs' encoder and decoder outside of any bubble. They pass their workers through channels, and a
// channel of one bubble cannot be used in another.
func warmUp() {
	codec, err := compress.GetCodec(compress.Codecs.Zstd)
	if err != nil {
		panic(err)
	}
	packed := codec.EncodeLevel(make([]byte, 0, 100), []byte("warm"), compress.DefaultCompressionLevel)
	codec.Decode(make([]byte, 4), packed)
}

// count returns a number from the environment, or a default.
func count(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// full reports whether to test everything instead of a sample.
func full() bool { return os.Getenv("TEST_FULL") == "1" }

var tables = sync.OnceValue(func() *oracle.Oracle {
	md, err := os.ReadFile("../../testdata/tables.md")
	if err != nil {
		panic(err)
	}
	o, err := oracle.Parse(md)
	if err != nil {
		panic(err)
	}
	return o
})

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
