package transform

import (
	"bytes"
	"slices"

	"dealflow/schemas/lake"
	"dealflow/transform/jsonread"
)

// fill sets an empty cell to the value that was read last, which is not null, converted to the column's type. A value
// that does not fit leaves the cell empty and is drift.
func (f *Flattener) fill(c *cell, n *node, to *target, raw []byte) {
	kind := raw[0]
	switch {
	case to.part == lake.HrefID:
		// Drift of the link is reported with the column of the link itself.
		if kind == '"' {
			text, _ := f.text()
			c.N, c.Set = numberAtEnd(f.base.RelativeBytes(text))
		}
		return
	case kind == '"':
		f.fillText(c, n, to, raw)
	case jsonread.IsNumber(raw):
		fillNumber(c, to, raw)
	case to.typ == lake.Bool && (kind == 't' || kind == 'f'):
		c.Set = true
		if kind == 't' {
			c.N = 1
		}
	}
	if !c.Set {
		f.addDrift(n.pointer, lake.DriftMisfit, raw)
	}
}

// fillText sets a cell to the string that was read last, as a text, date or instant.
func (f *Flattener) fillText(c *cell, n *node, to *target, raw []byte) {
	text, valid := f.text()
	switch to.typ {
	case lake.Text:
		if !valid {
			f.addDrift(n.pointer, lake.DriftMisfit, raw)
		}
		if n.allowed != nil && !contains(n.allowed, text) {
			f.addDrift(n.pointer, lake.DriftUnlisted, raw)
		}
		if to.part == lake.Href {
			text = f.base.RelativeBytes(text)
		}
		c.Text, c.Set = text, true
	case lake.Date:
		day, ok := date(text)
		c.N, c.Set = int64(day), ok
	case lake.Timestamp:
		c.N, c.Set = timestamp(text)
	}
}

// fillNumber sets a cell to a JSON number, as an integer or a decimal.
func fillNumber(c *cell, to *target, raw []byte) {
	switch {
	case to.precision > 0:
		c.Num, c.Set = decimal(raw, to.precision, to.scale)
	case to.typ == lake.Int64:
		c.N, c.Set = integer(raw)
	case to.typ == lake.Int32:
		c.N, c.Set = integer(raw)
		c.Set = c.Set && c.N == int64(int32(c.N))
	}
}

// text returns the string that was read last, unescaped: a part of the payload or of the arena. Lone surrogates become
// U+FFFD; valid reports that there was none.
func (f *Flattener) text() (text []byte, valid bool) {
	text, f.arena, valid = f.in.Text(f.arena)
	return text, valid
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
