package api

// Status is one row of the API's table of status codes.
type Status struct {
	Code    int
	Name    string // one word, for logs and reports
	Meaning string // one readable sentence
}

// The status codes that a client of the API distinguishes.
const (
	StatusOK            = 200
	StatusBadRequest    = 400
	StatusUnauthorized  = 401
	StatusForbidden     = 403
	StatusNotFound      = 404
	StatusNotAllowed    = 405
	StatusTooLarge      = 413
	StatusTooMany       = 429
	StatusInternalError = 500
)

var statuses = []Status{
	{StatusOK, "ok", "Success."},
	{StatusBadRequest, "bad_request", "The request cannot be understood: a parameter has a form that it must not have."},
	{StatusUnauthorized, "unauthorized", "The credentials or the token are missing, wrong or expired."},
	{StatusForbidden, "forbidden", "The account may not see this: a Free Trial account asked for a priced deal outside its two years."},
	{StatusNotFound, "not_found", "There is no such deal, market or path."},
	{StatusNotAllowed, "not_allowed", "The path exists, but not for this method; Allow names those that it has."},
	{StatusTooLarge, "too_large", "The body of the token request is too long."},
	{StatusTooMany, "too_many_requests", "The account asks too often; Retry-After says when to ask again."},
	{StatusInternalError, "internal_error", "The server failed; errorId finds the reason in its log."},
}

// Statuses returns the table. The caller owns the slice.
func Statuses() []Status { return append([]Status(nil), statuses...) }

// StatusByCode returns the row of a code; false if the table has none.
func StatusByCode(code int) (Status, bool) {
	for _, s := range statuses {
		if s.Code == code {
			return s, true
		}
	}
	return Status{}, false
}
