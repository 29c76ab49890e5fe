package serve_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// target is a server of a market with a past, whose tokens do not expire.
type target struct {
	handler http.Handler
	token   string
}

func newTarget(f *testing.F) *target {
	source := newStand()
	source.past["2026-01-01T00:00:00Z"] = newStand()
	server, err := serve.New(serve.Config{Source: source, SigningKeys: [][]byte{[]byte(strings.Repeat("k", serve.MinSigningKey))}})
	if err != nil {
		f.Fatal(err)
	}
	c := &client{t: f, base: "http://api.test", http: &http.Client{Transport: handlerTransport{server.Handler()}}}
	return &target{server.Handler(), c.newToken("demo", "demo")}
}

// throw sends a request as it is on the wire. Every answer must have a status below 500, the API's body for errors, and
// valid JSON. A request that net/http cannot read is not checked, and read is false.
func (target *target) throw(t *testing.T, raw string) (status int, read bool) {
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		return 0, false
	}
	r.RemoteAddr = "192.0.2.1:1234"
	w := httptest.NewRecorder()
	target.handler.ServeHTTP(w, r)
	answer := w.Result()
	body := w.Body.Bytes()
	if answer.StatusCode >= 500 || answer.StatusCode < 200 || answer.StatusCode >= 300 && answer.StatusCode < 400 {
		t.Errorf("%q: %d %s", raw, answer.StatusCode, body)
	}
	if answer.StatusCode >= 400 && r.Method != http.MethodHead {
		var fault api.ErrorBody
		if err := json.Unmarshal(body, &fault); err != nil || fault.Message == "" || len(fault.ErrorID) != 36 {
			t.Errorf("%q: %d %s is not the API's error body", raw, answer.StatusCode, body)
		}
	}
	if strings.Contains(answer.Header.Get("Content-Type"), "json") && answer.Header.Get("Content-Encoding") == "" && r.Method != http.MethodHead && !json.Valid(body) {
		t.Errorf("%q: %s is no JSON", raw, body)
	}
	return answer.StatusCode, true
}

func (target *target) get(t *testing.T, path string) (int, bool) {
	return target.throw(t, "GET "+path+" HTTP/1.1\r\nHost: api.test\r\nAuthorization: Bearer "+target.token+"\r\n\r\n")
}

func FuzzPath(f *testing.F) {
	target := newTarget(f)
	for _, seed := range []string{
		"/v3", "/v3/bond/ig/priced-deal/1", "/v3/bond/ig/priced-deal/99999999999999999999", "/v3/loan/af/expected-deal/-0", "//v3/../v3/%2e%2e/", "/v3/bond/%69g",
		"/as-of/2026-01-01T00:00:00Z/v3/bond/ig", "/as-of/2026-01-01T00:00:00Z/../v3", "/as-of/%2F/v3", "/as-of//v3", "/openapi.json", "/docs", "/metrics", "/_sim/advance", "*", "http://other.test/v3", "/v3?%zz", "/\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) { target.get(t, path) })
}

func FuzzQuery(f *testing.F) {
	target := newTarget(f)
	for _, seed := range []string{
		"", "pageSize=1", "pageSize=2147483648", "updatedSince=2026-01-01T00:00:00.000001Z", "pricingDateFrom=2026-01-01&pricingDateTo=2026-01-01", "seeker=AAAA",
		"changedFrom=0001-01-01T00:00:00Z&changedTo=9999-12-31T23:59:59Z", "updatedSince=9999-12-31T23:59:59-23:59", "a=1&a=2;b", "pageSize=%F0%28", "updatedSince=0000-01-01T00:00:00Z",
	} {
		for i := range api.Feeds() {
			f.Add(byte(i), seed)
		}
	}
	f.Fuzz(func(t *testing.T, feed byte, query string) {
		feeds := api.Feeds()
		path := feeds[int(feed)%len(feeds)].Path()
		target.get(t, path+"?"+query)
		// The same text as the values of correctly escaped parameters.
		escaped := url.Values{}
		for name, value := range map[string]string{"updatedSince": query, "seeker": query, "pageSize": query, "changedTo": query, "pricingDateTo": query} {
			if escaped.Set(name, value); len(query)%2 == 0 {
				target.get(t, path+"?"+url.Values{name: {value}}.Encode())
			}
		}
		target.get(t, path+"?"+escaped.Encode())
	})
}

func FuzzHeaders(f *testing.F) {
	target := newTarget(f)
	f.Add("GET", "/v3", "Accept-Encoding: gzip;q=0.1\r\nAuthorization: Bearer x")
	f.Add("POST", "/oauth/token", "Authorization: Basic ZGVtbzpkZW1v\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\n\r\nabcde")
	f.Add("POST", "/oauth/token?grant_type=client_credentials", "Authorization: Basic ZGVtbzpkZW1v\r\nContent-Type: multipart/form-data; boundary=x")
	f.Add("POST", "/oauth/token", "Authorization: Basic ZGVtbyUzQTpkZW1v\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc")
	f.Add("OPTIONS", "*", "Host: x")
	f.Add("CONNECT", "api.test:80", "Host: \"")
	f.Add("HEAD", "/v3/bond/ig/priced-deal", "Range: bytes=0-1\r\nIf-None-Match: *")
	f.Add("POST", "/_sim/advance?by=1h", "Origin: null\r\nSec-Fetch-Site: cross-site")
	f.Fuzz(func(t *testing.T, method, path, headers string) {
		target.throw(t, method+" "+path+" HTTP/1.1\r\nHost: api.test\r\n"+headers+"\r\n\r\n")
		target.throw(t, method+" "+path+" HTTP/1.1\r\n"+headers+"\r\n\r\n")
	})
}

func FuzzToken(f *testing.F) {
	target := newTarget(f)
	f.Add(target.token)
	f.Add(target.token[:len(target.token)-1])
	f.Add("AQAAAA")
	f.Add(strings.Repeat("A", 200))
	f.Fuzz(func(t *testing.T, token string) {
		status, read := target.throw(t, "GET /v3 HTTP/1.1\r\nHost: api.test\r\nAuthorization: Bearer "+token+"\r\n\r\n")
		if read && status == http.StatusOK && strings.TrimSpace(token) != target.token && !strings.ContainsAny(token, "\r\n") {
			t.Errorf("the server takes %q for a token", token)
		}
	})
}

func FuzzAccounts(f *testing.F) {
	f.Add([]byte(goodAccounts))
	f.Add([]byte("accounts: &a [*a]"))
	f.Add([]byte("accounts:\n- {client_id: a, secret_hash: $2a$04$, type: vip, rate: .inf}"))
	f.Add([]byte("a: &a [x,x]\nb: &b [*a,*a]\naccounts: [*b]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		accounts, err := serve.ParseAccounts(data)
		if err != nil {
			return
		}
		if err := (serve.Config{Source: newStand(), Accounts: accounts}).Validate(); err != nil {
			t.Errorf("%q reads as accounts that no server takes: %v", data, err)
		}
	})
}
