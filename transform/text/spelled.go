package text

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// The words of numbers. Each list begins with the number one, tens with twenty.
var (
	smallNumbers = []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}
	tens         = []string{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
)

// parts are the words of parts of one, in thousandths. Of two with a common start the longer one comes first.
var parts = []struct {
	thousandths int64
	words       []string
}{
	{750, []string{"three quarters", "three-quarters", "three quarter"}},
	{375, []string{"three eighths", "three-eighths"}},
	{625, []string{"five eighths", "five-eighths"}},
	{875, []string{"seven eighths", "seven-eighths"}},
	{500, []string{"one half", "half of a", "half of one", "half an", "half a", "a half", "half"}},
	{250, []string{"one quarter", "quarter of a", "quarter of one", "a quarter of a", "a quarter", "quarter"}},
	{125, []string{"one eighth", "an eighth of a", "an eighth", "eighth of a", "eighth"}},
}

// numberStarts are the first words of numbers.
var numberStarts = func() map[string]bool {
	all := map[string]bool{"a": true, "an": true}
	add := func(words []string) {
		for _, word := range words {
			first, _, _ := strings.Cut(word, " ")
			first, _, _ = strings.Cut(first, "-")
			all[first] = true
		}
	}
	add(smallNumbers)
	add(tens)
	for _, part := range parts {
		add(part.words)
	}
	return all
}()

// spelled reads a number in words, up to 999, with eighths: seven, five and a half, one hundred and five, three quarters.
func (s *scanner) spelled() (n Number, ok bool) {
	var buffer [maxWord]byte
	if first := *s; !numberStarts[string(fold(&buffer, first.letters()))] {
		return n, false
	}
	if n, ok = s.part(); ok {
		return n, true
	}
	ahead := *s
	value := ahead.belowHundred()
	if value == 0 && !ahead.word("a") {
		return n, false
	}
	after := ahead
	if after.space(); after.oneOf("hundred") {
		value = max(value, 1) * 100
		ahead = after
		after.joined()
		if more := after.belowHundred(); more > 0 {
			value += more
			ahead = after
		}
	}
	if value == 0 || value > 999 {
		return n, false
	}
	n = whole(value)
	if more, found := ahead.andPart(); found {
		n = n.plus(more)
	}
	return n, s.skipTo(ahead)
}

// joined skips the word between hundreds and the rest.
func (s *scanner) joined() {
	s.space()
	s.oneOf("and")
	s.space()
}

// belowHundred reads a number of words below a hundred; 0 for none.
func (s *scanner) belowHundred() int64 {
	for i, word := range tens {
		if !s.oneOf(word) {
			continue
		}
		ahead := *s
		if !ahead.char('-') {
			ahead.space()
		}
		if one := ahead.small(9); one > 0 {
			*s = ahead
			return int64(i+2)*10 + one
		}
		return int64(i+2) * 10
	}
	return s.small(len(smallNumbers))
}

// small reads a word for a number of at most most; 0 for none.
func (s *scanner) small(most int) int64 {
	for i, word := range smallNumbers[:most] {
		if s.oneOf(word) {
			return int64(i + 1)
		}
	}
	return 0
}

// part reads a part of one in words: half a, three quarters.
func (s *scanner) part() (n Number, ok bool) {
	for i := range parts {
		if s.oneOf(parts[i].words...) {
			return Number{decimal128.FromI64(parts[i].thousandths * 1_000), true}, true
		}
	}
	return n, false
}

// andPart reads a part of one after a number: and a half.
func (s *scanner) andPart() (n Number, ok bool) {
	ahead := *s
	ahead.space()
	if !ahead.oneOf("and", "&") {
		return n, false
	}
	ahead.space()
	n, ok = ahead.part()
	return n, ok && s.skipTo(ahead)
}
