package extract

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"dealflow/schemas/api"
)

// authHint says what the user can check if credentials are refused.
const authHint = "check DEALFLOW_CLIENT_ID and DEALFLOW_CLIENT_SECRET (or DEALFLOW_CLIENT_SECRET_FILE), the address in DEALFLOW_API, and --auth-encoding"

// tokens gets access tokens and keeps the current one. At most one token request is in progress, however many feeds
// need one. Unlike oauth2's client-credentials source it sends the credentials unchanged: that source percent-encodes
// them, and account names are often e-mail addresses.
type tokens struct {
	request requestToken
	turn    chan struct{} // a full channel is a lock on the fields below
	current *oauth2.Token
	refused *AuthError // kept: another request could lock the account

	accepted atomic.Bool // the API has accepted a token
}

// requestToken requests a token. It also returns the Date of the response, or the zero time if there is none.
type requestToken func(context.Context) (*oauth2.Token, time.Time, error)

func newTokens(request requestToken) *tokens {
	return &tokens{request: request, turn: make(chan struct{}, 1)}
}

// get returns a token that is not due for renewal and is not stale. stale is the access token that the API has just
// refused, "" for none.
func (t *tokens) get(ctx context.Context, stale string) (*oauth2.Token, error) {
	if err := t.enter(ctx); err != nil {
		return nil, err
	}
	defer t.leave()
	if t.current != nil && t.current.AccessToken != stale && (t.current.Expiry.IsZero() || time.Until(t.current.Expiry) > 0) {
		return t.current, nil
	}
	if _, err := t.replace(ctx); err != nil {
		return nil, err
	}
	return t.current, nil
}

// record takes note of the API's status for a request with a token. A status that another part of the network may send
// says nothing about the token.
func (t *tokens) record(status int) {
	if status < http.StatusInternalServerError && status != http.StatusUnauthorized && status != http.StatusTooManyRequests {
		t.accepted.Store(true)
	}
}

// refuse returns the error for a request whose last answer was a 401. If the API has never accepted a token, the
// credentials are refused, for all later requests too. Otherwise the account works, and the request has failed.
func (t *tokens) refuse(ctx context.Context, err error) error {
	if t.accepted.Load() {
		return fmt.Errorf("%w; the API accepted tokens of this account before, and refused each new one here: is the account in use elsewhere, so that its tokens end each other?", err)
	}
	denied := &AuthError{StatusError: *refusal(err)}
	denied.Hint = "the API has accepted no token that it issued; " + authHint
	if t.enter(ctx) == nil {
		defer t.leave()
		t.refused = denied
	}
	return denied
}

// renew requests a token even if the current one is valid, and returns the Date of the response.
func (t *tokens) renew(ctx context.Context) (time.Time, error) {
	if err := t.enter(ctx); err != nil {
		return time.Time{}, err
	}
	defer t.leave()
	return t.replace(ctx)
}

func (t *tokens) enter(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

func (t *tokens) leave() { <-t.turn }

// replace requests a new token. The caller has entered.
func (t *tokens) replace(ctx context.Context) (time.Time, error) {
	if t.refused != nil {
		return time.Time{}, t.refused
	}
	token, date, err := t.request(ctx)
	if err != nil {
		errors.As(err, &t.refused)
		return time.Time{}, fmt.Errorf("token: %w", err)
	}
	t.current = token
	return date, nil
}

// basic returns the Authorization header of a token request.
func (c Config) basic() string {
	return "Basic " + Credentials(c.ClientID, c.ClientSecret, c.AuthEncoding)
}

// Credentials returns an account as a token request has it. It is as secret as the secret in it.
func Credentials(id string, secret api.Secret, encoding AuthEncoding) string {
	text := secret.Reveal()
	if encoding == AuthRFC6749 {
		id, text = url.QueryEscape(id), url.QueryEscape(text)
	}
	return base64.StdEncoding.EncodeToString([]byte(id + ":" + text))
}

// requestToken sends the token request.
func (j *job) requestToken(ctx context.Context) (token *oauth2.Token, date time.Time, err error) {
	endpoint := j.client.cfg.Base.String() + "/oauth/token"
	need := int64(0)
	err = j.repeat(ctx, "POST "+endpoint, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader("grant_type=client_credentials"))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Authorization", j.client.cfg.basic())
		answer, err := j.send(ctx, request, &need)
		if err != nil {
			return err
		}
		defer answer.release()
		if err := j.classifyResponse(request, answer); err != nil {
			return refused(err)
		}
		date, _ = answer.date()
		token, err = readToken(answer)
		if err != nil {
			return &retryable{err: fmt.Errorf("POST %s: %w", endpoint, err)}
		}
		return nil
	})
	if err == nil {
		j.client.addSecret(token.AccessToken)
		j.log.Debug("got a token", "expires", token.Expiry)
	}
	return token, date, err
}

// refused converts a response that refuses the credentials into an *AuthError.
func refused(err error) error {
	var status *StatusError
	if !errors.As(err, &status) {
		return err
	}
	switch status.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		denied := &AuthError{StatusError: *status}
		denied.Hint = authHint
		return denied
	case http.StatusNotFound:
		status.Hint = "check the address in DEALFLOW_API: want the part of the URL before /v3 and /oauth/token"
	}
	return err
}

// readToken parses the body of a token response.
func readToken(answer *answer) (*oauth2.Token, error) {
	var body struct {
		AccessToken string  `json:"access_token"`
		TokenType   string  `json:"token_type"`
		ExpiresIn   float64 `json:"expires_in"` // seconds
	}
	if err := json.Unmarshal(answer.body.Bytes(), &body); err != nil {
		// The error's text may quote the body, and the body contains the token.
		return nil, errors.New("the response is not a token: want a JSON object with access_token (docs/reference/api.md)")
	}
	if body.AccessToken == "" {
		return nil, errors.New("the response is not a token: access_token is empty")
	}
	if body.TokenType != "" && !strings.EqualFold(body.TokenType, "bearer") {
		return nil, errors.New("the response is not a token: want token_type bearer") // not quoted: the server's text may contain the secret
	}
	token := &oauth2.Token{AccessToken: body.AccessToken, TokenType: "Bearer"}
	if life := time.Duration(min(body.ExpiresIn, 1e9) * float64(time.Second)); life > 0 {
		// Renewed early, so that no request is sent with a token that expires in transit.
		token.Expiry = answer.arrived.Add(life - min(time.Minute, life/5))
	}
	return token, nil
}
