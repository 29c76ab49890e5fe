package words

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Size returns a number of bytes as readable text.
func Size(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%d B", bytes)
}

// Age returns a duration as readable text, in its two largest units at most.
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "in the future"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours())/24)
}

// Ago returns how long ago something was; a negative duration means that it is still to come by this clock.
func Ago(d time.Duration) string {
	if d < 0 {
		return Age(d)
	}
	return Age(d) + " ago"
}

// Printable replaces the characters of a text that control a terminal. Texts of the API may contain any character.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r < 0x20 || r == 0x7f || (r >= 0x80 && r < 0xa0) || r == 0x2028 || r == 0x2029 || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069):
			return '\uFFFD'
		}
		return r
	}, s)
}

// reasonShown is the number of characters of a reason up to which it is shown completely.
const reasonShown = 240

// Reason returns the reason for which the attempt with an id failed, as one line: the first line of its error, with
// the first detail if that is what the line announces. Of a long line it leaves out the middle: it begins with what was
// attempted, and its last clause is what to do. If anything is left out, it ends with the command that shows all.
func Reason(reason, id string) string {
	first, rest, more := strings.Cut(strings.TrimSpace(reason), "\n")
	if more && strings.HasSuffix(first, ":") {
		var detail string
		detail, _, more = strings.Cut(strings.TrimSpace(rest), "\n")
		first += " " + strings.TrimSpace(detail)
	}
	line := []rune(Printable(first))
	if len(line) > reasonShown {
		line, more = slices.Concat(line[:wordEnd(line, reasonShown/2)], []rune(" … "), lastClause(line, reasonShown/2)), true
	}
	switch {
	case !more:
		return string(line)
	case id == "":
		return string(line) + " …"
	}
	return string(line) + " … (`dealflow runs show " + id + "` has all)"
}

// wordEnd returns the end of the last word that ends within the first most characters of a line; most if none does.
func wordEnd(line []rune, most int) int {
	for i := most; i > 0; i-- {
		if line[i] == ' ' {
			return i
		}
	}
	return most
}

// lastClause returns the end of a line, of most characters at most: from the first clause that begins there, else from
// the first word.
func lastClause(line []rune, most int) []rune {
	end := string(line[len(line)-most:])
	for _, separator := range []string{"; ", ": ", " "} {
		if _, rest, ok := strings.Cut(end, separator); ok {
			return []rune(rest)
		}
	}
	return []rune(end)
}
