package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"dealflow/serve"
	"dealflow/serve/sim"
)

// TestMain lets the scripts run the program as a command of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"dealflow": main})
}

// TestScripts runs testdata/cli: the program as its users drive it, failures included. Each script has
// a simulated market of its own at $API, whose time stands still.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "../../testdata/cli",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			market := sim.New(sim.Config{Seed: 1, Deals: 20, Clock: sim.NewManualClock(time.Date(2026, 1, 7, 22, 0, 0, 0, time.UTC)).Now})
			server, err := serve.New(serve.Config{Source: market})
			if err != nil {
				return err
			}
			http := httptest.NewServer(server.Handler())
			env.Defer(http.Close)
			env.Setenv("API", http.URL)
			env.Setenv("DEALFLOW_API", http.URL)
			env.Setenv("DEALFLOW_CLOCK", "server")
			env.Setenv("DEALFLOW_CLIENT_ID", "demo")
			env.Setenv("DEALFLOW_CLIENT_SECRET", "demo")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": wantExit},
	})
}

// wantExit is a script's command "exits CODE COMMAND ARGS…": the command must end with that code.
func wantExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS…")
	}
	got := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var status interface{ ExitCode() int }
		if !errors.As(err, &status) {
			ts.Fatalf("%v", err)
		}
		got = strconv.Itoa(status.ExitCode())
	}
	if got != args[0] {
		ts.Fatalf("%v ended with exit code %s, want %s", args[1:], got, args[0])
	}
}

// TestCancelled ends a command by its context, as a signal does.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code := Main(ctx, []string{"demo", "--dir", t.TempDir() + "/lake"}, environment{
		Getenv: func(string) string { return "" }, Now: time.Now, Stdin: nil, Stdout: t.Output(), Stderr: t.Output(),
	})
	if code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}
