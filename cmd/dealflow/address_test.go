package main

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"dealflow/schemas/lake"
)

// TestNewAddress pulls a night, moves the API to another address, and pulls the same day again there: nothing is
// new, changed or removed, and a sync continues from the link of the old address.
func TestNewAddress(t *testing.T) {
	m := newStalling(t)
	moved := httptest.NewServer(m)
	t.Cleanup(moved.Close)
	settings := []string{"DEALFLOW_LAKE=" + filepath.Join(t.TempDir(), "lake"), "DEALFLOW_FEEDS=bond/ig/priced"}
	there := append([]string{"DEALFLOW_API=" + moved.URL}, settings...)
	pulled := func(settings []string, command string) (feed lake.FeedRun) {
		t.Helper()
		code, out := m.exitOf(t, settings, command, "--json", "--quiet")
		var result struct {
			Feeds []lake.FeedRun `json:"feeds"`
		}
		if err := json.Unmarshal([]byte(out), &result); err != nil || code != 0 || len(result.Feeds) != 1 {
			t.Fatalf("%s ends with %d: %v\n%s", command, code, err, out)
		}
		return result.Feeds[0]
	}
	first := pulled(settings, "run")
	sync := pulled(there, "sync")
	if sync.Added+sync.Changed > 0 || sync.Deals >= first.Deals || sync.Pages != 1 || sync.BaseURL != moved.URL {
		t.Errorf("a sync at the new address %s: %+v, want the deals since the old link alone, and no change", moved.URL, sync)
	}
	second := pulled(there, "run")
	if second.Added+second.Changed+second.Removed > 0 || second.Unchanged != first.Deals || second.Deals != first.Deals {
		t.Errorf("a run at the new address: %+v, want %d unchanged deals", second, first.Deals)
	}
}
