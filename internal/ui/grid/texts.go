package grid

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// DiffPart is a part of a text that is in both, or only in one of two versions.
type DiffPart struct {
	Text  string
	Mark  string // "" in both, "del" only before, "ins" only after
	Space bool   // it is white space, and Text names it
}

// longestWords is the most words that are compared one by one: the effort grows with their product. Those with which both texts
// begin or end do not count.
const longestWords = 400

// word is a word with the white space before it.
type word struct{ gap, text string }

// wordsOf splits a text into words, and the white space at its end.
func wordsOf(text string) (all []word, end string) {
	for {
		from := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) })
		if from < 0 {
			return all, text
		}
		size := strings.IndexFunc(text[from:], unicode.IsSpace)
		if size < 0 {
			size = len(text) - from
		}
		all = append(all, word{text[:from], text[from : from+size]})
		text = text[from+size:]
	}
}

// WordDiff compares two texts word by word: the longest common sequence of words stays. Space before a word that stays is compared,
// too. It returns nil for texts that are too long.
func WordDiff(was, is string) []DiffPart {
	a, endA := wordsOf(was)
	b, endB := wordsOf(is)
	pairs, ok := commonWords(a, b)
	if !ok {
		return nil
	}
	var parts []DiffPart
	add := func(mark, gap, text string) {
		if n := len(parts); n > 0 && parts[n-1].Mark == mark && !parts[n-1].Space {
			parts[n-1].Text += gap + text
			return
		}
		parts = append(parts, DiffPart{Text: text, Mark: mark})
	}
	space := func(before, after string) {
		if before != "" && before != after {
			parts = append(parts, DiffPart{Text: spaceName(before), Mark: "del", Space: true})
		}
		if after != "" && before != after {
			parts = append(parts, DiffPart{Text: spaceName(after), Mark: "ins", Space: true})
		}
	}
	i, j := 0, 0
	for _, pair := range append(pairs, [2]int{len(a), len(b)}) {
		areNeighbours := i == pair[0] && j == pair[1] // of the words that stay before them
		for ; i < pair[0]; i++ {
			add("del", a[i].gap, a[i].text)
		}
		for ; j < pair[1]; j++ {
			add("ins", b[j].gap, b[j].text)
		}
		if i == len(a) && j == len(b) {
			space(endA, endB)
			break
		}
		before, after := a[i].gap, b[j].gap
		if !areNeighbours { // a text that begins here has no space before its first word
			before, after = cmp.Or(before, " "), cmp.Or(after, " ")
		}
		space(before, after)
		add("", after, b[j].text)
		i, j = i+1, j+1
	}
	return parts
}

// commonWords returns the longest common sequence of words, as their places in both, or false for texts that are too long.
func commonWords(a, b []word) (pairs [][2]int, ok bool) {
	head, tail := 0, 0
	for head < min(len(a), len(b)) && a[head].text == b[head].text {
		pairs = append(pairs, [2]int{head, head})
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail].text == b[len(b)-1-tail].text {
		tail++
	}
	endA, endB := len(a)-tail, len(b)-tail
	if max(endA, endB)-head > longestWords {
		return nil, false
	}
	common := make([][]int, endA-head+1) // of a[head+i:endA] and b[head+j:endB]
	for i := range common {
		common[i] = make([]int, endB-head+1)
	}
	for i := endA - head - 1; i >= 0; i-- {
		for j := endB - head - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[head+i].text == b[head+j].text {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; head+i < endA && head+j < endB; {
		switch {
		case a[head+i].text == b[head+j].text:
			pairs = append(pairs, [2]int{head + i, head + j})
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			i++
		default:
			j++
		}
	}
	for ; tail > 0; tail-- {
		pairs = append(pairs, [2]int{len(a) - tail, len(b) - tail})
	}
	return pairs, true
}

// sameWords says whether two texts have the same words.
func sameWords(was, is string) bool { return slices.Equal(strings.Fields(was), strings.Fields(is)) }

// IsComparedByWord says whether a reader sees more in the comparison of two texts by word: of long ones, and of those that differ in
// nothing but white space.
func IsComparedByWord(was, is string) bool { return max(len(was), len(is)) > 40 || sameWords(was, is) }

// spaceNames are the names of white space. Another character has its code.
var spaceNames = map[rune]string{' ': "space", '\n': "line break", '\r': "carriage return", '\t': "tab", 0xa0: "no-break space"}

// spaceName returns white space in words.
func spaceName(gap string) string {
	var all []string
	runes := []rune(gap)
	for len(runes) > 0 {
		n := 1
		for n < len(runes) && runes[n] == runes[0] {
			n++
		}
		name := cmp.Or(spaceNames[runes[0]], fmt.Sprintf("U+%04X", runes[0]))
		if n > 1 {
			name = fmt.Sprintf("%d %ss", n, name)
		}
		all, runes = append(all, name), runes[n:]
	}
	return strings.Join(all, ", ")
}

// editShown is the most characters of each text of an Edit.
const editShown = 240

// EditOf returns a difference in short: of long texts it leaves out the words with which both begin. Of a difference in white space
// alone it says so, as a reader cannot see it.
func EditOf(name, was, is string) Edit {
	if was != is && sameWords(was, is) {
		name += " (white space)"
	}
	from := 0
	if max(len(was), len(is)) > editShown {
		for i := 0; i < min(len(was), len(is)) && was[i] == is[i]; i++ {
			if was[i] == ' ' {
				from = i + 1
			}
		}
	}
	short := func(text string) string {
		runes, begin := []rune(text[from:]), ""
		if from > 0 {
			begin = "… "
		}
		if len(runes) > editShown {
			return begin + string(runes[:editShown]) + "…"
		}
		return begin + string(runes)
	}
	return Edit{Name: name, Was: short(was), Is: short(is)}
}

// Indented returns JSON with a line for each member. Numbers and texts stay as they are.
func Indented(text string) string {
	var out strings.Builder
	level, inText, escape := 0, false, false
	line := func() { out.WriteString("\n" + strings.Repeat("  ", level)) }
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inText:
			inText = escape || c != '"'
			escape = !escape && c == '\\'
			out.WriteByte(c)
		case c == '"':
			inText = true
			out.WriteByte(c)
		case c == '{' || c == '[':
			out.WriteByte(c)
			level++
			line()
		case c == '}' || c == ']':
			level = max(level-1, 0)
			line()
			out.WriteByte(c)
		case c == ',':
			out.WriteByte(c)
			line()
		case c == ':':
			out.WriteString(": ")
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		default:
			out.WriteByte(c)
		}
	}
	if !json.Valid([]byte(text)) {
		return text
	}
	return out.String()
}
