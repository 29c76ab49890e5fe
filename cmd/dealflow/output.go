package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

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
