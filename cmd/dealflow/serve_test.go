package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/serve"
)

// lines is a standard error stream that sends the server's address when the program has printed it.
type lines struct {
	mu      sync.Mutex
	text    bytes.Buffer
	address chan string
}

var servedAt = regexp.MustCompile(`serving .* at (https?://\S+), described`)

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	if found := servedAt.FindSubmatch(l.text.Bytes()); found != nil {
		select {
		case l.address <- string(found[1]):
		default:
		}
	}
	return len(p), nil
}

// TestServeWithAccounts runs the command with an accounts file, sends requests as a client does, and stops the command
// as a signal does.
func TestServeWithAccounts(t *testing.T) {
	hash, err := serve.HashSecret("canary-secret")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "accounts.yaml")
	if err := os.WriteFile(file, []byte("accounts:\n- {client_id: desk, secret_hash: "+hash+", type: free_trial}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	key := strings.Repeat("canary-key", 4)
	stderr := &lines{address: make(chan string, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		done <- Main(ctx, []string{"serve", "--sim", "--deals", "20", "--start", "2026-03-02T08:00:00Z", "--listen", "127.0.0.1:0", "--accounts", file, "--access-log"},
			environment{Environ: []string{"DEALFLOW_SIGNING_KEY=" + key}, Now: time.Now, Stdout: t.Output(), Stderr: stderr})
	}()
	base := <-stderr.address

	ask := func(method, path, id, secret, token string) (int, []byte) {
		request, err := http.NewRequest(method, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if id != "" {
			request.SetBasicAuth(id, secret)
		} else if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		request.Close = true
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var body bytes.Buffer
		if _, err := body.ReadFrom(response.Body); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, body.Bytes()
	}
	if status, body := ask("POST", "/oauth/token?grant_type=client_credentials", "demo", "demo", ""); status != 401 {
		t.Errorf("the built-in account: %d %s", status, body)
	}
	status, body := ask("POST", "/oauth/token?grant_type=client_credentials", "desk", "canary-secret", "")
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(body, &token); err != nil || status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := ask("GET", "/v3/loan/ll/expected-deal?pageSize=1", "", "", token.AccessToken); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	for _, route := range [][2]string{{"POST", "/_sim/advance?by=24h"}, {"GET", "/metrics"}} {
		if status, body := ask(route[0], route[1], "", "", ""); status != 401 {
			t.Errorf("%s without a token: %d %s", route[1], status, body)
		}
	}
	if status, body := ask("POST", "/_sim/advance?by=24h", "", "", token.AccessToken); status != 200 || !bytes.Contains(body, []byte(`"2026-03-03T08:00:0`)) {
		t.Errorf("%d %s", status, body)
	}
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, secret := range []string{"canary", token.AccessToken, hash} {
		if strings.Contains(stderr.text.String(), secret) {
			t.Errorf("stderr holds %q:\n%s", secret, stderr.text.String())
		}
	}
	if !strings.Contains(stderr.text.String(), "path=/v3/loan/ll/expected-deal status=200") {
		t.Errorf("no access log:\n%s", stderr.text.String())
	}
}
