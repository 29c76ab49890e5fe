package bench_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// recorder answers what was asked before as it was answered then, so that a server costs next to nothing.
// It asks nobody who asks.
type recorder struct {
	next http.Handler

	mu      sync.Mutex
	answers map[string]*httptest.ResponseRecorder
}

func newRecorder(next http.Handler) *recorder {
	return &recorder{next: next, answers: map[string]*httptest.ResponseRecorder{}}
}

// forget drops all answers, because the market has moved on.
func (r *recorder) forget() {
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
	_, _ = bytes.NewReader(answer.Body.Bytes()).WriteTo(w) // the client that went away sees to it
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
