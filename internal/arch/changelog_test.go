package arch_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestChangelog checks the form of CHANGELOG.md: each version has a summary, whose titles are those of its details in the
// same order, and each entry has a text.
func TestChangelog(t *testing.T) {
	kinds := map[string]string{"Enhancement": "Enh", "Change": "Chg", "Bugfix": "Fix"}
	_, versions, _ := strings.Cut(text(t, "../../CHANGELOG.md"), "\n## ")
	checked := 0
	for _, version := range strings.Split(versions, "\n## ") {
		name, _, _ := strings.Cut(version, "\n")
		summary, details, found := strings.Cut(version, "\n### Details\n")
		_, summary, ok := strings.Cut(summary, "\n### Summary\n")
		if !found || !ok {
			t.Errorf("%s: want the sections Summary and Details", name)
			continue
		}
		var titles []string
		for _, line := range strings.Split(strings.TrimSpace(summary), "\n") {
			title, ok := strings.CutPrefix(line, "- ")
			if !ok || !regexp.MustCompile(`^(Enh|Chg|Fix): [A-Z].{10,90}[^.]$`).MatchString(title) {
				t.Errorf("%s: %q: want a title such as \"- Fix: Read …\", in one line", name, line)
			}
			titles = append(titles, title)
		}
		var entries []string
		for _, entry := range strings.Split("\n"+strings.TrimSpace(details), "\n- **")[1:] {
			title, body, _ := strings.Cut(entry, "**\n\n  ")
			kind, title, _ := strings.Cut(title, ": ")
			entries = append(entries, kinds[kind]+": "+title)
			if len(strings.TrimSpace(body)) < 40 {
				t.Errorf("%s: the entry %q has no text", name, title)
			}
		}
		if !slices.Equal(titles, entries) {
			for i := range max(len(titles), len(entries)) {
				if i >= len(titles) || i >= len(entries) || titles[i] != entries[i] {
					t.Errorf("%s: entry %d of the details is %q, want the title of the summary, %q", name, i, slices.Concat(entries, []string{""})[min(i, len(entries))], slices.Concat(titles, []string{""})[min(i, len(titles))])
					break
				}
			}
		}
		checked += len(entries)
	}
	if checked < 90 {
		t.Errorf("%d entries were found: the test sees too little", checked)
	}
}
