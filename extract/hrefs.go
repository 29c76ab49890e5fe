package extract

import (
	"strings"
	"time"
)

// hrefs stores updatedSince links in a few bytes each. The links of a list differ only in their instant. So each link
// is stored as an instant and the number of a template, the text around it. A link of another form is a template of its
// own.
type hrefs struct {
	numbers   map[template]uint32
	templates []template
}

type template struct {
	before, after string
	layout        string // time layout of the instant between the two; "": there is no instant
}

const sinceParameter = "updatedSince="

// sinceLayouts are the supported spellings of instants, with plain and with escaped colons.
var sinceLayouts = []string{"2006-01-02T15:04:05Z", "2006-01-02T15%3A04%3A05Z"}

// put stores a link and returns the two numbers for get; 0, 0 for no link.
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

// cutInstant splits a link into template and instant, if get can restore the same text from them.
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

// get restores a link from the numbers that put returned.
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
