package extract

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/schemas/api"
)

// TestTokenThatEndsOnEveryPage walks a long list in which each page is refused once, because the token has expired.
func TestTokenThatEndsOnEveryPage(t *testing.T) {
	m := newMarket().fill(bondPriced, 120, time.Minute)
	m.size = 2
	m.before = func(r *http.Request) { m.issued++ } // after this answer the token is invalid
	cfg := m.onNetwork(t, m)
	cfg.MaxAttempts = 1 // a token that has ended is no failure
	spool := newSpool(t, bondPriced)
	s, err := newClient(t, cfg).Snapshot(context.Background(), bondPriced, spool)
	if err != nil || s.Deals != 120 || s.Pages < 60 || s.Retries != 0 {
		t.Errorf("got %+v, %v", s, err)
	}
	m.compare(t, bondPriced, spool)
	if n := m.seen("POST"); n != s.Pages {
		t.Errorf("%d tokens for %d pages", n, s.Pages)
	}
}

// TestManyRefusalsOneRenewal: if many requests see one token refused, it is renewed once.
func TestManyRefusalsOneRenewal(t *testing.T) {
	m := newMarket()
	c := newClient(t, m.onNetwork(t, m))
	old, renewed, err := c.tokens.get(context.Background(), "")
	if err != nil || !renewed {
		t.Fatal(renewed, err)
	}
	var work sync.WaitGroup
	var mu sync.Mutex
	mine, tokens := 0, map[string]bool{}
	for range 64 {
		work.Go(func() {
			token, renewed, err := c.tokens.get(context.Background(), old.AccessToken)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			tokens[token.AccessToken] = true
			if renewed {
				mine++
			}
		})
	}
	work.Wait()
	if m.seen("POST") != 2 || mine != 1 || len(tokens) != 1 || tokens[old.AccessToken] {
		t.Errorf("%d token requests, %d renewals, tokens %v", m.seen("POST"), mine, tokens)
	}
}

// TestTokensThatEndEachOther: another feed's renewal may invalidate this one's new token. That is no refusal of the
// credentials. If it happens again and again, the request fails.
func TestTokensThatEndEachOther(t *testing.T) {
	for _, times := range []int{3, 1000} {
		m := newMarket().fill(bondPriced, 3, time.Minute)
		var c *Client
		left := times
		cfg := m.config()
		cfg.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet && left > 0 {
				left--
				// While this request is on its way, another one has the token renewed.
				stale := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
				if _, _, err := c.tokens.get(context.Background(), stale); err != nil {
					t.Error(err)
				}
			}
			return m.RoundTrip(r)
		})
		c = newClient(t, cfg)
		s, err := c.Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced))
		var denied *AuthError
		switch {
		case times == 3 && (err != nil || s.Deals != 3):
			t.Errorf("got %+v, %v", s, err)
		case times == 1000 && (err == nil || errors.As(err, &denied) || !strings.Contains(err.Error(), "in use elsewhere") || s.Requests != maxTokens):
			t.Errorf("got %+v, %v", s, err)
		}
	}
}

// TestCredentialsArriveAsTyped sends unusual passwords over the network.
func TestCredentialsArriveAsTyped(t *testing.T) {
	for _, secret := range []string{"a=b", "p!x", "p/q", "p@q", "100%", "%41", "a+b", "a b", "a:b", "ü€", `"\`, "&x=y", strings.Repeat("x", 300)} {
		for _, encoding := range []AuthEncoding{"", AuthRaw, AuthRFC6749} {
			m := newMarket()
			var got string
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				sent, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.Header.Get("Authorization"), "Basic "))
				if err != nil || r.URL.RawQuery != "" || r.FormValue("grant_type") != "client_credentials" || len(r.Form) != 1 {
					t.Errorf("got %s %s %v: %v", r.URL, r.Header, r.Form, err)
				}
				got = string(sent)
				fmt.Fprint(w, `{"access_token":"x","token_type":"Bearer","expires_in":60}`)
				return true
			}
			cfg := m.onNetwork(t, m)
			cfg.ClientSecret, cfg.AuthEncoding = api.NewSecret(secret), encoding
			if _, err := newClient(t, cfg).ServerTime(context.Background()); err != nil {
				t.Error(err)
			}
			want := testID + ":" + secret
			if encoding == AuthRFC6749 {
				want = url.QueryEscape(testID) + ":" + url.QueryEscape(secret)
			}
			if got != want {
				t.Errorf("%q: %q arrived, want %q", encoding, got, want)
			}
		}
	}
}
