package s3store

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"dealflow/load/store"
)

// Error is a request that failed for good. It contains no secret, header or signed link.
type Error struct {
	Op        string // the operation: "put", "get", "list" …
	Object    string // s3://bucket/key
	Status    int    // of the HTTP answer; 0 for no answer
	Code      string // the provider's: "AccessDenied", "NoSuchBucket" …; "" if it gave none
	Message   string // the provider's, or what was wrong with the connection
	RequestID string // the provider's, for its support; "" if it gave none

	cause      error // what errors.Is finds; nil for none
	again      bool  // another attempt may help
	slowDown   bool  // the provider wants fewer requests
	retryAfter time.Duration
}

// Error formats all fields, and says what to do about the more common faults.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s:", e.Op, e.Object)
	if e.Status != 0 {
		fmt.Fprintf(&b, " %d", e.Status)
	}
	if e.Code != "" {
		b.WriteString(" " + e.Code)
	}
	if e.Message != "" {
		b.WriteString(" " + e.Message)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " (request id %s)", e.RequestID)
	}
	if e.cause != nil {
		fmt.Fprintf(&b, ": %s", e.cause)
	}
	if hint := hints[e.Code]; hint != "" {
		b.WriteString("; " + hint)
	}
	return b.String()
}

// Unwrap returns store.ErrNotFound, store.ErrExists, store.ErrChanged, or how the context ended; nil for other causes.
func (e *Error) Unwrap() error { return e.cause }

// mayBeApplied says whether the request may have taken effect although it failed.
func (e *Error) mayBeApplied() bool {
	return e.Status == 0 || e.Status >= http.StatusInternalServerError
}

// hints say what to do next, by the provider's code.
var hints = map[string]string{
	"AccessDenied":          "allow the account to list the bucket, and to get, put and delete objects under the lake's prefix; without the right to list, the provider denies access to absent objects too",
	"NoSuchBucket":          "create the bucket first, or correct the lake's URL",
	"InvalidAccessKeyId":    "check AWS_ACCESS_KEY_ID or AWS_PROFILE, and the endpoint that they belong to",
	"SignatureDoesNotMatch": "check AWS_SECRET_ACCESS_KEY, AWS_REGION, and the clock",
	"RequestTimeTooSkewed":  "set the clock of this machine",
	"ExpiredToken":          "log in again: the session has ended",
	"PermanentRedirect":     "set AWS_REGION to the bucket's region",
}

// Codes that are used in more than one place.
const (
	codeConflict     = "ConditionalRequestConflict"
	codeNoSuchBucket = "NoSuchBucket"
	codeNoSuchUpload = "NoSuchUpload"
)

// fault turns the error of an attempt into an Error.
func (s *Store) fault(op, key string, err error) *Error {
	e := &Error{Op: op, Object: "s3://" + s.bucket + "/" + s.root + key, Message: reason(err)}
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) && answer.Response != nil {
		e.Status = answer.HTTPStatusCode()
		e.retryAfter = retryAfter(answer.Response.Header, time.Now())
	}
	var id interface{ ServiceRequestID() string }
	if errors.As(err, &id) {
		e.RequestID = clean(id.ServiceRequestID())
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		e.Code, e.Message = clean(api.ErrorCode()), clean(api.ErrorMessage())
	}
	if e.Status == http.StatusNotFound && e.Code != codeNoSuchBucket && e.Code != codeNoSuchUpload {
		e.cause = store.ErrNotFound
	}
	var body *bodyError
	e.slowDown = slowsDown(e)
	e.again = e.slowDown || curable(e, err)
	if errors.As(err, &body) {
		e.again, e.Message, e.cause = false, "read the body", body.err
	}
	return e
}

// ended records in e how ctx ended: that is why there are no more attempts.
func (e *Error) ended(ctx context.Context) *Error {
	e.cause = ctx.Err()
	if cause := context.Cause(ctx); !errors.Is(cause, e.cause) {
		e.cause = fmt.Errorf("%w: %w", e.cause, cause)
	}
	if e.Status == 0 {
		e.Message = ""
	}
	return e
}

var (
	sdkRetries   = retry.IsErrorRetryables(retry.DefaultRetryables)
	sdkThrottles = retry.IsErrorThrottles(retry.DefaultThrottles)
)

func slowsDown(e *Error) bool {
	return e.Status == http.StatusServiceUnavailable || e.Status == http.StatusTooManyRequests ||
		sdkThrottles.IsErrorThrottle(&smithy.GenericAPIError{Code: e.Code}) == aws.TrueTernary
}

// curable says whether another attempt may help: after a lost or broken answer, a fault of the provider's, or a
// conflict with another request. A conflict does not yet answer a condition.
func curable(e *Error, err error) bool {
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted):
		return false
	case e.Code == codeConflict, e.Code == "OperationAborted", e.Status == http.StatusRequestTimeout:
		return true
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errNotTaken):
		return true
	}
	return sdkRetries.IsErrorRetryable(err) == aws.TrueTernary
}

// reason says what went wrong if there was no answer. It omits the request's link, which is long and does not help.
func reason(err error) string {
	var op *smithy.OperationError
	if errors.As(err, &op) {
		err = op.Err
	}
	var link *url.Error
	if errors.As(err, &link) {
		err = link.Err
	}
	return clean(err.Error())
}

// clean makes a provider's text printable and limits its length, for a terminal or a log.
func clean(text string) string {
	const longest = 500
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return strings.TrimSpace(text)
}

// retryAfter reads how long the provider asks to wait, in seconds or as a date; 0 if it does not ask.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}

// answered says whether err is an answer with one of the statuses.
func answered(err error, statuses ...int) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	for _, status := range statuses {
		if e.Status == status {
			return true
		}
	}
	return false
}

// coded says whether err is an answer with the provider's code.
func coded(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// because sets the cause of the Error in err, for errors.Is.
func because(err, cause error) error {
	var e *Error
	if errors.As(err, &e) {
		e.cause = cause
	}
	return err
}
