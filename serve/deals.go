package serve

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"dealflow/schemas/api"
)

// list is GET of a list of deals (API document, List behaviour).
func (s *Server) list(service api.Service, kind api.Kind) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		feed, err := feed(r, service, kind)
		if err != nil {
			return err
		}
		query, err := s.listQuery(feed, r.URL.Query())
		if err != nil {
			return err
		}
		page, err := s.config.Source.List(r.Context(), query)
		if err != nil {
			return err
		}
		respond(w, r, http.StatusOK, typeHAL, appendPage(nil, s.base(r), r.URL.Query(), query, page))
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
		record, err := s.config.Source.Get(r.Context(), feed, id)
		if err != nil {
			return err
		}
		respond(w, r, http.StatusOK, typeHAL, appendBased(nil, record.Body, s.base(r)))
		return nil
	}
}

// pathID reads {id}: int32 for bond priced deals, else int64 (API document, Endpoints).
func pathID(r *http.Request, feed api.Feed) (int64, error) {
	bits := 64
	if feed.Service == api.Bond && feed.Kind == api.Priced {
		bits = 32
	}
	id, err := strconv.ParseInt(r.PathValue("id"), 10, bits)
	if err != nil {
		return 0, badRequest("id %s: want an int%d", quote(r.PathValue("id")), bits)
	}
	return id, nil
}

// listQuery reads the parameters of a list. Those it does not know are left alone.
func (s *Server) listQuery(feed api.Feed, params url.Values) (Query, error) {
	query := Query{Feed: feed, Limit: s.config.DefaultPageSize}
	if text := params.Get(paramPageSize); text != "" {
		size, err := strconv.ParseInt(text, 10, 64)
		if err != nil || size < 1 || size > math.MaxInt32 {
			return Query{}, badRequest("%s %s: want a positive int32", paramPageSize, quote(text))
		}
		query.Limit = min(int(size), s.config.MaxPageSize)
	}
	if text := params.Get(paramUpdatedSince); text != "" && feed.HasUpdatedSince() {
		since, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return Query{}, badRequest("%s %s: want a date-time such as 2026-03-02T04:23:57Z", paramUpdatedSince, quote(text))
		}
		query.UpdatedSince = since.Truncate(time.Second)
	}
	if text := params.Get(paramSeeker); text != "" {
		after, err := decodeSeeker(feed, text)
		if err != nil {
			return Query{}, badRequest("%s: %v; take it from a next link as it is", paramSeeker, err)
		}
		query.After = &after
	}
	return query, nil
}
