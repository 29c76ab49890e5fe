package s3store

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// sendTimeout is how long a provider may take no byte of a request's body. That bytes are taken shows only when the system's buffer has room again,
// which has some MiB: a slow line, on which 16 requests share 1 Mbit/s, needs minutes for that.
const sendTimeout = 10 * responseTimeout

var errNotTaken = errors.New("the provider took nothing for " + sendTimeout.String())

// sender is a transport that ends a request whose body the provider no longer takes. http.Transport itself would wait for ever: its time for the
// answer begins with the last byte.
type sender struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s sender) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body == nil || request.Body == http.NoBody {
		return s.base.RoundTrip(request)
	}
	ctx, cancel := context.WithCancelCause(request.Context())
	body := &sentBody{ReadCloser: request.Body, silence: time.AfterFunc(sendTimeout, func() { cancel(errNotTaken) })}
	request = request.WithContext(ctx)
	request.Body = body
	answer, err := s.base.RoundTrip(request)
	body.stop()
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errNotTaken) {
			err = cause
		}
		cancel(nil)
		return nil, err
	}
	answer.Body = &answerBody{ReadCloser: answer.Body, end: func() { cancel(nil) }}
	return answer, nil
}

// sentBody is a request's body. Each read says that the bytes of the one before were taken.
type sentBody struct {
	io.ReadCloser
	silence  *time.Timer
	answered atomic.Bool // a transport may go on reading after it has returned the answer
}

func (b *sentBody) Read(p []byte) (int, error) {
	if !b.answered.Load() {
		b.silence.Reset(sendTimeout)
	}
	return b.ReadCloser.Read(p)
}

func (b *sentBody) stop() {
	b.answered.Store(true)
	b.silence.Stop()
}

// answerBody ends the context of its request when it is closed.
type answerBody struct {
	io.ReadCloser
	end func()
}

func (b *answerBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
