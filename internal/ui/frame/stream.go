package frame

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"sync"
	"time"

	"dealflow/internal/chart"
)

// patience is how long a reader waits before what is known of a page is sent, unless Config says otherwise.
const patience = time.Second

// stream is where a page is written. One that is ready within the reader's patience is sent whole. Of another, what is ready is sent then,
// and after that whenever the page waits for a Part. A page that is begun has status 200 and no ETag: its rest may still fail, and would then be kept.
type stream struct {
	w      http.ResponseWriter
	isGzip bool
	timer  *time.Timer   // nil: the page is sent whole
	ended  chan struct{} // closed when the timer has done its work

	mu    sync.Mutex
	ready bytes.Buffer   // written, and not yet sent
	out   io.WriteCloser // what the page goes to; nil: nothing was sent
	flush func() error   // of out
	top   func() string  // what to send of a page that has not written anything; nil: the page writes itself
}

// newStream returns a stream that sends the page whole.
func newStream(w http.ResponseWriter, r *http.Request) *stream {
	return &stream{w: w, isGzip: readsGzip(r)}
}

// startAfter lets the stream begin after the reader's patience, with the top of the page if the page has not written anything. The caller calls stop.
func (t *stream) startAfter(patience time.Duration, top func() string) {
	t.top, t.ended = top, make(chan struct{})
	t.timer = time.AfterFunc(patience, func() {
		defer close(t.ended)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.begin()
		if t.top != nil {
			t.ready.WriteString(t.top())
		}
		t.send()
	})
}

// begin writes the header of a page of which more follows. The caller has the lock.
func (t *stream) begin() {
	t.w.Header().Del("ETag")
	t.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	t.w.Header().Add("Vary", "Accept-Encoding")
	t.out, t.flush = plain{t.w}, func() error { return nil }
	if t.isGzip {
		t.w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(t.w)
		t.out, t.flush = z, z.Flush
	}
	t.w.WriteHeader(http.StatusOK)
}

// send sends what is ready of a page that is begun. The caller has the lock.
func (t *stream) send() {
	_, _ = t.out.Write(visible(t.ready.Bytes())) // the reader has gone
	_ = t.flush()
	_ = http.NewResponseController(t.w).Flush()
	t.ready.Reset()
}

// visible replaces control characters and those that turn the direction of writing: they would be obeyed, not shown.
func visible(page []byte) []byte { return bytes.Map(chart.Visible, page) }

// take returns whether the top of the page was sent. From then on the page writes itself.
func (t *stream) take() (begun bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.top = nil
	return t.out != nil
}

// Write implements io.Writer.
func (t *stream) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ready.Write(p)
}

// wait is called before the page waits for something: a reader of a page that is begun gets what is before it.
func (t *stream) wait() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out != nil && t.ready.Len() > 0 {
		t.send()
	}
}

// stop ends the timer, or waits until its work is done. It returns whether the page has begun. It may be called again.
func (t *stream) stop() (begun bool) {
	if t.timer != nil && !t.timer.Stop() {
		<-t.ended
	}
	t.timer = nil
	return t.out != nil
}

// finish sends the rest of a page that is begun.
func (t *stream) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.out.Write(visible(t.ready.Bytes())) // the reader has gone
	_ = t.out.Close()
}

// plain is an answer that is not compressed.
type plain struct{ io.Writer }

// Close implements io.Closer.
func (plain) Close() error { return nil }

// Part is a part of a page that is asked for when the page comes to it: its heading, and all before it, need not wait. If it fails, the page says
// so in its place.
type Part[T any] struct {
	q       *Request
	ask     func() (T, error)
	isAsked bool
	value   T
	flaw    *fault
}

// Later returns a part of the page of a request.
func Later[T any](q *Request, ask func() (T, error)) *Part[T] { return &Part[T]{q: q, ask: ask} }

// Flaw says why the part has no value; nil if it has one. The template "flaw" shows it.
func (p *Part[T]) Flaw() *fault {
	if p.isAsked {
		return p.flaw
	}
	p.isAsked = true
	p.q.stream.wait()
	var err error
	if p.value, err = p.ask(); err != nil {
		p.flaw = p.q.flawOf(err)
	}
	return p.flaw
}

// Value returns the value, if there is no flaw.
func (p *Part[T]) Value() T {
	p.Flaw()
	return p.value
}
