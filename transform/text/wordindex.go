package text

// indexed is a word of a table, and the number of its row.
type indexed struct {
	word string
	row  int
}

// wordIndex contains the words of a table by their first byte, in the order of the table. Most texts have no such word, and find that
// out without comparing them all.
type wordIndex [256][]indexed

// indexOf returns the index of a table with n rows.
func indexOf(n int, words func(row int) []string) *wordIndex {
	var all wordIndex
	for row := range n {
		for _, word := range words(row) {
			all[word[0]] = append(all[word[0]], indexed{word, row})
		}
	}
	return &all
}

// next returns the words that may be next in a text.
func (i *wordIndex) next(s *scanner) []indexed {
	if s.end() {
		return nil
	}
	return i[lower(s.rest[0])]
}
