package main

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/s3test"
)

// TestCommandsOnS3 runs each command on a lake on a real S3 server, and serves the lake.
func TestCommandsOnS3(t *testing.T) {
	testkit.Long(t)
	server := s3test.Start(t, s3test.Options{})
	p := location{server.Store(t, "commands"), []string{
		"DEALFLOW_LAKE=s3://" + server.Bucket + "/commands", "AWS_ENDPOINT_URL_S3=" + server.Endpoint, "AWS_REGION=" + server.Region,
		"AWS_ACCESS_KEY_ID=" + server.AccessKey, "AWS_SECRET_ACCESS_KEY=" + server.SecretKey,
	}}
	k := newNight(t, p)
	for _, command := range []string{
		"run", "status", "runs", "runs show last", "doctor", "sync", "compact", "expire --apply", "replay --force", "catalog", "verify --read-data", "quarantine list", "files --since 1",
	} {
		if code := k.program(t, p, 0, strings.Fields(command)...); code != 0 {
			t.Errorf("%s: exit code %d", command, code)
		}
	}
	if code := k.program(t, p, 0, "query", "SELECT 1 / count(*) FROM bond_priced_banks_as_of('2026-01-07 23:00:00Z')"); code != 0 {
		t.Errorf("query: exit code %d", code)
	}
	// The process of the statement has no credentials: the files are fetched before it starts.
	if code := k.program(t, p, 0, "query", "--safe", "SELECT 1 / count(*) FROM history.bond_priced_banks"); code != 0 {
		t.Errorf("query --safe: exit code %d", code)
	}
	for _, since := range []string{"--full", "--since last"} {
		if code := k.program(t, p, 0, append(strings.Fields("export "+since), "s3://"+server.Bucket+"/export")...); code != 0 {
			t.Errorf("export %s: exit code %d", since, code)
		}
	}
	wrong := location{p.store, append(p.settings, "AWS_SECRET_ACCESS_KEY=wrong")}
	if code := k.program(t, wrong, 0, "doctor"); code != 1 {
		t.Errorf("doctor with a wrong key: exit code %d, want 1", code)
	}

	for _, setting := range p.settings {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	stderr := &lines{address: make(chan string, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		done <- Main(ctx, []string{"serve", "--lake", "s3://" + server.Bucket + "/commands", "--listen", "127.0.0.1:0", "--cache-dir", filepath.Join(t.TempDir(), "cache")},
			environment{Now: time.Now, Stdout: t.Output(), Stderr: stderr})
	}()
	select {
	case url := <-stderr.address:
		for _, at := range []string{"", "/as-of/2026-01-07T23:00:00Z"} {
			if page := listOf(t, url+at); !strings.Contains(page, `"dealId"`) {
				t.Errorf("%s: the list is %.200s", at, page)
			}
		}
	case code := <-done:
		t.Fatalf("serve ended with exit code %d: %s", code, stderr.text.String())
	}
	cancel()
	if code := <-done; code != 0 && code != 130 {
		t.Errorf("serve: exit code %d", code)
	}
}

// listOf returns a page of bond/ig/priced, requested with the built-in account.
func listOf(t *testing.T, base string) string {
	t.Helper()
	ask := func(method, url, user, bearer, body string) string {
		request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if user != "" {
			request.SetBasicAuth(user, user)
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		} else {
			request.Header.Set("Authorization", "Bearer "+bearer)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	_, token, _ := strings.Cut(ask(http.MethodPost, base+"/oauth/token", "demo", "", "grant_type=client_credentials"), `"access_token":"`)
	token, _, _ = strings.Cut(token, `"`)
	return ask(http.MethodGet, base+"/v3/bond/ig/priced-deal?pageSize=2", "", token, "")
}
