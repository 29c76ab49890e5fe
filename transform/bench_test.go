package transform_test

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/go-json-experiment/json/jsontext"

	"dealflow/schemas/api"
	"dealflow/transform"
)

// benchFeeds have the three shapes of records that make up the volume of a run.
var benchFeeds = []string{"bond/ig/priced", "bond/ig/expected", "loan/ll/priced"}

// benchDeals is the number of deals in a batch before it is taken: about a row group.
const benchDeals = 4000

// overFeeds runs one benchmark per feed. It calls read with the feed's sample records in rotation. The reported bytes
// are those of an average record. It reports the time of the processor, too, which other work on the machine disturbs little.
func overFeeds(b *testing.B, start func(*testing.B, api.Feed) (read func(i int, payload []byte))) {
	for _, name := range benchFeeds {
		b.Run(name, func(b *testing.B) {
			feed := mustFeed(b, name)
			payloads := samplePage(b, feed)
			size := 0
			for _, p := range payloads {
				size += len(p)
			}
			read := start(b, feed)
			for i := range benchDeals { // fill buffers and tables before measuring
				read(i, payloads[i%len(payloads)])
			}
			b.SetBytes(int64(size / len(payloads)))
			b.ReportAllocs()
			i, before := 0, processorTime(b)
			for b.Loop() {
				read(i, payloads[i%len(payloads)])
				i++
			}
			b.ReportMetric(float64(processorTime(b)-before)/float64(i), "cpu-ns/op")
		})
	}
}

// processorTime is how long the process has had processors, in nanoseconds.
func processorTime(b *testing.B) int64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// BenchmarkTokens reads the tokens of a record and does nothing else: the other benchmarks are compared with it.
func BenchmarkTokens(b *testing.B) {
	overFeeds(b, func(b *testing.B, _ api.Feed) func(int, []byte) {
		var input bytes.Buffer
		dec := jsontext.NewDecoder(&input)
		return func(_ int, payload []byte) {
			input = *bytes.NewBuffer(payload)
			dec.Reset(&input)
			for {
				if _, err := dec.ReadToken(); errors.Is(err, io.EOF) {
					return
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkFlatten reads a record into the Arrow rows of all its tables.
func BenchmarkFlatten(b *testing.B) {
	benchmarkFlatten(b, transform.NewFlattener)
}

// BenchmarkFlattenWithoutParsing does the same but leaves the helper columns empty. The difference from
// BenchmarkFlatten is the cost of reading texts.
func BenchmarkFlattenWithoutParsing(b *testing.B) {
	benchmarkFlatten(b, func(feed api.Feed, base api.Base) *transform.Flattener {
		return transform.NewFlattener(feed, base).WithoutParsing()
	})
}

func benchmarkFlatten(b *testing.B, newFlattener func(api.Feed, api.Base) *transform.Flattener) {
	overFeeds(b, func(b *testing.B, feed api.Feed) func(int, []byte) {
		f := newFlattener(feed, mustBase(b, samplesBase))
		batches := transform.NewHistoryBatches(memory.DefaultAllocator, feed)
		b.Cleanup(batches.Release)
		return func(i int, payload []byte) {
			id, err := f.Read(payload)
			if err != nil {
				b.Fatal(err)
			}
			batches.Append(f, id, 1)
			if i%benchDeals == benchDeals-1 {
				for t := range batches.Tables() {
					batches.Take(t).Record.Release()
				}
			}
		}
	})
}

// BenchmarkCanonicalHash computes the content hash of a record.
func BenchmarkCanonicalHash(b *testing.B) {
	overFeeds(b, func(b *testing.B, _ api.Feed) func(int, []byte) {
		c := transform.NewCanonicalizer(mustBase(b, samplesBase))
		return func(_ int, payload []byte) {
			if _, err := c.Hash(payload); err != nil {
				b.Fatal(err)
			}
		}
	})
}
