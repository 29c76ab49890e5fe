package frame

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"net/http"
	"sync"
	"time"
)

// patience is how long a reader waits for a page before its top is sent, unless Config says otherwise.
const patience = time.Second

// top sends the top of a page, with the as-of control and the navigation, if the content takes long. A page that is begun has no
// ETag: its content may still fail, and would then be kept.
type top struct {
	server *Server
	w      http.ResponseWriter
	timer  *time.Timer

	mu      sync.Mutex
	stopped bool           // only finish sends from now on
	out     io.WriteCloser // what the rest goes to; nil: nothing was sent
}

// sendTopLater sends the top of the page after the reader's patience, unless it is stopped before.
func (s *Server) sendTopLater(w http.ResponseWriter, r *http.Request, q *Request) *top {
	t := &top{server: s, w: w}
	t.timer = time.AfterFunc(cmp.Or(s.config.Patience, patience), func() { t.send(q, readsGzip(r)) })
	return t
}

// send works while the page asks its statements: of the request it uses nothing that changes.
func (t *top) send(q *Request, isGzip bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return
	}
	var page bytes.Buffer
	all := t.server.shell(q, &Content{Title: q.page.Word, Template: "error"}, nil) // its own title is not known yet
	for _, part := range []string{"top", "wait"} {
		if err := t.server.render(&page, part, all); err != nil {
			return // finding it again, the page says so
		}
	}
	t.w.Header().Del("ETag")
	t.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	t.w.Header().Add("Vary", "Accept-Encoding")
	flush := func() error { return nil }
	t.out = plain{t.w}
	if isGzip {
		t.w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(t.w)
		t.out, flush = z, z.Flush
	}
	t.w.WriteHeader(http.StatusOK)
	_, _ = t.out.Write(page.Bytes()) // the reader has gone
	_ = flush()
	_ = http.NewResponseController(t.w).Flush()
}

// stop ends the wait of the timer, or waits until the top is sent. From then on only finish sends. It may be called again, and for
// nil, a page that is written whole.
func (t *top) stop() {
	if t == nil {
		return
	}
	t.timer.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
}

// isSent says whether the top was sent. The caller has called stop.
func (t *top) isSent() bool { return t != nil && t.out != nil }

// finish writes the rest of the page.
func (t *top) finish(all shell) error {
	if err := t.server.render(t.out, "rest", all); err != nil {
		// A cut connection is the only way to say that what came is not all.
		t.server.config.Log.Error("a page of the explorer was cut off", "path", all.http.URL.Path, "error", err)
		panic(http.ErrAbortHandler)
	}
	_ = t.out.Close() // the reader has gone
	return nil
}

// plain is an answer that is not compressed.
type plain struct{ io.Writer }

// Close implements io.Closer.
func (plain) Close() error { return nil }
