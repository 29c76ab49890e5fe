package analyses_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dealflow/schemas/api"
)

var _ = expect(timelineAnalyses)

// timelineAnalyses tell of some deals of each feed: of those with many versions and with links.
func timelineAnalyses(h *history) (all []analysis) {
	for _, feed := range api.Feeds() {
		var deals []*deal
		for _, d := range h.deals[feed] {
			deals = append(deals, d)
		}
		slices.SortFunc(deals, func(a, b *deal) int {
			return cmp.Or(cmp.Compare(interest(b), interest(a)), cmp.Compare(a.id, b.id))
		})
		for _, d := range deals[:min(2, len(deals))] {
			all = append(all, analysis{
				name:     fmt.Sprintf("deal_timeline %s %d", strings.ReplaceAll(feed.String(), "/", " "), d.id),
				question: fmt.Sprintf("FROM deal_timeline('%s', '%s', '%s', %d, %%s)", feed.Service, feed.Market, feed.Kind, d.id),
				key:      []string{"event_at", "service", "kind", "market", "deal_id", "version", "event", "detail"},
				answer:   func(v view) []fact { return timelineOf(v, d) },
			})
		}
	}
	return all
}

// interest ranks deals for their timelines.
func interest(d *deal) int {
	links := 0
	for _, v := range d.versions {
		links += len(linksOf(d, v))
	}
	return len(d.versions) + 3*b2i(links > 0)
}

// record identifies a deal among all feeds.
type record struct {
	feed api.Feed
	id   int64
}

// linksOf returns the records that a version links to: the priced deals that it became, or its original.
func linksOf(d *deal, v *version) (links []record) {
	for _, table := range []string{"deals", "tranches"} {
		for _, row := range d.rows(v, table) {
			for _, name := range []string{"priced_deal", "original"} {
				if to, ok := linkOf(d.feed.Service, row, name); ok {
					links = append(links, to)
				}
			}
		}
	}
	return links
}

// linkOf returns the priced deal to which a row's link of that name leads, of the market in the link's path. A link with
// another path leads to a deal of no market.
func linkOf(service api.Service, row fact, name string) (to record, ok bool) {
	id, ok := row[cmp.Or(map[string]string{"original": "original_deal_id"}[name], name+"_id")].(int64)
	_, path, _ := strings.Cut(row.text(name+"_href"), "/"+string(service)+"/")
	market, _, _ := strings.Cut(path, "/priced-deal/")
	return record{api.Feed{Service: service, Market: api.Market(strings.ToUpper(market)), Kind: api.Priced}, id}, ok
}

// relatives are the records of the market that can be reached in five steps.
func relatives(v view, from *deal) []record {
	neighbours := map[record][]record{}
	for feed, deals := range v.deals {
		for _, d := range deals {
			here := record{feed, d.id}
			for _, version := range v.versions(d) {
				for _, there := range linksOf(d, version) {
					if there.feed.Market != feed.Market {
						continue
					}
					neighbours[here] = append(neighbours[here], there)
					neighbours[there] = append(neighbours[there], here)
				}
			}
		}
	}
	family := []record{{from.feed, from.id}}
	for range 5 {
		for _, member := range slices.Clone(family) {
			for _, next := range neighbours[member] {
				if !slices.Contains(family, next) {
					family = append(family, next)
				}
			}
		}
	}
	return family
}

func timelineOf(v view, from *deal) (rows []fact) {
	for _, r := range relatives(v, from) {
		d := v.deals[r.feed][r.id]
		if d == nil {
			continue
		}
		var newest *version
		for _, version := range v.versions(d) {
			if version.change != "removed" {
				newest = version
			}
		}
		if newest == nil {
			continue
		}
		rows = append(append(rows, sourceEvents(d, newest)...), v.knownEvents(d, newest)...)
	}
	return rows
}

// sourceEvents are the events with an instant of the source.
func sourceEvents(d *deal, newest *version) (rows []fact) {
	event := func(at any, what string, detail any) {
		if at != nil {
			rows = append(rows, d.name().with(fact{"event_at": at, "clock": "source", "version": newest.number, "event": what, "detail": detail}))
		}
	}
	row := d.rows(newest, "deals")[0]
	if d.feed.Kind == api.Expected {
		event(row["created"], "announced", nil)
		return rows
	}
	for _, talk := range d.rows(newest, "price_evolution") {
		event(talk["date"], "talk", talk["value"])
	}
	if d.feed.Service == api.Loan {
		var margins []any
		for _, tranche := range d.rows(newest, "tranches") {
			margins = append(margins, tranche["margin"])
		}
		event(midnight(row["priced_date"]), "priced", textOrNil(joined("; ", margins...)))
		return rows
	}
	spread := row["spread"]
	if d.feed.Market == api.EM {
		spread = row["swap"]
	}
	at := row["pricing_ts_utc"]
	if at == nil {
		at = midnight(row["pricing_date"])
	}
	event(at, "priced", textOrNil(joined(", ", spread, row["yield"])))
	return rows
}

func midnight(day any) any {
	if day == nil {
		return nil
	}
	return day.(string) + "T00:00:00.000000Z"
}

// knownEvents are the events by the lake's own clock: one per version.
func (v view) knownEvents(d *deal, newest *version) (rows []fact) {
	var before *version
	for _, version := range v.versions(d) {
		event := fact{"event_at": instant(version.at), "clock": "known", "version": version.number, "event": version.change, "detail": textOrNil(version.reason)}
		switch version.change {
		case "added":
			event["event"] = "listed"
			if d.feed.Kind == api.Priced {
				event["event"] = "pricing known"
			}
			if d.rows(newest, "deals")[0]["deal_type"] == "INCREASE" {
				event["event"] = "increase"
			}
		case "changed":
			names := fieldNames(v.compareVersions(d, before, version))
			if len(names) > 10 {
				names = append(names[:10], "…")
			}
			event["event"], event["detail"] = "update", textOrNil(strings.Join(names, ", "))
		}
		if version.change != "removed" {
			before = version
		}
		rows = append(rows, d.name().with(event))
	}
	return rows
}
