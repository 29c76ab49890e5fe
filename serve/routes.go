package serve

import (
	"net/http"
	"strings"

	"dealflow/schemas/api"
)

// route is one line of the API's surface (API document, Endpoints).
type route struct {
	method  string
	path    string // relative to {base_url}
	access  access
	handler handlerFunc
}

// access says who may call a route.
type access bool

const (
	open   access = false
	bearer access = true // a valid token only
)

// handlerFunc answers a request, or says by an error why it cannot.
type handlerFunc func(w http.ResponseWriter, r *http.Request) error

// routes is the whole surface of the API.
func (s *Server) routes() []route {
	return []route{
		{http.MethodPost, "/oauth/token", open, s.token},
		{http.MethodGet, "/v3", bearer, s.services},
		{http.MethodGet, "/v3/loan", bearer, s.markets(api.Loan)},
		{http.MethodGet, "/v3/bond", bearer, s.markets(api.Bond)},
		{http.MethodGet, "/v3/loan/{market}", bearer, s.market(api.Loan)},
		{http.MethodGet, "/v3/bond/{market}", bearer, s.market(api.Bond)},
		{http.MethodGet, "/v3/loan/{market}/priced-deal", bearer, s.list(api.Loan, api.Priced)},
		{http.MethodGet, "/v3/loan/{market}/priced-deal/{id}", bearer, s.deal(api.Loan, api.Priced)},
		{http.MethodGet, "/v3/loan/{market}/expected-deal", bearer, s.list(api.Loan, api.Expected)},
		{http.MethodGet, "/v3/loan/{market}/expected-deal/{id}", bearer, s.deal(api.Loan, api.Expected)},
		{http.MethodGet, "/v3/bond/{market}/priced-deal", bearer, s.list(api.Bond, api.Priced)},
		{http.MethodGet, "/v3/bond/{market}/priced-deal/{id}", bearer, s.deal(api.Bond, api.Priced)},
		{http.MethodGet, "/v3/bond/{market}/expected-deal", bearer, s.list(api.Bond, api.Expected)},
		{http.MethodGet, "/v3/bond/{market}/expected-deal/{id}", bearer, s.deal(api.Bond, api.Expected)},
	}
}

// mux serves the routes under the base URL's own path. Known paths answer other methods with 405,
// and unknown paths answer 404, both with the API's error body and only to clients with a token.
func (s *Server) mux() http.Handler {
	mux := http.NewServeMux()
	for _, route := range s.routes() {
		path := s.path + route.path
		allow := route.method
		if route.method == http.MethodGet {
			allow += ", " + http.MethodHead // GET patterns answer HEAD too
		}
		mux.Handle(route.method+" "+path, s.handle(route.access, route.handler))
		mux.Handle(path, s.handle(route.access, methodNotAllowed(allow)))
	}
	mux.Handle("/", s.handle(bearer, func(http.ResponseWriter, *http.Request) error { return errNoPath }))
	return mux
}

func methodNotAllowed(allow string) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Allow", allow)
		return failure{http.StatusMethodNotAllowed, r.Method + " is not allowed here; allowed: " + allow}
	}
}

// feed is the feed that a request's path names.
func feed(r *http.Request, service api.Service, kind api.Kind) (api.Feed, error) {
	market, err := pathMarket(r, service)
	return api.Feed{Service: service, Market: market, Kind: kind}, err
}

// pathMarket reads {market}; paths spell it in lower case only.
func pathMarket(r *http.Request, service api.Service) (api.Market, error) {
	text := r.PathValue("market")
	for _, market := range api.Markets(service) {
		if market.Lower() == text {
			return market, nil
		}
	}
	return "", failure{http.StatusNotFound, "no market " + quote(text) + " under /v3/" + string(service)}
}

// quote makes a client's text safe and short enough to show it again.
func quote(text string) string {
	const most = 60
	if len(text) > most {
		text = text[:most] + "…"
	}
	return "\"" + strings.ToValidUTF8(text, "\uFFFD") + "\""
}
