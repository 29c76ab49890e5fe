package report

import (
	"math"
	"strings"
	"time"

	"dealflow/schemas/api"
)

// market is one of the API's markets with its colour.
type market struct {
	Service, Code string
	Class         string // in style.css
}

// Name is how charts and tables call it.
func (m market) Name() string { return m.Service + " " + m.Code }

// markets are the markets of these services, all for none, each always of the same colour.
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

// byMarket makes a series for each market over keys, from rows' key, market and value. What is not given
// is NaN.
func byMarket[R any](of []market, keys []string, rows []R, get func(*R) (key, code string, value float64)) []series {
	all := make([]series, len(of))
	for i, m := range of {
		all[i] = series{Name: m.Name(), Class: m.Class, Values: make([]float64, len(keys))}
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
		for k, m := range of {
			if j, ok := place[key]; ok && m.Code == code {
				all[k].Values[j] = v
			}
		}
	}
	return all
}

// months are the 24 months up to an instant's, as 2006-01.
func months(until time.Time) []string {
	until = until.UTC()
	all := make([]string, 24)
	for i := range all {
		all[i] = time.Date(until.Year(), until.Month()-time.Month(23-i), 1, 0, 0, 0, 0, time.UTC).Format("2006-01")
	}
	return all
}

// feedName is how tables call a list of the API.
func feedName(service, code, kind string) string {
	return strings.TrimSpace(service + " " + code + " " + kind)
}
