package main

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"dealflow/schemas/api"
)

// reachable returns the base URL of the API. It checks that secrets may be sent there, and the proxy for it.
func (a *app) reachable() (api.Base, error) {
	base, err := a.settings.base()
	if err != nil {
		return base, err
	}
	return base, a.checkProxy(base)
}

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
	if proxy == "" {
		return nil
	}
	if !strings.Contains(proxy, "://") {
		proxy = "http://" + proxy
	}
	found, err := url.Parse(proxy)
	if err != nil || !isProxy(found) {
		return usagef("%s: it cannot be understood, and is not shown, because it may have a password: want http://host:port, with %%25 for a %% in a password", name)
	}
	return nil
}

// isProxy reports whether an address can be that of a proxy: the standard library connects to anything, such as port 0, or takes another scheme
// for http.
func isProxy(u *url.URL) bool {
	port, err := strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16)
	return slices.Contains([]string{"http", "https", "socks5", "socks5h"}, strings.ToLower(u.Scheme)) && u.Hostname() != "" && strings.Trim(u.Path, "/") == "" && err == nil && port > 0
}
