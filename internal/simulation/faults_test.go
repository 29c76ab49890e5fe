package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// fault is what goes wrong with one request.
type fault string

const (
	none          fault = "ok"
	resetBefore   fault = "reset before"
	resetHalfWay  fault = "reset half-way"
	serverError   fault = "500"
	unavailable   fault = "503 with Retry-After"
	tooMany       fault = "429 with seconds"
	tooManyDate   fault = "429 with a date"
	truncatedJSON fault = "truncated JSON"
	wrongJSON     fault = "wrong JSON"
	stall         fault = "stall"
	htmlPage      fault = "HTML page"
	tokenExpired  fault = "token expired"
	cursorExpired fault = "cursor expired"

	// Answers of something in front of the API to a request by id. They say nothing about the deal.
	proxyMissing  fault = "HTML 404"
	emptyMissing  fault = "empty 404"
	firewallBlock fault = "HTML 403"
)

// anyFaults can strike any request; those after the first nine are for seeds alone.
var anyFaults = []fault{
	resetBefore, resetHalfWay, serverError, unavailable, tooMany, tooManyDate, truncatedJSON, wrongJSON, stall,
	htmlPage, tokenExpired, cursorExpired, proxyMissing, emptyMissing, firewallBlock,
}

// inFront reports whether the fault is an answer by id that does not come from the API.
func (f fault) inFront() bool { return f == proxyMissing || f == emptyMissing || f == firewallBlock }

// wait is how long the server asks everybody to wait.
func (f fault) wait() time.Duration {
	switch f {
	case unavailable:
		return 2 * time.Second
	case tooMany, tooManyDate:
		return 3 * time.Second
	}
	return 0
}

var errReset = errors.New("connection reset by peer")

// instead returns the answer or error that replaces the server's answer. made is false if the request goes to the
// server.
func (f fault) instead(r *http.Request, now time.Time) (answer *http.Response, err error, made bool) { //nolint:revive // as http.RoundTripper, and whether
	reply := func(status int, contentType, body string, header ...string) (*http.Response, error, bool) {
		h := http.Header{"Date": {now.UTC().Format(http.TimeFormat)}, "Content-Type": {contentType}}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{
			Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
		}, nil, true
	}
	const said = `{"errorId":"e1","message":"a fault on purpose"}`
	switch f {
	case resetBefore:
		return nil, errReset, true
	case serverError:
		return reply(http.StatusInternalServerError, "application/json", said)
	case unavailable:
		return reply(http.StatusServiceUnavailable, "application/json", said, "Retry-After", strconv.Itoa(int(f.wait().Seconds())))
	case tooMany:
		return reply(http.StatusTooManyRequests, "application/json", said, "Retry-After", strconv.Itoa(int(f.wait().Seconds())))
	case tooManyDate:
		return reply(http.StatusTooManyRequests, "application/json", said, "Retry-After", now.Add(f.wait()).UTC().Format(http.TimeFormat))
	case wrongJSON:
		return reply(http.StatusOK, "application/json", `{"status":"maintenance"}`)
	case htmlPage:
		return reply(http.StatusOK, "text/html", "<html><body>Please log in</body></html>")
	case tokenExpired:
		return reply(http.StatusUnauthorized, "application/json", said)
	case proxyMissing:
		return reply(http.StatusNotFound, "text/html", "<html><body>nginx</body></html>")
	case emptyMissing:
		return reply(http.StatusNotFound, "application/json", "")
	case firewallBlock:
		return reply(http.StatusForbidden, "text/html", "<html><body>blocked</body></html>")
	case cursorExpired:
		return reply(http.StatusBadRequest, "application/json", said)
	}
	return nil, nil, false
}

// damage sets the answer's body, damaged if the fault is one of bodies.
func (f fault) damage(ctx context.Context, answer *http.Response, body []byte) {
	half := body[:len(body)/2]
	switch f {
	case resetHalfWay:
		answer.Body = io.NopCloser(io.MultiReader(bytes.NewReader(half), broken{}))
	case stall:
		answer.Body = io.NopCloser(io.MultiReader(bytes.NewReader(half), stalled{ctx}))
	case truncatedJSON:
		answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(half)), int64(len(half))
	default:
		answer.Body = io.NopCloser(bytes.NewReader(body))
	}
}

// broken is the end of a connection that is reset.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errReset }

// stalled is the end of a connection on which nothing comes any more.
type stalled struct{ ctx context.Context }

func (s stalled) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, context.Cause(s.ctx)
}
