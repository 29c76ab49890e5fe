package logs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// sentence is the key of the attribute that Text returns.
const sentence = "text"

// prefixes say in text how serious a line is. A message has none.
var prefixes = map[slog.Level]string{slog.LevelDebug: "debug: ", slog.LevelWarn: "warning: ", slog.LevelError: "error: "}

// Text returns an attribute that is the line in text, after its prefix. JSON does not have it. Of a warning or an error
// it follows the name, by which the runbook lists it.
func Text(format string, args ...any) slog.Attr {
	return slog.String(sentence, fmt.Sprintf(format, args...))
}

// Sink writes lines to a writer, which may be replaced while lines are written. It is safe for concurrent use.
type Sink struct {
	JSON     bool // else text
	Terminal bool // text has no time, and an error may have several lines
	Program  string

	mu  sync.Mutex
	out io.Writer
}

// NewSink returns a sink for a writer. program is the prefix of the error that ends a command.
func NewSink(out io.Writer, program string) *Sink { return &Sink{out: out, Program: program} }

// To makes the sink write to another writer, and returns the one before.
func (s *Sink) To(out io.Writer) (before io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.out = s.out, out
	return before
}

// Write writes one or more complete lines.
func (s *Sink) Write(lines []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(lines)
}

// Logger returns a logger whose records below a level are dropped.
func (s *Sink) Logger(least slog.Level) *slog.Logger {
	if s.JSON {
		return slog.New(slog.NewJSONHandler(s, &slog.HandlerOptions{Level: least, ReplaceAttr: withoutText}))
	}
	return slog.New(&textHandler{sink: s, least: least})
}

func withoutText(groups []string, a slog.Attr) slog.Attr {
	switch {
	case len(groups) > 0:
	case a.Key == sentence:
		return slog.Attr{}
	case a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime:
		return slog.Time(slog.TimeKey, a.Value.Time().UTC())
	}
	return a
}

// textHandler writes a record as a line of text.
type textHandler struct {
	sink  *Sink
	least slog.Level
	attrs []slog.Attr
}

// Enabled implements slog.Handler.
func (h *textHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.least }

// WithAttrs implements slog.Handler.
func (h *textHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &textHandler{h.sink, h.least, slices.Concat(h.attrs, attrs)}
}

// WithGroup implements slog.Handler. No record has groups.
func (h *textHandler) WithGroup(string) slog.Handler { return h }

// Handle implements slog.Handler.
func (h *textHandler) Handle(ctx context.Context, r slog.Record) error {
	var line bytes.Buffer
	if !h.sink.Terminal {
		line.WriteString(r.Time.UTC().Format(time.RFC3339) + " ")
	}
	prefix := prefixes[r.Level]
	if r.Message == CommandFailed {
		prefix = h.sink.Program + ": "
	}
	line.WriteString(prefix)
	text := ""
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == sentence {
			text = a.Value.String()
		}
		return text == ""
	})
	switch {
	case text == "":
		text = r.Message + h.fields(ctx, r)
	case r.Level >= slog.LevelWarn && r.Message != CommandFailed && r.Message != Warning:
		text = r.Message + ": " + text
	}
	if !h.sink.Terminal {
		text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	}
	line.WriteString(text + "\n")
	_, err := h.sink.Write(line.Bytes())
	return err
}

// fields returns the attributes as key=value, each after a space.
func (h *textHandler) fields(ctx context.Context, r slog.Record) string {
	var fields bytes.Buffer
	library := slog.NewTextHandler(&fields, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
			return slog.Attr{}
		}
		return a
	}, Level: slog.LevelDebug}).WithAttrs(h.attrs)
	if err := library.Handle(ctx, r); err != nil || fields.Len() < 2 {
		return ""
	}
	return " " + strings.TrimRight(fields.String(), "\n")
}
