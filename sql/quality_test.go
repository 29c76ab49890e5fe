package sql_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"dealflow/schemas/api"
)

// values are the columns of a deal's row, in SQL.
type values map[string]string

// qualityBounds contains, for checks of data_quality with bounds, deals just inside and just outside of them. The value
// of a column that is not named fails no check.
var qualityBounds = map[string]struct{ passes, fails []values }{
	"unit_outlier_books": {
		passes: []values{
			{"stats_final_books": "500000", "nominal_amount": "1000000"}, {"stats_final_books": "20000000", "nominal_amount": "1000000"},
			{"stats_final_books": "1.5", "nominal_amount": "3"}, {"stats_final_books": "60", "nominal_amount": "3"},
		},
		fails: []values{
			{"stats_final_books": "499999.999999", "nominal_amount": "1000000"}, {"stats_final_books": "20000000.000001", "nominal_amount": "1000000"},
			{"stats_final_books": "500", "nominal_amount": "500000000"},
		},
	},
	"unit_outlier_nominal": {
		passes: []values{{"nominal_usd": "100000"}, {"nominal_usd": "99999999999.999999"}},
		fails:  []values{{"nominal_usd": "99999.999999"}, {"nominal_usd": "100000000000"}},
	},
	"usd_zero": {
		passes: []values{{"nominal_usd": "100000"}},
		fails:  []values{{"nominal_usd": "0"}, {"nominal_usd": "NULL"}},
	},
	"usd_off": { // by 1 %, for both directions of the rate
		passes: []values{
			{"nominal_amount": "1010000", "fx_rate_usd": "1"}, {"nominal_amount": "990000", "fx_rate_usd": "1"},
			{"nominal_amount": "2020000", "fx_rate_usd": "2"}, {"nominal_amount": "505000", "fx_rate_usd": "2"},
		},
		fails: []values{
			{"nominal_amount": "1010000.01", "fx_rate_usd": "1"}, {"nominal_amount": "989999.99", "fx_rate_usd": "1"},
			{"nominal_amount": "2020000.02", "fx_rate_usd": "2"}, {"nominal_amount": "505000.01", "fx_rate_usd": "2"},
		},
	},
	"pricing_in_future": { // the latest run is of 5 January
		passes: []values{{"pricing_date": "DATE '2026-01-06'"}},
		fails:  []values{{"pricing_date": "DATE '2026-01-07'"}},
	},
	"pricing_date_missing": {
		passes: []values{{}},
		fails:  []values{{"pricing_date": "NULL"}},
	},
	"missing_currency": {
		passes: []values{{"currency": "'x'"}},
		fails:  []values{{"currency": "NULL"}, {"currency": "''"}, {"currency": "' '"}},
	},
}

// TestQualityBounds runs data_quality on deals just inside and just outside the bounds of its checks.
func TestQualityBounds(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	id := int64(0)
	want := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(qualityBounds)) {
		for i, deals := range [][]values{qualityBounds[name].passes, qualityBounds[name].fails} {
			for _, deal := range deals {
				id++
				columns := values{"nominal_usd": "1000000", "currency": "'EUR'", "pricing_date": "DATE '2026-01-05'"}
				maps.Copy(columns, deal)
				var set []string
				for column, value := range columns {
					set = append(set, value+" AS "+column)
				}
				h.deals(pricedIG, 1, id, id, set...)
				if i == 1 {
					want[name] = append(want[name], fmt.Sprint(id))
				}
			}
		}
	}
	for list, name := range map[string]string{"bond_priced_investor_types": "map_sum_off_investor_types", "bond_priced_geographies": "map_sum_off_geographies"} {
		for _, shares := range []string{"97", "103", "50 50", "-96.999999", "-103.000001", "-50 46.999999"} {
			shares, fails := strings.CutPrefix(shares, "-")
			id++
			h.deals(pricedHY, 1, id, id, "1000000 AS nominal_usd, 'EUR' AS currency, DATE '2026-01-05' AS pricing_date")
			for i, share := range strings.Fields(shares) {
				h.rows(list, api.HY, 1, id, id, fmt.Sprintf("%d AS ordinal, %s AS value", i+1, share))
			}
			if fails {
				want[name] = append(want[name], fmt.Sprint(id))
			}
		}
	}
	db := h.open(h.build())
	rows, err := db.Query("SELECT name, value, example FROM data_quality WHERE value > 0 AND name NOT LIKE 'unparsed%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, examples string
		var failed int
		if err := rows.Scan(&name, &failed, &examples); err != nil {
			t.Fatal(err)
		}
		if ids := strings.Join(want[name], ", "); failed != len(want[name]) || examples != ids {
			t.Errorf("%s: %d deals fail, %s; want %d, %s", name, failed, examples, len(want[name]), ids)
		}
		delete(want, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for name, ids := range want {
		t.Errorf("%s: no deal fails, want %s", name, strings.Join(ids, ", "))
	}
}

// TestCoverBounds checks that a deal's cover is its final books divided by its nominal, if both are above 0.
func TestCoverBounds(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for id, c := range []struct{ books, nominal string }{
		{"1500000", "3000000"}, {"60000000", "3000000"}, {"0.000001", "0.000001"}, {"0", "3"}, {"3", "0"}, {"NULL", "3"}, {"3", "NULL"}, {"-3", "3"},
	} {
		h.deals(pricedIG, 1, int64(id), int64(id), c.books+" AS stats_final_books, "+c.nominal+" AS nominal_amount")
	}
	db := h.open(h.build())
	var got string
	if err := db.QueryRow("SELECT string_agg(coalesce(cover::VARCHAR, '-'), ' ' ORDER BY deal_id) FROM execution_metrics").Scan(&got); err != nil {
		t.Fatal(err)
	}
	if want := "0.5 20.0 1.0 - - - - -"; got != want {
		t.Errorf("cover is %s, want %s", got, want)
	}
}
