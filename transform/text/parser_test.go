package text_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

// TestFault lets a parser fail: the text is not read, and the reading says why.
func TestFault(t *testing.T) {
	parsers := text.Bounded(map[lake.Parser]text.Func{"faulty": func(texts []byte, _ text.Siblings, r *text.Reading) {
		r.Stage = texts[len(texts):][:1]
	}})
	var r text.Reading
	parsers["faulty"]([]byte("T+95")[:4:4], text.Siblings{}, &r)
	if !r.Failed || render(&r) != lake.ParsedNot {
		t.Errorf("got %s, failed %t", render(&r), r.Failed)
	}
}

// TestWordSalad reads the words of all cases and of all desks in any order, with any separators: no parser fails on them, and each reading is
// justified by its text.
func TestWordSalad(t *testing.T) {
	words := vocabulary(t)
	separators := []string{" ", " ", " ", "", ", ", ". ", " - ", "-", "/", " / ", " (", ") ", ": ", " > ", "; ", " + ", "=", " to "}
	random := rand.New(rand.NewPCG(1, 2))
	for _, parser := range text.Parsers() {
		for range 5000 {
			var b strings.Builder
			for range 1 + random.IntN(7) {
				b.WriteString(separators[random.IntN(len(separators))])
				b.WriteString(words[random.IntN(len(words))])
			}
			checkReading(t, parser, []byte(b.String()), currency([]string{"", "USD", "EUR", "JPY"}[random.IntN(4)]))
		}
	}
}

// vocabulary returns the words of testdata/parsing and testdata/desk. A word that is more often in them is more often in it.
func vocabulary(t *testing.T) (words []string) {
	t.Helper()
	for _, kind := range []struct {
		pattern, separator string
		column             int // of the text
	}{{casesDir + "/*.txt", "|", 0}, {"../../testdata/desk/*.tsv", "\t", 1}} {
		files, err := filepath.Glob(kind.pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(kind.pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(data)) {
				if !strings.HasPrefix(line, "#") {
					cells := append(strings.Split(line, kind.separator), "")
					words = append(words, strings.Fields(cells[kind.column])...)
				}
			}
		}
	}
	return words
}
