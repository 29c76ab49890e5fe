package s3test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// Front puts a handler in front of the server, and returns the server that clients then see. wrap gets the handler
// that forwards to the server and returns the one for clients. A test can count requests, refuse some, or lose an
// answer (see Lose).
func (s Server) Front(t testing.TB, wrap func(server http.Handler) http.Handler) Server {
	t.Helper()
	target, err := url.Parse(s.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	// The host stays the client's, because its signature covers it.
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}}
	front := httptest.NewServer(wrap(proxy))
	t.Cleanup(func() {
		front.Close()
		transport.CloseIdleConnections()
	})
	s.Endpoint = front.URL
	return s
}

// Lose lets the server handle a request and then breaks the connection instead of answering.
func Lose(server http.Handler, r *http.Request) {
	server.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// Refuse answers as a provider that refuses a request, with headers as key, value, key, value ….
func Refuse(w http.ResponseWriter, status int, code string, headers ...string) {
	for i := 0; i+1 < len(headers); i += 2 {
		w.Header().Set(headers[i], headers[i+1])
	}
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("X-Amz-Request-Id", "REQUEST-1")
	w.WriteHeader(status)
	_, _ = w.Write([]byte("<Error><Code>" + code + "</Code><Message>Refused for a test.</Message></Error>")) // the client may be gone
}
