package longlake_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"dealflow/extract"
	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/longlake"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// TestRealRunAgrees pulls the market of the last night over HTTP, into the same lake. That run finds nothing new,
// counts the same drift, and keeps the same links. Its snapshot equals the history that the builder wrote.
func TestRealRunAgrees(t *testing.T) {
	t.Parallel()
	config := eventful()
	built, _ := shared(t)
	root := longlake.Clone(t, built)
	nights := longlake.Nights(config)
	last := nights[len(nights)-1]

	result := realRun(t, root, longlake.NewMarket(config, func() time.Time { return last.Observed }), last.KnownAt.Add(time.Hour))
	before := open(t, built).Log()
	run := before.Commits[len(before.Commits)-1]
	if run.RunID != last.RunID {
		t.Fatalf("the last commit is of %s, want the last night", run.Command)
	}
	drift := int64(0)
	for i := range result.Feeds {
		got := &result.Feeds[i]
		want := *run.Feed(got.Feed)
		want.Unchanged, want.Added, want.Changed, want.Removed, want.Reappeared = want.Deals, 0, 0, 0, 0
		if diff := cmp.Diff(outline(&want), outline(got)); diff != "" {
			t.Errorf("%s (-builder +real run):\n%s", got.Feed, diff)
		}
		drift += got.DriftCount()
	}
	if drift == 0 {
		t.Error("there is no drift: the comparison shows nothing")
	}
	wantSound(t, root)
	if after := open(t, built).Log(); after.SHA256 != before.SHA256 {
		t.Error("a run on the clone changed the lake")
	}
}

// realRun pulls a market over HTTP into a lake.
func realRun(t *testing.T, root string, market *sim.Market, now time.Time) *pull.Result {
	t.Helper()
	server, err := serve.New(serve.Config{Source: market})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server.Handler())
	defer front.Close()
	base, err := api.ParseBase(front.URL)
	if err != nil {
		t.Fatal(err)
	}
	client, err := extract.New(extract.Config{Base: base, ClientID: "demo", ClientSecret: api.NewSecret("demo")})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	result, err := pull.Run(t.Context(), pull.Config{
		Client: client, Base: base, Store: open(t, root).Store(), RunID: uuid.Must(uuid.NewV7()).String(),
		Clock: func() time.Time { return now }, AcceptClock: true, NoCatalog: true,
		WorkDir: t.TempDir(), Version: "test", Memory: testkit.Allocator(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// outline is what a run says of a feed apart from its way over the network.
func outline(f *lake.FeedRun) lake.FeedRun {
	return lake.FeedRun{
		Feed: f.Feed, Outcome: f.Outcome, Error: f.Error, UpdatedSince: f.UpdatedSince, Deals: f.Deals, Added: f.Added,
		Changed: f.Changed, Removed: f.Removed, Reappeared: f.Reappeared, Unchanged: f.Unchanged, Quarantined: f.Quarantined, Drift: f.Drift,
	}
}
