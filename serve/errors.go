package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"dealflow/schemas/api"
)

// failure is an error that the client caused: its status, and what to tell the client.
type failure struct {
	status  int
	message string
}

func (f failure) Error() string { return f.message }

func badRequest(format string, args ...any) failure {
	return failure{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

var (
	errNoPath       = failure{http.StatusNotFound, "no such path"}
	errNoToken      = failure{http.StatusUnauthorized, "a bearer token is required: ask for one at /oauth/token"}
	errTokenInvalid = failure{http.StatusUnauthorized, "the bearer token is not valid or has expired"}
	errCredentials  = failure{http.StatusUnauthorized, "client id and secret are required as HTTP Basic credentials, and must match an account"}
)

// statusOf maps kinds of errors to status and message. What it does not know is a fault of the
// server, whose nature is for the log alone.
func statusOf(err error) (status int, message string) {
	var told failure
	switch {
	case errors.As(err, &told):
		return told.status, told.message
	case errors.Is(err, ErrNotFound):
		return http.StatusNotFound, ErrNotFound.Error()
	case errors.Is(err, ErrForbidden):
		return http.StatusForbidden, ErrForbidden.Error()
	}
	return http.StatusInternalServerError, "internal error"
}

// fail answers with the API's error body.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, message := statusOf(err)
	body := api.ErrorBody{Timestamp: stamp(s.now()), ErrorID: uuid.NewString(), Message: message}
	gone := errors.Is(err, context.Canceled) && r.Context().Err() != nil // nobody is left to read the answer
	if status == http.StatusInternalServerError && !gone {
		s.config.Log.Error("request failed", "path", r.URL.Path, "error_id", body.ErrorID, "error", err)
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", challenge(err))
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // three strings: cannot fail
	}
	respond(w, r, status, typeJSON, text)
}

// challenge names the scheme that a refused request should have used.
func challenge(err error) string {
	if errors.Is(err, errCredentials) {
		return `Basic realm="dealflow", charset="UTF-8"`
	}
	return `Bearer realm="dealflow"`
}

// stamp is an instant as the API writes it.
func stamp(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }
