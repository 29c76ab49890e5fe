package bench_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/errgroup"

	"dealflow/schemas/api"
	"dealflow/transform"
)

// BenchmarkFloor measures, one by one, the steps that a first night cannot avoid, and nothing else. The steps after the
// download work on pages in memory, two lists at once.
func BenchmarkFloor(b *testing.B) {
	for _, s := range sizes() {
		b.Run("deals="+s.Name, func(b *testing.B) {
			m := newMarket(b, s)
			lists := m.night(b, firstNight)
			client, err := newBareClient(m.address)
			if err != nil {
				b.Fatal(err)
			}
			floor(b, "download-gzip", func(b *testing.B) usage {
				b.ReportMetric(float64(jsonBytes(lists))/1e6, "json-MB")
				return measure(b, func() error { return client.download(b.Context(), lists, true) })
			})
			floor(b, "download-plain", func(b *testing.B) usage {
				return measure(b, func() error { return client.download(b.Context(), lists, false) })
			})
			all := payloadsOf(b, client, lists)
			for _, f := range []struct {
				name string
				work func(*feedPayloads) error
			}{
				{"tokenise", tokenise}, {"canonicalise", canonicalise}, {"spool", spoolTo(b.TempDir())}, {"flatten", flatten},
			} {
				floor(b, f.name, func(b *testing.B) usage {
					return measure(b, func() error { return inTwos(all, f.work) })
				})
			}
			floor(b, "write", func(b *testing.B) usage { return writeAll(b, all) })
			floor(b, "flatten-and-write", func(b *testing.B) usage { return flattenAndWrite(b, all) })
		})
	}
}

// floor measures one step several times and reports the execution with the least disturbance.
func floor(b *testing.B, name string, work func(*testing.B) usage) {
	b.Run(name, func(b *testing.B) {
		var best usage
		for b.Loop() {
			best = least(best, work(b))
		}
		best.report(b)
	})
}

// feedPayloads are the deals of one list.
type feedPayloads struct {
	feed     api.Feed
	base     api.Base
	payloads [][]byte
}

func payloadsOf(b *testing.B, client *bareClient, lists []listPages) []*feedPayloads {
	b.Helper()
	pages, err := client.pages(lists)
	if err != nil {
		b.Fatal(err)
	}
	base, err := api.ParseBase("http://127.0.0.1")
	if err != nil {
		b.Fatal(err)
	}
	all := make([]*feedPayloads, len(lists))
	for i, list := range lists {
		all[i] = &feedPayloads{feed: list.Feed, base: base}
		for _, body := range pages[i] {
			page, err := api.SplitPage(body, list.Feed)
			if err != nil {
				b.Fatal(err)
			}
			all[i].payloads = append(all[i].payloads, page.Records...)
		}
	}
	return all
}

func jsonBytes(lists []listPages) (n int64) {
	for _, list := range lists {
		n += list.Bytes
	}
	return n
}

// inTwos works on two lists at once, as a run does.
func inTwos(all []*feedPayloads, work func(*feedPayloads) error) error {
	var group errgroup.Group
	group.SetLimit(2)
	for _, f := range all {
		group.Go(func() error { return work(f) })
	}
	return group.Wait()
}

// tokenise reads the tokens and does nothing with them.
func tokenise(f *feedPayloads) error {
	var input bytes.Buffer
	dec := jsontext.NewDecoder(&input)
	for _, payload := range f.payloads {
		input = *bytes.NewBuffer(payload)
		dec.Reset(&input)
		for {
			if _, err := dec.ReadToken(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

func canonicalise(f *feedPayloads) error {
	c := transform.NewCanonicalizer(f.base)
	for _, payload := range f.payloads {
		if _, err := c.Hash(payload); err != nil {
			return err
		}
	}
	return nil
}

// spoolTo hashes the payloads, writes them to a file, and reads that.
func spoolTo(dir string) func(*feedPayloads) error {
	return func(f *feedPayloads) (err error) {
		file, err := os.CreateTemp(dir, "*.spool")
		if err != nil {
			return err
		}
		defer func() {
			err = errors.Join(err, file.Close(), os.Remove(filepath.Join(dir, filepath.Base(file.Name()))))
		}()
		out := bufio.NewWriterSize(file, 256<<10)
		for _, payload := range f.payloads {
			_ = sha256.Sum256(payload)
			if _, err := out.Write(payload); err != nil {
				return err
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, file)
		return err
	}
}
