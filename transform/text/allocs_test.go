package text_test

import (
	"testing"

	"dealflow/transform/text"
)

// TestParsingAllocatesNothing reads the cases of all parsers with the memory that a caller reuses.
func TestParsingAllocatesNothing(t *testing.T) {
	for _, parser := range text.Parsers() {
		parse := text.Parser(parser)
		arena := make([]byte, 0, 1024)
		r := new(text.Reading)
		for _, c := range casesOf(t, parser) {
			raw, siblings := []byte(" "+c.text), siblingsOf(c.sibling)
			allocs := testing.AllocsPerRun(10, func() {
				normal, _ := text.Normalise(arena, raw)
				*r = text.Reading{}
				parse(normal, siblings, r)
			})
			if allocs > 0 {
				t.Errorf("%s %q: %v allocations", parser, c.text, allocs)
			}
		}
	}
}
