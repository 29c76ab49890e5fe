package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"dealflow/schemas/api"
)

// failure is an error that the client caused: its status, and a message for the client.
type failure struct {
	status  int
	message string
	wait    time.Duration // until the client should try again; 429 only, 0 is not told
}

func (f failure) Error() string { return f.message }

func badRequest(format string, args ...any) failure {
	return failure{status: api.StatusBadRequest, message: fmt.Sprintf(format, args...)}
}

func tooMany(wait time.Duration) failure {
	return failure{status: api.StatusTooMany, message: "too many requests: wait as long as Retry-After says", wait: wait}
}

var (
	errNoPath       = failure{status: api.StatusNotFound, message: "no such path"}
	errNoToken      = failure{status: api.StatusUnauthorized, message: "a bearer token is required: request one at /oauth/token"}
	errTokenInvalid = failure{status: api.StatusUnauthorized, message: "the bearer token is not valid or has expired"}
	errCredentials  = failure{status: api.StatusUnauthorized, message: "client id and secret are required as HTTP Basic credentials, and must match an account"}
)

// statusOf returns the status and the message of an error. An unknown error is a 500 without details: the log has them.
func statusOf(err error) (status int, message string) {
	var told failure
	switch {
	case errors.As(err, &told):
		return told.status, told.message
	case errors.Is(err, ErrNotFound):
		return api.StatusNotFound, ErrNotFound.Error()
	case errors.Is(err, ErrForbidden):
		return api.StatusForbidden, ErrForbidden.Error()
	}
	return api.StatusInternalError, "internal error"
}

// fail answers with the API's error body.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	v := visitOf(r)
	status, message := statusOf(err)
	body := api.ErrorBody{Timestamp: stamp(v.source.Now()), ErrorID: uuid.NewString(), Message: message}
	v.errorID = body.ErrorID
	gone := errors.Is(err, context.Canceled) && r.Context().Err() != nil // the client has closed the connection
	if status == api.StatusInternalError && !gone {
		s.config.Log.Error("request failed", "path", r.URL.Path, "error_id", body.ErrorID, "error", err)
	}
	switch status {
	case api.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", challenge(err))
	case api.StatusTooMany:
		if text := s.retryAfter(err); text != "" {
			w.Header().Set("Retry-After", text)
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // three strings: cannot fail
	}
	respond(w, r, status, typeJSON, text)
}

// challenge returns the authentication scheme that a refused request should have used.
func challenge(err error) string {
	switch {
	case errors.Is(err, errCredentials):
		return `Basic realm="dealflow", charset="UTF-8"`
	case errors.Is(err, errTokenInvalid):
		return `Bearer realm="dealflow", error="invalid_token"`
	}
	return `Bearer realm="dealflow"`
}

// retryAfter returns the value of a 429's Retry-After: whole seconds, rounded up, or a date; "" for none.
func (s *Server) retryAfter(err error) string {
	var told failure
	if errors.As(err, &told); told.wait == 0 {
		return ""
	}
	seconds := max(1, math.Ceil(told.wait.Seconds()))
	if s.config.RetryAfterDate {
		// One second more, because the answer's Date is truncated to whole seconds.
		return s.now().Add(time.Duration(seconds+1) * time.Second).Format(http.TimeFormat)
	}
	return strconv.FormatFloat(seconds, 'f', 0, 64)
}

// stamp returns an instant as the API writes it.
func stamp(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }
