package extract

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dealflow/schemas/api"
)

// ErrBudget means that Config.MaxRequests requests were sent. It is never retried.
var ErrBudget = errors.New("the budget of requests is spent")

// StatusError is an HTTP response of the API other than 200.
type StatusError struct {
	Op         string        // "GET" or "POST"
	URL        string        // as requested
	Status     int           // HTTP status code
	ErrorID    string        // the API's errorId, to quote to its support; may be empty
	Message    string        // the API's message; may be empty
	RetryAfter time.Duration // the wait that the server asked for; 0 if none
	Hint       string        // what the user can check; may be empty

	opening bool          // the answer to a feed's very first request
	isHTML  bool          // it is a page for people: not the API's answer, but that of a gateway or a firewall
	form    api.ErrorForm // of the body
}

func (e *StatusError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %d %s", e.Op, e.URL, e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		fmt.Fprintf(&b, ": %s", printable(e.Message))
	} else if known, ok := api.StatusByCode(e.Status); ok && !e.maybeProxy() {
		fmt.Fprintf(&b, ": %s", known.Meaning) // without a message from the API: the documented meaning
	}
	if e.ErrorID != "" {
		fmt.Fprintf(&b, " (errorId %s)", printable(e.ErrorID))
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, "; %s", e.Hint)
	}
	return b.String()
}

// maybeProxy reports whether the answer is one in HTML, or a 403 that has not the form of the API's errors. Then it says nothing about the account.
func (e *StatusError) maybeProxy() bool {
	return e.isHTML || e.Status == http.StatusForbidden && e.form == api.ErrorForm{}
}

// AuthError means that the credentials were refused: by the token endpoint (400, 401, 403), or by the API with 401
// to every token that it has issued. It is never retried. Its Hint names the settings to check.
type AuthError struct {
	StatusError
}

func (e *AuthError) Error() string { return "credentials refused: " + e.StatusError.Error() }

// Unwrap returns the response as a *StatusError.
func (e *AuthError) Unwrap() error { return &e.StatusError }

// LinkError is a link that the client does not follow: it leaves the API's address or closes a circle. No token was
// sent there.
type LinkError struct {
	Link   string // as the server gave it
	Reason string
}

func (e *LinkError) Error() string { return fmt.Sprintf("link %s: %s", printable(e.Link), e.Reason) }

// UnsettledError means that a list changed faster than it could be read.
type UnsettledError struct {
	Feed   api.Feed
	Rounds int           // number of walks and sweeps
	Fresh  int           // new or changed deals in the last of them
	Took   time.Duration // time the last of them took
	Sweep  error         // why no sweep could follow the walks; nil if sweeps were possible
}

func (e *UnsettledError) Error() string {
	rate := ""
	if e.Took > 0 {
		rate = fmt.Sprintf(", %.3g a second", float64(e.Fresh)/e.Took.Seconds())
	}
	text := fmt.Sprintf("the list is not stable after %d rounds: the last one still found %d new or changed deals in %s%s",
		e.Rounds, e.Fresh, e.Took.Round(time.Millisecond), rate)
	if e.Sweep != nil {
		return text + "; the server does not accept changedFrom, so the changes cannot be read separately: " + e.Sweep.Error()
	}
	return text + "; run again at a time with fewer changes"
}

// Unwrap returns the server's answer to changedFrom, if that prevented sweeps.
func (e *UnsettledError) Unwrap() error { return e.Sweep }

// IsForbiddenOrMissing reports whether the first list request of a feed was answered 403 or 404: the feed is not part
// of the account. A page in HTML says nothing about that: a feed would be left out because of a gateway.
func IsForbiddenOrMissing(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.opening && !status.isHTML && (status.Status == http.StatusForbidden || status.Status == http.StatusNotFound)
}

// printable makes a server's text safe for a terminal and a log line. It quotes a text that contains control characters
// or quotes, and limits its length.
func printable(text string) string {
	const limit = 500
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	if quoted := strconv.Quote(text); quoted != `"`+text+`"` {
		return quoted
	}
	return text
}
