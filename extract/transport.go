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
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"dealflow/extract/internal/budget"
	"dealflow/schemas/api"
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
	claim   *budget.Claim // memory of the body
	cut     bool          // the body of an error is not complete
	arrived time.Time     // by the machine's clock
	dated   time.Time     // by the server's clock, UTC; zero if the answer does not say
}

// date returns the server's time, UTC.
func (a *answer) date() (time.Time, error) {
	if a.dated.IsZero() {
		return time.Time{}, errors.New("the response has no valid Date header, which --clock=server needs")
	}
	return a.dated, nil
}

// dateOf returns the server's time for an answer whose header has just arrived; zero if it is not known. The Date of an
// error may be that of a proxy.
func (c *Client) dateOf(response *http.Response) time.Time {
	date, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		date = time.Time{}
	}
	if c.clock == nil || response.StatusCode != http.StatusOK {
		return date.UTC()
	}
	return c.clock.Dated(date).UTC()
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
	a.claim.Release()
}

// maxErrorBody is how much of an error's body is read, in bytes.
const maxErrorBody = 64 << 10

// send makes one attempt at a request and reads the body. A failure that another attempt may cure is a *retryable. need
// is the memory to claim for the body before the request is sent; send raises it for the next attempt if that was too
// little for all answers to be read at the same time.
func (j *job) send(ctx context.Context, request *http.Request, need *int64) (got *answer, err error) {
	cfg := j.client.cfg
	claim, err := j.client.memory.Start(ctx, *need)
	defer func() {
		if err != nil {
			claim.Release()
		}
	}()
	if err != nil {
		return nil, fmt.Errorf("%s %s: waiting for memory: %w", request.Method, request.URL, ended(ctx))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.RequestTimeout, fmt.Errorf("no complete response within %s", cfg.RequestTimeout))
	defer cancel()
	ctx, stall := context.WithCancelCause(ctx)
	defer stall(nil)
	watchdog := time.AfterFunc(cfg.StallTimeout, func() { stall(fmt.Errorf("no byte received for %s", cfg.StallTimeout)) })
	defer watchdog.Stop()

	request = request.WithContext(ctx)
	request.Header.Set("Accept", "application/hal+json, application/json")
	request.Header.Set("Accept-Encoding", "gzip")
	if j.feed != (api.Feed{}) {
		if err := j.client.spend(); err != nil {
			return nil, fmt.Errorf("%s %s: %w", request.Method, request.URL, err)
		}
	}
	j.tally.requests.Add(1)
	response, err := j.client.http.Do(request)
	if err != nil {
		return nil, sendError(ctx, request, err)
	}
	defer response.Body.Close()
	got = &answer{status: response.StatusCode, header: response.Header, arrived: time.Now(), dated: j.client.dateOf(response), claim: claim}
	wire := &meter{reader: response.Body, each: func(n int) {
		j.tally.bytes.Add(int64(n))
		watchdog.Reset(cfg.StallTimeout)
	}}
	got.body, got.cut, err = readBody(response, wire, cfg.MaxBody, claim, func() error {
		watchdog.Stop() // the server is not to blame for this wait
		defer watchdog.Reset(cfg.StallTimeout)
		return claim.Grow(ctx)
	})
	if errors.Is(err, budget.ErrCrowded) {
		*need = 2 * claim.Held()
		return nil, &retryable{err: fmt.Errorf("%s %s: %w", request.Method, request.URL, err), free: true}
	}
	if err != nil {
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
var errFinalBody = errors.New("the response body is not usable")

// readBody reads a body to its end, decompresses it, and checks its length. It limits the decompressed size to limit
// bytes, and calls grow where the claim is too small for it. The body of an error may be cut off.
func readBody(response *http.Response, wire *meter, limit int64, claim *budget.Claim, grow func() error) (body *bytes.Buffer, cut bool, err error) {
	if response.StatusCode != http.StatusOK {
		limit = min(limit, maxErrorBody)
	}
	var reader io.Reader = wire
	switch encoding := strings.ToLower(response.Header.Get("Content-Encoding")); {
	case response.Uncompressed, encoding == "", encoding == "identity":
	case encoding == "gzip":
		unzip, err := gunzip(wire)
		if err != nil && response.StatusCode != http.StatusOK {
			return new(bytes.Buffer), true, nil
		}
		if err != nil {
			return nil, false, fmt.Errorf("gzip: %w", err)
		}
		defer gunzippers.Put(unzip)
		reader = unzip
	default:
		return nil, false, fmt.Errorf("%w: got content encoding %q, want gzip or none", errFinalBody, encoding)
	}
	body = buffers.Get().(*bytes.Buffer)
	body.Reset()
	short := func() bool {
		return response.ContentLength >= 0 && !response.Uncompressed && wire.read != response.ContentLength
	}
	if response.StatusCode != http.StatusOK { // the status matters; its explanation may be cut off
		_, err := body.ReadFrom(io.LimitReader(reader, limit))
		return body, err != nil || short() && int64(body.Len()) < limit, nil
	}
	err = readClaimed(body, io.LimitReader(reader, limit+1), claim, grow)
	long := int64(body.Len()) > limit
	switch {
	case errors.Is(err, budget.ErrCrowded):
		return nil, false, err
	case errors.Is(err, budget.ErrTooLarge):
		return nil, false, fmt.Errorf("%w: %w; set --page-memory to more", errFinalBody, err)
	case err != nil:
		return nil, false, fmt.Errorf("the response body ended after %d bytes: %w", wire.read, err)
	case long:
		return nil, false, fmt.Errorf("%w: it is too long, want %d bytes at most after decompression; use a smaller --page-size", errFinalBody, limit)
	case short():
		return nil, false, fmt.Errorf("got a response body of %d bytes, want %d by its Content-Length: %w", wire.read, response.ContentLength, io.ErrUnexpectedEOF)
	}
	return body, false, nil
}

// readClaimed reads to the end into an empty buffer, never more than is claimed.
func readClaimed(body *bytes.Buffer, reader io.Reader, claim *budget.Claim, grow func() error) error {
	text := body.AvailableBuffer()
	defer func() { *body = *bytes.NewBuffer(text) }()
	for {
		if int64(len(text)) == claim.Held() {
			next, err := readByte(reader)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = grow()
			}
			if err != nil {
				return err
			}
			text = append(text, next)
			continue
		}
		if len(text) == cap(text) {
			// Twice as much up to 8 MiB, then a quarter more: a large body leaves little memory unused.
			text = slices.Grow(text, max(bytes.MinRead, min(len(text), max(8<<20, len(text)/4))))
		}
		n, err := reader.Read(text[len(text):min(int64(cap(text)), claim.Held())])
		text = text[:len(text)+n]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func readByte(reader io.Reader) (byte, error) {
	var next [1]byte
	_, err := io.ReadFull(reader, next[:])
	return next[0], err
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
