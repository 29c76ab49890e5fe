package lake

import (
	"fmt"

	"dealflow/schemas/api"
)

// Bases knows the base URL from which each run pulled one feed: the links of a payload are relative to it. It is not
// safe for concurrent use.
type Bases struct {
	urls   map[string]string // by run id
	parsed map[string]api.Base
}

// NewBases collects a feed's base URLs from the commits of runs.
func NewBases(runs []Commit, feed api.Feed) *Bases {
	b := &Bases{urls: map[string]string{}, parsed: map[string]api.Base{}}
	for i := range runs {
		if f := runs[i].Feed(feed); f != nil {
			b.urls[runs[i].RunID] = f.BaseURL
		}
	}
	return b
}

// Of returns the base URL of a run. A run that did not pull the feed is an error.
func (b *Bases) Of(runID string) (api.Base, error) {
	url, ok := b.urls[runID]
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
