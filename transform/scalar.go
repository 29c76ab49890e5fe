package transform

import (
	"bytes"
	"slices"

	"dealflow/schemas/lake"
	"dealflow/transform/internal/instant"
	"dealflow/transform/jsonread"
)

// fill sets an empty cell to the value that was read last, which is not null, converted to the column's type. A value
// that does not fit leaves the cell empty and is drift. One with more fraction digits than the column has is rounded,
// and drift too.
func (f *Flattener) fill(c *cell, n *node, to *target, raw []byte) {
	kind := raw[0]
	exact := true
	switch {
	case to.part == lake.HrefID:
		// Drift of the link is reported with the column of the link itself.
		if kind == '"' {
			text, _ := f.text()
			c.N, c.Set = numberAtEnd(f.base.RelativeBytes(text))
		}
		return
	case kind == '"':
		exact = f.fillText(c, n, to, raw)
	case jsonread.IsNumber(raw):
		exact = fillNumber(c, to, raw)
	case to.typ == lake.Bool && (kind == 't' || kind == 'f'):
		c.Set = true
		if kind == 't' {
			c.N = 1
		}
	}
	switch {
	case !c.Set:
		f.addDrift(n.pointer, lake.DriftMismatch, raw)
	case !exact:
		f.addDrift(n.pointer, lake.DriftRounded, raw)
	}
}

// fillText sets a cell to the string that was read last, as a text, date or instant. exact is false if the cell is set
// and lacks digits of the string.
func (f *Flattener) fillText(c *cell, n *node, to *target, raw []byte) (exact bool) {
	text, valid := f.text()
	switch to.typ {
	case lake.Text:
		if !valid {
			f.addDrift(n.pointer, lake.DriftMismatch, raw)
		}
		if n.allowed != nil && !contains(n.allowed, text) {
			f.addDrift(n.pointer, lake.DriftUnlisted, raw)
		}
		if to.part == lake.Href {
			text = f.base.RelativeBytes(text)
		}
		c.Text, c.Set = text, true
	case lake.Date:
		day, ok := instant.Date(text)
		c.N, c.Set = int64(day), ok
	case lake.Timestamp:
		c.N, exact, c.Set = instant.Timestamp(text)
		return exact
	}
	return true
}

// fillNumber sets a cell to a JSON number, as an integer or a decimal. exact is false if the cell is set and lacks
// digits of the number.
func fillNumber(c *cell, to *target, raw []byte) (exact bool) {
	switch {
	case to.precision > 0:
		c.Num, exact, c.Set = decimal(raw, to.precision, to.scale)
		return exact
	case to.typ == lake.Int64:
		c.N, c.Set = integer(raw)
	case to.typ == lake.Int32:
		c.N, c.Set = integer(raw)
		c.Set = c.Set && c.N == int64(int32(c.N))
	}
	return true
}

// text returns the string that was read last, unescaped: a part of the payload or of the arena. Lone surrogates and
// U+0000 become U+FFFD; valid reports that there was none. Many databases take no text with U+0000.
func (f *Flattener) text() (text []byte, valid bool) {
	if f.in.Plain() { // the usual case: no U+0000 without an escape sequence
		text, _, _ = f.in.Text(nil)
		return text, true
	}
	if text, valid = f.sourceText(); valid && bytes.IndexByte(text, 0) < 0 {
		return text, true
	}
	return f.withoutNUL(text), false
}

// sourceText is text, except that U+0000 stays.
func (f *Flattener) sourceText() (text []byte, valid bool) {
	text, f.arena, valid = f.in.Text(f.arena)
	return text, valid
}

// withoutNUL returns a text with U+FFFD in place of each U+0000: the text itself if it has none, or else a part of the
// arena.
func (f *Flattener) withoutNUL(text []byte) []byte {
	if bytes.IndexByte(text, 0) < 0 {
		return text
	}
	start := len(f.arena)
	for _, c := range text {
		if c == 0 {
			f.arena = append(f.arena, "\uFFFD"...)
		} else {
			f.arena = append(f.arena, c)
		}
	}
	return f.arena[start:len(f.arena):len(f.arena)]
}

// numberAtEnd returns the number that is the last segment of a link's path.
func numberAtEnd(href []byte) (n int64, ok bool) {
	path := href
	if i := bytes.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	// A host follows "//" if that is at the start or after a scheme.
	if i := bytes.Index(path, []byte("//")); i == 0 || i > 0 && bytes.IndexByte(path, '/') == i && path[i-1] == ':' {
		path = path[i+2:]
		slash := bytes.IndexByte(path, '/')
		if slash < 0 {
			return 0, false
		}
		path = path[slash:]
	}
	last := path[bytes.LastIndexByte(path, '/')+1:]
	for _, c := range last {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	if len(last) == 0 {
		return 0, false
	}
	return integer(last)
}

func contains(values []string, text []byte) bool {
	return slices.ContainsFunc(values, func(v string) bool { return v == string(text) })
}
