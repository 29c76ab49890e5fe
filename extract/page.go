package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dealflow/schemas/api"
)

// leaf is one list page of a walk.
type leaf struct {
	number   int    // 1 for the walk's first page
	url      string // as requested
	page     api.Page
	observed time.Time
	dated    time.Time // by the server's clock; observed, if it does not tell
	answer   *answer   // owns the bytes of the page's records
}

// fetch gets one list page.
func (j *job) fetch(ctx context.Context, link string) (*leaf, error) {
	var page api.Page
	answer, err := j.get(ctx, link, func(body []byte) (err error) {
		page, err = api.SplitPage(body, j.feed)
		if err == nil && !page.IsList {
			err = errors.New("list page: neither _embedded nor _links")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	observed, err := j.client.observed(answer)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", link, err)
	}
	dated, err := answer.date()
	if err != nil {
		dated = observed
	}
	j.tally.pages.Add(1)
	j.log.Debug("page", "url", link, "records", len(page.Records), "bytes", answer.body.Len())
	return &leaf{url: link, page: page, observed: observed, dated: dated, answer: answer}, nil
}

// maxTokens bounds the tokens that are tried for one request.
const maxTokens = 8

// get sends a GET request with the token and gives its answer, whose body has passed check. A body
// that has not is taken for damaged on the way, and the request is repeated. A 401 has the token
// renewed: once by this request, while others may have renewed it meanwhile, any number of times in a
// walk.
func (j *job) get(ctx context.Context, link string, check func(body []byte) error) (*answer, error) {
	stale := ""
	for range maxTokens {
		got, used, err := j.getWith(ctx, link, stale, check)
		if statusOf(err) != http.StatusUnauthorized {
			return got, err
		}
		if stale != "" && used.mine {
			return nil, deny(err)
		}
		j.log.Info("token refused, getting a new one", "url", link)
		stale = used.access
	}
	return nil, fmt.Errorf("GET %s: %d tokens in a row were refused, each while another was being issued; the account's tokens may end each other: is it in use elsewhere?",
		link, maxTokens)
}

// deny is what a 401 to a token that was issued for this very request means.
func deny(err error) error {
	denied := &AuthError{StatusError: *refusal(err)}
	denied.Hint = "the API refuses a token that it has just issued; " + authHint
	return denied
}

// usedToken is the token that a request was sent with last.
type usedToken struct {
	access string
	mine   bool // it was asked for by this request
}

// getWith is get with any token but the stale one.
func (j *job) getWith(ctx context.Context, link, stale string, check func([]byte) error) (got *answer, used usedToken, err error) {
	err = j.repeat(ctx, "GET "+link, func(ctx context.Context) error {
		token, renewed, err := j.client.tokens.get(ctx, stale)
		if err != nil {
			return err
		}
		used.mine = renewed || used.mine && used.access == token.AccessToken
		used.access = token.AccessToken
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
		if err != nil {
			return &LinkError{Link: link, Reason: "cannot be requested"}
		}
		token.SetAuthHeader(request)
		a, err := j.send(ctx, request)
		if err != nil {
			return err
		}
		if err := j.judge(request, a); err != nil {
			a.release()
			return err
		}
		if err := check(a.body.Bytes()); err != nil {
			a.release()
			return &again{err: fmt.Errorf("GET %s: the answer is damaged: %w", link, err)}
		}
		got = a
		return nil
	})
	return got, used, err
}

// judge sorts an answer by its status (API document, Errors): nil for success, an *again with the
// *StatusError where another try may help, the *StatusError itself where not.
func (j *job) judge(request *http.Request, a *answer) error {
	if a.status == http.StatusOK {
		return nil
	}
	status := &StatusError{Op: request.Method, URL: request.URL.String(), Status: a.status}
	status.ErrorID, status.Message = j.client.explanation(a.body.Bytes())
	after, ordered := retryAfter(a.header)
	status.RetryAfter = after
	switch {
	case a.status == http.StatusTooManyRequests, a.status == http.StatusServiceUnavailable && ordered:
		return &again{err: status, hold: true, after: after, ordered: ordered, slower: a.status == http.StatusTooManyRequests}
	case a.status >= http.StatusInternalServerError, a.status == http.StatusRequestTimeout:
		return &again{err: status}
	case a.status == http.StatusForbidden:
		status.Hint = "the account may not see this"
	}
	return status
}

// explanation reads errorId and message from an error's body: the API's form, or OAuth's.
func (c *Client) explanation(body []byte) (id, message string) {
	var said struct {
		api.ErrorBody
		OAuth       string `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(body, &said) != nil {
		return "", ""
	}
	message = said.Message
	if message == "" {
		message = strings.TrimSpace(said.OAuth + " " + said.Description)
	}
	return c.redact(said.ErrorID), c.redact(message)
}

// wish adds pageSize to the address of a walk's first page, as it stands and without touching the
// rest.
func (j *job) wish(link string) string {
	c := j.client
	c.mu.Lock()
	sizeless := c.sizeless[j.feed]
	c.mu.Unlock()
	if sizeless || c.cfg.PageSize < 0 || strings.Contains(link, "pageSize=") {
		return link
	}
	separator := "?"
	if strings.Contains(link, "?") {
		separator = "&"
	}
	return link + separator + "pageSize=" + strconv.Itoa(c.cfg.PageSize)
}

// fetchFirst gets a walk's first page, with the wished page size if the server takes it.
func (j *job) fetchFirst(ctx context.Context, link string) (*leaf, error) {
	wished := j.wish(link)
	first, err := j.fetch(ctx, wished)
	if wished == link || statusOf(err) != http.StatusBadRequest {
		return first, err
	}
	first, plainErr := j.fetch(ctx, link)
	if plainErr != nil {
		return nil, plainErr
	}
	j.log.Info("the server does not take pageSize, going on without it", "url", wished)
	j.client.mu.Lock()
	j.client.sizeless[j.feed] = true
	j.client.mu.Unlock()
	return first, nil
}

// refusal is the API's answer to a GET request that an error carries; nil if it is about anything
// else, such as the token.
func refusal(err error) *StatusError {
	var denied *AuthError
	var status *StatusError
	if errors.As(err, &denied) || !errors.As(err, &status) || status.Op != http.MethodGet {
		return nil
	}
	return status
}

// statusOf is the status of that answer, 0 if there is none.
func statusOf(err error) int {
	if status := refusal(err); status != nil {
		return status.Status
	}
	return 0
}
