package transform_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/go-json-experiment/json/jsontext"

	"dealflow/schemas/api"
	"dealflow/transform"
)

// benchFeeds have the three shapes of records that make up the volume of a run.
var benchFeeds = []string{"bond/ig/priced", "bond/ig/expected", "loan/ll/priced"}

// benchDeals is how many deals go into a batch before it is taken: about a row group.
const benchDeals = 4000

// overFeeds runs one benchmark for each feed: of the feed's sample records, over and over, read is
// given the i-th. Bytes are those of one record on average.
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
			for i := range benchDeals { // reach the steady state
				read(i, payloads[i%len(payloads)])
			}
			b.SetBytes(int64(size / len(payloads)))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				read(i, payloads[i%len(payloads)])
				i++
			}
		})
	}
}

// BenchmarkTokens reads the tokens of a record and does nothing with them: the yardstick.
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

// BenchmarkFlatten takes a record into the Arrow rows of all its tables.
func BenchmarkFlatten(b *testing.B) {
	benchmarkFlatten(b, transform.NewFlattener)
}

// BenchmarkFlattenWithoutParsing does the same and leaves the helper columns empty: what is between the
// two is the cost of reading texts.
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

// BenchmarkCanonicalHash hashes what a record says.
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
