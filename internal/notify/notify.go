package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"dealflow/schemas/api"
)

// The least wait between two tries of a web server, and how often one is tried. Each wait is twice the one before.
const (
	leastWait = time.Second
	tries     = 4
)

// Config says how a message is sent. Its zero value has no time limit, and no token.
type Config struct {
	Timeout time.Duration // of a command, or of all tries of a web server; 0: none
	Token   api.Secret    // sent to a web server, as a bearer token
	Environ []string      // of a command
	Wait    time.Duration // least wait between two tries; 0 means 1 s
}

// IsURL reports whether a target is a web server. Blanks around it do not count, nor does the case of its scheme.
func IsURL(target string) bool {
	scheme, _, ok := strings.Cut(strings.TrimSpace(target), "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// quotes are the characters that may be around a setting: a shell takes them away, the env_file of a container does not.
const quotes = "\"'`\u201c\u201d\u2018\u2019"

// isQuotedURL reports whether a target is a URL in quotes. A shell would take it for the name of a command.
func isQuotedURL(target string) bool {
	bare := strings.TrimLeft(strings.TrimSpace(target), quotes)
	return bare != strings.TrimSpace(target) && IsURL(bare)
}

// parse parses a target that is a web server.
func parse(target string) (*url.URL, error) { return url.Parse(strings.TrimSpace(target)) }

// Shown returns a target without its secrets: of a URL, scheme and host alone.
func Shown(target string) string {
	if !IsURL(target) {
		return target
	}
	u, err := parse(target)
	if err != nil {
		scheme, _, _ := strings.Cut(strings.TrimSpace(target), "://")
		return scheme + "://…"
	}
	return u.Scheme + "://" + u.Host + "/…"
}

// Check returns an error for a URL that cannot be one, and for a URL in quotes.
func Check(target string) error {
	if isQuotedURL(target) {
		return errors.New("it is a URL in quotes: want it without them, such as https://host/path")
	}
	if !IsURL(target) {
		return nil
	}
	if u, err := parse(target); err != nil || u.Host == "" {
		return errors.New("want a URL such as https://host/path")
	}
	return nil
}

// limited returns a context with the time limit of a message.
func (c Config) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("it took more than %s", c.Timeout))
}

// Post sends a JSON document to a web server. It tries again after a failed connection, a 429 and a 5xx. It follows no
// redirect, which would take the token elsewhere.
func Post(ctx context.Context, c Config, target string, document []byte) error {
	ctx, cancel := c.limited(ctx)
	defer cancel()
	request, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSpace(target), document)
	if err != nil {
		return fmt.Errorf("POST %s: %w", Shown(target), Check(target))
	}
	request.Header.Set("Content-Type", "application/json")
	if !c.Token.IsZero() {
		request.Header.Set("Authorization", "Bearer "+c.Token.Reveal())
	}
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.RetryMax, client.RetryWaitMin, client.RetryWaitMax = tries-1, leastWait, 30*time.Second
	if c.Wait > 0 {
		client.RetryWaitMin, client.RetryWaitMax = c.Wait, c.Wait
	}
	client.ErrorHandler = retryablehttp.PassthroughErrorHandler
	client.HTTPClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	defer client.HTTPClient.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		var wrapped *url.Error // it has the URL
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("POST %s: %w", Shown(target), err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)) // so that the connection can end well
	if err := response.Body.Close(); err != nil {
		return fmt.Errorf("POST %s: %w", Shown(target), err)
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("POST %s: got status %d, want 200 to 299", Shown(target), response.StatusCode)
	}
	return nil
}

// Run starts a shell command once, with a document on its stdin. The error has the last line that the command printed, unless
// the shell may have printed it: a shell that cannot start a command names the command, which may contain secrets.
func Run(ctx context.Context, c Config, command string, document []byte) error {
	ctx, cancel := c.limited(ctx)
	defer cancel()
	shell := Shell(ctx, command, c.Environ)
	shell.Stdin = bytes.NewReader(document)
	var said tail
	shell.Stdout, shell.Stderr = &said, &said
	err := runAlone(shell)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay): // it has left a process that works on, which is its affair
		err = nil
	}
	var exit *exec.ExitError
	byShell := errors.As(err, &exit) && (exit.ExitCode() == 126 || exit.ExitCode() == 127)
	if last := said.lastLine(); byShell || strings.HasPrefix(last, "sh: ") && err != nil {
		return fmt.Errorf("%w: the shell could not start a command, or has printed the last line; run it by hand to see what it says", err)
	} else if err != nil && last != "" {
		return fmt.Errorf("%w: %s", err, last)
	}
	return err
}

// tail keeps the end of what is written to it. It is used by one goroutine: exec gives both streams of a command to one.
type tail struct{ text []byte }

const mostTail = 1000 // bytes

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-mostTail):]
	return len(p), nil
}

func (t *tail) lastLine() string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.text), "\uFFFD"))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// errOthers refuses a file that another program has written.
var errOthers = errors.New("it has something else than events: name another file")

// Append writes a document as one line to the end of a file, which only this user may read if it is new. Lines of several
// processes do not mix. A file that does not begin with a document is another program's, and refused.
func Append(path string, document []byte) (err error) {
	f, err := openEvents(path, os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(append(bytes.TrimRight(document, "\n"), '\n'))
	return err
}

// CanAppend returns the error that Append would have for a file that exists. A pipe is not opened.
func CanAppend(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	f, err := openEvents(path, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// openEvents opens a file to append to it. A link, such as /dev/stderr, leads where its user wants, whatever is there.
func openEvents(path string, create int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		if begin, err := os.Open(path); err == nil { // one that cannot be read may be written to
			first := make([]byte, 1)
			_, err = begin.Read(first)
			if err = errors.Join(err, begin.Close()); err == nil && first[0] != '{' {
				return nil, &os.PathError{Op: "append to", Path: path, Err: errOthers}
			}
		}
	}
	return os.OpenFile(path, os.O_APPEND|os.O_WRONLY|create, 0o600)
}
