package login

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// MinToken is the least number of bytes of a token.
const MinToken = 32

const (
	lasts     = 12 * time.Hour
	mostTries = 10 // of a client in a minute
	mostBytes = 4 << 10
	// mostClients bounds the memory for tries. More clients in one minute share one number of tries.
	mostClients = 10_000
)

// Config says who is admitted.
type Config struct {
	Token  string                     // at least MinToken bytes
	Secure bool                       // browsers reach the server through TLS
	Client func(*http.Request) string // names the client that a request comes from. Required.
	Clock  func() time.Time           // required
	Style  string                     // address of the style, relative to the form
}

// Door admits requests. It is safe for concurrent use.
type Door struct {
	config Config
	token  [sha256.Size]byte
	key    [32]byte // of this process: signs cookies
	origin *http.CrossOriginProtection

	mu     sync.Mutex
	minute int64
	tries  map[string]int // wrong tokens of this minute, by client
}

// New returns a door.
func New(config Config) (*Door, error) {
	if len(config.Token) < MinToken {
		return nil, fmt.Errorf("the token has %d bytes: want at least %d (`openssl rand -base64 32` makes one)", len(config.Token), MinToken)
	}
	d := &Door{config: config, token: sha256.Sum256([]byte(config.Token)), origin: http.NewCrossOriginProtection(), tries: map[string]int{}}
	_, _ = rand.Read(d.key[:]) // it never fails
	return d, nil
}

// Name of the cookie. Browsers keep one with the prefix only if it came through TLS from this very host.
func (d *Door) cookieName() string {
	if d.config.Secure {
		return "__Host-dealflow-ui"
	}
	return "dealflow-ui"
}

// Admits says whether a request has the token, or a cookie that the form has set. A wrong token in the header counts as a try.
func (d *Door) Admits(r *http.Request) bool {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return d.try(r, token) == http.StatusOK
	}
	cookie, err := r.Cookie(d.cookieName())
	if err != nil {
		return false
	}
	data, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || len(data) != 8+sha256.Size {
		return false
	}
	ends := time.Unix(int64(binary.BigEndian.Uint64(data)), 0)
	return hmac.Equal(data[8:], d.sign(data[:8])) && d.config.Clock().Before(ends)
}

// try compares a token and returns the status of the answer.
func (d *Door) try(r *http.Request, token string) int {
	client, minute := d.config.Client(r), d.config.Clock().Unix()/60
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.minute != minute {
		d.minute = minute
		clear(d.tries)
	}
	if _, known := d.tries[client]; !known && len(d.tries) >= mostClients {
		client = ""
	}
	if d.tries[client] >= mostTries {
		return http.StatusTooManyRequests
	}
	sum := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(sum[:], d.token[:]) == 1 {
		return http.StatusOK
	}
	d.tries[client]++
	return http.StatusUnauthorized
}

func (d *Door) sign(data []byte) []byte {
	mac := hmac.New(sha256.New, d.key[:])
	mac.Write(data)
	return mac.Sum(nil)
}

// cookie returns a cookie that admits from now on.
func (d *Door) cookie() *http.Cookie {
	data := binary.BigEndian.AppendUint64(nil, uint64(d.config.Clock().Add(lasts).Unix()))
	return &http.Cookie{
		Name: d.cookieName(), Value: base64.RawURLEncoding.EncodeToString(append(data, d.sign(data)...)), Path: "/", MaxAge: int(lasts.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: d.config.Secure,
	}
}

// Local says whether a text is the address of a page below the base: nothing in it leads elsewhere.
func Local(page string) bool {
	return !strings.ContainsAny(page, "\\\r\n\x00") && !strings.HasPrefix(page, "/") && !slices.Contains(strings.Split(page, "/"), "..") &&
		!strings.Contains(strings.SplitN(page, "/", 2)[0], ":")
}

var form = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>Log in · dealflow</title><link rel="icon" href="data:,"><link rel="stylesheet" href="{{.Style}}"></head>
<body><main><h1>dealflow</h1>
{{with .Said}}<p class="empty" role="alert">{{.}}</p>{{end}}
<form method="post" class="interval"><input type="hidden" name="next" value="{{.Next}}"><label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus size="48"><button>Log in</button></form>
<p class="soft">The token is in the file that the server was started with (--token-file).</p></main></body></html>
`))

// ServeHTTP answers requests of the form. Its address is -/login below the base; next is the page to go to, below the base.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		d.show(w, http.StatusOK, r.URL.Query().Get("next"), "")
		return
	}
	if err := d.origin.Check(r); err != nil {
		http.Error(w, "the form was sent by another site", http.StatusForbidden)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, mostBytes)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "the form cannot be read", http.StatusBadRequest)
		return
	}
	next := r.PostForm.Get("next")
	switch status := d.try(r, strings.TrimSpace(r.PostForm.Get("token"))); status {
	case http.StatusOK:
		if !Local(next) {
			next = ""
		}
		http.SetCookie(w, d.cookie())
		w.Header().Set("Location", "../"+next)
		w.WriteHeader(http.StatusSeeOther)
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "60")
		d.show(w, status, next, "There were too many wrong tokens. Try again in a minute.")
	default:
		d.show(w, status, next, "This is not the token.")
	}
}

func (d *Door) show(w http.ResponseWriter, status int, next, said string) {
	if !Local(next) {
		next = ""
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = form.Execute(w, struct{ Style, Next, Said string }{d.config.Style, next, said}) // the reader has gone
}
