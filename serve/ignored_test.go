package serve_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"dealflow/serve"
)

// TestIgnoredParametersAreTold asks with parameters that a path does not know. They change nothing; the answer's header
// and a line of the log name them. A strict server answers 400.
func TestIgnoredParametersAreTold(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	config := serve.Config{Source: newStand(), Log: slog.New(slog.NewTextHandler(&log, nil))}
	client := start(t, config)
	config.Strict, config.Log = true, nil
	strict := start(t, config)
	for query, want := range map[string]string{
		"":                                      "",
		"pageSize=2&pricingDateFrom=2020-01-01": "",
		"PAGESIZE=2":                            "PAGESIZE",
		"changedFrom=x&pageSize=3&b=1&b":        "b, changedFrom",
		"s3cr3t%0a=1&x":                         "?, x",
	} {
		log.Reset()
		status, header, body := client.get(setA.Path() + "?" + query)
		if got := header.Get("Dealflow-Ignored"); status != 200 || got != want {
			t.Errorf("?%s: got %d %q, want %q; %s", query, status, got, want, body)
		}
		if told := strings.Contains(log.String(), "parameters ignored"); told != (want != "") || strings.Contains(log.String(), "s3cr3t") {
			t.Errorf("?%s: the log says %s", query, log.String())
		}
		wantStatus := 200
		if want != "" {
			wantStatus = 400
		}
		if status, _, body := strict.get(setA.Path() + "?" + query); status != wantStatus || want != "" && !strings.Contains(string(body), strings.Split(want, ", ")[0]) {
			t.Errorf("?%s, strict: got %d, want %d; %s", query, status, wantStatus, body)
		}
	}
	for _, path := range []string{"/v3", "/v3/bond", "/v3/bond/ig", setA.Path() + "/1"} {
		if _, header, _ := client.get(path + "?pageSize=1"); header.Get("Dealflow-Ignored") != "pageSize" {
			t.Errorf("%s: the parameter is not named as ignored", path)
		}
	}
	if status, _, body := strict.get(setA.DealPath(1) + "?pageSize=1"); status != 400 || !strings.Contains(string(body), "pageSize") {
		t.Errorf("got %d %s", status, body)
	}
}
