package frame

import (
	"fmt"
	"strings"

	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/grid"
	"dealflow/schemas/lake"
)

// strip is the as-of control: of which instant the page is, and the ways to others. Of what came after the instant it says
// only the number of commits.
type strip struct {
	Pinned       bool
	Said         string // the instant in words
	Note         string
	Title        string // before the title of the page; "" for the newest state
	Before       string // address of the page one commit back; "" for none
	After        string
	DayBefore    string
	DayAfter     string
	Newest       string // address of the page as of the newest state
	Pin          string // address of this view that never changes; "" before the first commit
	Go           string // address of the form
	Here         string // this page, for the form
	At           string // the instant, for the form
	Days         []stop
	Earlier      []stop // the last day of other years
	NewestCommit int64
	Poll         string // address that says which commit is the newest
}

// stop is a day to which the control can go.
type stop struct {
	Date, At, Said string
	Current        bool
}

// as returns the address of the same page as of another instant.
func (q *Request) as(at lake.Instant) string {
	return q.site() + "as-of/" + asof.Path(at) + "/" + q.here()
}

func (q *Request) strip() strip {
	r, commit := q.View.Range(), q.View.Commit()
	s := strip{
		Pinned: q.View.Pinned(), Newest: q.site() + q.here(), Go: q.site() + "-/go", Here: q.here(),
		At: asof.Path(q.View.Instant()), NewestCommit: r.NewestCommit, Poll: q.site() + "-/newest",
	}
	if r.NewestCommit > 0 {
		s.Pin = q.as(r.Newest)
	}
	if r.Before != nil {
		s.Before = q.as(r.Before.KnownAt)
	}
	if r.After != nil {
		s.After = q.as(r.After.KnownAt)
	}
	q.addDays(&s, r)
	switch {
	case !s.Pinned && commit == nil:
		s.Said = "Newest: no commit yet"
		return s
	case !s.Pinned:
		s.Said = fmt.Sprintf("Newest: commit %d, %s (%s)", r.NewestCommit, grid.LongTime(r.Newest), grid.Ago(q.server.config.Clock().Sub(r.Newest.Time)))
		return s
	case commit == nil:
		s.Said = "AS OF " + grid.LongTime(q.View.Instant()) + ", before the first commit"
		if r.NewestCommit > 0 {
			s.Note = "the lake begins at " + asof.Path(r.First)
		}
	default:
		s.Said = fmt.Sprintf("AS OF %s, commit %d (known %s)", grid.LongTime(q.View.Instant()), commit.Number, grid.LongTime(commit.KnownAt))
	}
	s.Title = "[" + q.View.Instant().UTC().Format("2006-01-02") + "] "
	if later := q.View.Later(); later > 0 {
		s.Note = strings.TrimPrefix(s.Note+" · "+grid.Plural(int64(later), "later commit exists, not shown", "later commits exist, not shown"), " · ")
	} else if r.NewestCommit == 0 {
		s.Note = "the lake has no commit yet"
	} else if q.View.Instant().After(r.Newest.Time) {
		s.Note = "not final: commits up to this instant may still come"
	}
	return s
}

// addDays adds the stops: the snapshot days of the instant's year, and the last one of each other year, so that a lake of
// many years has a short list.
func (q *Request) addDays(s *strip, r asof.Range) {
	current := -1
	for i, day := range r.Days {
		if !day.KnownAt.After(q.View.Instant().Time) {
			current = i
		}
	}
	year := ""
	if len(r.Days) > 0 {
		year = r.Days[max(current, 0)].Date[:4]
	}
	for i, day := range r.Days {
		at := stop{Date: day.Date, At: asof.Path(day.KnownAt), Said: fmt.Sprintf("%s, commit %d", day.KnownAt.UTC().Format("2 January 2006"), day.Commit), Current: i == current}
		switch {
		case day.Date[:4] == year:
			s.Days = append(s.Days, at)
		case i+1 == len(r.Days) || r.Days[i+1].Date[:4] != day.Date[:4]:
			s.Earlier = append(s.Earlier, at)
		}
	}
	if current > 0 {
		s.DayBefore = q.as(r.Days[current-1].KnownAt)
	}
	if current+1 < len(r.Days) {
		s.DayAfter = q.as(r.Days[current+1].KnownAt)
	}
}
