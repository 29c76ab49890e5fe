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

// listPage is one page of a list. Its owner calls answer.release; page's records are then invalid.
type listPage struct {
	number   int    // 1 for the walk's first page
	url      string // as requested
	page     api.Page
	observed time.Time
	dated    time.Time // by the server's clock; observed if there is no Date header
	answer   *answer   // owns the bytes of the page's records
}

// fetch gets one list page.
func (j *job) fetch(ctx context.Context, link string) (*listPage, error) {
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
	return &listPage{url: link, page: page, observed: observed, dated: dated, answer: answer}, nil
}

// maxTokens is the largest number of tokens used for one request.
const maxTokens = 8

// get sends a GET request with the token and returns the answer. If check rejects the body, the response counts as
// corrupted in transit and the request is retried. After a 401 the request has the token renewed, once; renewals that
// other requests caused are not counted, up to maxTokens.
func (j *job) get(ctx context.Context, link string, check func(body []byte) error) (*answer, error) {
	stale := ""
	for range maxTokens {
		got, used, err := j.getWith(ctx, link, stale, check)
		if statusOf(err) != http.StatusUnauthorized {
			return got, err
		}
		if stale != "" && used.mine {
			return nil, deniedFreshToken(err)
		}
		j.log.Info("token refused, getting a new one", "url", link)
		stale = used.access
	}
	return nil, fmt.Errorf("GET %s: %d tokens in a row were refused, each while another was being issued; the account's tokens may end each other: is it in use elsewhere?",
		link, maxTokens)
}

// deniedFreshToken is the error for a 401 to a token that was issued for this request.
func deniedFreshToken(err error) error {
	denied := &AuthError{StatusError: *refusal(err)}
	denied.Hint = "the API refuses a token that it has just issued; " + authHint
	return denied
}

// usedToken is the token with which a request was last sent.
type usedToken struct {
	access string
	mine   bool // this request had it issued
}

// getWith is get with any token except the stale one.
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
		if err := j.classifyResponse(request, a); err != nil {
			a.release()
			return err
		}
		if err := check(a.body.Bytes()); err != nil {
			a.release()
			return &retryable{err: fmt.Errorf("GET %s: the answer is damaged: %w", link, err)}
		}
		got = a
		return nil
	})
	return got, used, err
}

// classifyResponse returns nil for 200, a *retryable with a *StatusError if a retry may help, and the *StatusError
// itself if not. schemas/api/openapi.yaml documents the statuses.
func (j *job) classifyResponse(request *http.Request, a *answer) error {
	if a.status == http.StatusOK {
		return nil
	}
	status := &StatusError{Op: request.Method, URL: request.URL.String(), Status: a.status}
	status.ErrorID, status.Message = j.client.explanation(a.body.Bytes())
	after, ordered := retryAfter(a.header)
	status.RetryAfter = after
	switch {
	case a.status == http.StatusTooManyRequests, a.status == http.StatusServiceUnavailable && ordered:
		return &retryable{err: status, hold: true, after: after, ordered: ordered, slower: a.status == http.StatusTooManyRequests}
	case a.status >= http.StatusInternalServerError, a.status == http.StatusRequestTimeout:
		return &retryable{err: status}
	case a.status == http.StatusForbidden:
		status.Hint = "the account may not see this"
	}
	return status
}

// explanation reads errorId and message from an error's body, in the API's form or in OAuth's.
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

// withPageSize adds pageSize to the address of a walk's first page, without re-encoding the rest of it.
func (j *job) withPageSize(link string) string {
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

// fetchFirst gets a walk's first page, with the configured page size if the server accepts it.
func (j *job) fetchFirst(ctx context.Context, link string) (*listPage, error) {
	wished := j.withPageSize(link)
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

// refusal returns the API's response to a GET request that err wraps. It returns nil for any other error, such as one
// about the token.
func refusal(err error) *StatusError {
	var denied *AuthError
	var status *StatusError
	if errors.As(err, &denied) || !errors.As(err, &status) || status.Op != http.MethodGet {
		return nil
	}
	return status
}

// statusOf returns the HTTP status of the response that refusal finds; 0 if there is none.
func statusOf(err error) int {
	if status := refusal(err); status != nil {
		return status.Status
	}
	return 0
}
