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
	"time"

	"golang.org/x/oauth2"
)

// authHint is what a person can do about refused credentials.
const authHint = "check DEALFLOW_CLIENT_ID and DEALFLOW_CLIENT_SECRET (or DEALFLOW_CLIENT_SECRET_FILE), the address in DEALFLOW_API, and --auth-encoding"

// tokens gets access tokens and keeps the current one (API document, Authentication). However many
// feeds ask, one request is under way at most. It differs from oauth2's own client-credentials source
// in that it sends the credentials as they are: that one percent-encodes them, and account names are
// often e-mail addresses.
type tokens struct {
	request requestToken
	turn    chan struct{} // held by whoever looks at or changes what follows
	current *oauth2.Token
	refused *AuthError // sticky: asking again could lock the account
}

// requestToken asks for a token and gives the Date of the answer as well, the zero time if it had
// none.
type requestToken func(context.Context) (*oauth2.Token, time.Time, error)

func newTokens(request requestToken) *tokens {
	return &tokens{request: request, turn: make(chan struct{}, 1)}
}

// get gives a token that is not due for renewal and is not stale, the access token that the caller
// has just seen refused ("" for none); renewed says that it was issued for this call.
func (t *tokens) get(ctx context.Context, stale string) (token *oauth2.Token, renewed bool, err error) {
	if err := t.enter(ctx); err != nil {
		return nil, false, err
	}
	defer t.leave()
	if t.current != nil && t.current.AccessToken != stale && (t.current.Expiry.IsZero() || time.Until(t.current.Expiry) > 0) {
		return t.current, false, nil
	}
	if _, err := t.replace(ctx); err != nil {
		return nil, false, err
	}
	return t.current, true, nil
}

// renew asks for a token even where the current one would do, and gives the Date of the answer.
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

// replace gets a new token; the caller has the turn.
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

// basic is the Authorization header of a token request.
func (c Config) basic() string {
	id, secret := c.ClientID, c.ClientSecret.Reveal()
	if c.AuthEncoding == AuthRFC6749 {
		id, secret = url.QueryEscape(id), url.QueryEscape(secret)
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

// requestToken is the token request (API document, Authentication 2 and 3).
func (j *job) requestToken(ctx context.Context) (token *oauth2.Token, date time.Time, err error) {
	endpoint := j.client.cfg.Base.String() + "/oauth/token"
	err = j.repeat(ctx, "POST "+endpoint, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader("grant_type=client_credentials"))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Authorization", j.client.cfg.basic())
		answer, err := j.send(ctx, request)
		if err != nil {
			return err
		}
		defer answer.release()
		if err := j.judge(request, answer); err != nil {
			return refused(err)
		}
		date, _ = answer.date()
		token, err = readToken(answer)
		if err != nil {
			return &again{err: fmt.Errorf("POST %s: %w", endpoint, err)}
		}
		return nil
	})
	if err == nil {
		j.client.hide(token.AccessToken)
		j.log.Debug("got a token", "expires", token.Expiry)
	}
	return token, date, err
}

// refused turns the answers by which a token endpoint refuses credentials into an *AuthError.
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
		status.Hint = "check the address in DEALFLOW_API: /v3 and /oauth/token must lie under it"
	}
	return err
}

// readToken reads the body of a token answer.
func readToken(answer *answer) (*oauth2.Token, error) {
	var body struct {
		AccessToken string  `json:"access_token"`
		TokenType   string  `json:"token_type"`
		ExpiresIn   float64 `json:"expires_in"` // seconds
	}
	if err := json.Unmarshal(answer.body.Bytes(), &body); err != nil {
		// The text of the error may quote the body, and the body holds the token.
		return nil, errors.New("the answer is no token: not the JSON that the API document describes")
	}
	if body.AccessToken == "" {
		return nil, errors.New("the answer is no token: access_token is empty")
	}
	if body.TokenType != "" && !strings.EqualFold(body.TokenType, "bearer") {
		return nil, errors.New("the token is of another type than bearer") // the server's word for it may hold what it was sent
	}
	token := &oauth2.Token{AccessToken: body.AccessToken, TokenType: "Bearer"}
	if life := time.Duration(min(body.ExpiresIn, 1e9) * float64(time.Second)); life > 0 {
		// Renewed a little ahead, so that no request leaves with a token that dies on the way.
		token.Expiry = answer.arrived.Add(life - min(time.Minute, life/5))
	}
	return token, nil
}
