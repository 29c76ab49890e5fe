package serve_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// stand is a small Source that implements all of Query, keeps its past and can be advanced.
type stand struct {
	now   time.Time
	deals map[api.Feed][]standing
	past  map[string]*stand // by instant; nil: it has no past
}

type standing struct {
	serve.Record
	changed time.Time
}

var _ interface {
	serve.TimeTraveler
	serve.Advancer
} = (*stand)(nil)

func (s *stand) Now() time.Time { return s.now }

func (s *stand) Advance(d time.Duration) (time.Time, error) {
	if d < 0 {
		return time.Time{}, errors.New("time does not go back")
	}
	s.now = s.now.Add(d)
	return s.now, nil
}

func (s *stand) AsOf(_ context.Context, at time.Time) (serve.Source, error) {
	if then, ok := s.past[at.UTC().Format(time.RFC3339Nano)]; ok {
		return then, nil
	}
	return nil, serve.ErrNotFound
}

func (s *stand) Get(_ context.Context, feed api.Feed, id int64) (serve.Record, error) {
	for _, deal := range s.deals[feed] {
		if deal.ID == id {
			return deal.Record, nil
		}
	}
	return serve.Record{}, serve.ErrNotFound
}

func (s *stand) List(_ context.Context, q serve.Query) (serve.Page, error) {
	var page serve.Page
	page.State = q.State
	if q.After == nil {
		page.State = s.now.Format(time.RFC3339)
	}
	deals := slices.Clone(s.deals[q.Feed])
	before := func(a, b standing) int {
		byID := cmp.Compare(b.ID, a.ID)
		if !q.Feed.HasUpdatedSince() {
			return byID
		}
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), byID)
	}
	slices.SortFunc(deals, before)
	for _, deal := range deals {
		if q.After != nil && before(deal, standing{Record: serve.Record{ID: q.After.ID, UpdatedAt: q.After.UpdatedAt}}) <= 0 {
			continue
		}
		if !q.UpdatedSince.IsZero() && (deal.UpdatedAt.Before(q.UpdatedSince) || q.UpdatedAfter && deal.UpdatedAt.Equal(q.UpdatedSince)) {
			continue
		}
		bounded := q.PricingDateFrom != "" || q.PricingDateTo != ""
		if bounded && (deal.PricingDate == "" || deal.PricingDate < q.PricingDateFrom || q.PricingDateTo != "" && deal.PricingDate > q.PricingDateTo) {
			continue
		}
		if !q.ChangedFrom.IsZero() && deal.changed.Before(q.ChangedFrom) || !q.ChangedTo.IsZero() && deal.changed.After(q.ChangedTo) {
			continue
		}
		if len(page.Records) == q.Limit {
			page.More = true
			break
		}
		page.Records = append(page.Records, deal.Record)
	}
	return page, nil
}

// newStand returns a stand with eight deals in every feed: one per year before the epoch, the oldest first. Deal 4 has
// no pricing date.
func newStand() *stand {
	s := &stand{now: epoch, deals: map[api.Feed][]standing{}, past: map[string]*stand{}}
	for _, feed := range api.Feeds() {
		for i := range 8 {
			id, at := int64(i+1), epoch.AddDate(i-7, 0, -3)
			date := at.Format(time.DateOnly)
			if id == 4 {
				date = ""
			}
			body := fmt.Sprintf(`{"%s":%d,"_links":{"self":{"href":"%s"}}}`, feed.IDKey(), id, feed.DealPath(id))
			s.deals[feed] = append(s.deals[feed], standing{serve.Record{ID: id, UpdatedAt: at, PricingDate: date, Body: []byte(body)}, at})
		}
	}
	return s
}

// ids walks a list from a path to its end.
func (c *client) ids(feed api.Feed, path string) string {
	c.t.Helper()
	var ids []string
	for path != "" {
		page := c.page(path)
		for _, deal := range c.deals(feed, page) {
			ids = append(ids, fmt.Sprint(deal.id))
		}
		path = page.Links[api.LinkNext].Href
	}
	return strings.Join(ids, " ")
}
