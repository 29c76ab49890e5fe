package extract

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

// tunedTransport returns the transport to use if the configuration has none.
func tunedTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   10 * time.Second,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   32, // twelve feeds, confirmations, tokens
		IdleConnTimeout:       90 * time.Second,
		DisableCompression:    true, // decompressed here, faster and with a cap
		ExpectContinueTimeout: time.Second,
	}
}

// answer is a response whose body has been read.
type answer struct {
	status  int
	header  http.Header
	body    *bytes.Buffer
	arrived time.Time // by the machine's clock
}

// date returns the server's Date header, UTC.
func (a *answer) date() (time.Time, error) {
	t, err := http.ParseTime(a.header.Get("Date"))
	if err != nil {
		return time.Time{}, errors.New("the answer has no readable Date header, which gives the instants under --clock=server")
	}
	return t.UTC(), nil
}

// buffers are page buffers for reuse. A buffer is used by one answer at a time.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// release returns the body's buffer for reuse. The body and all slices of it are then invalid.
func (a *answer) release() {
	const most = 32 << 20 // 32 MiB: larger buffers are rare, and too large to keep
	if a.body != nil && a.body.Cap() <= most {
		a.body.Reset()
		buffers.Put(a.body)
	}
	a.body = nil
}

// maxErrorBody is how much of an error's body is read, in bytes.
const maxErrorBody = 64 << 10

// send makes one attempt at a request and reads the body. A failure that another attempt may cure is a *retryable.
func (j *job) send(ctx context.Context, request *http.Request) (*answer, error) {
	cfg := j.client.cfg
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.RequestTimeout, fmt.Errorf("no whole answer within %s", cfg.RequestTimeout))
	defer cancel()
	ctx, stall := context.WithCancelCause(ctx)
	defer stall(nil)
	watchdog := time.AfterFunc(cfg.StallTimeout, func() { stall(fmt.Errorf("no byte for %s", cfg.StallTimeout)) })
	defer watchdog.Stop()

	request = request.WithContext(ctx)
	request.Header.Set("Accept", "application/hal+json, application/json")
	request.Header.Set("Accept-Encoding", "gzip")
	j.tally.requests.Add(1)
	response, err := j.client.http.Do(request)
	if err != nil {
		return nil, sendError(ctx, request, err)
	}
	defer response.Body.Close()
	got := &answer{status: response.StatusCode, header: response.Header, arrived: time.Now()}
	wire := &meter{reader: response.Body, each: func(n int) {
		j.tally.bytes.Add(int64(n))
		watchdog.Reset(cfg.StallTimeout)
	}}
	if got.body, err = readBody(response, wire, cfg.MaxBody); err != nil {
		return nil, sendError(ctx, request, err)
	}
	return got, nil
}

// sendError adds the request to the error, and makes it a *retryable unless it is final.
func sendError(ctx context.Context, request *http.Request, err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // a *url.Error would repeat the request
	}
	var link *LinkError
	var certificate *tls.CertificateVerificationError
	final := errors.As(err, &link) || errors.As(err, &certificate) || errors.Is(err, errFinalBody)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		// A dialer's own time-out is a DeadlineExceeded, although our deadline has not passed.
		err = errors.New(err.Error())
	}
	err = fmt.Errorf("%s %s: %w", request.Method, request.URL, err)
	if final {
		return err
	}
	return &retryable{err: err}
}

// errFinalBody marks a fault of a body that a retry would repeat.
var errFinalBody = errors.New("body cannot be used")

// readBody reads a body to its end, decompresses it, and checks its length. It limits the decompressed size to limit
// bytes.
func readBody(response *http.Response, wire *meter, limit int64) (*bytes.Buffer, error) {
	if response.StatusCode != http.StatusOK {
		limit = min(limit, maxErrorBody)
	}
	var reader io.Reader = wire
	switch encoding := strings.ToLower(response.Header.Get("Content-Encoding")); {
	case response.Uncompressed, encoding == "", encoding == "identity":
	case encoding == "gzip":
		unzip, err := gunzip(wire)
		if err != nil && response.StatusCode != http.StatusOK {
			return new(bytes.Buffer), nil
		}
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		defer gunzippers.Put(unzip)
		reader = unzip
	default:
		return nil, fmt.Errorf("%w: content encoding %q was not asked for", errFinalBody, encoding)
	}
	body := buffers.Get().(*bytes.Buffer)
	body.Reset()
	_, err := body.ReadFrom(io.LimitReader(reader, limit+1))
	switch {
	case response.StatusCode != http.StatusOK:
		// The status matters; its explanation may be cut off.
		body.Truncate(min(body.Len(), int(limit)))
		return body, nil
	case err != nil:
		return nil, fmt.Errorf("after %d bytes: %w", wire.read, err)
	case int64(body.Len()) > limit:
		return nil, fmt.Errorf("%w: longer than %d bytes", errFinalBody, limit)
	case response.ContentLength >= 0 && !response.Uncompressed && wire.read != response.ContentLength:
		return nil, fmt.Errorf("%d bytes where %d were announced: %w", wire.read, response.ContentLength, io.ErrUnexpectedEOF)
	}
	return body, nil
}

var gunzippers sync.Pool

func gunzip(r io.Reader) (*gzip.Reader, error) {
	if pooled, ok := gunzippers.Get().(*gzip.Reader); ok {
		return pooled, pooled.Reset(r)
	}
	return gzip.NewReader(r)
}

// meter counts the bytes that are read and calls each with the size of every portion.
type meter struct {
	reader io.Reader
	read   int64
	each   func(n int)
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.reader.Read(p)
	m.read += int64(n)
	m.each(n)
	return n, err
}
