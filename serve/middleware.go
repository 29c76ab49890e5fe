package serve

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"
)

// handle checks access and calls the handler of a route. It answers errors with the API's error body.
func (s *Server) handle(route route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := visitOf(r)
		v.route = route.path
		if err := s.admit(route.access, r); err != nil {
			s.fail(w, r, err)
			return
		}
		if s.faultInjector != nil && route.access == bearer {
			answered, err := s.faultInjector.strike(w, r)
			if err != nil {
				s.fail(w, r, err)
			}
			if answered || err != nil {
				return
			}
		}
		if err := route.handler(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// admit checks whether a request may call a route. Its error is the reason to refuse it.
func (s *Server) admit(access access, r *http.Request) error {
	switch access {
	case open:
		return nil
	case homeOrBearer:
		if s.atHome(r) {
			return nil
		}
	}
	account, err := s.authorize(r)
	if err != nil {
		return err
	}
	visitOf(r).account = account
	return s.enter(r)
}

// wrap adds what every answer needs: the market's date, a line in the access log, and a count. It answers 500 if a
// handler panics.
func (s *Server) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now() // real time, for the duration only
		v := &visit{source: s.config.Source}
		r = withVisit(r, v)
		answer := &answer{ResponseWriter: w, visit: v}
		s.metrics.begin()
		defer func() {
			took := time.Since(began)
			s.metrics.end(v.route, r.Method, answer.status, answer.bytes, took)
			s.logAccess(r, answer, took)
		}()
		defer s.recoverPanic(answer, r)
		answer.Header().Set("X-Content-Type-Options", "nosniff")
		answer.Header().Set("Cache-Control", "no-store")
		if err := wellFormed(r); err != nil {
			s.fail(answer, r, err)
			return
		}
		next.ServeHTTP(answer, r)
	})
}

// wellFormed refuses hosts that cannot be part of a link, and paths that net/http would redirect: the body of such an
// answer would not be the API's.
func wellFormed(r *http.Request) error {
	if !isPlainHost(r.Host) {
		return badRequest("the Host header is missing or malformed")
	}
	p := r.URL.Path
	if !strings.HasPrefix(p, "/") {
		return badRequest("the request must name a path")
	}
	clean := path.Clean(p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	if clean != p {
		return errNoPath
	}
	return nil
}

// logAccess logs a request. The line has neither headers nor parameters, because these contain tokens and secrets.
func (s *Server) logAccess(r *http.Request, a *answer, took time.Duration) {
	fields := []any{"method", r.Method, "path", r.URL.Path, "status", a.status, "bytes", a.bytes, "dur", took, "remote", r.RemoteAddr}
	if a.visit.account != nil {
		fields = append(fields, "account", a.visit.account.ClientID)
	}
	if a.visit.errorID != "" {
		fields = append(fields, "error_id", a.visit.errorID)
	}
	s.config.Log.Info("request", fields...)
}

func (s *Server) recoverPanic(answer *answer, r *http.Request) {
	fault := recover()
	if fault == nil {
		return
	}
	if err, ok := fault.(error); ok && errors.Is(err, http.ErrAbortHandler) || answer.status != 0 { // a part of the answer is sent: the client must see that the rest is missing
		panic(http.ErrAbortHandler)
	}
	s.fail(answer, r, fmt.Errorf("panic: %v\n%s", fault, debug.Stack()))
}

// answer is a ResponseWriter that sets the Date when the header is sent, so that the date is not before any instant in
// the body. It also keeps what the access log needs.
type answer struct {
	http.ResponseWriter
	visit  *visit
	status int // 0 until the header is sent
	bytes  int
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
		a.Header().Set("Date", a.visit.source.Now().UTC().Format(http.TimeFormat))
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	n, err := a.ResponseWriter.Write(p)
	a.bytes += n
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// now returns the market's present in UTC, also for requests as of an earlier instant.
func (s *Server) now() time.Time { return s.config.Source.Now().UTC() }
