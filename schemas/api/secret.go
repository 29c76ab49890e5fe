package api

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
)

// redacted is the printed form of every Secret.
const redacted = "[redacted]"

// Secret is a text that must not be printed: a password or a client secret. fmt with any verb, slog, encoding/json and
// text encoders print "[redacted]"; only Reveal returns the text. The struct contains a pointer to the text: if a Secret
// is in an unexported field, fmt cannot call its methods, but prints only an address. The zero Secret is empty. Secrets
// are immutable and safe for concurrent use.
type Secret struct {
	text *string
}

// NewSecret returns a Secret with a text.
func NewSecret(text string) Secret { return Secret{text: &text} }

// Reveal returns the text. Call it only where the text is sent to the API.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Spellings returns the text and its forms in URLs and forms of the web, in which a server may send back what it got. Remove them from the server's
// texts before these are shown. It returns nil for an empty secret.
func (s Secret) Spellings() []string {
	if s.IsZero() {
		return nil
	}
	all := []string{s.Reveal(), url.QueryEscape(s.Reveal()), url.PathEscape(s.Reveal())}
	slices.Sort(all)
	return slices.Compact(all)
}

// IsZero reports whether the secret is empty.
func (s Secret) IsZero() bool { return s.Reveal() == "" }

// String returns "[redacted]".
func (Secret) String() string { return redacted }

// GoString returns "[redacted]".
func (Secret) GoString() string { return redacted }

// Format writes "[redacted]" for every verb and flag.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalJSON returns "[redacted]" as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText returns "[redacted]".
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue returns "[redacted]".
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
