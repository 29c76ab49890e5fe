package main

import (
	"net/url"
	"strings"

	"dealflow/schemas/api"
)

// checkProxy checks the proxy for an API on another machine. The standard library takes none if it cannot understand it. The
// error does not show the proxy, which may have a password.
func (a *app) checkProxy(base api.Base) error {
	if !strings.HasPrefix(base.Origin(), "https://") { // http is for this machine alone
		return nil
	}
	name := "HTTPS_PROXY"
	if a.getenv(name) == "" {
		name = "https_proxy"
	}
	proxy := a.getenv(name)
	if !strings.Contains(proxy, "://") {
		proxy = "http://" + proxy
	}
	if _, err := url.Parse(proxy); err != nil {
		return usagef("%s: it cannot be understood, and is not shown, because it may have a password: want http://host:port, with %%25 for a %% in a password", name)
	}
	return nil
}
