package main

import (
	"strings"
	"testing"
)

// TestProxyIsUnderstood refuses a proxy that cannot be understood, without showing it: the standard library would send requests
// without a proxy.
func TestProxyIsUnderstood(t *testing.T) {
	m := newStalling(t)
	lake := "DEALFLOW_LAKE=" + t.TempDir()
	for _, c := range []struct {
		variable, api string
		code          int // 4: it was sent, to this machine
	}{
		{"HTTPS_PROXY=http://user:canary%er2@127.0.0.1:1", "https://api.test", 2}, {"https_proxy=http://127.0.0.1:canary", "https://api.test", 2},
		{"HTTPS_PROXY=http://user:canary%25er2@127.0.0.1:1", "https://api.test", 1}, {"HTTPS_PROXY=127.0.0.1:1", "https://api.test", 1},
		{"HTTPS_PROXY=http://user:canary%er2@127.0.0.1:1", m.url + "/none", 4},
		{"HTTPS_PROXY=htp://127.0.0.1:1", "https://api.test", 2}, {"HTTPS_PROXY=http://", "https://api.test", 2}, {"HTTPS_PROXY=http:/127.0.0.1:1", "https://api.test", 2},
		{"HTTPS_PROXY=http//proxy:3128", "https://api.test", 2}, {"HTTPS_PROXY=127.0.0.1:0", "https://api.test", 2}, {"HTTPS_PROXY=socks5://127.0.0.1:1/", "https://api.test", 1},
	} {
		name, _, _ := strings.Cut(c.variable, "=")
		code, out := m.exitOf(t, []string{c.variable, lake}, "run", "--api", c.api, "--attempts", "1")
		if code != c.code || strings.Contains(out, "canary") || c.code == 2 && !strings.Contains(out, name) {
			t.Errorf("%s for %s: a run ends with %d, want %d and not the proxy:\n%s", c.variable, c.api, code, c.code, out)
		}
		code, out = m.exitOf(t, []string{c.variable, lake}, "doctor", "--api", c.api)
		if code != 1 || strings.Contains(out, "canary") || c.code == 2 && !strings.Contains(out, name) {
			t.Errorf("%s for %s: doctor ends with %d, want 1 and not the proxy:\n%s", c.variable, c.api, code, out)
		}
	}
}
