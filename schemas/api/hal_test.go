package api_test

import (
	"strings"
	"testing"

	"dealflow/schemas/api"
)

func TestParseBase(t *testing.T) {
	tests := []struct{ url, want, origin string }{
		{"https://api.example.test", "https://api.example.test", "https://api.example.test"},
		{"https://api.example.test/", "https://api.example.test", "https://api.example.test"},
		{"HTTPS://API.example.test:443/deals//", "https://api.example.test/deals", "https://api.example.test"},
		{"http://localhost:80", "http://localhost", "http://localhost"},
		{"http://127.0.0.1:8080/a/b", "http://127.0.0.1:8080/a/b", "http://127.0.0.1:8080"},
		{"https://[::1]:443/a", "https://[::1]/a", "https://[::1]"},
		{"http://api.example.test:443", "http://api.example.test:443", "http://api.example.test:443"},
	}
	for _, tt := range tests {
		base, err := api.ParseBase(tt.url)
		if err != nil || base.String() != tt.want || base.Origin() != tt.origin {
			t.Errorf("ParseBase(%q): got %s, origin %s, %v; want %s, origin %s", tt.url, base, base.Origin(), err, tt.want, tt.origin)
		}
	}
	for _, url := range []string{"", "api.example.test", "/deals", "ftp://api.example.test", "https://", "https:///v3", "https://user:secret@api.example.test", "https://api.example.test:x"} {
		if base, err := api.ParseBase(url); err == nil {
			t.Errorf("ParseBase(%q): got %s, want an error", url, base)
		}
	}
}

// TestSecretsInURLs refuses addresses with a secret, without saying it.
func TestSecretsInURLs(t *testing.T) {
	for _, url := range []string{
		"https://host/?token=canary", "https://host/deals?canary#x", "https://host#canary", "https://user:canary@host", "https://user:can/canary@host",
		"https://user:canary%zz@host/", "ftp://user:canary@host", "https://host:port/?canary",
	} {
		if _, err := api.ParseBase(url); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("ParseBase(%q): %v, want an error without the secret", url, err)
		}
	}
	for url, want := range map[string]string{
		"https://user:x@host/a": "https://…@host/a", "s3://key:x@bucket/a": "s3://…@bucket/a", "https://host/a?x=y#z": "https://host/a?…", "a folder": "a folder",
	} {
		if got := api.ShownURL(url); got != want {
			t.Errorf("ShownURL(%q) = %q, want %q", url, got, want)
		}
	}
}

func TestRelative(t *testing.T) {
	const root, deals = "https://api.example.test", "https://api.example.test/deals"
	tests := []struct{ base, href, want string }{
		{root, "https://api.example.test/v3/x/12", "/v3/x/12"},
		{root, "https://api.example.test/v3/x/12?a=1&b=%2F#c", "/v3/x/12?a=1&b=%2F#c"},
		{root, "/v3/x/12", "/v3/x/12"},
		{root, "HTTPS://API.EXAMPLE.TEST:443/v3/X?A=b", "/v3/X?A=b"},
		{root + ":443", "https://api.example.test/v3", "/v3"},
		{root, "http://api.example.test/v3", "http://api.example.test/v3"},
		{root, "https://api.example.test:8443/v3", "https://api.example.test:8443/v3"},
		{root, "https://api.example.test.other.test/v3", "https://api.example.test.other.test/v3"},
		{root, "https://user@api.example.test/v3", "https://user@api.example.test/v3"},
		{root, "https://api.example.test", "https://api.example.test"},
		{root, "https://other.example.test/v3", "https://other.example.test/v3"},
		{root, "//other.example.test/v3", "//other.example.test/v3"},
		{root, "//api.example.test/v3", "/v3"},
		{root, "https://api.example.test?x=/a", "https://api.example.test?x=/a"},
		{root, "https://api.example.test#/a", "https://api.example.test#/a"},
		{root, "https://api.example.test//other.test/x", "https://api.example.test//other.test/x"},
		{root, "HTTPS://api.example.test/%zz", "/%zz"},
		{root, "https:///v3", "https:///v3"},
		{root, "v3/x/12", "v3/x/12"},
		{root, "", ""},
		{root, "%zz://\x00", "%zz://\x00"},
		{deals, "https://api.example.test/deals/v3/x/12", "/v3/x/12"},
		{deals, "HTTPS://api.example.test/deals/v3/x/12", "/v3/x/12"},
		{deals, "/deals/v3/x/12", "/v3/x/12"},
		{deals, "/v3/x/12", "/v3/x/12"},
		{deals, "https://api.example.test/v3/x/12", "https://api.example.test/v3/x/12"},
		{deals, "https://api.example.test/dealsv3/x", "https://api.example.test/dealsv3/x"},
		{deals, "https://api.example.test/deals", "https://api.example.test/deals"},
	}
	for _, tt := range tests {
		base, err := api.ParseBase(tt.base)
		if err != nil {
			t.Fatal(err)
		}
		if got := base.Relative(tt.href); got != tt.want {
			t.Errorf("Relative(%q) under %s: got %q, want %q", tt.href, tt.base, got, tt.want)
		}
		if got := string(base.RelativeBytes([]byte(tt.href))); got != tt.want {
			t.Errorf("RelativeBytes(%q) under %s: got %q, want %q", tt.href, tt.base, got, tt.want)
		}
	}
}

// TestRelativeToNothing checks that the zero Base leaves links unchanged.
func TestRelativeToNothing(t *testing.T) {
	for _, href := range []string{"", "/v3/x/12", "https://api.example.test/v3/x/12", "//api.example.test/v3"} {
		if got := string(api.Base{}.RelativeBytes([]byte(href))); got != href {
			t.Errorf("got %q, want %q", got, href)
		}
	}
}

func TestRelativeBytesAllocatesNothing(t *testing.T) {
	base, err := api.ParseBase("https://api.example.test/deals")
	if err != nil {
		t.Fatal(err)
	}
	href := []byte("https://api.example.test/deals/v3/bond/ig/priced-deal/12")
	if n := testing.AllocsPerRun(100, func() { base.RelativeBytes(href) }); n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}
