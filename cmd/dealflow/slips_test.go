package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestSlips has settings as operators get them wrong. Each is refused with the setting, and with where it is from, and nothing is made.
func TestSlips(t *testing.T) {
	t.Chdir(t.TempDir())
	account := []string{"DEALFLOW_API=http://127.0.0.1:1", "DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo", "DEALFLOW_ATTEMPTS=1"}
	s3 := []string{"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=canary", "AWS_REGION=eu-1", "AWS_ENDPOINT_URL_S3=http://127.0.0.1:1"}
	for _, slip := range []struct {
		environ []string
		line    string // its words
		want    string
	}{
		// Nothing replaces variables, and a character cannot be seen.
		{[]string{"DEALFLOW_LAKE=$HOME/lake"}, "run", `--lake, from DEALFLOW_LAKE: "$HOME/lake": nothing replaces variables here`},
		{[]string{"DEALFLOW_LAKE=s3://bucket/${ENV}"}, "run", "nothing replaces variables here"},
		{[]string{"DEALFLOW_LAKE=%S/lake"}, "run", "nothing replaces variables here"},
		{[]string{"DEALFLOW_LAKE=lake\u00a0"}, "run", "cannot be seen"},
		{[]string{"DEALFLOW_LAKE=\ufefflake"}, "run", "cannot be seen"},
		{[]string{"DEALFLOW_CACHE_DIR=~/cache"}, "run", "only a shell knows ~"},
		{nil, "copy lake $HOME/backup", "the target"},
		{[]string{"DEALFLOW_METRICS_FILE=m.prom "}, "run", "without quotes or blanks"},
		{nil, "query SELECT|1 --out answer.csv|", "--out"},
		{[]string{"DEALFLOW_LAKE=--require-lake"}, "run", "--lake, from DEALFLOW_LAKE, has a flag as its value"},
		{[]string{"DEALFLOW_LAKE=sss:/b"}, "run", `--lake, from DEALFLOW_LAKE: "sss:/b": is it s3://bucket/prefix?`},
		// The value of a flag is missing.
		{nil, "run --lake --require-lake", "--lake has a flag as its value"},
		{nil, "run --lake -q", "--lake has a flag as its value"},
		{nil, "run --metrics-file --quiet", "--metrics-file has a flag as its value"},
		// Servers.
		{[]string{"DEALFLOW_OPENLINEAGE=marquez.example:5000"}, "run", "--openlineage, from DEALFLOW_OPENLINEAGE: is it a server?"},
		{[]string{"DEALFLOW_OPENLINEAGE=events.json\n"}, "run", "want a URL, or the whole path"},
		{[]string{"DEALFLOW_API=http://127.0.0.1:99999"}, "run", "--api, from DEALFLOW_API: parse"},
		{[]string{"DEALFLOW_API=localhost"}, "run", "--api, from DEALFLOW_API: parse"},
		{nil, "serve --sim --listen 127.0.0.1:70000", `--listen "127.0.0.1:70000": want a port from 0 to 65535`},
		{nil, "ui --listen 127.0.0.1:70000", "--listen"},
		{nil, "ui --host https://lake.example", "--host"},
		{append(s3, "AWS_ENDPOINT_URL_S3=store:9000"), "run --lake s3://bucket/x", "the endpoint (AWS_ENDPOINT_URL_S3"},
		{append(s3, "AWS_ENDPOINT_URL_S3=http://a:canary@store:9000"), "run --lake s3://bucket/x", "without user and password"},
		{append(s3, "AWS_ENDPOINT_URL_S3=http://store:99999"), "status --lake s3://bucket/x", "the endpoint (AWS_ENDPOINT_URL_S3"},
		{append(s3, "AWS_REGION=eu 1"), "run --lake s3://bucket/x", `the region "eu 1" (AWS_REGION`},
		// What has no effect.
		{nil, "run --maintain --keep-month-ends=false", "--keep-month-ends=false: want --keep-days"},
		{nil, "run --maintain --keep-days 0", "--keep-days 0 would keep no day"},
		{nil, "run --accept-day-zone", "--accept-day-zone: want --day-zone"},
		{nil, "expire --garbage-only --keep-days 1", "leave --keep-days out"},
		{nil, "copy a b --lake c", "leave --lake out"},
		{nil, "serve --lake a --seed 3", "--seed is of a simulated market"},
		// Secrets, and what is taken for one.
		{[]string{"DEALFLOW_CLIENT_SECRET=", "DEALFLOW_CLIENT_SECRET_FILE=canary"}, "run", "client secret file, from DEALFLOW_CLIENT_SECRET_FILE: no such file"},
		{[]string{"DEALFLOW_CLIENT_SECRET=", "DEALFLOW_CLIENT_SECRET_FILE=/dev/zero"}, "run", "it is no secret"},
		{[]string{"DEALFLOW_CLIENT_SECRET=", "DEALFLOW_CLIENT_SECRET_FILE=two-lines"}, "run", "from DEALFLOW_CLIENT_SECRET_FILE: it has several lines"},
		{[]string{"DEALFLOW_CLIENT_SECRET=", "DEALFLOW_CLIENT_SECRET_FILE=marked"}, "run", "it begins with a byte order mark"},
		{[]string{"DEALFLOW_CLIENT_SECRET=can\nary"}, "run", "from DEALFLOW_CLIENT_SECRET: it has several lines"},
		{nil, "init --api http://u:canary@host other.yaml", "want no credentials in the URL"},
	} {
		for name, text := range map[string]string{"two-lines": "canary\nmore\n", "marked": "\ufeffcanary\n"} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		words := strings.Fields(slip.line)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "|", " ")
		}
		environ := slices.Clone(slip.environ)
		for _, variable := range account {
			name, _, _ := strings.Cut(variable, "=")
			if !slices.ContainsFunc(environ, func(given string) bool { return strings.HasPrefix(given, name+"=") }) {
				environ = append(environ, variable)
			}
		}
		for _, variable := range slip.environ { // the SDK reads the process's own
			if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
				t.Setenv(name, value)
			}
		}
		code, stdout, stderr := mainWith(t, environ, words...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, slip.want) || strings.Contains(stderr, "canary") {
			t.Errorf("%q, dealflow %s: ends with %d, want 2, and %q without the secret:\n%s%s", slip.environ, slip.line, code, slip.want, stdout, stderr)
		}
	}
	made, err := filepath.Glob("*")
	if err != nil || strings.Join(made, " ") != "marked two-lines" {
		t.Errorf("there is %q, %v: something was made", made, err)
	}
}

// TestUnusualSettings has settings that look like slips and are none.
func TestUnusualSettings(t *testing.T) {
	t.Chdir(t.TempDir())
	account := []string{"DEALFLOW_API=http://127.0.0.1:1/", "DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo\n", "DEALFLOW_ATTEMPTS=1"}
	if err := os.Mkdir("a$b", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("dealflow.yml", []byte("services: {web: {image: x}}\n"), 0o600); err != nil { // of another program
		t.Fatal(err)
	}
	pipe := "pipe"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	for _, c := range []struct {
		environ []string
		line    string
		code    int
		said    string
	}{
		{[]string{"DEALFLOW_LAKE=a$b"}, "run", 1, "connection refused"},
		{[]string{"DEALFLOW_LAKE=100%"}, "run", 1, "connection refused"},
		{nil, "query SELECT|1|AS|n --out sales$eu.csv", 10, "no lake"},
		{nil, "run --keep-month-ends", 1, "connection refused"},
		{[]string{"DEALFLOW_CLIENT_SECRET=", "DEALFLOW_CLIENT_SECRET_FILE=" + pipe}, "run", 1, "connection refused"},
		{[]string{"DEALFLOW_CLIENT_SECRET=", `DEALFLOW_CLIENT_SECRET_COMMAND=test -n "$PATH" && echo demo`}, "run", 1, "connection refused"},
		{nil, "version", 0, ""},
	} {
		environ := slices.DeleteFunc(slices.Concat(account, c.environ), func(variable string) bool {
			return strings.HasPrefix(variable, "DEALFLOW_CLIENT_SECRET=demo") && slices.Contains(c.environ, "DEALFLOW_CLIENT_SECRET=")
		})
		if slices.Contains(c.environ, "DEALFLOW_CLIENT_SECRET_FILE="+pipe) {
			go func() { _ = os.WriteFile(pipe, []byte("demo\n"), 0o600) }() // opens it when the program reads
		}
		words := strings.Fields(c.line)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "|", " ")
		}
		if code, _, stderr := mainWith(t, environ, words...); code != c.code || !strings.Contains(stderr, c.said) {
			t.Errorf("%q, dealflow %s: ends with %d, want %d and %q:\n%s", c.environ, c.line, code, c.code, c.said, stderr)
		}
	}
}

// TestSettingsFileSlips has a settings file that is not read as it is meant.
func TestSettingsFileSlips(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("x.yaml", []byte("lake: lk\nexprie:\n  keep_days: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, nil, []string{"config", "show", "--config", "x.yaml"}, `settings file x.yaml, line 2: unknown section "exprie" (did you mean expire?)`)
	if err := os.Symlink("unmounted/dealflow.yaml", "dealflow.yaml"); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, nil, []string{"status"}, "dealflow.yaml is a link to a file that is not there")
	if err := os.Rename("x.yaml", "dealflow.yml"); err != nil { // it has a lake
		t.Fatal(err)
	}
	if err := os.Remove("dealflow.yaml"); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, nil, []string{"status"}, "dealflow.yml is not read, because its name is not dealflow.yaml")
}
