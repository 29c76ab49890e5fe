package main

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/attempts"
	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
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

// TestOpenQuarantine puts a record into quarantine in two nights, and mends it in a third: Health has it once, with what
// `dealflow quarantine show` needs, and then no more.
func TestOpenQuarantine(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	w.Night(t, 0)
	found := func() []operator.Quarantined {
		t.Helper()
		all, err := openQuarantine(t.Context(), w.Lake(t))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := found(); len(all) != 0 {
		t.Errorf("of a sound lake: %+v", all)
	}
	b.Write(world.Priced, 2, `"message":"a","message":"b"`)
	w.Night(t, 1)
	first := w.Log(t).KnownAt
	w.Night(t, 2)
	old := w.Log(t).Files(lake.QuarantineTable)[0].Path
	if err := w.Store.Delete(t.Context(), old); err != nil { // what earlier pulls met is not read
		t.Fatal(err)
	}
	all := found()
	if len(all) != 1 {
		t.Fatalf("got %+v, want one record", all)
	}
	q := all[0]
	if q.Feed != world.Priced || q.DealID == nil || *q.DealID != 2 || q.Reason != "duplicate_member" || len(q.ID) != 12 || q.Bytes == 0 || !q.ObservedAt.After(first.Time) {
		t.Errorf("got %+v", q)
	}
	if data, err := recordIn(t.Context(), w.Lake(t), q.ID); err != nil || int64(len(data)) != q.Bytes || !strings.Contains(string(data), `"message":"b"`) {
		t.Errorf("its bytes are %q, %v", data, err)
	}
	if data, err := recordIn(t.Context(), w.Lake(t), q.ID[:6]); err != nil || data != nil {
		t.Errorf("the beginning of an id: %q, %v", data, err)
	}
	b.Write(world.Priced, 2, "")
	b.Write(world.Priced, 3, `"message":"a","message":"b"`)
	w.Night(t, 3)
	if all := found(); len(all) != 1 || *all[0].DealID != 3 {
		t.Errorf("after another one took its place: %+v", all)
	}
	b.Write(world.Priced, 3, "")
	w.Night(t, 4)
	if all := found(); len(all) != 0 {
		t.Errorf("after it was mended: %+v", all)
	}
}

// TestRemovedBytes compacts a lake: the size of what the commit removed is that of the files that earlier commits added. Without
// the object of such a commit it is not known.
func TestRemovedBytes(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	for night := range 3 {
		b.WriteAll(world.Priced, 1, int64(3+night), fmt.Sprintf(`"message":"%d"`, night))
		w.Night(t, night)
	}
	before := map[string]int64{}
	for _, f := range w.Log(t).AllFiles() {
		before[f.Path] = f.Bytes
	}
	w.MustCompact(t)
	for _, f := range w.Log(t).AllFiles() {
		delete(before, f.Path)
	}
	want := int64(0)
	for _, size := range before {
		want += size
	}
	l := w.Lake(t)
	files := func() operator.FileChange {
		t.Helper()
		found, err := new(explorer).filesIn(t.Context(), l, l.Log().Number)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if got := files(); want == 0 || got.RemovedBytes != want || got.Removed != len(before) {
		t.Errorf("got %+v, want %d files of %d bytes removed", got, len(before), want)
	}
	if err := w.Store.Delete(t.Context(), lake.CommitKey(1)); err != nil {
		t.Fatal(err)
	}
	if got := files(); got.RemovedBytes != -1 {
		t.Errorf("without commit 1: got %+v", got)
	}
}

// TestStagesAreRecorded checks that the attempt of a pull with a commit says how long its stages took.
func TestStagesAreRecorded(t *testing.T) {
	took := pull.StageSeconds{Open: 1, Feeds: 2, Commit: 3, Catalog: 4}
	var at attempt
	at.pulled(&pull.Result{Commit: 7, Stages: took})
	if s := at.result.StageSeconds; s == nil || *s != attempts.StageSeconds(took) {
		t.Errorf("got %+v", s)
	}
	at.pulled(&pull.Result{Stages: took})
	if s := at.result.StageSeconds; s != nil {
		t.Errorf("without a commit: got %+v", s)
	}
}
