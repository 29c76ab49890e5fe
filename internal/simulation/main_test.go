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

	"go.uber.org/goleak"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/oracle"
)

var oneSeed = flag.Int64("seed", -1, "simulate this seed alone, and say what happens")

func TestMain(m *testing.M) {
	testkit.WarmCodecs()
	debug.SetGCPercent(400) // small heaps would be collected all the time
	goleak.VerifyTestMain(m)
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
