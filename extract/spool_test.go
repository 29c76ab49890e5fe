package extract

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

func TestSpool(t *testing.T) {
	dir := t.TempDir()
	s, err := NewSpool(dir, bondPriced, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 2, 9, 0, 0, 123456789, time.UTC)
	put := func(id int64, payload string, want bool) {
		t.Helper()
		head := api.RecordID{ID: id, HasID: true, UpdatedSince: "/l?updatedSince=2026-03-01T10:00:00Z"}
		if fresh, err := s.Put(head, []byte(payload), at); err != nil || fresh != want {
			t.Errorf("put %d: fresh %v, %v", id, fresh, err)
		}
	}
	put(9, "nine", true)
	put(-3, "", true)
	put(9, "nine", false)
	at = at.Add(time.Hour)
	put(9, "NINE", true)
	put(9, "nine", true) // back again is a change, too
	put(-3, "", false)
	if got := s.IDs(); !slices.Equal(got, []int64{-3, 9}) || s.Len() != 2 || s.Feed() != bondPriced {
		t.Errorf("ids %v", got)
	}
	e, ok := s.Entry(9)
	want := Entry{Offset: 8, Length: 4, PayloadHash: sha256.Sum256([]byte("nine")), ObservedAt: at.Truncate(time.Microsecond), UpdatedSince: "/l?updatedSince=2026-03-01T10:00:00Z"}
	if !ok || e != want {
		t.Errorf("got %+v, want %+v", e, want)
	}
	buf := make([]byte, 100)
	got, err := s.Payload(9, buf)
	if err != nil || string(got) != "nine" || &got[0] != &buf[0] {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := s.Payload(1, nil); err == nil {
		t.Error("a payload out of nothing")
	}
	if _, ok := s.Entry(1); ok {
		t.Error("an entry out of nothing")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := NewSpool(filepath.Join(dir, "absent"), bondPriced, nil); err == nil {
		t.Error("a spool in a folder that is not there")
	}
}

// TestSpoolKeepsTheNewerState: one of several servers lags, and shows a state of a deal from before the one that another
// server has shown. Only the links tell, because the older state comes later.
func TestSpoolKeepsTheNewerState(t *testing.T) {
	s, err := NewSpool(t.TempDir(), bondPriced, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, put := range []struct {
		since, payload string
		fresh          bool
		want           string
	}{
		{"2026-03-01T10:00:00Z", "first", true, "first"},
		{"2026-03-01T10:05:00Z", "second", true, "second"},
		{"2026-03-01T10:00:00Z", "first", false, "second"},
		{"2026-03-01T10:04:57Z", "first", false, "second"},
		{"2026-03-01T10:04:58Z", "by a clock that lags", true, "by a clock that lags"},
		{"2026-03-01T10:05:00Z", "second", true, "second"},
		{"2026-03-01T10:05:00Z", "the same second", true, "the same second"},
		{"", "without a link", true, "without a link"},
		{"2026-03-01T10:00:00Z", "first", true, "first"},
	} {
		head := api.RecordID{ID: 7, HasID: true}
		if put.since != "" {
			head.UpdatedSince = "/l?updatedSince=" + put.since
		}
		fresh, err := s.Put(head, []byte(put.payload), time.Unix(1, 0))
		if err != nil || fresh != put.fresh {
			t.Errorf("put %q of %s: fresh %v, %v; want fresh %v", put.payload, put.since, fresh, err, put.fresh)
		}
		if got, err := s.Payload(7, nil); err != nil || string(got) != put.want {
			t.Errorf("after %q of %s: got %q, %v; want %q", put.payload, put.since, got, err, put.want)
		}
	}
}

// TestSpoolKeepsWhatCanBeRead: of a deal's payloads, one that can be read stays, and one that cannot is rejected, whichever
// comes first. Damage on the way is no reason to keep an earlier payload: the caller requests the deal again.
func TestSpoolKeepsWhatCanBeRead(t *testing.T) {
	sum := func(payload []byte) (lake.Digest, error) {
		switch {
		case bytes.Contains(payload, []byte("twice")):
			return lake.Digest{}, &api.Reject{Reason: api.RejectDuplicateMember}
		case bytes.Contains(payload, []byte("damaged")):
			return lake.Digest{}, &api.Reject{Reason: api.RejectInvalidJSON}
		}
		return sha256.Sum256(payload), nil
	}
	for _, c := range []struct {
		since    string // seconds in the links of the payloads, a digit each
		payloads []string
		want     string
		fresh    int // payloads that are new to the spool
		rejected []string
	}{
		{"01", []string{"good", "twice"}, "good", 2, []string{"twice"}},
		{"01", []string{"twice", "good"}, "good", 2, []string{"twice"}},
		{"90", []string{"twice", "good"}, "good", 2, []string{"twice"}},
		{"01", []string{"twice", "twice again"}, "twice", 1, nil}, // decided later
		{"012", []string{"good", "twice", "better"}, "better", 3, []string{"twice"}},
		{"012", []string{"good", "twice", "twice again"}, "good", 2, []string{"twice again"}},
		{"01", []string{"good", "damaged"}, "damaged", 2, nil},
		{"90", []string{"good", "damaged"}, "good", 1, nil},
		{"90", []string{"damaged", "good"}, "good", 2, nil},
	} {
		s := newSpoolBy(t, bondPriced, sum)
		fresh := 0
		for i, payload := range c.payloads {
			head := api.RecordID{ID: 7, HasID: true, UpdatedSince: "/l?updatedSince=2026-03-01T10:00:0" + c.since[i:i+1] + "Z"}
			added, err := s.Put(head, []byte(payload), time.Unix(int64(i), 0))
			if err != nil {
				t.Fatal(err)
			}
			if added {
				fresh++
			}
		}
		var rejected []string
		for _, r := range s.Rejects() {
			rejected = append(rejected, string(r.Raw))
			if want := time.Unix(int64(slices.Index(c.payloads, string(r.Raw))), 0); !r.ObservedAt.Equal(want) || r.ID != 7 || !r.HasID {
				t.Errorf("%q: rejected %+v, want deal 7, observed at %s", c.payloads, r, want)
			}
		}
		if got, err := s.Payload(7, nil); err != nil || string(got) != c.want || fresh != c.fresh || !slices.Equal(rejected, c.rejected) {
			t.Errorf("%q: kept %q, %v, %d fresh, rejected %q; want %q, %d, %q", c.payloads, got, err, fresh, rejected, c.want, c.fresh, c.rejected)
		}
	}
}

// TestSpoolRests moves the index to the disk and back, twice: every deal is as it was, also those that are put after the first
// time, over the index.
func TestSpoolRests(t *testing.T) {
	dir := t.TempDir()
	s, err := NewSpool(dir, bondPriced, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	put := func(id int64, payload string) {
		t.Helper()
		head := api.RecordID{ID: id, HasID: true, UpdatedSince: fmt.Sprintf("/l?updatedSince=2026-03-01T10:00:%02dZ&of=%d", id%60, id%3)}
		if fresh, err := s.Put(head, []byte(payload), at.Add(time.Duration(id)*time.Second)); err != nil || !fresh {
			t.Fatalf("put %d: fresh %v, %v", id, fresh, err)
		}
	}
	type deal struct {
		entry   Entry
		payload string
	}
	all := func() map[int64]deal {
		t.Helper()
		deals := map[int64]deal{}
		for _, id := range s.IDs() {
			entry, _ := s.Entry(id)
			payload, err := s.Payload(id, nil)
			if err != nil {
				t.Fatal(err)
			}
			deals[id] = deal{entry, string(payload)}
		}
		return deals
	}
	for id := range int64(500) {
		put(id-5, fmt.Sprintf("payload of %d", id))
	}
	for range 2 {
		want := all()
		for range 2 { // a second time changes nothing
			if err := s.Rest(); err != nil {
				t.Fatal(err)
			}
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a resting spool says that it has no such deal")
				}
			}()
			s.Entry(1)
		}()
		for range 2 {
			if err := s.Wake(); err != nil {
				t.Fatal(err)
			}
		}
		if got := all(); len(got) < 500 || !maps.Equal(got, want) {
			t.Errorf("got %d deals, want the same %d as before", len(got), len(want))
		}
		for id := range int64(300) {
			put(id+400, fmt.Sprintf("later payload of %d, after %d deals", id, s.Len()))
		}
	}
	if err := s.Rest(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(s.file.Name(), 100); err != nil {
		t.Fatal(err)
	}
	if err := s.Wake(); err == nil {
		t.Error("the index was cut off: no error")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestSpoolConcurrently(t *testing.T) {
	s := newSpool(t, bondPriced)
	payload := func(id int64) []byte { return bytes.Repeat([]byte{byte(id)}, int(id)) }
	var work sync.WaitGroup
	for part := range int64(4) {
		work.Go(func() {
			for id := part; id < 1500; id += 4 {
				if _, err := s.Put(api.RecordID{ID: id, HasID: true}, payload(id), time.Now()); err != nil {
					t.Error(err)
				}
				if got, err := s.Payload(id, nil); err != nil || !bytes.Equal(got, payload(id)) {
					t.Errorf("deal %d: %v", id, err)
				}
			}
		})
	}
	work.Wait()
	for _, id := range s.IDs() {
		if got, err := s.Payload(id, nil); err != nil || !bytes.Equal(got, payload(id)) {
			t.Errorf("deal %d: %v", id, err)
		}
	}
}

// TestSpoolMemory checks that the index takes about 100 bytes per deal, for payloads of any size.
func TestSpoolMemory(t *testing.T) {
	const deals = 100_000
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	s := newSpool(t, bondPriced)
	before := heap()
	for id := range int64(deals) {
		link := "https://api.example.test/v3/bond/ig/priced-deal?updatedSince=" + time.Unix(id, 0).UTC().Format(time.RFC3339)
		if _, err := s.Put(api.RecordID{ID: id, HasID: true, UpdatedSince: link}, []byte(link), time.Unix(id, 0)); err != nil {
			t.Fatal(err)
		}
	}
	each := float64(heap()-before) / deals
	t.Logf("%.0f bytes a deal", each)
	if each > 160 {
		t.Errorf("%.0f bytes a deal", each)
	}
	runtime.KeepAlive(s)
}

func TestRejectsAreBounded(t *testing.T) {
	s := newSpool(t, bondPriced)
	reject := &api.Reject{Reason: api.RejectNoID}
	raw := []byte("once")
	for range 2 {
		if _, err := s.PutReject(Rejected{Raw: raw, Reject: reject}); err != nil {
			t.Fatal(err)
		}
	}
	raw[0] = 'X' // the spool has its own copy
	if got := s.Rejects(); len(got) != 1 || string(got[0].Raw) != "once" {
		t.Errorf("got %v", got)
	}
	var err error
	for i := 0; i < maxRejects && err == nil; i++ {
		_, err = s.PutReject(Rejected{Raw: fmt.Append(nil, i), Reject: reject})
	}
	if err == nil {
		t.Error("no bound")
	}
}

func TestHrefsGiveBackWhatWasPut(t *testing.T) {
	var h hrefs
	links := []string{
		"", "https://x/v3/bond/ig/priced-deal?updatedSince=2026-03-01T10:00:00Z", "https://x/v3/bond/ig/priced-deal?updatedSince=2026-03-01T10:00:01Z&a=b",
		"/l?updatedSince=2026-03-01T10%3A00%3A00Z", "/l?updatedSince=2026-03-01T10%3a00%3a00Z", "/l?updatedSince=2026-03-01T10:00:00.5Z",
		"/l?updatedSince=2026-02-30T10:00:00Z", "/l?updatedSince=", "updatedSince=0000-01-01T00:00:00Z", "?updatedSince=9999-12-31T23:59:59Z", "odd",
	}
	for range 2 {
		for _, link := range links {
			if got := h.get(h.put(link)); got != link {
				t.Errorf("%q came back as %q", link, got)
			}
		}
	}
	for i := range int64(1000) {
		h.put("/l?updatedSince=" + time.Unix(i, 0).UTC().Format(time.RFC3339))
	}
	if len(h.templates) > len(links)+1 {
		t.Errorf("%d templates", len(h.templates))
	}
}
