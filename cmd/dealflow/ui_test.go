package main

import (
	"net"
	"slices"
	"testing"

	"dealflow/internal/attempts"
	"dealflow/internal/ui/operator"
	"dealflow/schemas/lake"
)

// TestExplorerSaysStatus compares the verdict of the explorer with what status finds: each kind of problem has its word, and
// a run that waits for a person names what releases it.
func TestExplorerSaysStatus(t *testing.T) {
	verdict := func(kinds ...string) string {
		h := &operator.Health{}
		for _, kind := range kinds {
			h.Findings = append(h.Findings, operator.Finding{Kind: kind})
		}
		return h.Verdict()
	}
	for kind, severity := range findingKinds {
		bad := map[string]bool{"failed": true, "held": true, "stale": true}[verdict(kind)]
		if bad != (severity == verdictProblem) {
			t.Errorf("%s is a %s, and the verdict is %s", kind, severity, verdict(kind))
		}
	}
	for _, c := range []struct {
		kinds []string
		want  string
	}{
		{nil, "good"}, {[]string{"drift"}, "warned"}, {[]string{"drift", "partial"}, "partial"}, {[]string{"stale", "held"}, "held"}, {[]string{"stale", "lost", "held"}, "failed"},
	} {
		if got := verdict(c.kinds...); got != c.want {
			t.Errorf("%v: the verdict is %s, want %s", c.kinds, got, c.want)
		}
	}
	failed := finding{Kind: "failed", Severity: verdictProblem, Reason: "why", Todo: todoAfterExit("run", 5)}
	for _, c := range []struct {
		name       string
		failure    *statusAttempt
		kind, todo string
	}{
		{"held by a check", &statusAttempt{Outcome: lake.OutcomeHeld, ExitCode: new(5), Open: true, Error: "a quality check holds the run: emptied_columns: 3 columns; duplicate_deals"}, "held", "look at the source; if the data is right, `dealflow run --accept-checks duplicate_deals,emptied_columns`"},
		{"held by drift", &statusAttempt{Outcome: lake.OutcomeHeld, ExitCode: new(5), Open: true, Error: "new drift"}, "held", failed.Todo},
		{"failed", &statusAttempt{Outcome: lake.OutcomeFailed, ExitCode: new(1), Open: true, Error: "emptied_columns"}, "failed", failed.Todo},
		{"killed", &statusAttempt{Outcome: attempts.OutcomeKilled, Open: true}, "failed", failed.Todo},
		{"succeeded since", &statusAttempt{Outcome: lake.OutcomeHeld, ExitCode: new(5)}, "failed", failed.Todo},
	} {
		s := &statusResult{}
		s.LastFailure = c.failure
		if got := heldFinding(s, failed); got.Kind != c.kind || got.Todo != c.todo {
			t.Errorf("%s: got %s and %q, want %s and %q", c.name, got.Kind, got.Todo, c.kind, c.todo)
		}
	}
}

// TestExplorerSaysWhatHolds checks that a held run says what its checks found, leads to the attempt, and names the command that
// releases it, on Health and on the page of the attempt.
func TestExplorerSaysWhatHolds(t *testing.T) {
	const message = "a quality check holds the run:\n  emptied_columns: bond/ig/priced: 112 (spread of 429 deals, such as 100412)\n  emptied_lists: loan/af/priced: 9 (banks)\nnothing was committed; check the source"
	const todo = "look at the source; if the data is right, `dealflow run --accept-checks emptied_columns,emptied_lists`"
	s := &statusResult{}
	s.LastFailure = &statusAttempt{RunID: "01a2", Outcome: lake.OutcomeHeld, ExitCode: new(5), Open: true, Error: message}
	got := heldFinding(s, finding{Kind: "failed", Todo: todoAfterExit("run", 5)})
	want := []string{"emptied_columns: bond/ig/priced: 112 (spread of 429 deals, such as 100412)", "emptied_lists: loan/af/priced: 9 (banks)"}
	if !slices.Equal(got.Details, want) || got.RunID != "01a2" || got.Todo != todo {
		t.Errorf("got %q of %s, and %s", got.Details, got.RunID, got.Todo)
	}
	held := &attempts.Attempt{}
	held.Command, held.Outcome, held.ExitCode, held.Error = "run", lake.OutcomeHeld, new(5), message
	runs := runsOf([]runRow{{Attempt: held}})
	if runs[0].Todo != todo {
		t.Errorf("the page of the attempt says %s", runs[0].Todo)
	}
}

// refused says whether a listener was refused, and closes it otherwise.
func refused(l net.Listener, err error) bool {
	if err == nil {
		l.Close()
	}
	return err != nil
}

// TestListenUI checks that the explorer listens where other machines do not reach it, and nowhere else: with a token, and with TLS or without by wish, on any address.
func TestListenUI(t *testing.T) {
	l, err := listenUI(t.Context(), uiOptions{listen: "0.0.0.0:0", tokenFile: "token", insecureHTTP: true})
	if err != nil {
		t.Errorf("with a token: %v", err)
	} else {
		l.Close()
	}
	for _, o := range []uiOptions{{tokenFile: "token"}, {insecureHTTP: true}, {tlsCert: "cert"}, {proxy: "https://lake.example"}} {
		if o.listen = "0.0.0.0:0"; !refused(listenUI(t.Context(), o)) {
			t.Errorf("%+v listens", o)
		}
	}
	for address, want := range map[string]bool{"127.0.0.1:0": true, "[::1]:0": true, "localhost:0": true, "unix:" + t.TempDir() + "/s": true, "0.0.0.0:0": false, ":0": false, "192.0.2.1:0": false, "example.com:80": false, "x": false} {
		l, err := listenUI(t.Context(), uiOptions{listen: address})
		if err == nil {
			l.Close()
		}
		if (err == nil) != want && address != "[::1]:0" { // a machine may lack IPv6
			t.Errorf("%s: %v", address, err)
		}
	}
}
