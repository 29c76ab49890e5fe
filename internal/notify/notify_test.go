package notify_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/internal/notify"
	"dealflow/schemas/api"
)

const secret = "canary-token"

// hook is a web server that answers with one status after the other, and then 204.
type hook struct {
	mu       sync.Mutex
	statuses []int
	got      []string // token and body of each request
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	h.got = append(h.got, r.Method+" "+r.Header.Get("Content-Type")+" "+r.Header.Get("Authorization")+" "+string(body))
	if len(h.statuses) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	status := h.statuses[0]
	h.statuses = h.statuses[1:]
	if status == 0 { // the connection breaks
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Location", "http://127.0.0.1:1/"+secret)
	w.WriteHeader(status)
}

// TestPost sends to a server that fails in many ways: what may pass is tried again, what will not is not, and no error
// shows the path or the token.
func TestPost(t *testing.T) {
	for _, c := range []struct {
		statuses []int
		requests int
		fault    string
	}{
		{nil, 1, ""},
		{[]int{200}, 1, ""},
		{[]int{500, 503, 429}, 4, ""},
		{[]int{0, 0}, 3, ""},
		{[]int{500, 500, 500, 500, 500}, 4, "got status 500"},
		{[]int{0, 0, 0, 0, 0}, 4, "EOF"},
		{[]int{400}, 1, "got status 400"},
		{[]int{401}, 1, "got status 401"},
		{[]int{307}, 1, "got status 307"},
	} {
		h := &hook{statuses: c.statuses}
		server := httptest.NewUnstartedServer(h)
		server.Config.ErrorLog = nil
		server.Start()
		err := notify.Post(t.Context(), notify.Config{Timeout: time.Minute, Token: api.NewSecret(secret), Wait: time.Millisecond}, server.URL+"/services/"+secret+"?key="+secret, []byte(`{"a":1}`))
		server.Close()
		what := fmt.Sprint(c.statuses)
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: %v, want %q", what, err, c.fault)
		}
		if err != nil && (strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "POST "+server.URL+"/…: ")) {
			t.Errorf("%s: the error shows a secret, or not the host: %v", what, err)
		}
		if len(h.got) != c.requests {
			t.Errorf("%s: %d requests, want %d", what, len(h.got), c.requests)
		}
		for _, got := range h.got {
			if want := `POST application/json Bearer ` + secret + ` {"a":1}`; got != want {
				t.Errorf("%s: the server got %q, want %q", what, got, want)
			}
		}
	}
	for _, bad := range []string{"http://", "https://%zz/" + secret, "http://127.0.0.1:1/" + secret} {
		err := notify.Post(t.Context(), notify.Config{Wait: time.Millisecond}, bad, nil)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want an error without the secret", bad, err)
		}
	}
}

// TestTimeout checks that the time limit ends a server that does not answer and a command that does not end, and that the
// error says so.
func TestTimeout(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
	}))
	defer server.Close()
	if err := notify.Post(t.Context(), notify.Config{Timeout: time.Millisecond}, server.URL, []byte("{}")); err == nil || !strings.Contains(err.Error(), "it took more than 1ms") {
		t.Errorf("a server without an answer: %v", err)
	}
	err := notify.Run(t.Context(), notify.Config{Timeout: time.Millisecond, Environ: os.Environ()}, "exec tail -f /dev/null", nil)
	if err == nil || !strings.Contains(err.Error(), "it took more than 1ms") {
		t.Errorf("a command without an end: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := notify.Run(ctx, notify.Config{}, "true", nil); err == nil {
		t.Error("a cancelled context starts a command")
	}
}

// TestRun checks that a command gets the document and its own variables, and that a failure shows its last line.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "got")
	environ := []string{"FILE=" + file, "PATH=" + os.Getenv("PATH")}
	if err := notify.Run(t.Context(), notify.Config{Environ: environ, Timeout: time.Minute}, `cat > "$FILE"; env | grep -c ^HOME= >> "$FILE" || true`, []byte("{\"a\":1}\n")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(file); string(got) != "{\"a\":1}\n0\n" {
		t.Errorf("the command got %q", got)
	}
	err := notify.Run(t.Context(), notify.Config{Environ: environ}, `echo first; printf 'x%.0s' $(seq 3000); echo; echo "no such host" >&2; exit 3`, nil)
	if err == nil || err.Error() != "exit status 3: no such host" {
		t.Errorf("got %v", err)
	}
	// A shell that cannot start a command names it, with the secrets in it.
	for _, command := range []string{secret, "/" + secret + "/x", "/dev/null/" + secret, `"https://h/` + secret + `"; exit 1`, "echo " + secret + " >&2; exit 126"} {
		err := notify.Run(t.Context(), notify.Config{Environ: environ}, command, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "exit status 1") || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, want the exit status without the command", command, err)
		}
	}
	// A command that does not read its stdin is no fault.
	if err := notify.Run(t.Context(), notify.Config{Environ: environ}, "exit 0", make([]byte, 1<<20)); err != nil {
		t.Errorf("a command that reads nothing: %v", err)
	}
}

// TestAppend lets many writers add lines to one file.
func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.ndjson")
	line := `{"x":"` + strings.Repeat("x", 20_000) + `"}`
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := notify.Append(path, []byte(line)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != strings.Repeat(line+"\n", 20) {
		t.Errorf("%d bytes, %v, want 20 lines", len(got), err)
	}
	if err := notify.Append(filepath.Join(path, "x"), nil); err == nil {
		t.Error("a file in a file: no error")
	}
	other := filepath.Join(t.TempDir(), "dealflow.yaml")
	if err := os.WriteFile(other, []byte("lake: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := notify.Append(other, []byte(line)); err == nil || !strings.Contains(err.Error(), "name another file") {
		t.Errorf("another program's file: got %v", err)
	}
	if got, err := os.ReadFile(other); err != nil || string(got) != "lake: x\n" {
		t.Errorf("another program's file is %q, %v", got, err)
	}
}

// TestCheck checks which targets are web servers, and that a URL in quotes is refused: it would be a shell command.
func TestCheck(t *testing.T) {
	for target, want := range map[string]struct{ url, ok bool }{
		"https://h/" + secret: {true, true}, "HTTPS://h/" + secret: {true, true}, " \thttp://h/" + secret + "\n": {true, true}, "Http://": {true, false},
		`"https://h/` + secret + `"`: {false, false}, ` 'HTTP://h/` + secret + `'`: {false, false}, "`https://h/`": {false, false}, "\u201chttps://h/\u201d": {false, false},
		"": {false, true}, "curl -d @- https://h/": {false, true}, `"my notify" https://h/`: {false, true}, "events.ndjson": {false, true},
	} {
		err := notify.Check(target)
		if notify.IsURL(target) != want.url || (err == nil) != want.ok {
			t.Errorf("%q: a URL %t, %v; want %t, and an error %t", target, notify.IsURL(target), err, want.url, !want.ok)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%q: the error shows a secret: %v", target, err)
		}
	}
	h := &hook{}
	server := httptest.NewServer(h)
	defer server.Close()
	if err := notify.Post(t.Context(), notify.Config{}, " "+strings.Replace(server.URL, "http", "HTTP", 1)+" ", []byte("{}")); err != nil || len(h.got) != 1 {
		t.Errorf("a URL with blanks and capitals: %v, %d requests", err, len(h.got))
	}
}

// TestShown checks what is shown of targets.
func TestShown(t *testing.T) {
	for target, want := range map[string]string{
		" HTTPS://user:" + secret + "@hooks.test/" + secret:                          "https://hooks.test/…",
		"https://user:" + secret + "@hooks.test/services/" + secret + "?k=" + secret: "https://hooks.test/…",
		"http://[::1" + secret: "http://…", "mail -s x desk": "mail -s x desk",
	} {
		if got := notify.Shown(target); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}
