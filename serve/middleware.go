package serve

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"
)

// handle checks access and turns a handler's error into an answer.
func (s *Server) handle(access access, handler handlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if access == bearer {
			if err := s.authorize(r); err != nil {
				s.fail(w, r, err)
				return
			}
		}
		if err := handler(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// wrap puts around everything what every answer needs: the market's date, a line in the access
// log, and 500 instead of a broken connection when a handler panics.
func (s *Server) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now() // for a duration only; instants are the Source's
		answer := &answer{ResponseWriter: w, now: s.now}
		defer func() {
			s.config.Log.Info("request", "method", r.Method, "path", r.URL.Path, "status", answer.status, "bytes", answer.bytes, "dur", time.Since(began))
		}()
		defer s.recoverPanic(answer, r)
		next.ServeHTTP(answer, r)
	})
}

func (s *Server) recoverPanic(answer *answer, r *http.Request) {
	fault := recover()
	if fault == nil {
		return
	}
	if err, ok := fault.(error); ok && errors.Is(err, http.ErrAbortHandler) || answer.status != 0 { // half an answer is out: cut it off visibly
		panic(http.ErrAbortHandler)
	}
	s.fail(answer, r, fmt.Errorf("panic: %v\n%s", fault, debug.Stack()))
}

// answer is a ResponseWriter that dates the response at the last moment, so that the date is never
// earlier than what the response tells, and that keeps what the access log says.
type answer struct {
	http.ResponseWriter
	now    func() time.Time
	status int // 0 until the header is out
	bytes  int
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
		a.Header().Set("Date", a.now().Format(http.TimeFormat))
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

// now is the market's present in UTC.
func (s *Server) now() time.Time { return s.config.Source.Now().UTC() }
