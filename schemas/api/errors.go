package api

import "errors"

var (
	errNotAbsolute = errors.New("want an absolute http or https URL")
	errPort        = errors.New("want a port from 0 to 65535")
	errNotBase     = errors.New("want no query and no fragment")
	errUserInfo    = errors.New("want no credentials in the URL")
)

// ErrorBody is the body of every error response (openapi.yaml: Error). All fields are required.
type ErrorBody struct {
	Timestamp string `json:"timestamp"` // date-time, UTC
	ErrorID   string `json:"errorId"`   // UUID
	Message   string `json:"message"`
}
