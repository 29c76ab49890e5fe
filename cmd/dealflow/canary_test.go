package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/serve"
	"dealflow/serve/sim"
)

// canary is a secret that must not appear in any output.
const canary = "canary-4f2a=!/%+"

// leaky is an API that returns whatever it was sent: in errors, and in bodies that are not valid answers.
type leaky struct {
	api http.Handler

	mu      sync.Mutex
	mode    string   // kind of fault: "", errors, bodies, panic
	secrets []string // the secret, and the tokens that it has issued
}

func (l *leaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	mode := l.mode
	l.mu.Unlock()
	said := r.Header.Get("Authorization") + " " + canary
	if id, secret, ok := r.BasicAuth(); ok {
		said += " " + id + ":" + secret
	}
	lists := strings.HasPrefix(r.URL.Path, "/v3/bond/ig")
	switch {
	case mode == "errors" && lists:
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(map[string]string{"errorId": said, "message": said, "timestamp": said})
		return
	case mode == "bodies" && lists:
		_, _ = w.Write([]byte("<html>" + said))
		return
	case mode == "links" && lists:
		_, _ = w.Write([]byte(`{"_embedded":{"pricedDeals":[],"expectedDeals":[]},"_links":{"next":{"href":"http://127.0.0.1:9/` + strings.ReplaceAll(said, `"`, "") + `"}}}`))
		return
	case mode == "tokens" && r.Method == http.MethodPost:
		_, _ = w.Write([]byte(`{"access_token":"` + canary + `","token_type":"` + said + `"}`))
		return
	}
	answer := httptest.NewRecorder()
	l.api.ServeHTTP(answer, r)
	if r.Method == http.MethodPost {
		var token struct {
			AccessToken string `json:"access_token"`
		}
		if json.Unmarshal(answer.Body.Bytes(), &token) == nil && token.AccessToken != "" {
			l.mu.Lock()
			l.secrets = append(l.secrets, token.AccessToken)
			l.mu.Unlock()
		}
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// TestCanary pulls from an API that returns what it was sent, with full logging, in runs that succeed and in runs that
// fail. Neither the secret nor its header nor a token appears in the program's output, in the lake, or in the list of
// processes.
func TestCanary(t *testing.T) {
	t.Parallel()
	clock := sim.NewManualClock(time.Date(2026, 1, 7, 22, 0, 0, 0, time.UTC))
	server, err := serve.New(serve.Config{
		Source:   sim.New(sim.Config{Seed: 1, Deals: 10, Clock: clock.Now}),
		Accounts: []serve.Account{{ClientID: "desk", Secret: canary}},
	})
	if err != nil {
		t.Fatal(err)
	}
	api := &leaky{api: server.Handler(), secrets: []string{canary, base64.StdEncoding.EncodeToString([]byte("desk:" + canary))}}
	address := httptest.NewServer(api)
	t.Cleanup(address.Close)
	dir := t.TempDir()
	secretFile := filepath.Join(dir, "secret")
	if err := os.WriteFile(secretFile, []byte(canary+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lakeDir := filepath.Join(dir, "lake")
	var said bytes.Buffer
	run := func(want int, mode string, args ...string) {
		t.Helper()
		api.mu.Lock()
		api.mode = mode
		api.mu.Unlock()
		cmd := exec.CommandContext(t.Context(), os.Args[0], append(args, "-v")...)
		cmd.Dir = dir
		cmd.Env = append(asQuick(),
			asProgram+"=1", "HOME="+dir, "TMPDIR="+dir, "DEALFLOW_API="+address.URL, "DEALFLOW_CLOCK=server", "DEALFLOW_LAKE="+lakeDir,
			"DEALFLOW_CLIENT_ID=desk", "DEALFLOW_CLIENT_SECRET_FILE="+secretFile,
		)
		said.WriteString("\n--- " + strings.Join(args, " ") + " " + mode + "\n")
		cmd.Stdout, cmd.Stderr = &said, &said
		_ = cmd.Run() // the exit code is checked below
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%v, %s: exit code %d, want %d", args, mode, got, want)
		}
		if slices.ContainsFunc(cmd.Args, func(arg string) bool { return strings.Contains(arg, canary) }) {
			t.Errorf("%v: the secret is an argument", args)
		}
	}
	run(0, "", "run")
	clock.Set(clock.Now().Add(24 * time.Hour))
	run(0, "", "sync", "--json")
	run(3, "errors", "run", "--json")
	run(1, "bodies", "run", "--attempts", "2") // no feed without the day's snapshot succeeds
	run(1, "links", "run", "--attempts", "2")
	run(1, "tokens", "sync", "--attempts", "2")
	run(1, "errors", "doctor", "--feeds", "bond/ig/priced")
	run(0, "", "run")
	for _, args := range [][]string{{"status", "--json"}, {"runs", "--json"}, {"runs", "show", "last"}, {"quarantine", "list"}, {"doctor"}, {"verify", "--read-data"}} {
		run(0, "", args...)
	}
	api.findSecrets(t, "what the program printed", said.Bytes())
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path == secretFile {
			return err
		}
		data, err := os.ReadFile(path)
		api.findSecrets(t, path, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(api.secrets) < 5 || said.Len() < 10_000 {
		t.Errorf("%d tokens were issued and %d bytes printed: the test tries too little", len(api.secrets)-2, said.Len())
	}
}

// findSecrets searches a text for secrets.
func (l *leaky) findSecrets(t *testing.T, what string, text []byte) {
	t.Helper()
	for _, secret := range l.secrets {
		if i := bytes.Index(text, []byte(secret)); i >= 0 {
			t.Errorf("%s holds a secret: …%s…", what, text[max(0, i-200):min(len(text), i+50)])
			return
		}
	}
}
