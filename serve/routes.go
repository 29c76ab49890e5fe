package serve

import (
	"net/http"
	"strings"

	"dealflow/schemas/api"
)

// route is one endpoint of the server.
type route struct {
	method  string
	path    string // relative to {base_url}
	part    part
	access  access
	handler handlerFunc
	params  []string // names in the query that the route knows
}

// part says what specifies a route.
type part string

const (
	documented part = "docs/reference/api.md, Endpoints" // also as of an instant: /as-of/{instant}/…
	ours       part = "an addition, for operators and readers of the API"
)

// access says which requests may call a route.
type access string

const (
	open         access = "anybody"
	bearer       access = "a valid token"
	homeOrBearer access = "a valid token; none where the accounts are the built-in ones and the server listens on loopback"
)

// handlerFunc answers a request, or returns an error before it has written anything.
type handlerFunc func(w http.ResponseWriter, r *http.Request) error

// routes returns all endpoints of the server.
func (s *Server) routes() []route {
	return []route{
		{http.MethodPost, "/oauth/token", documented, open, s.token, []string{"grant_type"}},
		{http.MethodGet, "/v3", documented, bearer, s.services, nil},
		{http.MethodGet, "/v3/loan", documented, bearer, s.markets(api.Loan), nil},
		{http.MethodGet, "/v3/bond", documented, bearer, s.markets(api.Bond), nil},
		{http.MethodGet, "/v3/loan/{market}", documented, bearer, s.market(api.Loan), nil},
		{http.MethodGet, "/v3/bond/{market}", documented, bearer, s.market(api.Bond), nil},
		{http.MethodGet, "/v3/loan/{market}/priced-deal", documented, bearer, s.list(api.Loan, api.Priced), listParams(api.Loan, api.Priced)},
		{http.MethodGet, "/v3/loan/{market}/priced-deal/{id}", documented, bearer, s.deal(api.Loan, api.Priced), nil},
		{http.MethodGet, "/v3/loan/{market}/expected-deal", documented, bearer, s.list(api.Loan, api.Expected), listParams(api.Loan, api.Expected)},
		{http.MethodGet, "/v3/loan/{market}/expected-deal/{id}", documented, bearer, s.deal(api.Loan, api.Expected), nil},
		{http.MethodGet, "/v3/bond/{market}/priced-deal", documented, bearer, s.list(api.Bond, api.Priced), listParams(api.Bond, api.Priced)},
		{http.MethodGet, "/v3/bond/{market}/priced-deal/{id}", documented, bearer, s.deal(api.Bond, api.Priced), nil},
		{http.MethodGet, "/v3/bond/{market}/expected-deal", documented, bearer, s.list(api.Bond, api.Expected), listParams(api.Bond, api.Expected)},
		{http.MethodGet, "/v3/bond/{market}/expected-deal/{id}", documented, bearer, s.deal(api.Bond, api.Expected), nil},

		{http.MethodGet, "/openapi.json", ours, open, s.openapi, nil},
		{http.MethodGet, "/docs", ours, open, s.docs, nil},
		{http.MethodGet, "/healthz", ours, open, s.health, nil},
		{http.MethodGet, "/metrics", ours, homeOrBearer, s.showMetrics, nil},
		{http.MethodPost, "/_sim/advance", ours, homeOrBearer, s.advance, nil},
	}
}

// TablesPath begins the paths of the tables that Config.Tables answers for.
const TablesPath = "/iceberg/"

// mux serves the routes under the path of the base URL. Other methods of a known path answer 405 to requests that may
// call the route. Unknown paths answer 404 to requests with a token. Both have the API's error body.
func (s *Server) mux() http.Handler {
	mux := http.NewServeMux()
	for _, route := range s.routes() {
		paths := []string{s.path + route.path}
		if route.part == documented {
			paths = append(paths, s.path+asOfPath+"{instant}"+route.path)
		}
		allow := route.method
		if route.method == http.MethodGet {
			allow += ", " + http.MethodHead // GET patterns answer HEAD too
		}
		known, other := route, route
		known.handler = s.checked(route)
		other.handler = methodNotAllowed(allow)
		for _, path := range paths {
			mux.Handle(route.method+" "+path, s.handle(known))
			mux.Handle(path, s.handle(other))
		}
	}
	if s.config.Tables != nil {
		tables := route{path: TablesPath, access: homeOrBearer, handler: func(w http.ResponseWriter, r *http.Request) error {
			http.StripPrefix(s.path, s.config.Tables).ServeHTTP(w, r)
			return nil
		}}
		mux.Handle(s.path+TablesPath, s.handle(tables))
		token := route{http.MethodPost, TablesPath + "v1/oauth/tokens", ours, open, s.tablesToken, []string{"grant_type"}}
		token.handler = s.checked(token)
		mux.Handle(token.method+" "+s.path+token.path, s.handle(token))
	}
	mux.Handle("/", s.handle(route{access: bearer, handler: func(http.ResponseWriter, *http.Request) error { return errNoPath }}))
	return mux
}

func methodNotAllowed(allow string) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Allow", allow)
		return failure{status: api.StatusNotAllowed, message: quote(r.Method) + " is not allowed here; allowed: " + allow}
	}
}

// feed returns the feed of a request's path.
func feed(r *http.Request, service api.Service, kind api.Kind) (api.Feed, error) {
	market, err := pathMarket(r, service)
	return api.Feed{Service: service, Market: market, Kind: kind}, err
}

// pathMarket reads {market}, which must be in lower case.
func pathMarket(r *http.Request, service api.Service) (api.Market, error) {
	text := r.PathValue("market")
	for _, market := range api.Markets(service) {
		if market.Lower() == text {
			return market, nil
		}
	}
	return "", failure{status: api.StatusNotFound, message: "no market " + quote(text) + " under /v3/" + string(service)}
}

// quote returns a client's text in quotes, shortened and escaped, to show it in a message.
func quote(text string) string {
	const most = 60
	if len(text) > most {
		text = text[:most] + "…"
	}
	return "\"" + strings.ToValidUTF8(text, "\uFFFD") + "\""
}
