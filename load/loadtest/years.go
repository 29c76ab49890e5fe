package loadtest

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// SyncsPerNight is the number of syncs between two nights of Years: one each five minutes.
const SyncsPerNight = 288

// Years makes the log of a lake that is synced every five minutes, with commits 1 to last: nights, syncs, and a compaction
// after each night. It passes the key and the bytes of each to put. Each pull has that number of feeds, the first of
// api.Feeds; in a sync two of them have news. With files, commits name data files, which are not made.
func Years(t testing.TB, last int64, feeds int, files bool, put func(key string, data []byte) error) {
	t.Helper()
	y := years{feeds: api.Feeds()[:feeds], files: files}
	for n := int64(1); n <= last; n++ {
		c := y.next()
		data, err := c.Encode()
		if err == nil {
			err = put(lake.CommitKey(n), data)
		}
		if err != nil {
			t.Fatal(err)
		}
		y.previous = lake.SHA256(data)
	}
}

// LongYears returns a lake with the log of Years, of one feed and without data files. It has nothing that is derived from
// the commits.
func LongYears(t testing.TB, last int64) *memstore.Mem {
	t.Helper()
	s := new(memstore.Mem)
	Years(t, last, 1, false, func(key string, data []byte) error {
		return s.Put(t.Context(), key, bytes.NewReader(data), store.CreateOnly)
	})
	return s
}

// years makes the commits of a lake one after the other.
type years struct {
	feeds    []api.Feed
	files    bool
	made     int64
	previous string   // hash of the last commit
	live     []string // files of history that a compaction merges
}

// next returns the next commit.
func (y *years) next() lake.Commit {
	y.made++
	at := lake.At(Start.Add(time.Duration(y.made) * 5 * time.Minute))
	c := lake.Commit{
		FormatVersion: lake.FormatVersion, Number: y.made, RunID: runID(y.made), Command: "sync", KnownAt: at, PreviousSHA256: y.previous,
		DealflowVersion: "1.0.0", StartedAt: at, FinishedAt: at, Outcome: lake.OutcomeDone, Remove: []string{}, Checks: []lake.Check{}, DriftKinds: lake.DriftKinds(),
	}
	switch y.made % (SyncsPerNight + 2) {
	case 1:
		c.Command, c.SnapshotDate = "run", lake.DateOf(at.Time)
		y.pull(&c, len(y.feeds))
	case 2:
		c.Command, c.Feeds, c.Remove = "compact", []lake.FeedRun{}, append(c.Remove, y.live...)
		y.live = nil
		y.add(&c, lake.HistoryTable(lake.DealVersions), api.IG)
	default:
		y.pull(&c, 2)
	}
	return c
}

// pull adds the feeds to a commit. The first ones have news.
func (y *years) pull(c *lake.Commit, news int) {
	for i, feed := range y.feeds {
		f := lake.FeedRun{
			Feed: feed, Outcome: lake.OutcomeDone, BaseURL: "https://api.example.com/market", StartedAt: c.StartedAt, FinishedAt: c.FinishedAt,
			UpdatedSince: "/v3/" + feed.String() + "-deal?updatedSince=" + c.KnownAt.Format(time.RFC3339), Deals: 5, Pages: 1, Requests: 2,
			Bytes: 4000 + c.Number%1000, ExtractMS: 100 + c.Number%50, Drift: []lake.Drift{},
		}
		if i < news {
			f.Changed, f.Unchanged = 2, 3
			f.Drift = append(f.Drift, lake.Drift{Pointer: "/ratingNote", Kind: lake.DriftUnknown, Count: 2, Example: fmt.Sprintf("%q", runID(c.Number))})
			y.add(c, lake.HistoryTable(lake.DealVersions), feed.Market)
		}
		c.Feeds = append(c.Feeds, f)
	}
	for _, name := range []string{"amounts_out_of_line", "deals_far_in_the_future", "feeds_that_shrank", "removals_out_of_line", "texts_not_understood"} {
		c.Checks = append(c.Checks, lake.Check{Name: name, Severity: lake.SeverityWarn, Outcome: lake.CheckPassed})
	}
}

// add adds a file of history to a commit.
func (y *years) add(c *lake.Commit, table string, market api.Market) {
	if !y.files {
		return
	}
	path := lake.HistoryKey(lake.DealVersions, market, c.StartedAt.UTC().Year(), c.RunID, len(c.Add))
	c.Add = append(c.Add, lake.File{
		Path: path, Table: table, Partition: map[string]string{"market": string(market), "year": c.StartedAt.UTC().Format("2006")},
		SchemaVersion: lake.SchemaVersion, Rows: 2, Bytes: 4000, SHA256: lake.SHA256([]byte(path)), MinDealID: 1, MaxDealID: 99, Needs: lake.SchemaNeeds(lake.SchemaVersion),
	})
	y.live = append(y.live, path)
}

// runID returns the id of the run of a commit.
func runID(number int64) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(lake.CommitKey(number))).String()
}
