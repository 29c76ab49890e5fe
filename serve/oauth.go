package serve

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dealflow/serve/limits"
)

// A token's payload is its expiry in microseconds, a print of the account's secret, a serial number, and the client id.
// The serial number makes tokens differ while the market's clock does not move. A token ends with its key, its account
// or the account's secret; the server keeps no list of tokens.
const (
	expirySize  = 8
	printSize   = 8
	serialSize  = 8
	tokenHead   = expirySize + printSize + serialSize
	longestForm = 16 << 10
)

// issue returns a new token for an account.
func (s *Server) issue(a *account, now time.Time) string {
	payload := make([]byte, expirySize, tokenHead+len(a.ClientID))
	binary.BigEndian.PutUint64(payload, uint64(now.Add(s.config.TokenTTL).UnixMicro()))
	payload = append(payload, s.keys[0].print(a)...)
	payload = binary.BigEndian.AppendUint64(payload, s.issued.Add(1))
	payload = append(payload, a.ClientID...)
	return s.keys.seal(sealToken, "", payload)
}

// bearerOf returns the account of a token, or nil if the token is invalid or has expired.
func (s *Server) bearerOf(token string, now time.Time) *account {
	payload, key, ok := s.keys.open(sealToken, "", token)
	if !ok || len(payload) < tokenHead {
		return nil
	}
	if now.UnixMicro() >= int64(binary.BigEndian.Uint64(payload)) {
		return nil
	}
	account := s.accounts.byID[string(payload[tokenHead:])]
	if account == nil || string(payload[expirySize:expirySize+printSize]) != string(key.print(account)) {
		return nil
	}
	return account
}

// print returns bytes that differ from secret to secret and do not reveal the secret.
func (k signingKey) print(a *account) []byte {
	return k.mac("secret " + a.SecretHash + ":" + a.Secret)[:printSize]
}

// authorize returns the account of the request's bearer token. Tokens expire by the market's present, also under an
// as-of path.
func (s *Server) authorize(r *http.Request) (*account, error) {
	scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return nil, errNoToken
	}
	account := s.bearerOf(strings.TrimSpace(token), s.now())
	if account == nil {
		return nil, errTokenInvalid
	}
	return account, nil
}

// tokenBody is the body of the token endpoint.
type tokenBody struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int32  `json:"expires_in"` // seconds
}

// token is POST /oauth/token.
func (s *Server) token(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	id, secret, ok := r.BasicAuth()
	if !ok {
		return errCredentials
	}
	account, err := s.authenticate(r, id, secret)
	if err != nil {
		return err
	}
	if account == nil {
		return errCredentials
	}
	v.account = account
	if err := s.enter(r); err != nil {
		return err
	}
	if err := grant(w, r); err != nil {
		return err
	}
	body, err := json.Marshal(tokenBody{s.issue(account, s.now()), "Bearer", int32(s.config.TokenTTL / time.Second)})
	if err != nil {
		return err
	}
	respond(w, r, http.StatusOK, typeJSON, body)
	return nil
}

// tablesToken is POST /iceberg/v1/oauth/tokens. Clients of an Iceberg catalog send the credentials in the form.
func (s *Server) tablesToken(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	if _, _, ok := r.BasicAuth(); !ok && r.PostForm.Get("client_id") != "" {
		r.SetBasicAuth(r.PostForm.Get("client_id"), r.PostForm.Get("client_secret"))
	}
	return s.token(w, r)
}

// readForm reads the form of a token request, once.
func readForm(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, longestForm)
	err := r.ParseForm()
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return failure{status: http.StatusRequestEntityTooLarge, message: "the form is too long"}
	case err != nil:
		return badRequest("cannot read the form: want application/x-www-form-urlencoded")
	}
	return nil
}

// grant checks the grant_type of a token request, which can be in the form or in the query. If it is in both, both must
// be right.
func grant(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(w, r); err != nil {
		return err
	}
	const name = "grant_type"
	given := r.Form[name] // those of the form and of the query
	if len(given) == 0 {
		return badRequest("grant_type is missing: want client_credentials")
	}
	if most := max(len(r.PostForm[name]), len(r.URL.Query()[name])); most > 1 {
		return badRequest("grant_type: got %d values, want one", most)
	}
	for _, grant := range given {
		if grant != "client_credentials" {
			return badRequest("grant_type %s: want client_credentials", quote(grant))
		}
	}
	return nil
}

// authenticate tries the credentials as they are, and percent-decoded: clients that follow RFC 6749, 2.3.1, encode
// them. A spelling that was accepted before costs no hash, whichever it is.
func (s *Server) authenticate(r *http.Request, id, secret string) (*account, error) {
	spellings := [][2]string{{id, secret}}
	if plainID, plainSecret, ok := unescape(id, secret); ok {
		spellings = append(spellings, [2]string{plainID, plainSecret})
	}
	for _, as := range spellings {
		if known := s.accounts.remembered(as[0], as[1]); known != nil {
			return known, nil
		}
	}
	address := limits.ClientOf(r, s.config.BehindProxy)
	for _, as := range spellings {
		if account, err := s.accounts.authenticate(r.Context(), address, as[0], as[1]); account != nil || err != nil {
			return account, err
		}
	}
	return nil, nil
}

// unescape decodes percent-encoded credentials. ok says whether the result differs from the input.
func unescape(id, secret string) (plainID, plainSecret string, ok bool) {
	plainID, errID := url.QueryUnescape(id)
	plainSecret, errSecret := url.QueryUnescape(secret)
	ok = errID == nil && errSecret == nil && !strings.Contains(plainID, ":") && (plainID != id || plainSecret != secret)
	return plainID, plainSecret, ok
}
