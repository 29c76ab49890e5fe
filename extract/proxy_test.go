package extract_test

import (
	"strings"
	"testing"

	"dealflow/extract"
	"dealflow/schemas/api"
)

// TestProxyIsUnderstood refuses a proxy that cannot be understood, without showing it: the standard library would send requests
// without a proxy.
func TestProxyIsUnderstood(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		t.Setenv(name, "")
	}
	for _, c := range []struct {
		name, proxy, base string
		ok                bool
	}{
		{"HTTPS_PROXY", "http://user:canary%er2@proxy:3128", "https://api.test", false}, {"https_proxy", "http://proxy:canary", "https://api.test", false},
		{"HTTPS_PROXY", "http://user:canary%25er2@proxy:3128", "https://api.test", true}, {"HTTPS_PROXY", "proxy:3128", "https://api.test", true},
		{"HTTP_PROXY", "http://user:canary%er2@proxy", "https://api.test", true}, {"HTTPS_PROXY", "http://user:canary%er2@proxy", "http://127.0.0.1:1", true},
	} {
		t.Setenv(c.name, c.proxy)
		base, err := api.ParseBase(c.base)
		if err != nil {
			t.Fatal(err)
		}
		_, err = extract.New(extract.Config{Base: base, ClientID: "demo", ClientSecret: api.NewSecret("demo")})
		if (err == nil) != c.ok || err != nil && (strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), c.name)) {
			t.Errorf("%s=%s for %s: %v, want an error with the name alone: %t", c.name, c.proxy, c.base, err, !c.ok)
		}
		t.Setenv(c.name, "")
	}
}
