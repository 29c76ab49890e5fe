package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"dealflow/internal/pull"
	"dealflow/schemas/lake"
)

func printJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	if o, ok := w.(*output); ok {
		w = o.to
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// counts returns what a run changed, in words.
func counts(r *pull.Result) string {
	return fmt.Sprintf("%d deals: %d new, %d changed, %d removed, %d back, %d unchanged",
		r.Count(func(f *lake.FeedRun) int64 { return f.Deals }), r.Count(func(f *lake.FeedRun) int64 { return f.Added }),
		r.Count(func(f *lake.FeedRun) int64 { return f.Changed }), r.Count(func(f *lake.FeedRun) int64 { return f.Removed }),
		r.Count(func(f *lake.FeedRun) int64 { return f.Reappeared }), r.Count(func(f *lake.FeedRun) int64 { return f.Unchanged }))
}

// size returns a number of bytes as readable text.
func size(bytes int64) string {
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

// age returns a duration as readable text, in its two largest units at most.
func age(d time.Duration) string {
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

// ago returns how long ago something was; a negative duration means that it is still to come by this clock.
func ago(d time.Duration) string {
	if d < 0 {
		return age(d)
	}
	return age(d) + " ago"
}

// printTable writes headings and rows in aligned columns. A column whose heading starts with ">" is aligned to the
// right.
func printTable(w io.Writer, headings []string, rows [][]string) error {
	widths := make([]int, len(headings))
	right := make([]bool, len(headings))
	head := make([]string, len(headings))
	for i, h := range headings {
		head[i], right[i] = strings.CutPrefix(h, ">")
	}
	all := append([][]string{head}, rows...)
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], runeLen(cell))
		}
	}
	var b strings.Builder
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-runeLen(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if right[i] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func runeLen(s string) int { return len([]rune(s)) }

// printable replaces the characters of a text that control a terminal. Texts of the API may contain any character.
func printable(s string) string {
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
