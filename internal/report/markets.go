package report

import (
	"math"
	"strings"
	"time"

	"dealflow/internal/chart"
	"dealflow/schemas/api"
)

// market is one of the API's markets with its colour.
type market struct {
	Service, Code string
	Class         string // in style.css
}

// Name is the market's name in charts and tables.
func (m market) Name() string { return m.Service + " " + m.Code }

// markets lists the markets of the given services, or of all services if none are given. A market always has the same
// colour.
func markets(services ...api.Service) []market {
	var all []market
	place := 0
	for _, service := range api.Services() {
		for _, code := range api.Markets(service) {
			if len(services) == 0 || services[0] == service {
				all = append(all, market{string(service), string(code), "s" + string(rune('0'+place))})
			}
			place++
		}
	}
	return all
}

// byMarket returns a series per market over keys. get returns a row's key, market and value. Missing values are NaN.
func byMarket[R any](shown []market, keys []string, rows []R, get func(*R) (key, code string, value float64)) []chart.Series {
	all := make([]chart.Series, len(shown))
	for i, m := range shown {
		all[i] = chart.Series{Name: m.Name(), Class: m.Class, Values: make([]float64, len(keys))}
		for j := range all[i].Values {
			all[i].Values[j] = math.NaN()
		}
	}
	place := map[string]int{}
	for j, key := range keys {
		place[key] = j
	}
	for i := range rows {
		key, code, v := get(&rows[i])
		for k, m := range shown {
			if j, ok := place[key]; ok && m.Code == code {
				all[k].Values[j] = v
			}
		}
	}
	return all
}

// months lists the 24 months that end with the month of an instant, as 2006-01.
func months(until time.Time) []string {
	until = until.UTC()
	all := make([]string, 24)
	for i := range all {
		all[i] = time.Date(until.Year(), until.Month()-time.Month(23-i), 1, 0, 0, 0, 0, time.UTC).Format("2006-01")
	}
	return all
}

// feedName is the feed's name in tables.
func feedName(service, code, kind string) string {
	return strings.TrimSpace(service + " " + code + " " + kind)
}
