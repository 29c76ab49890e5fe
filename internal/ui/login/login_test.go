package login

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

const token = "0123456789abcdef0123456789abcdef"

// visit is a server with a door, and its clock.
type visit struct {
	*Door
	now time.Time
}

func newVisit(t *testing.T, secure bool) *visit {
	t.Helper()
	v := &visit{now: time.Date(2026, 1, 14, 22, 0, 0, 0, time.UTC)}
	var err error
	v.Door, err = New(Config{Token: token, Secure: secure, Style: "style.css", Clock: func() time.Time { return v.now }, Client: func(r *http.Request) string { return r.RemoteAddr }})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// log sends the form.
func (v *visit) log(sent, next string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/-/login", strings.NewReader(url.Values{"token": {sent}, "next": {next}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	v.ServeHTTP(w, r)
	return w
}

// admits asks with headers.
func (v *visit) admits(headers ...string) bool {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return v.Admits(r)
}

// TestLogin logs in: the cookie admits for 12 hours, only at this process, and is of the kind that the connection allows.
func TestLogin(t *testing.T) {
	for _, secure := range []bool{false, true} {
		v := newVisit(t, secure)
		if v.admits() || v.admits("Cookie", "dealflow-ui=x") || v.admits("Authorization", "Bearer x") || v.admits("Authorization", "Basic "+token) {
			t.Error("a request without the token is admitted")
		}
		if !v.admits("Authorization", "Bearer "+token) {
			t.Error("the token is not admitted")
		}
		w := v.log(token, "deals?q=a")
		cookies := w.Result().Cookies()
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "../deals?q=a" || len(cookies) != 1 {
			t.Fatalf("status %d, Location %q, %d cookies", w.Code, w.Header().Get("Location"), len(cookies))
		}
		c := cookies[0]
		if c.Secure != secure || strings.HasPrefix(c.Name, "__Host-") != secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" {
			t.Errorf("secure %v: the cookie %v", secure, c)
		}
		if strings.Contains(w.Body.String()+c.Value, token) {
			t.Error("the answer has the token")
		}
		given := c.Name + "=" + c.Value
		if !v.admits("Cookie", given) {
			t.Error("the cookie is not admitted")
		}
		if newVisit(t, secure).admits("Cookie", given) {
			t.Error("the cookie is admitted by another process")
		}
		later := "/" + c.Value[1:] // a later end, with the signature of this one
		if strings.HasPrefix(c.Value, "AAAAAG") {
			later = "AAAAAH" + c.Value[6:]
		}
		if v.admits("Cookie", c.Name+"="+later) || v.admits("Cookie", c.Name+"="+c.Value[:20]) {
			t.Error("a forged cookie is admitted")
		}
		v.now = v.now.Add(12*time.Hour - time.Second)
		if !v.admits("Cookie", given) {
			t.Error("the cookie ends before 12 hours")
		}
		if v.now = v.now.Add(time.Second); v.admits("Cookie", given) {
			t.Error("the cookie lasts longer than 12 hours")
		}
	}
}

// TestTries checks that a client has 10 tries a minute, whatever it sends after them, and that others are not affected.
func TestTries(t *testing.T) {
	v := newVisit(t, false)
	for i := range 10 {
		if w := v.log(fmt.Sprint("wrong", i), ""); w.Code != http.StatusUnauthorized {
			t.Fatalf("try %d: status %d", i+1, w.Code)
		}
	}
	if w := v.log(token, ""); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("try 11: status %d", w.Code)
	}
	if v.admits("Authorization", "Bearer "+token) {
		t.Error("the header has further tries")
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "192.0.2.7:1"
	r.Header.Set("Authorization", "Bearer "+token)
	if !v.Admits(r) {
		t.Error("another client has no tries")
	}
	v.now = v.now.Add(time.Minute)
	if w := v.log(token, ""); w.Code != http.StatusSeeOther {
		t.Errorf("a minute later: status %d", w.Code)
	}
}

// TestForms checks what a form may not do: come from another site, lead elsewhere, be long.
func TestForms(t *testing.T) {
	v := newVisit(t, false)
	if w := v.log(token, "", "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 {
		t.Errorf("a form of another site: status %d", w.Code)
	}
	if w := v.log(token, "", "Origin", "https://example.org"); w.Code != http.StatusForbidden {
		t.Errorf("a form of another origin: status %d", w.Code)
	}
	for _, next := range []string{"//example.org", "/x", "../../x", "https://example.org", `\\example.org`, "a\r\nb", "javascript:alert(1)"} {
		if w := v.log(token, next); w.Header().Get("Location") != "../" {
			t.Errorf("%q leads to %q", next, w.Header().Get("Location"))
		}
	}
	if w := v.log(strings.Repeat("x", 5000), ""); w.Code != http.StatusBadRequest {
		t.Errorf("a long form: status %d", w.Code)
	}
	w := httptest.NewRecorder()
	v.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/-/login?next=%22%3E%3Cscript%3Ealert(1)", nil))
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "<script") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	if _, err := New(Config{Token: token[1:]}); err == nil {
		t.Error("a short token is accepted")
	}
}
