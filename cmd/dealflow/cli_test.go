package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"dealflow/internal/testkit"
	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// TestMain lets the scripts run the program as a command.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerCommand {
		main() // exits; a worker has no environment
	}
	if os.Getenv(asProgram) != "" {
		main() // exits
	}
	if at := os.Getenv(asProgramAt); at != "" {
		os.Exit(mainAt(at))
	}
	testkit.WarmCodecs()
	testscript.Main(m, map[string]func(){"dealflow": main})
}

// TestScripts runs testdata/cli: the program as users call it, failures included. Each script has its own simulated
// market at $API, whose clock moves only with the command advance.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "../../testdata/cli",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			m := &scriptMarket{clock: sim.NewManualClock(time.Date(2026, 1, 7, 22, 0, 0, 0, time.UTC))}
			server, err := serve.New(serve.Config{Source: sim.New(sim.Config{Seed: 1, Deals: 20, Clock: m.clock.Now})})
			if err != nil {
				return err
			}
			m.api = server.Handler()
			api := httptest.NewServer(m)
			env.Defer(api.Close)
			env.Values[scriptMarket{}] = m
			env.Setenv("OLD_LAKES", filepath.Join(testkit.Root(t), "testdata/lake"))
			env.Setenv("API", api.URL)
			env.Setenv("DEALFLOW_API", api.URL)
			env.Setenv("DEALFLOW_CLOCK", "server")
			env.Setenv("DEALFLOW_CLIENT_ID", "demo")
			env.Setenv("DEALFLOW_CLIENT_SECRET", "demo")
			env.Vars = append(env.Vars, asQuick()...)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": wantExit, "advance": advance, "spoil": spoil, "lose": lose},
	})
}

// asQuick returns variables with which commands keep as much garbage as the tests do. A run without them makes its process collect
// its small heap all the time, and the tests after it, too.
func asQuick() (variables []string) {
	for _, name := range []string{"GOGC", "GODEBUG"} {
		if value, ok := os.LookupEnv(name); ok {
			variables = append(variables, name+"="+value)
		}
	}
	return variables
}

// scriptMarket is the market of a script. The script's commands can change it.
type scriptMarket struct {
	clock *sim.ManualClock
	api   http.Handler
	bad   atomic.Pointer[string]
	lost  atomic.Pointer[string] // what is lost: the argument of the command lose
}

// badMembers are members that the market writes before the others of a record, by the argument of spoil.
var badMembers = map[string]string{
	"repeat":  `{"canary":1,"canary":2,`, // the record cannot be read
	"unknown": `{"canary":1,`,            // it is drift
}

// loses answers a request about deals that are lost. It returns false if they are not.
func (m *scriptMarket) loses(w http.ResponseWriter, r *http.Request) bool {
	lost := m.lost.Load()
	feed, id := "", int64(0)
	for _, f := range api.Feeds() {
		if rest, ok := strings.CutPrefix(r.URL.Path, f.Path()); ok {
			feed = f.String()
			id, _ = strconv.ParseInt(strings.TrimPrefix(rest, "/"), 10, 64)
		}
	}
	switch {
	case lost == nil || feed == "":
		return false
	case *lost == "" && id == 0:
		w.Header().Set("Content-Type", "application/hal+json")
		_, _ = io.WriteString(w, `{"_links":{"first":{"href":"`+r.URL.Path+`"}}}`)
	case *lost == "":
		http.Error(w, `{"errorId":"e1","message":"no such deal"}`, http.StatusNotFound)
	case feed != "bond/ig/expected":
		return false
	case id == 0:
		m.listHalf(w, r)
	case id%2 == 0:
		return false
	default:
		http.Error(w, "<html></html>", http.StatusNotFound)
	}
	return true
}

// listHalf answers with the deals of a list whose ids are even.
func (m *scriptMarket) listHalf(w http.ResponseWriter, r *http.Request) {
	r.Header.Del("Accept-Encoding")
	answer := httptest.NewRecorder()
	m.api.ServeHTTP(answer, r)
	var page map[string]any
	decoder := json.NewDecoder(answer.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&page); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	embedded, _ := page["_embedded"].(map[string]any)
	for key, list := range embedded {
		deals, _ := list.([]any)
		embedded[key] = slices.DeleteFunc(deals, func(deal any) bool {
			record, _ := deal.(map[string]any)
			id, _ := record["id"].(json.Number)
			n, _ := id.Int64()
			return n%2 != 0
		})
	}
	w.Header().Set("Date", answer.Header().Get("Date"))
	_ = json.NewEncoder(w).Encode(page) // a client that went away
}

// ServeHTTP answers as the API does. After the command spoil, it adds members to the records of priced IG bonds.
func (m *scriptMarket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.Header().Set("Date", m.clock.Now().UTC().Format(http.TimeFormat))
		if m.loses(w, r) {
			return
		}
	}
	bad := m.bad.Load()
	if bad == nil || !strings.HasPrefix(r.URL.Path, "/v3/bond/ig/priced-deal") {
		m.api.ServeHTTP(w, r)
		return
	}
	r.Header.Del("Accept-Encoding")
	answer := httptest.NewRecorder()
	m.api.ServeHTTP(answer, r)
	maps.Copy(w.Header(), answer.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(answer.Code)
	_, _ = strings.NewReplacer(`{"dealId":`, *bad+`"dealId":`).WriteString(w, answer.Body.String())
}

func marketOf(ts *testscript.TestScript) *scriptMarket {
	return ts.Value(scriptMarket{}).(*scriptMarket)
}

// advance is a script's command "advance DURATION". It advances the market's clock.
func advance(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: advance DURATION")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	clock := marketOf(ts).clock
	clock.Set(clock.Now().Add(d))
}

// spoil is a script's command "spoil HOW". It adds members to the records of bond/ig/priced from now on; "! spoil"
// stops that.
func spoil(ts *testscript.TestScript, neg bool, args []string) {
	m := marketOf(ts)
	if neg {
		m.bad.Store(nil)
		return
	}
	how := badMembers[strings.Join(args, " ")]
	if how == "" {
		ts.Fatalf("usage: spoil repeat, spoil unknown or ! spoil")
	}
	m.bad.Store(&how)
}

// lose is a script's command "lose [half]". The API loses all deals from now on; or half of bond/ig/expected, for which
// a proxy answers. "! lose" stops that.
func lose(ts *testscript.TestScript, neg bool, args []string) {
	what := strings.Join(args, " ")
	switch {
	case neg:
		marketOf(ts).lost.Store(nil)
	case what == "" || what == "half":
		marketOf(ts).lost.Store(&what)
	default:
		ts.Fatalf("usage: lose, lose half or ! lose")
	}
}

// wantExit is a script's command "exits CODE COMMAND ARGS…". It fails unless the command ends with that code.
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

// TestCancelled stops a command by its context, as a signal does.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code := Main(ctx, []string{"demo", "--dir", t.TempDir() + "/lake"}, environment{
		Now: time.Now, Stdin: nil, Stdout: t.Output(), Stderr: t.Output(),
	})
	if code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}
