package analyses_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"dealflow/schemas/api"
)

var _ = expect(pipelineAnalyses)

func pipelineAnalyses(*history) []analysis {
	all := []analysis{{
		name: "pipeline_as_of", question: "FROM pipeline_as_of(%s)", key: []string{"service", "market", "deal_id", "ordinal"}, answer: pipelineRows,
	}}
	for _, c := range []struct {
		day string
		n   int
	}{{"2026-01-05", 0}, {"2026-01-05", 1}, {"2026-01-06", 2}, {"2026-01-08", 3}, {"2026-01-10", 2}, {"2026-01-13", 30}} {
		all = append(all, analysis{
			name:     fmt.Sprintf("pipeline_conversion %s %d", c.day, c.n),
			question: fmt.Sprintf("FROM pipeline_conversion(DATE '%s', %d, %%s)", c.day, c.n),
			key:      []string{"service", "market"},
			answer:   func(v view) []fact { return conversionOf(v, c.day, c.n) },
		})
	}
	return all
}

// follow says of each version's tranches which they are.
func (d *deal) follow() {
	type seen struct {
		uid, version int64
		row          fact
	}
	var all []*seen // in the order in which they became known
	equal := func(column string) func(now, was fact) bool {
		return func(now, was fact) bool { return now.text(column) != "" && now[column] == was[column] }
	}
	ways := []func(now, was fact) bool{
		func(now, was fact) bool {
			return now["priced_deal_id"] != nil && now["priced_deal_id"] == was["priced_deal_id"]
		},
		equal("figi_code"),
		func(now, was fact) bool {
			return equal("name")(now, was) && now.text("currency") == was.text("currency")
		},
		equal("name"),
		func(now, was fact) bool {
			return normalName(now["name"]) != "" && normalName(now["name"]) == normalName(was["name"]) && now.text("currency") == was.text("currency")
		},
		func(now, was fact) bool { return now["ordinal"] == was["ordinal"] },
	}
	before := int64(0)
	for _, v := range d.versions {
		tranches := d.rows(v, "tranches")
		if d.feed.Kind != api.Expected || v.change == "removed" {
			continue
		}
		found := make([]*seen, len(tranches))
		for w, same := range ways {
			for i, now := range tranches {
				if found[i] != nil {
					continue
				}
				var fits []*seen
				for _, s := range all {
					if !slices.Contains(found, s) && same(now, s.row) && (w < len(ways)-1 || s.version == before) {
						fits = append(fits, s)
					}
				}
				there := func(s *seen) int { return b2i(s.row["ordinal"] != now["ordinal"]) }
				slices.SortStableFunc(fits, func(a, b *seen) int {
					return cmp.Or(cmp.Compare(b.version, a.version), cmp.Compare(there(a), there(b)))
				})
				if len(fits) > 0 {
					found[i] = fits[0]
				}
			}
		}
		for i, now := range tranches {
			if found[i] == nil {
				found[i] = &seen{uid: count(len(all) + 1)}
				all = append(all, found[i])
			}
			found[i].version, found[i].row = v.number, now
			v.uids = append(v.uids, found[i].uid)
		}
		if len(tranches) > 0 {
			before = v.number
		}
	}
}

func b2i(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// hasPriced reports whether a tranche of an expected deal has priced; for a loan without tranches, whether the deal
// has.
func (d *deal) hasPriced(v *version, tranche fact) bool {
	if d.feed.Service == api.Loan {
		return d.rows(v, "deals")[0]["priced_deal_id"] != nil || strings.ToLower(tranche.text("status")) == "priced"
	}
	return tranche["priced_deal_id"] != nil || tranche["status"] == "PRICED" || tranche["status"] == "INCREASED"
}

func pipelineRows(v view) (rows []fact) {
	for _, service := range []api.Service{api.Bond, api.Loan} {
		for _, k := range v.standing(service, api.Expected) {
			tranches := k.rows(k.now, "tranches")
			for i, tranche := range tranches {
				rows = append(rows, v.pipelineRow(&k, tranche).with(fact{"tranche_uid": k.now.uids[i]}))
			}
			if len(tranches) == 0 {
				rows = append(rows, v.pipelineRow(&k, fact{}).with(fact{"tranche_uid": nil}))
			}
		}
	}
	return rows
}

// pricedPath is the path of a priced deal in a link (API document, Links): its service and market.
var pricedPath = regexp.MustCompile(`/(bond|loan)/([A-Za-z]+)/priced-deal/`)

func (v view) pipelineRow(k *known, tranche fact) fact {
	deal := k.row()
	row := tranche.only("ordinal", "status", "currency", "volume", "volume_amount", "volume_lo", "volume_hi", "volume_currency", "volume_status", "timing", "structure", "oid").with(fact{
		"service": string(k.feed.Service), "market": deal["market"], "deal_id": k.id, "borrower_name": deal["borrower_name"],
		"borrower": textOrNil(v.companyNames.canonical(deal["borrower_name"], k.now.at.Format(time.DateOnly))),
		"headline": deal["headline"], "stage": deal["stage"], "tranche_name": tranche["name"], "type": tranche["short_type"], "created": deal["created"],
		"first_known_at": instant(k.first), "left_censored": k.left, "days_listed": nil, "is_priced": k.hasPriced(k.now, tranche),
		"tranche_changed": tranche["changed"], "sponsor_backed": nil,
	})
	if !k.left {
		row["days_listed"] = between(k.first, v.clock())
	}
	text, linked := "price_evolution", tranche
	if k.feed.Service == api.Loan {
		text, linked = "margin", deal
		row["sponsor_backed"] = deal["borrower_sponsor_backed"]
	}
	row["priced_deal_id"], row["priced_market"] = linked["priced_deal_id"], nil
	if parts := pricedPath.FindStringSubmatch(linked.text("priced_deal_href")); parts != nil && parts[1] == string(k.feed.Service) {
		row["priced_market"] = strings.ToUpper(parts[2])
	}
	row["price"] = tranche[text]
	for column, part := range map[string]string{
		"price_benchmark": "benchmark", "price_lo_bp": "lo_bp", "price_hi_bp": "hi_bp", "price_status": "status",
		"price_yield_lo_pct": "yield_lo_pct", "price_yield_hi_pct": "yield_hi_pct",
	} {
		row[column] = tranche[text+"_"+part]
	}
	return row
}

// conversionOf counts what became of the tranches that had not priced at the end of a day.
func conversionOf(v view, day string, n int) (rows []fact) {
	then, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	then = then.AddDate(0, 0, 1).Add(-time.Microsecond)
	if v.at.Before(then) {
		then = v.at
	}
	markets := map[string]map[string]int{}
	for _, service := range []api.Service{api.Bond, api.Loan} {
		for _, k := range (view{v.history, then}).standing(service, api.Expected) {
			for i, tranche := range k.rows(k.now, "tranches") {
				if k.hasPriced(k.now, tranche) {
					continue
				}
				market := string(service) + "|" + string(k.feed.Market)
				if markets[market] == nil {
					markets[market] = map[string]int{}
				}
				markets[market][v.outcome(&k, k.now.uids[i], weekdaysAfter(day, n))]++
			}
		}
	}
	for market, outcomes := range markets {
		total := 0
		for _, n := range outcomes {
			total += n
		}
		service, name, _ := strings.Cut(market, "|")
		row := fact{
			"service": service, "market": name, "tranches": count(total),
			"conversion_pct": ratioOf(100, outcomes["priced_within"], total), "window_complete": v.today() > weekdaysAfter(day, n),
		}
		for _, outcome := range []string{"priced_within", "priced_later", "pulled", "unknown", "live"} {
			row[outcome] = count(outcomes[outcome])
		}
		rows = append(rows, row)
	}
	return rows
}

// outcome says what became of a tranche after the version in which it was expected.
func (v view) outcome(k *known, uid int64, until string) string {
	in := func(version *version) int { return slices.Index(version.uids, uid) }
	last, left := k.now, time.Time{} // the last version with content; when the tranche was first missing
	for _, next := range v.versions(k.deal) {
		if next.number <= k.now.number {
			continue
		}
		var priced bool
		if next.change == "removed" {
			priced = next.reason == "priced" && in(last) >= 0
			if left.IsZero() {
				left = next.at
			}
		} else {
			i := in(next)
			priced = i >= 0 && k.hasPriced(next, k.rows(next, "tranches")[i])
			if i >= 0 {
				left = time.Time{}
			} else if left.IsZero() {
				left = next.at
			}
			last = next
		}
		if priced && next.at.Format(time.DateOnly) <= until {
			return "priced_within"
		} else if priced {
			return "priced_later"
		}
	}
	switch {
	case left.IsZero():
		return "live"
	case left.Sub(v.readBefore(k.feed, left)) > 4*24*time.Hour:
		return "unknown"
	}
	return "pulled"
}

// readBefore is when a feed was last read before an instant.
func (v view) readBefore(feed api.Feed, at time.Time) (before time.Time) {
	for _, night := range v.nights {
		if night.at.Before(at) && slices.Contains(night.feeds, feed) {
			before = night.at
		}
	}
	return before
}
