package ui_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"dealflow/internal/testkit/world"
	"dealflow/internal/ui/asof"
	"dealflow/schemas/lake"
)

// deadEnds has two nights, in the second of which deal 1 has its second version, and a sync.
func deadEnds(t *testing.T) (w *world.World, e *explorer, first, second string) {
	t.Helper()
	w, b := world.NewBook(t)
	feeds := world.Feeds(world.Priced, world.LoanPriced)
	b.Write(world.Priced, 1, `"currency":"USD","green":true`)
	b.Write(world.Priced, 2, `"currency":"EUR","green":true,"sustainabilityLinked":true`)
	b.Write(world.Priced, 3, `"currency":"EUR"`)
	b.Write(world.LoanPriced, 4, `"tranches":[{"trancheId":1,"greenLoan":true},{"trancheId":2,"sustainabilityLinked":true}]`)
	b.Write(world.LoanPriced, 5, `"tranches":[{"trancheId":1,"sustainabilityLinked":true}]`)
	w.Night(t, 0, feeds, world.Quiet)
	b.Write(world.Priced, 1, `"currency":"CHF","green":true`)
	w.Night(t, 1, feeds, world.Quiet)
	w.Later(time.Hour)
	b.Write(world.Priced, 6, `"currency":"EUR"`)
	w.MustSync(t, feeds, world.Quiet)
	log := w.Log(t)
	return w, serve(t, w), asof.Path(log.Commits[0].KnownAt), asof.Path(log.Commits[1].KnownAt)
}

// TestDeadEnds asks for what is not there: a page after the end of a list, a version that was not known yet, an instant and a value that nothing is
// named by. Each answer says so, as a page whose links lead on.
func TestDeadEnds(t *testing.T) {
	t.Parallel()
	_, e, first, _ := deadEnds(t)
	deal := "deals/bond/ig/priced/1"
	for path, want := range map[string]struct {
		status int
		said   string
	}{
		"/deals?page=2":                                   {http.StatusNotFound, "page=2: the list ends before this page"},
		"/deals?state=removed&page=2":                     {http.StatusNotFound, "page=2: the list ends before this page"},
		"/changes?page=2":                                 {http.StatusNotFound, "page=2: the list ends before this page"},
		"/analyses/data_quality?page=99":                  {http.StatusNotFound, "page=99: the list ends before this page"},
		"/analyses/league_table?page=99":                  {http.StatusNotFound, "page=99: the list ends before this page"},
		"/as-of/" + first + "/" + deal + "?tab=diff&v=2":  {http.StatusNotFound, "v=2: as of 5 Jan 2026 22:00 UTC, this deal has versions up to 1"},
		"/" + deal + "?v=99":                              {http.StatusNotFound, "v=99: in the newest state, this deal has versions up to 2"},
		"/" + deal + "?tab=diff&v=2&against=9":            {http.StatusNotFound, "against=9: in the newest state, this deal has versions up to 2"},
		"/as-of/infinity/" + deal + "?tab=diff":           {http.StatusBadRequest, "as-of/&#34;infinity&#34;: want an instant such as"},
		"/-/go?at=8+Jan+2026&page=deals%3Fservice%3Dbond": {http.StatusBadRequest, "Instant: &#34;8 Jan 2026&#34;: want an instant such as"},
		"/changes?field=nonsense":                         {http.StatusBadRequest, "field=nonsense: want a table"},
		"/changes?field=bond_priced_deals.nonsense":       {http.StatusBadRequest, "field=bond_priced_deals.nonsense: want a table"},
		"/analyses/loan_flex_and_terms?oid_years=0":       {http.StatusBadRequest, "oid_years=0: want a whole number from 1 to 1000"},
		"/analyses/restatement_stats?days=999999999999":   {http.StatusBadRequest, "days=999999999999: want a whole number from 0 to 1000000"},
		"/analyses/restatement_stats?days=-1":             {http.StatusBadRequest, "days=-1: want a whole number from 0 to 1000000"},
	} {
		status, body, header := e.get(t, path)
		if status != want.status || !strings.Contains(said(body), want.said) || !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: status %d, %s: %s; want %d and %q as a page", path, status, header.Get("Content-Type"), said(body), want.status, want.said)
			continue
		}
		for _, to := range links(t, path, body) {
			if status, _, _ := e.get(t, to); status != http.StatusOK {
				t.Errorf("%s: its link %s: status %d", path, to, status)
			}
		}
	}
	for path, want := range map[string]string{ // what was asked for can be taken away, and moving to another instant begins at the first page
		"/deals?service=bond&market=LL":    `aria-current="true"><bdi>LL</bdi> <small>0</small>`,
		"/deals?currency=CNH":              `aria-current="true"><bdi>CNH</bdi> <small>0</small>`,
		"/pipeline?service=loan":           `OR p.service = &#39;loan&#39;)`,
		"/pipeline?market=HY&currency=CNH": `aria-current="true"><bdi>CNH</bdi> <small>0</small>`,
		"/deals?page=1&service=bond":       `as-of/` + first + `/deals?service=bond"`,
		"/analyses/deal_timeline?of_service=bond&of_market=IG&of_kind=priced&of_deal_id=1000001": "deal_timeline",
		"/changes?from=commit-1&field=bond_priced_deals.currency":                                "bond_priced_deals.currency",
		"/analyses/restatement_stats?days=0":                                                     "restatement_stats",
	} {
		if page := e.page(t, path); !strings.Contains(page, want) {
			t.Errorf("%s lacks %s", path, want)
		}
	}
}

// TestLabels lists deals by their ESG label. Those with several have a label of their own, whichever they are and whatever the service.
func TestLabels(t *testing.T) {
	t.Parallel()
	_, e, _, _ := deadEnds(t)
	for label, want := range map[string]string{"green": "1", "sustainability-linked": "5", "multiple": "2 4"} {
		if got := strings.Join(e.dealsIn(t, "/deals.csv?sort=-known&esg="+label), " "); got != want {
			t.Errorf("%s: the deals %q, want %q", label, got, want)
		}
	}
}

// TestHealthAfterSync has Health say of a sync that it has read some deals, and of each feed what its snapshot brought.
func TestHealthAfterSync(t *testing.T) {
	t.Parallel()
	w, e, _, second := deadEnds(t)
	log := w.Log(t)
	sync := &log.Commits[2]
	if f := sync.Feed(world.Priced); sync.Command != "sync" || f == nil || f.Added != 1 {
		t.Fatalf("the newest commit is %+v, want a sync with a new deal", sync)
	}
	for _, path := range []string{"/", "/as-of/" + asof.Path(sync.KnownAt) + "/"} {
		page := e.page(t, path)
		if strings.Contains(page, "no snapshot") || !regexp.MustCompile(`Sync, known [^:]*:\d\d UTC: 2 of 2 feeds, \d+ deals? read; 1 new`).MatchString(page) {
			t.Errorf("%s: the lead is not of a sync: %s", path, regexp.MustCompile(`<p class="lead">.*</p>`).FindString(page))
		}
	}
	night := log.Commits[1].Feed(world.Priced)
	if night.Outcome != lake.OutcomeDone || night.Added != 0 || night.Changed != 1 {
		t.Fatalf("the night is %+v, want one changed deal", night)
	}
	row := regexp.MustCompile(`(?s)bond/ig/priced</bdi></a></td>.*?</tr>`)
	cells := regexp.MustCompile(`<bdi>([^<]*)</bdi>`)
	var texts []string
	for _, found := range cells.FindAllStringSubmatch(row.FindString(e.page(t, "/as-of/"+asof.Path(sync.KnownAt)+"/")), -1) {
		texts = append(texts, found[1])
	}
	if got := strings.Join(texts, " "); !strings.Contains(got, " 3 0 1 0 0 done") {
		t.Errorf("the feed as of the sync is %q, want the snapshot's 3 deals, 1 of them changed", got)
	}
	if newest, then := row.FindString(e.page(t, "/as-of/"+asof.Path(sync.KnownAt)+"/")), row.FindString(e.page(t, "/as-of/"+second+"/")); newest == then {
		t.Error("the feed was known no later after the sync")
	}
}
