package extract

import (
	"strings"
	"time"
)

// hrefs keeps updatedSince links in a few bytes each. The links of a list differ in their instant
// alone, so each is kept as an instant and the number of the text around it; a link of another form is
// a text of its own.
type hrefs struct {
	numbers   map[template]uint32
	templates []template
}

type template struct {
	before, after string
	layout        string // of the instant between the two; "": there is none
}

const sinceParameter = "updatedSince="

// sinceLayouts are the spellings of instants that fit, with the colons as they are or escaped.
var sinceLayouts = []string{"2006-01-02T15:04:05Z", "2006-01-02T15%3A04%3A05Z"}

// put gives the two numbers from which get makes the link again; 0, 0 for no link.
func (h *hrefs) put(href string) (number uint32, seconds int64) {
	if href == "" {
		return 0, 0
	}
	t, seconds := cutInstant(href)
	if h.numbers == nil {
		h.numbers = map[template]uint32{}
	}
	number, ok := h.numbers[t]
	if !ok {
		t = template{before: strings.Clone(t.before), after: strings.Clone(t.after), layout: t.layout}
		h.templates = append(h.templates, t)
		number = uint32(len(h.templates))
		h.numbers[t] = number
	}
	return number, seconds
}

// cutInstant takes the instant out of a link, where put and get give the very same text again.
func cutInstant(href string) (template, int64) {
	before, rest, ok := strings.Cut(href, sinceParameter)
	for _, layout := range sinceLayouts {
		if !ok || len(rest) < len(layout) {
			continue
		}
		text := rest[:len(layout)]
		if at, err := time.Parse(layout, text); err == nil && at.Format(layout) == text {
			return template{before: before + sinceParameter, after: rest[len(layout):], layout: layout}, at.Unix()
		}
	}
	return template{before: href}, 0
}

// get makes the link again.
func (h *hrefs) get(number uint32, seconds int64) string {
	if number == 0 {
		return ""
	}
	t := h.templates[number-1]
	if t.layout == "" {
		return t.before
	}
	return t.before + time.Unix(seconds, 0).UTC().Format(t.layout) + t.after
}
