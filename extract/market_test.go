package extract

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testID     = "desk@example.test"
	testSecret = "canary=secret/!7f3a"
	testBase   = "https://api.example.test/flow"
)

var (
	bondPriced   = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}
	bondExpected = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Expected}
	loanExpected = api.Feed{Service: api.Loan, Market: api.CF, Kind: api.Expected}
)

// market is a small API with one account. The test changes its lists. Its data has a clock of its own.
type market struct {
	base      string
	size      int  // records a page
	strict    bool // updatedSince excludes its own second
	positions bool // cursors count positions instead of naming the last deal
	varies    bool // each record spells its links differently, with the same content

	mu       sync.Mutex
	now      time.Time
	dated    time.Time // the Date of the last answer without a network; one client at a time
	deals    map[api.Feed]map[int64]*deal
	spelled  int                                               // records so far
	issued   int                                               // tokens so far; the last one is valid
	requests []string                                          // as "GET /path?query"
	before   func(r *http.Request)                             // called with mu held, before a GET is answered
	instead  func(w http.ResponseWriter, r *http.Request) bool // may answer a request itself; called with mu held
	damage   func(id int64, record string) string              // what a list shows of a record; called with mu held
}

type deal struct {
	id      int64
	rev     int
	updated time.Time
}

func newMarket() *market {
	return &market{base: testBase, size: 10, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), deals: map[api.Feed]map[int64]*deal{}}
}

// touch makes a deal or a new revision of it.
func (m *market) touch(feed api.Feed, id int64) {
	if m.deals[feed] == nil {
		m.deals[feed] = map[int64]*deal{}
	}
	if m.deals[feed][id] == nil {
		m.deals[feed][id] = &deal{id: id}
	}
	d := m.deals[feed][id]
	d.rev++
	d.updated = m.now
}

// fill makes n deals, spread over time.
func (m *market) fill(feed api.Feed, n int, apart time.Duration) *market {
	for id := range int64(n) {
		m.now = m.now.Add(apart)
		m.touch(feed, 1000+id)
	}
	m.now = m.now.Add(apart)
	return m
}

func (m *market) record(feed api.Feed, d *deal) string {
	since := ""
	if feed.HasUpdatedSince() {
		since = fmt.Sprintf(`,"updatedSince":{"href":"%s%s?updatedSince=%s"}`, m.base, feed.Path(), d.updated.Format(time.RFC3339))
	}
	self := m.base + feed.DealPath(d.id)
	if m.varies {
		m.spelled++
		self += fmt.Sprintf("?answer=%d", m.spelled)
	}
	return fmt.Sprintf(`{"%s":%d,"rev":%d,"_links":{"self":{"href":"%s"}%s}}`, feed.IDKey(), d.id, d.rev, self, since)
}

// recordSum returns the hash of the content of a record of the market: all except its links.
func recordSum(record []byte) (lake.Digest, error) {
	content, _, _ := bytes.Cut(record, []byte(`,"_links"`))
	return sha256.Sum256(content), nil
}

// sameRecord reports whether two records of the market have equal content.
func sameRecord(a, b []byte) bool {
	one, _ := recordSum(a)
	other, _ := recordSum(b)
	return one == other
}

func (m *market) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, r.Method+" "+r.URL.RequestURI())
	_, path, _ := strings.Cut(r.URL.Path, "/v3/")
	path = "/v3/" + path
	switch {
	case m.instead != nil && m.instead(w, r):
	case strings.HasSuffix(r.URL.Path, "/oauth/token"):
		m.token(w, r)
	case r.Header.Get("Authorization") != "Bearer "+m.bearer():
		fail(w, http.StatusUnauthorized, "token expired")
	default:
		if m.before != nil {
			m.before(r)
		}
		m.get(w, r, path)
	}
}

func (m *market) bearer() string { return fmt.Sprintf("canary-token-%d", m.issued) }

func (m *market) token(w http.ResponseWriter, r *http.Request) {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(testID+":"+testSecret))
	if r.Method != http.MethodPost || r.FormValue("grant_type") != "client_credentials" || r.Header.Get("Authorization") != want {
		fail(w, http.StatusUnauthorized, "bad credentials "+r.Header.Get("Authorization"))
		return
	}
	m.issued++
	fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer","expires_in":3600}`, m.bearer())
}

func (m *market) get(w http.ResponseWriter, r *http.Request, path string) {
	for _, feed := range api.Feeds() {
		if path == feed.Path() {
			m.list(w, r, feed)
			return
		}
		if id, ok := strings.CutPrefix(path, feed.Path()+"/"); ok {
			n, _ := strconv.ParseInt(id, 10, 64)
			if d := m.deals[feed][n]; d != nil {
				fmt.Fprintln(w, m.record(feed, d))
				return
			}
			break
		}
	}
	fail(w, http.StatusNotFound, "no such thing")
}

func (m *market) list(w http.ResponseWriter, r *http.Request, feed api.Feed) {
	query := r.URL.Query()
	since, _ := time.Parse(time.RFC3339, query.Get("updatedSince"))
	changed, _ := time.Parse(time.RFC3339, query.Get("changedFrom"))
	var deals []*deal
	for _, d := range m.deals[feed] {
		at := d.updated.Truncate(time.Second)
		if (query.Get("updatedSince") == "" || at.After(since) || !m.strict && at.Equal(since)) && !at.Before(changed) {
			deals = append(deals, d)
		}
	}
	slices.SortFunc(deals, func(a, b *deal) int {
		if !feed.HasUpdatedSince() {
			return cmp.Compare(a.id, b.id)
		}
		return cmp.Or(b.updated.Compare(a.updated), cmp.Compare(b.id, a.id))
	})
	from := 0
	if seeker := query.Get("seeker"); seeker != "" {
		from = m.seek(deals, seeker, feed.HasUpdatedSince())
	}
	to := min(from+m.size, len(deals))
	var records []string
	for _, d := range deals[min(from, to):to] {
		record := m.record(feed, d)
		if m.damage != nil {
			record = m.damage(d.id, record)
		}
		records = append(records, record)
	}
	next := ""
	if to < len(deals) {
		query.Set("seeker", m.cursor(deals[to-1], to))
		next = fmt.Sprintf(`,"next":{"href":"%s%s?%s"}`, m.base, feed.Path(), query.Encode())
	}
	fmt.Fprintf(w, `{"_embedded":{"%s":[%s]},"_links":{"first":{"href":"%s%s"}%s}}`, feed.ListKey(), strings.Join(records, ","), m.base, feed.Path(), next)
}

func (m *market) cursor(last *deal, position int) string {
	if m.positions {
		return strconv.Itoa(position)
	}
	return fmt.Sprintf("%d.%d", last.updated.UnixNano(), last.id)
}

func (m *market) seek(deals []*deal, seeker string, newestFirst bool) int {
	if m.positions {
		n, _ := strconv.Atoi(seeker)
		return n
	}
	var nano, id int64
	fmt.Sscanf(seeker, "%d.%d", &nano, &id)
	i := slices.IndexFunc(deals, func(d *deal) bool {
		if !newestFirst {
			return d.id > id
		}
		return cmp.Or(cmp.Compare(nano, d.updated.UnixNano()), cmp.Compare(id, d.id)) > 0
	})
	if i < 0 {
		return len(deals)
	}
	return i
}

// seen counts the requests that contain a text.
func (m *market) seen(text string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, r := range m.requests {
		if strings.Contains(r, text) {
			n++
		}
	}
	return n
}

func fail(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"timestamp":"2026-03-02T09:00:00Z","errorId":"5e0f7a52-0000-4000-8000-000000000001","message":%q}`, message)
}

// RoundTrip answers requests without a network, so that it works inside a synctest bubble.
func (m *market) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Date", m.date().Format(http.TimeFormat))
	m.ServeHTTP(recorder, r)
	response := recorder.Result()
	response.Request = r
	return response, nil
}

func (m *market) date() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dated = m.now.Truncate(time.Second)
	return m.now
}

// config is for a client of the market without a network.
func (m *market) config() Config {
	base, err := api.ParseBase(m.base)
	if err != nil {
		panic(err)
	}
	return Config{
		Base: base, ClientID: testID, ClientSecret: api.NewSecret(testSecret), Transport: m,
		Backoff: time.Nanosecond, MaxBackoff: time.Microsecond,
	}
}

// inVirtualTime is a test that runs in a synctest bubble: a pause of the client takes no real time.
func inVirtualTime(test func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		synctest.Test(t, test)
	}
}

func newClient(t testing.TB, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func newSpool(t testing.TB, feed api.Feed) *Spool { return newSpoolBy(t, feed, nil) }

func newSpoolBy(t testing.TB, feed api.Feed, sum func([]byte) (lake.Digest, error)) *Spool {
	t.Helper()
	s, err := NewSpool(t.TempDir(), feed, sum)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// snapshot reads a feed of the market.
func (m *market) snapshot(t *testing.T, feed api.Feed) (Snapshot, *Spool, error) {
	t.Helper()
	spool := newSpoolBy(t, feed, m.sum())
	s, err := newClient(t, m.config()).Snapshot(context.Background(), feed, spool)
	return s, spool, err
}

// sum is the hash of contents that the market needs.
func (m *market) sum() func([]byte) (lake.Digest, error) {
	if m.varies {
		return recordSum
	}
	return nil
}

// compare compares the spool with the market's current state. The spool may contain deals that were removed.
func (m *market) compare(t *testing.T, feed api.Feed, spool *Spool) {
	t.Helper()
	for id, d := range m.deals[feed] {
		payload, err := spool.Payload(id, nil)
		if err != nil {
			t.Errorf("deal %d is missing: %v", id, err)
		} else if want := m.record(feed, d); string(payload) != want && (!m.varies || !sameRecord(payload, []byte(want))) {
			t.Errorf("deal %d is %s, want %s", id, payload, want)
		}
	}
}
