package api

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted is what every printed form of a Secret says.
const redacted = "[redacted]"

// Secret is a text that must not be seen: a password or a client secret. Whatever prints it (fmt
// with any verb, slog, encoding/json, a text encoder) gets "[redacted]"; only Reveal gives the text.
// The text sits behind a pointer, so that printing a struct with a Secret in an unexported field,
// where fmt cannot call its methods, shows an address at most. The zero Secret is empty. Secrets
// are immutable and safe for concurrent use.
type Secret struct {
	text *string
}

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{text: &text} }

// Reveal gives the text itself. Call it where the text goes on the wire and nowhere else.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero says whether the secret is empty.
func (s Secret) IsZero() bool { return s.Reveal() == "" }

// String gives "[redacted]".
func (Secret) String() string { return redacted }

// GoString gives "[redacted]".
func (Secret) GoString() string { return redacted }

// Format writes "[redacted]" for every verb and flag.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalJSON gives "[redacted]" as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText gives "[redacted]".
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue gives "[redacted]".
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
