package grid

import (
	"encoding/json"
	"strings"
)

// DiffPart is a part of a text that is in both, or only in one of two versions.
type DiffPart struct {
	Text string
	Mark string // "" in both, "del" only before, "ins" only after
}

// longestWords is the most words that are compared one by one: the effort grows with their product.
const longestWords = 400

// WordDiff compares two texts word by word: the longest common sequence of words stays.
func WordDiff(was, is string) []DiffPart {
	a, b := strings.Fields(was), strings.Fields(is)
	if len(a) > longestWords || len(b) > longestWords {
		return nil
	}
	common := make([][]int, len(a)+1) // of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var parts []DiffPart
	add := func(mark, word string) {
		if n := len(parts); n > 0 && parts[n-1].Mark == mark {
			parts[n-1].Text += " " + word
			return
		}
		parts = append(parts, DiffPart{word, mark})
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			add("", a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			add("del", a[i])
			i++
		default:
			add("ins", b[j])
			j++
		}
	}
	return parts
}

// editShown is the most characters of each text of an Edit.
const editShown = 240

// EditOf returns a difference in short: of long texts it leaves out the words with which both begin.
func EditOf(name, was, is string) Edit {
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
