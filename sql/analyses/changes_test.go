package analyses_test

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

var _ = expect(changeAnalyses)

func changeAnalyses(h *history) []analysis {
	from := h.nights[1].at
	all := []analysis{
		{
			name: "field_change", question: "FROM field_change(%s)",
			key: []string{"service", "market", "kind", "deal_id", "version", "table_name", "row_key", "field"},
			answer: func(v view) (rows []fact) {
				for _, c := range fieldChanges(v) {
					rows = append(rows, c.fact)
				}
				return rows
			},
		},
		{
			name: "changes", question: fmt.Sprintf("FROM changes(TIMESTAMPTZ '%s', %%s)", lake.At(from)),
			key:    []string{"service", "market", "kind", "deal_id", "version"},
			answer: func(v view) []fact { return changesSince(v, from) },
		},
	}
	for _, days := range []int{0, 1, 3} {
		all = append(all,
			analysis{
				name:     fmt.Sprintf("restatement_stats %d", days),
				question: fmt.Sprintf("FROM restatement_stats(%d, %%s)", days),
				key:      []string{"service", "market"},
				answer:   func(v view) []fact { return restatements(v, days) },
			},
			analysis{
				name:     fmt.Sprintf("restatement_fields %d", days),
				question: fmt.Sprintf("FROM restatement_fields(%d, %%s)", days),
				key:      []string{"service", "market", "table_name", "field"},
				answer:   func(v view) []fact { return restatedFields(v, days) },
				none:     days == 0,
			})
	}
	return all
}

// fieldChange is a row of field_change, for one deal.
type fieldChange struct {
	fact
	deal known
	at   time.Time
}

// identities are the columns by which a row of a table is known again in the next version; "uid" and
// "tranche" are its tranche, of an expected deal and of a priced one.
var identities = map[string][]string{
	"bond_priced_banks": {"name", "status"}, "bond_priced_price_evolution": {"date", "value"},
	"bond_priced_investor_types": {"investor_type"}, "bond_priced_geographies": {"geography"},
	"bond_expected_regions": {"region"}, "bond_expected_tranches": {"uid"}, "bond_expected_deal_history": {"changed"},
	"loan_priced_sponsors": {"name"}, "loan_priced_deal_total_currencies": {"currency"}, "loan_priced_tranches": {"tranche"},
	"loan_priced_tranche_banks": {"tranche", "name"}, "loan_expected_sponsors": {"name"}, "loan_expected_tranches": {"uid"},
}

// fieldChanges returns all differences between neighbouring versions with content.
func fieldChanges(v view) (all []fieldChange) {
	for _, service := range []api.Service{api.Bond, api.Loan} {
		for _, kind := range []api.Kind{api.Priced, api.Expected} {
			for _, k := range v.ever(service, kind) {
				var before *version
				for _, version := range v.versions(k.deal) {
					if version.change == "removed" {
						continue
					}
					if before != nil {
						all = append(all, v.fieldChangesOf(k, before, version)...)
					}
					before = version
				}
			}
		}
	}
	v.classify(all)
	return all
}

func (v view) fieldChangesOf(k known, before, after *version) (all []fieldChange) {
	var lag any
	if !k.left {
		lag = after.at.Sub(k.first).Hours() / 24
	}
	common := k.name().with(fact{"version": after.number, "known_at": instant(after.at), "lag_days": lag})
	for _, c := range v.compareVersions(k.deal, before, after) {
		all = append(all, fieldChange{common.with(c), k, after.at})
	}
	return all
}

// classify tells edits from backfills: a field that the feed never had before, and that 20 known deals get at once, or two or more
// that are half of the feed.
func (v view) classify(changes []fieldChange) {
	seen := v.firstSeen()
	filled := map[string]map[*deal]bool{}
	key := func(c fieldChange) (key string, first bool) {
		key = seenKey(c.deal.feed, c.fact)
		return key, (c.fact["change"] == "set" || c.fact["change"] == "row added") && seen[key].Equal(c.at)
	}
	for _, c := range changes {
		if key, first := key(c); first {
			if filled[key] == nil {
				filled[key] = map[*deal]bool{}
			}
			filled[key][c.deal.deal] = true
		}
	}
	for _, c := range changes {
		key, first := key(c)
		deals := len(filled[key])
		c.fact["change_kind"] = "edit"
		if c.fact["change"] == "other" {
			c.fact["change_kind"] = "other"
		} else if first && (deals >= 20 || deals >= 2 && 2*deals >= v.present(c.deal.feed, c.at)) {
			c.fact["change_kind"] = "backfill"
		}
	}
}

// present is the number of a feed's deals that were not removed at an instant.
func (v view) present(feed api.Feed, at time.Time) (n int) {
	for _, d := range v.deals[feed] {
		var last *version
		for _, version := range d.versions {
			if !version.at.After(at) {
				last = version
			}
		}
		if last != nil && last.change != "removed" {
			n++
		}
	}
	return n
}

func seenKey(feed api.Feed, change fact) string {
	return string(feed.Market) + "|" + change.text("table_name") + "|" + change.text("field")
}

// firstSeen says when each feed first had a value in a column, or (no column) a row in a table.
func (v view) firstSeen() map[string]time.Time {
	first := map[string]time.Time{}
	note := func(key string, at time.Time) {
		if t, ok := first[key]; !ok || at.Before(t) {
			first[key] = at
		}
	}
	for feed, deals := range v.deals {
		for _, d := range deals {
			for _, version := range d.versions {
				for table, rows := range version.tables {
					for _, row := range rows {
						note(seenKey(feed, fact{"table_name": table}), version.at)
						for column, value := range row {
							if value != nil {
								note(seenKey(feed, fact{"table_name": table, "field": column}), version.at)
							}
						}
					}
				}
			}
		}
	}
	return first
}

// compareVersions returns the differences in documented columns.
func (v view) compareVersions(d *deal, before, after *version) (changes []fact) {
	for _, table := range slices.Sorted(maps.Keys(union(before.tables, after.tables))) {
		was, is := keyed(table, before), keyed(table, after)
		for key, row := range is {
			if was[key] == nil {
				changes = append(changes, fact{"table_name": table, "row_key": rowKey(table, key), "field": nil, "change": "row added", "was": nil, "is": v.rowText(table, row)})
				continue
			}
			changes = append(changes, v.compareRows(table, key, was[key], row)...)
		}
		for key, row := range was {
			if is[key] == nil {
				changes = append(changes, fact{"table_name": table, "row_key": rowKey(table, key), "field": nil, "change": "row removed", "was": v.rowText(table, row), "is": nil})
			}
		}
	}
	if len(changes) == 0 && after.change != "reappeared" { // its content may be unchanged
		return []fact{{"table_name": nil, "row_key": nil, "field": nil, "change": "other", "was": nil, "is": nil}}
	}
	return changes
}

// rowKey is NULL for a deal's own row.
func rowKey(table, key string) any {
	if strings.HasSuffix(table, "_deals") {
		return nil
	}
	return key
}

func (v view) compareRows(table, key string, was, is fact) (changes []fact) {
	for _, column := range v.tables[table].Columns {
		before, after := was[column.Name], is[column.Name]
		change := "edited"
		switch {
		case column.From == "" || spell(before) == spell(after):
			continue
		case before == nil:
			change = "set"
		case after == nil:
			change = "cleared"
		}
		changes = append(changes, fact{"table_name": table, "row_key": rowKey(table, key), "field": column.Name, "change": change, "was": said(before), "is": said(after)})
	}
	return changes
}

// said formats a value for people; of a long one the beginning.
func said(value any) any {
	text := fmt.Sprint(value)
	switch v := value.(type) {
	case nil:
		return nil
	case *big.Rat:
		text = v.FloatString(10)
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	case string:
		if at, err := time.Parse(instantForm, v); err == nil {
			text = at.Format(time.RFC3339Nano)
		}
	}
	return beginning(text)
}

// beginning cuts a text after 200 bytes, at the end of a character.
func beginning(text string) string {
	if len(text) <= 200 {
		return text
	}
	end := 0
	for i := range text {
		if i <= 200 {
			end = i
		}
	}
	return text[:end] + "…"
}

// rowText formats a complete row.
func (v view) rowText(table string, row fact) any {
	var texts []string
	for _, column := range v.tables[table].Columns {
		if column.From == "" && column.Name != "tranche_id" || row[column.Name] == nil {
			continue
		}
		if text, ok := row[column.Name].(string); ok && !strings.HasPrefix(column.Type, "TIMESTAMP") {
			texts = append(texts, text)
		} else {
			texts = append(texts, said(row[column.Name]).(string))
		}
	}
	return beginning(strings.TrimPrefix(strings.Join(texts, " | "), " | "))
}

// keyed are the rows of a table by what they are known again by; the deal's own by nothing.
func keyed(table string, v *version) map[string]fact {
	rows := map[string]fact{}
	times := map[string]int{}
	for i, row := range v.tables[table] {
		var parts []string
		for _, column := range identities[table] {
			parts = append(parts, identityOf(table, column, v, i, row))
		}
		key := strings.Join(parts, " | ")
		times[key]++
		if n := times[key]; n > 1 {
			key += fmt.Sprintf(" | #%d", n)
		}
		rows[key] = row
	}
	return rows
}

func identityOf(table, column string, v *version, i int, row fact) string {
	switch column {
	case "uid":
		return fmt.Sprint(v.uids[i])
	case "tranche":
		if strings.HasSuffix(table, "_banks") {
			row = v.tables["loan_priced_tranches"][row["tranche_ordinal"].(int64)-1]
		}
		return fmt.Sprint(row["tranche_id"])
	case "date", "changed":
		if row[column] == nil {
			return ""
		}
		return parsed(row.text(column)).Format(time.RFC3339Nano)
	}
	return row.text(column)
}

// fieldNames returns the sorted names of changed fields.
func fieldNames(changes []fact) (names []string) {
	for _, c := range changes {
		name := c.text("table_name")
		if c["field"] != nil {
			name += "." + c.text("field")
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// changesSince returns the versions that became known after an instant.
func changesSince(v view, from time.Time) (rows []fact) {
	for feed := range v.deals {
		for _, k := range v.ever(feed.Service, feed.Kind) {
			if k.feed != feed {
				continue
			}
			var before *version
			for _, version := range v.versions(k.deal) {
				row := k.name().with(fact{"change": version.change, "reason": textOrNil(version.reason), "version": version.number, "known_at": instant(version.at), "fields": nil})
				if version.change != "removed" {
					if before != nil {
						row["fields"] = strings.Join(fieldNames(v.compareVersions(k.deal, before, version)), ",")
					}
					before = version
				}
				if version.at.After(from) {
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}

// edited is a priced deal with its edits within a number of days.
type edited struct {
	known
	edits []fieldChange
}

// base are the priced deals that had the whole window, and how many had not.
func base(v view, days int) (deals []edited, left, young map[string]int) {
	edits := map[*deal][]fieldChange{}
	for _, c := range fieldChanges(v) {
		if c.fact["change_kind"] == "edit" && c.fact["lag_days"] != nil && c.fact["lag_days"].(float64) <= float64(days) {
			edits[c.deal.deal] = append(edits[c.deal.deal], c)
		}
	}
	left, young = map[string]int{}, map[string]int{}
	for _, service := range []api.Service{api.Bond, api.Loan} {
		for _, k := range v.ever(service, api.Priced) {
			switch market := k.name().key("service", "market"); {
			case k.left:
				left[market]++
			case v.clock().Sub(k.first) < time.Duration(days)*24*time.Hour:
				young[market]++
			default:
				deals = append(deals, edited{k, edits[k.deal]})
			}
		}
	}
	return deals, left, young
}

func restatements(v view, days int) (rows []fact) {
	deals, left, young := base(v, days)
	markets := map[string]fact{}
	for _, service := range []api.Service{api.Bond, api.Loan} {
		for _, k := range v.ever(service, api.Priced) {
			markets[k.name().key("service", "market")] = k.name().only("service", "market")
		}
	}
	for market, row := range markets {
		all, restated, versions := 0, 0, 0
		var lags []*big.Rat
		for _, d := range deals {
			if d.name().key("service", "market") != market {
				continue
			}
			all++
			lag := map[float64]bool{}
			for _, c := range d.edits {
				lag[c.fact["lag_days"].(float64)] = true
			}
			versions += len(lag)
			if len(lag) > 0 {
				restated++
				lags = append(lags, new(big.Rat).SetFloat64(slices.Min(slices.Collect(maps.Keys(lag)))))
			}
		}
		rows = append(rows, row.with(fact{
			"deals": count(all), "restated": count(restated), "restated_pct": ratioOf(100, restated, all), "edits": count(versions),
			"median_lag_days": median(lags), "left_censored": count(left[market]), "too_young": count(young[market]),
		}))
	}
	return rows
}

func restatedFields(v view, days int) (rows []fact) {
	deals, _, _ := base(v, days)
	columns := []string{"service", "market", "table_name", "field"}
	totals := map[string]int{}
	cells := map[string]fact{}
	for _, d := range deals {
		totals[d.name().key("service", "market")]++
		here := map[string]bool{}
		for _, c := range d.edits {
			key := c.key(columns...)
			if cells[key] == nil {
				cells[key] = c.only(columns...).with(fact{"deals_restated": int64(0)})
			}
			if !here[key] {
				cells[key]["deals_restated"] = cells[key]["deals_restated"].(int64) + 1
			}
			here[key] = true
		}
	}
	for _, row := range cells {
		rows = append(rows, row.with(fact{"share": ratioOf(1, int(row["deals_restated"].(int64)), totals[row.key("service", "market")])}))
	}
	return rows
}
