package transform

import (
	"errors"
	"unicode/utf8"

	"dealflow/schemas/api"
	"dealflow/transform/jsonread"
)

// begin starts to read a payload and refuses one that is no object; an object's brace is next. Lone
// surrogates pass: text columns replace them and tell.
func begin(in *jsonread.Reader, payload []byte) error {
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

// rejection says in our terms why a payload cannot be read.
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
