package api

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"
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

// Spellings returns the text and the ways in which a server may spell it when it sends back what it got: in URLs, with capital and with small
// digits, in HTML, in JSON, in base64. Remove them from the server's texts before these are shown. It returns nil for an empty secret.
func (s Secret) Spellings() []string {
	if s.IsZero() {
		return nil
	}
	text := s.Reveal()
	query := url.QueryEscape(text)
	all := []string{text, query, url.PathEscape(text), componentEscape.Replace(query)}
	for _, escaped := range all[1:] {
		all = append(all, hexDigits.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	all = append(all, html.EscapeString(text), base64.StdEncoding.EncodeToString([]byte(text)))
	if quoted, err := json.Marshal(text); err == nil {
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	slices.SortFunc(all, func(x, y string) int { return cmp.Or(len(y)-len(x), strings.Compare(x, y)) }) // one may be a part of another
	return slices.Compact(all)
}

var (
	// componentEscape makes of a form's encoding that of JavaScript's encodeURIComponent.
	componentEscape = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")
	hexDigits       = regexp.MustCompile("%[0-9A-F]{2}")
)

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
