package serve

import (
	"net/http"

	"dealflow/serve/describe"
)

// openapi is GET /openapi.json: the description, with the base URL of the request as its server.
func (s *Server) openapi(w http.ResponseWriter, r *http.Request) error {
	text, err := describe.OpenAPI(s.base(r))
	if err != nil {
		return err
	}
	respond(w, r, http.StatusOK, typeJSON, text)
	return nil
}

// docs is GET /docs: the description as a page for people.
func (s *Server) docs(w http.ResponseWriter, r *http.Request) error {
	page, err := describe.Page(s.base(r))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	respond(w, r, http.StatusOK, "text/html; charset=utf-8", page)
	return nil
}
