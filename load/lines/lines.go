package lines

import (
	"iter"
	"runtime"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
)

// atOnce is the number of lines that are decoded together.
const atOnce = 256

// Decode yields the values of lines. They are decoded on all processors while the lines after them are read: of some thousand lines
// that takes most of the time. check sees the first line before any is decoded; nil for none. An error is the last that Decode yields.
func Decode[T any](texts iter.Seq2[[]byte, error], check func(first []byte) error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		d := decoder[T]{yield: yield}
		defer d.decoding.Wait() // who takes the values may end before the last
		var some [][]byte
		first := true
		for text, err := range texts {
			if err == nil && first && check != nil {
				err = check(text)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			first, some = false, append(some, text)
			if len(some) < atOnce {
				continue
			}
			d.begin(some)
			if some = nil; !d.give(runtime.GOMAXPROCS(0)) {
				return
			}
		}
		d.begin(some)
		d.give(0)
	}
}

// decoder has the parts that are being decoded, in the order of their lines.
type decoder[T any] struct {
	yield    func(*T, error) bool
	parts    []*part[T]
	decoding sync.WaitGroup
}

// part is the values of some lines, once done is closed.
type part[T any] struct {
	values []T
	err    error
	done   chan struct{}
}

// begin decodes lines in the background.
func (d *decoder[T]) begin(texts [][]byte) {
	p := &part[T]{values: make([]T, len(texts)), done: make(chan struct{})}
	d.parts = append(d.parts, p)
	d.decoding.Go(func() {
		defer close(p.done)
		for i := range texts {
			if p.err = jsonv2.Unmarshal(texts[i], &p.values[i]); p.err != nil { // half the time of encoding/json
				return
			}
		}
	})
}

// give yields the values of the first parts, until at most that many parts are left. It returns false at the end: an error, or that
// of who takes the values.
func (d *decoder[T]) give(left int) bool {
	for len(d.parts) > left {
		p := d.parts[0]
		d.parts = d.parts[1:]
		<-p.done
		if p.err != nil {
			d.yield(nil, p.err)
			return false
		}
		for i := range p.values {
			if !d.yield(&p.values[i], nil) {
				return false
			}
		}
	}
	return true
}
