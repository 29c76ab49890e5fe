package serve

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// ignoredHeader names the parameters of a request that its answer does not regard.
const ignoredHeader = "Dealflow-Ignored"

// mostIgnored limits the names that are told.
const mostIgnored = 10

// checked returns the handler of a route of the API. It tells the client and the log which of the request's parameters
// the route does not know: a misspelt filter is seen so. If the server is strict, it refuses them.
func (s *Server) checked(route route) handlerFunc {
	if route.part != documented {
		return route.handler
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		names, err := unknown(r.URL.RawQuery, route.params)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			told := strings.Join(names, ", ")
			if s.config.Strict {
				return badRequest("unknown parameters: %s; known here: %s", told, cmp.Or(strings.Join(route.params, ", "), "none"))
			}
			w.Header().Set(ignoredHeader, told)
			s.config.Log.Warn("parameters ignored", "path", r.URL.Path, "ignored", told)
		}
		return route.handler(w, r)
	}
}

// unknown returns the names in a query that are not known, sorted, in a form for headers and logs. A name that does not
// look like one may be a secret at a wrong place: it becomes "?".
func unknown(query string, known []string) ([]string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, badRequest("the query cannot be read: %s", quote(query))
	}
	var names []string
	for name := range values {
		if !slices.Contains(known, name) {
			names = append(names, shown(name))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), mostIgnored)], nil
}

// shown returns a parameter's name if it looks like one: letters, and few of them.
func shown(name string) string {
	const most = 32
	letter := func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' }
	if name == "" || len(name) > most || strings.ContainsFunc(name, func(c rune) bool { return !letter(c) }) {
		return "?"
	}
	return name
}
