package serve

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"

	"dealflow/schemas/api"
)

// list is GET of a list of deals.
func (s *Server) list(service api.Service, kind api.Kind) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		feed, err := feed(r, service, kind)
		if err != nil {
			return err
		}
		params, err := readParams(feed, r.URL.RawQuery)
		if err != nil {
			return err
		}
		query, err := params.query(feed)
		if err != nil {
			return err
		}
		v := visitOf(r)
		walk := walkOf(v, query)
		if seeker := params[paramSeeker]; seeker != "" {
			after, state, err := s.keys.decodeSeeker(walk, seeker)
			if err != nil {
				return badRequest("%s: %v; use the value of a next link unchanged", paramSeeker, err)
			}
			query.After, query.State = &after, state
		}
		query.Limit = min(cmp.Or(query.Limit, s.config.DefaultPageSize), s.config.MaxPageSize)
		if kind == api.Priced {
			query.PricingDateFrom = max(query.PricingDateFrom, v.account.firstDay(s.now()))
		}
		page, err := v.source.List(r.Context(), query)
		if errors.Is(err, ErrNotFound) && query.State != "" {
			return badRequest("%s: the server no longer has the state of the list at the start of this walk; start again from the first page", paramSeeker)
		}
		if err != nil {
			return err
		}
		next := ""
		if page.More && len(page.Records) > 0 {
			last := page.Records[len(page.Records)-1]
			next = s.keys.encodeSeeker(walk, Position{last.UpdatedAt, last.ID}, page.State)
		}
		respondPage(w, r, s.base(r), feed, params, page, next)
		return nil
	}
}

// deal is GET of one deal by its id.
func (s *Server) deal(service api.Service, kind api.Kind) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		feed, err := feed(r, service, kind)
		if err != nil {
			return err
		}
		id, err := pathID(r, feed)
		if err != nil {
			return err
		}
		v := visitOf(r)
		record, err := v.source.Get(r.Context(), feed, id)
		if err != nil {
			return err
		}
		// The first visible day depends on the present, also for a request as of an earlier instant.
		if kind == api.Priced && record.PricingDate < v.account.firstDay(s.now()) {
			return ErrForbidden
		}
		respond(w, r, http.StatusOK, typeHAL, appendBased(nil, record.Body, s.base(r)))
		return nil
	}
}

// pathID reads {id}: int32 for bond priced deals, otherwise int64 (schemas/api/openapi.yaml). A number has one spelling:
// without a plus or leading zeros.
func pathID(r *http.Request, feed api.Feed) (int64, error) {
	bits := 64
	if feed.Service == api.Bond && feed.Kind == api.Priced {
		bits = 32
	}
	text := r.PathValue("id")
	id, err := strconv.ParseInt(text, 10, bits)
	if err != nil || strconv.FormatInt(id, 10) != text {
		return 0, badRequest("id %s: want an int%d in digits alone", quote(text), bits)
	}
	return id, nil
}
