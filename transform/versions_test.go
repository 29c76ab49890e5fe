package transform_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// observed are deals by id.
type observed map[int64]string

func (o observed) IDs() []int64                     { return slices.Sorted(maps.Keys(o)) }
func (o observed) PayloadHash(id int64) lake.Digest { return sha256.Sum256([]byte(o[id])) }

func (o observed) Payload(id int64, buf []byte) ([]byte, error) {
	return append(buf[:0], o[id]...), nil
}

// latest is what the lake knows of a deal whose latest version is version n with this payload.
func latest(t testing.TB, n int32, payload string) lake.LatestVersion {
	t.Helper()
	content := contentHash(t, transform.NewCanonicalizer(mustBase(t, samplesBase)), payload)
	return lake.LatestVersion{Version: n, ContentHash: content, PayloadHash: sha256.Sum256([]byte(payload))}
}

const (
	contentA       = `{"dealId":7,"cpn":"5%","fpr":99.5,"_links":{"self":{"href":"https://api.example.test/v3/x/7"}}}`
	respelledA     = `{"fpr":9950e-2, "cpn":"5\u0025","dealId":7.0,"_links":{"self":{"href":"/v3/x/7","title":"t"}}}`
	contentB       = `{"dealId":7,"cpn":"6%"}`
	unreadable     = `{"dealId":7,"cpn":"5%","cpn":"6%"}`
	unreadableToo  = `{"dealId":7,"cpn":"7%","cpn":"8%"}`
	unreadableText = "{\"dealId\":7,\"cpn\":\"\xff\"}"
)

func TestDecide(t *testing.T) {
	a, b := latest(t, 1, contentA), latest(t, 2, contentB)
	b.Version = 2
	tests := []struct {
		name   string
		known  lake.Latest
		seen   string
		change string
		latest lake.LatestVersion // wanted, with its hashes
		reject api.RejectReason
		kept   bool
	}{
		{name: "never seen before", seen: contentA, change: lake.Added, latest: a},
		{name: "equal bytes", known: lake.Latest{7: a}, seen: contentA, latest: a},
		{name: "equal content, hashes stay those first seen", known: lake.Latest{7: a}, seen: respelledA, latest: a},
		{name: "other content", known: lake.Latest{7: a}, seen: contentB, change: lake.Changed, latest: b},
		{name: "back to an earlier content is a version too", known: lake.Latest{7: b}, seen: contentA, change: lake.Changed, latest: latest(t, 3, contentA)},
		{name: "removed and back with equal bytes", known: lake.Latest{7: removed(a)}, seen: contentA, change: lake.Reappeared, latest: latest(t, 3, contentA)},
		{name: "removed and back with equal content", known: lake.Latest{7: removed(a)}, seen: respelledA, change: lake.Reappeared, latest: latest(t, 3, respelledA)},
		{name: "removed and back with other content", known: lake.Latest{7: removed(a)}, seen: contentB, change: lake.Reappeared, latest: latest(t, 3, contentB)},
		{name: "unreadable and unknown", seen: unreadable, reject: api.RejectDuplicateMember},
		{name: "unreadable and known: keeps its version", known: lake.Latest{7: b}, seen: unreadableToo, latest: b, reject: api.RejectDuplicateMember, kept: true},
		{name: "unreadable bytes and known", known: lake.Latest{7: b}, seen: unreadableText, latest: b, reject: api.RejectInvalidUTF8, kept: true},
		{name: "unreadable and removed: stays removed", known: lake.Latest{7: removed(a)}, seen: unreadable, latest: removed(a), reject: api.RejectDuplicateMember},
		{name: "other deals do not matter", known: lake.Latest{6: a, 8: b}, seen: contentA, change: lake.Added, latest: a},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			decisions, err := transform.Decide(tt.known, observed{7: tt.seen}, nil, transform.NewCanonicalizer(mustBase(t, samplesBase)), true)
			if err != nil || len(decisions.Deals) != 1 || len(decisions.Removals) > 0 {
				t.Fatalf("got %d decisions, %d removals and error %v, want one decision", len(decisions.Deals), len(decisions.Removals), err)
			}
			got := decisions.Deals[0]
			var reason api.RejectReason
			if reject := decisions.Rejects[7]; reject != nil {
				reason = reject.Reason
			}
			if got.ID != 7 || got.Change() != tt.change || got.Latest != tt.latest || got.Rejected != (tt.reject != "") || reason != tt.reject || got.Kept() != tt.kept {
				t.Errorf("got deal %d change %q latest %+v rejected %t %q kept %t,\nwant deal 7 change %q latest %+v reject %q kept %t",
					got.ID, got.Change(), got.Latest, got.Rejected, reason, got.Kept(), tt.change, tt.latest, tt.reject, tt.kept)
			}
		})
	}
}

// TestDecideRuns decides one deal in several runs, and passes the latest from run to run.
func TestDecideRuns(t *testing.T) {
	known := lake.Latest{}
	c := transform.NewCanonicalizer(mustBase(t, samplesBase))
	for i, step := range []struct {
		seen    string // "": absent, and confirmed to be gone
		version int32
		change  string
	}{
		{contentA, 1, lake.Added},
		{contentB, 2, lake.Changed},
		{contentA, 3, lake.Changed},
		{respelledA, 3, ""},
		{"", 4, lake.Removed},
		{contentA, 5, lake.Reappeared},
		{contentA, 5, ""},
		{unreadable, 5, ""},
		{respelledA, 5, ""},
		{contentB, 6, lake.Changed},
	} {
		if step.seen == "" {
			if got := transform.Absent(known, observed{}); !slices.Equal(got, []int64{7}) {
				t.Fatalf("step %d: got absent %v, want deal 7", i, got)
			}
		}
		seen, removals := observed{7: step.seen}, []transform.Removal(nil)
		if step.seen == "" {
			seen, removals = observed{}, []transform.Removal{{ID: 7, Reason: lake.ReasonGone}}
		}
		decisions, err := transform.Decide(known, seen, removals, c, true)
		if err != nil {
			t.Fatal(err)
		}
		got := decisions.Deals[0]
		if got.Latest.Version != step.version || got.Change() != step.change {
			t.Fatalf("step %d: got version %d %q, want %d %q", i, got.Latest.Version, got.Change(), step.version, step.change)
		}
		known[7] = got.Latest
		if got := known[7].Removed; got != (step.change == lake.Removed) {
			t.Fatalf("step %d: removed is %t", i, got)
		}
	}
}

// TestDecideRemovals removes deals with ids before, between and after those observed. The decisions are in the order of
// ids, a removal takes the next version number, and the hashes remain those of the last content.
func TestDecideRemovals(t *testing.T) {
	known := lake.Latest{}
	for _, id := range []int64{2, 3, 5, 8, 9} {
		known[id] = latest(t, int32(id), contentA)
	}
	observedAt := time.Date(2026, 3, 2, 22, 0, 0, 0, time.UTC)
	removals := []transform.Removal{
		{ID: 2, Reason: lake.ReasonGone, ObservedAt: observedAt}, {ID: 5, Reason: lake.ReasonPriced, ObservedAt: observedAt}, {ID: 9, Reason: lake.ReasonOutOfEntitlement, ObservedAt: observedAt},
	}
	decisions, err := transform.Decide(known, observed{3: contentA, 8: contentB}, removals, transform.NewCanonicalizer(mustBase(t, samplesBase)), true)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range decisions.Deals {
		line := fmt.Sprintf("%d v%d %s", d.ID, d.Latest.Version, d.Change())
		if removal, ok := decisions.Removals[d.ID]; ok {
			line += " " + removal.Reason
			if want := removed(known[d.ID]); d.Latest != want || !removal.ObservedAt.Equal(observedAt) {
				t.Errorf("deal %d: got %+v observed at %s, want %+v at %s", d.ID, d.Latest, removal.ObservedAt, want, observedAt)
			}
		}
		got = append(got, line)
	}
	want := []string{"2 v3 removed gone", "3 v3 ", "5 v6 removed priced", "8 v9 changed", "9 v10 removed out_of_entitlement"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// removed is what the lake knows of a deal after its removal.
func removed(latest lake.LatestVersion) lake.LatestVersion {
	latest.Version++
	latest.Removed = true
	return latest
}

// TestDecideOrder decides many deals of different kinds and wants one decision each, in the order of ids.
func TestDecideOrder(t *testing.T) {
	known := lake.Latest{2: latest(t, 4, contentA), 9: latest(t, 1, contentA)}
	seen := observed{9: contentB, -3: contentA, 2: contentA, 5: unreadable}
	decisions, err := transform.Decide(known, seen, nil, transform.NewCanonicalizer(mustBase(t, samplesBase)), true)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	var changes []string
	for _, d := range decisions.Deals {
		ids, changes = append(ids, d.ID), append(changes, d.Change())
	}
	if want := []int64{-3, 2, 5, 9}; !slices.Equal(ids, want) {
		t.Errorf("got deals %v, want %v", ids, want)
	}
	if want := []string{lake.Added, "", "", lake.Changed}; !slices.Equal(changes, want) {
		t.Errorf("got changes %q, want %q", changes, want)
	}
}

// lost is Payloads whose payloads cannot be read.
type lost struct{ observed }

var errLost = errors.New("work file lost")

func (lost) Payload(int64, []byte) ([]byte, error) { return nil, errLost }

func TestDecidePayloadError(t *testing.T) {
	_, err := transform.Decide(nil, lost{observed{7: contentA}}, nil, transform.NewCanonicalizer(api.Base{}), true)
	if !errors.Is(err, errLost) {
		t.Errorf("got %v, want %v", err, errLost)
	}
	// Deals with equal bytes are decided without reading payloads.
	known := lake.Latest{7: latest(t, 1, contentA)}
	if _, err := transform.Decide(known, lost{observed{7: contentA}}, nil, transform.NewCanonicalizer(api.Base{}), true); err != nil {
		t.Errorf("got %v, want no error", err)
	}
}

func TestAbsent(t *testing.T) {
	a := lake.LatestVersion{Version: 1}
	known := lake.Latest{12: a, 3: a, 5: removed(a), 7: a, 9: removed(a)}
	tests := []struct {
		name string
		seen observed
		want []int64
	}{
		{"none seen", observed{}, []int64{3, 7, 12}},
		{"one seen", observed{7: contentA}, []int64{3, 12}},
		{"all seen", observed{3: contentA, 7: contentA, 12: contentA}, nil},
		{"a removed one and a new one seen", observed{5: contentA, 8: contentA}, []int64{3, 7, 12}},
		{"an unreadable one is there", observed{3: unreadable}, []int64{7, 12}},
	}
	for _, tt := range tests {
		if got := transform.Absent(known, tt.seen); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestDecideUnderAnotherBase checks that equal bytes do not count as equal content if the base URL has changed.
func TestDecideUnderAnotherBase(t *testing.T) {
	payload := `{"id":7,"_links":{"self":{"href":"` + samplesBase + `/v3/bond/ig/expected-deal/7"}}}`
	first, err := transform.Decide(nil, observed{7: payload}, nil, transform.NewCanonicalizer(mustBase(t, samplesBase)), true)
	if err != nil {
		t.Fatal(err)
	}
	known := lake.Latest{7: first.Deals[0].Latest}
	for sameBase, want := range map[bool]string{true: "", false: lake.Changed} {
		moved, err := transform.Decide(known, observed{7: payload}, nil, transform.NewCanonicalizer(mustBase(t, "https://elsewhere.example.test")), sameBase)
		if err != nil {
			t.Fatal(err)
		}
		if got := moved.Deals[0].Change(); got != want {
			t.Errorf("sameBase %v: got change %q, want %q", sameBase, got, want)
		}
	}
}
