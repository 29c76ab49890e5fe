package serve

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// accountKeys holds a digest per account. Digests have one length and hide the secrets, so that
// comparing them takes one time for all guesses.
type accountKeys [][sha256.Size]byte

func digestAccounts(accounts []Account) accountKeys {
	keys := make(accountKeys, len(accounts))
	for i, account := range accounts {
		keys[i] = digest(account.ClientID, account.Secret)
	}
	return keys
}

// digest is over id and secret as they travel in HTTP Basic; an id holds no colon.
func digest(id, secret string) [sha256.Size]byte { return sha256.Sum256([]byte(id + ":" + secret)) }

// match says whether the credentials are an account's. All accounts are always compared.
func (k accountKeys) match(id, secret string) bool {
	asked := digest(id, secret)
	found := 0
	for _, key := range k {
		found |= subtle.ConstantTimeCompare(key[:], asked[:])
	}
	return found == 1
}

// tokens issues and checks bearer tokens: an expiry, signed with a key that lives as long as the
// server does. No token is stored.
type tokens struct {
	key [32]byte
	ttl time.Duration
}

func newTokens(ttl time.Duration) *tokens {
	t := &tokens{ttl: ttl}
	rand.Read(t.key[:]) // never fails
	return t
}

const expirySize, nonceSize = 8, 8

func (t *tokens) issue(now time.Time) string {
	payload := make([]byte, expirySize+nonceSize, expirySize+nonceSize+sha256.Size)
	binary.BigEndian.PutUint64(payload, uint64(now.Add(t.ttl).UnixNano()))
	rand.Read(payload[expirySize:])
	return base64.RawURLEncoding.EncodeToString(append(payload, t.sign(payload)...))
}

func (t *tokens) valid(token string, now time.Time) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) != expirySize+nonceSize+sha256.Size {
		return false
	}
	payload, signature := raw[:expirySize+nonceSize], raw[expirySize+nonceSize:]
	if !hmac.Equal(signature, t.sign(payload)) {
		return false
	}
	return now.UnixNano() < int64(binary.BigEndian.Uint64(payload))
}

func (t *tokens) sign(payload []byte) []byte {
	mac := hmac.New(sha256.New, t.key[:])
	mac.Write(payload)
	return mac.Sum(nil)
}

// authorize checks the request's bearer token.
func (s *Server) authorize(r *http.Request) error {
	scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return errNoToken
	}
	if !s.tokens.valid(strings.TrimSpace(token), s.now()) {
		return errTokenInvalid
	}
	return nil
}

// tokenBody is the answer of the token endpoint.
type tokenBody struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int32  `json:"expires_in"` // seconds
}

// token is POST /oauth/token (API document, Authentication).
func (s *Server) token(w http.ResponseWriter, r *http.Request) error {
	id, secret, ok := r.BasicAuth()
	if !ok || !s.known(id, secret) {
		return errCredentials
	}
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	if err := r.ParseForm(); err != nil {
		return badRequest("cannot read the form: want application/x-www-form-urlencoded")
	}
	if grant := r.Form.Get("grant_type"); grant != "client_credentials" {
		return badRequest("grant_type %s: want client_credentials", quote(grant))
	}
	body, err := json.Marshal(tokenBody{s.tokens.issue(s.now()), "Bearer", int32(s.config.TokenTTL / time.Second)})
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	respond(w, r, http.StatusOK, typeJSON, body)
	return nil
}

// known takes the credentials as they are, or percent-encoded as RFC 6749 (2.3.1) has it.
func (s *Server) known(id, secret string) bool {
	if s.keys.match(id, secret) {
		return true
	}
	plainID, err := url.QueryUnescape(id)
	if err != nil || strings.Contains(plainID, ":") {
		return false
	}
	plainSecret, err := url.QueryUnescape(secret)
	return err == nil && s.keys.match(plainID, plainSecret)
}
