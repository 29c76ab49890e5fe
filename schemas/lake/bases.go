package lake

import (
	"fmt"

	"dealflow/schemas/api"
)

// Bases knows the base URL from which each run pulled one feed: the links of a payload are relative to it. It is not
// safe for concurrent use.
type Bases struct {
	urls   map[string]string // by run id
	rest   string            // of runs that are not in urls; "" if there are none
	parsed map[string]api.Base
}

// NewBases collects a feed's base URLs from the commits of runs.
func NewBases(runs []Commit, feed api.Feed) *Bases {
	b := &Bases{urls: map[string]string{}, parsed: map[string]api.Base{}}
	b.AddRuns(runs, feed)
	return b
}

// AddRuns adds the runs that pulled a feed.
func (b *Bases) AddRuns(runs []Commit, feed api.Feed) {
	for i := range runs {
		if f := runs[i].Feed(feed); f != nil {
			b.Add(runs[i].RunID, f.BaseURL)
		}
	}
}

// Add adds a run.
func (b *Bases) Add(runID, url string) { b.urls[runID] = url }

// Extend makes the base URL of the runs that of all that are not added, if the runs have the same one. It says whether
// they have.
func (b *Bases) Extend() bool {
	rest := ""
	for _, url := range b.urls {
		if rest != "" && url != rest {
			return false
		}
		rest = url
	}
	b.rest = rest
	return rest != ""
}

// Of returns the base URL of a run. A run that did not pull the feed is an error.
func (b *Bases) Of(runID string) (api.Base, error) {
	url, ok := b.urls[runID]
	if !ok && b.rest != "" {
		url, ok = b.rest, true
	}
	if !ok {
		return api.Base{}, fmt.Errorf("the run of the version, %s, is not in the log; run `dealflow verify`", runID)
	}
	if base, ok := b.parsed[url]; ok {
		return base, nil
	}
	base, err := api.ParseBase(url)
	if err == nil {
		b.parsed[url] = base
	}
	return base, err
}
