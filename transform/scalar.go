package transform

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"dealflow/schemas/lake"
)

// fill reads a value that is not null into an empty cell as a column's type; what does not fit leaves
// it empty and is drift.
func (f *Flattener) fill(c *cell, n *node, to *target, raw jsontext.Value) {
	switch kind := raw.Kind(); {
	case to.part == lake.HrefID:
		// Drift of the link is told with the column of the link itself.
		if kind == '"' {
			text, _ := f.unquote(raw)
			c.n, c.set = numberAtEnd(f.base.RelativeBytes(text))
		}
		return
	case kind == '"':
		f.fillText(c, n, to, raw)
	case kind == '0':
		fillNumber(c, to, raw)
	case to.typ == lake.Bool && (kind == 't' || kind == 'f'):
		c.set = true
		if kind == 't' {
			c.n = 1
		}
	}
	if !c.set {
		f.note(n.pointer, lake.DriftMisfit, raw)
	}
}

// fillText reads a JSON string into a cell as a text, date or instant.
func (f *Flattener) fillText(c *cell, n *node, to *target, raw jsontext.Value) {
	text, whole := f.unquote(raw)
	switch to.typ {
	case lake.Text:
		if !whole {
			f.note(n.pointer, lake.DriftMisfit, raw)
		}
		if n.allowed != nil && !contains(n.allowed, text) {
			f.note(n.pointer, lake.DriftUnlisted, raw)
		}
		if to.part == lake.Href {
			text = f.base.RelativeBytes(text)
		}
		c.text, c.set = text, true
	case lake.Date:
		day, ok := date(text)
		c.n, c.set = int64(day), ok
	case lake.Timestamp:
		c.n, c.set = timestamp(text)
	}
}

// fillNumber reads a JSON number into a cell as an integer or a decimal.
func fillNumber(c *cell, to *target, raw jsontext.Value) {
	switch {
	case to.precision > 0:
		c.num, c.set = decimal(raw, to.precision, to.scale)
	case to.typ == lake.Int64:
		c.n, c.set = integer(raw)
	case to.typ == lake.Int32:
		c.n, c.set = integer(raw)
		c.set = c.set && c.n == int64(int32(c.n))
	}
}

// unquote gives the text of a valid JSON string: a part of the payload where nothing is escaped,
// else a part of the arena. Lone surrogates become U+FFFD; whole says that there was none.
func (f *Flattener) unquote(raw []byte) (text []byte, whole bool) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], true
	}
	start := len(f.arena)
	// The error tells of lone surrogates only: the decoder has judged the rest.
	arena, err := jsontext.AppendUnquote(f.arena, raw)
	f.arena = arena
	return arena[start:len(arena):len(arena)], err == nil
}

// numberAtEnd reads the number that is the last segment of a link's path.
func numberAtEnd(href []byte) (n int64, ok bool) {
	path := href
	if i := bytes.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	// A host stands behind the first slashes, if there are two and nothing but a scheme before them.
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
