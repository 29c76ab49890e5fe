package bench_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// recorder repeats its first answer to each request, so that a server costs almost nothing. It does not check tokens.
type recorder struct {
	next http.Handler

	mu      sync.Mutex
	answers map[string]*httptest.ResponseRecorder
}

func newRecorder(next http.Handler) *recorder {
	return &recorder{next: next, answers: map[string]*httptest.ResponseRecorder{}}
}

// reset drops all answers, because the market has changed.
func (r *recorder) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.answers)
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodGet {
		r.next.ServeHTTP(w, request)
		return
	}
	answer := r.answer(request)
	header := w.Header()
	for name, values := range answer.Header() {
		header[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = bytes.NewReader(answer.Body.Bytes()).WriteTo(w) // an error means that the client has gone
}

func (r *recorder) answer(request *http.Request) *httptest.ResponseRecorder {
	key := request.RequestURI
	if strings.Contains(request.Header.Get("Accept-Encoding"), "gzip") {
		key = "gzip " + key
	}
	r.mu.Lock()
	answer := r.answers[key]
	r.mu.Unlock()
	if answer != nil {
		return answer
	}
	answer = httptest.NewRecorder()
	r.next.ServeHTTP(answer, request)
	if answer.Code == http.StatusOK {
		r.mu.Lock()
		r.answers[key] = answer
		r.mu.Unlock()
	}
	return answer
}
