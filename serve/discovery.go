package serve

import (
	"encoding/json"
	"net/http"

	"dealflow/schemas/api"
)

// view is the body of a service or a market (schemas/api/openapi.yaml).
type view struct {
	Name  string    `json:"name"`
	Links api.Links `json:"_links"`
}

// collection is the body of a list of services or of markets.
type collection struct {
	Embedded map[string][]view `json:"_embedded"`
	Links    api.Links         `json:"_links"`
}

// services is GET /v3.
func (s *Server) services(w http.ResponseWriter, r *http.Request) error {
	base := s.base(r)
	var views []view
	for _, service := range api.Services() {
		views = append(views, view{string(service), self(base + "/v3/" + string(service))})
	}
	return respondHAL(w, r, collection{map[string][]view{"services": views}, self(base + "/v3")})
}

// markets is GET /v3/{service}.
func (s *Server) markets(service api.Service) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		base := s.base(r)
		var views []view
		for _, market := range api.Markets(service) {
			views = append(views, marketView(base, service, market))
		}
		return respondHAL(w, r, collection{map[string][]view{"markets": views}, self(base + "/v3/" + string(service))})
	}
}

// market is GET /v3/{service}/{market}.
func (s *Server) market(service api.Service) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		market, err := pathMarket(r, service)
		if err != nil {
			return err
		}
		return respondHAL(w, r, marketView(s.base(r), service, market))
	}
}

// marketView links to the market's two lists. Each link has the name that the pages of that list use.
func marketView(base string, service api.Service, market api.Market) view {
	links := self(base + "/v3/" + string(service) + "/" + market.Lower())
	for _, kind := range []api.Kind{api.Priced, api.Expected} {
		feed := api.Feed{Service: service, Market: market, Kind: kind}
		links[feed.ListKey()] = api.Link{Href: base + feed.Path()}
	}
	return view{market.Lower(), links}
}

func self(href string) api.Links { return api.Links{api.LinkSelf: {Href: href}} }

func respondHAL(w http.ResponseWriter, r *http.Request, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	respond(w, r, http.StatusOK, typeHAL, body)
	return nil
}
