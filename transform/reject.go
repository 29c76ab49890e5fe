package transform

import (
	"errors"
	"unicode/utf8"

	"dealflow/schemas/api"
	"dealflow/transform/jsonread"
)

// beginObject starts to read a payload. If the payload is an object, its opening brace is next; otherwise the error is
// an *api.Reject. Lone surrogates are accepted here: text columns replace them and report drift.
func beginObject(in *jsonread.Reader, payload []byte) error {
	if !utf8.Valid(payload) {
		return &api.Reject{Reason: api.RejectInvalidUTF8}
	}
	in.Reset(payload)
	if in.Peek() == '{' {
		return nil
	}
	if in.Value(); in.Err() != nil {
		return rejection(in.Err())
	}
	return &api.Reject{Reason: api.RejectNotObject}
}

// rejection converts an error of reading a payload into an *api.Reject.
func rejection(err error) *api.Reject {
	var reject *api.Reject
	if errors.As(err, &reject) {
		return reject
	}
	reason := api.RejectInvalidJSON
	var fault *jsonread.Error
	if errors.As(err, &fault) && fault.Duplicate {
		reason = api.RejectDuplicateMember
	}
	return &api.Reject{Reason: reason, Detail: err.Error()}
}
