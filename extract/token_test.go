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
	old, err := c.tokens.get(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	var mu sync.Mutex
	tokens := map[string]bool{}
	for range 64 {
		work.Go(func() {
			token, err := c.tokens.get(context.Background(), old.AccessToken)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			tokens[token.AccessToken] = true
		})
	}
	work.Wait()
	if m.seen("POST") != 2 || len(tokens) != 1 || tokens[old.AccessToken] {
		t.Errorf("%d token requests, tokens %v", m.seen("POST"), tokens)
	}
}

// TestRevokedTokens walks a long list on a server that revokes tokens: in each of its turns it answers 401 to some
// requests in a row, and then some 200. Nothing is lost as long as one request has fewer refusals than attempts; then
// the feed fails, and the credentials are not refused.
func TestRevokedTokens(t *testing.T) {
	for name, test := range map[string]struct {
		refused, accepted int // of each turn
		fails             bool
	}{
		"now and then":             {1, 50, false},
		"two in a row":             {2, 25, false},
		"each request twice":       {2, 1, false},
		"eight of nine":            {8, 1, false},
		"nine in a row":            {9, 50, true},
		"for good, after 20 pages": {1 << 30, 20, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket().fill(bondPriced, 300, time.Minute)
			m.size = 5
			turn, tokens := 0, map[string]bool{}
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet {
					return false
				}
				turn++
				if (turn-1)%(test.accepted+test.refused) < test.accepted {
					return false
				}
				if token := r.Header.Get("Authorization"); tokens[token] {
					t.Errorf("request %d: a token that was refused is sent again", turn)
				} else {
					tokens[token] = true
				}
				fail(w, http.StatusUnauthorized, "token revoked")
				return true
			}
			cfg := m.onNetwork(t, m)
			spool := newSpool(t, bondPriced)
			s, err := newClient(t, cfg).Snapshot(context.Background(), bondPriced, spool)
			var denied *AuthError
			switch {
			case errors.As(err, &denied):
				t.Errorf("got %v, want no refusal of the credentials", err)
			case test.fails && (err == nil || !strings.Contains(err.Error(), "401") || !strings.Contains(err.Error(), "accepted tokens of this account before")):
				t.Errorf("got %+v, %v; want the feed to fail with a 401", s, err)
			case !test.fails && (err != nil || s.Deals != 300):
				t.Errorf("got %+v, %v; want 300 deals", s, err)
			case !test.fails:
				m.compare(t, bondPriced, spool)
			}
		})
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
