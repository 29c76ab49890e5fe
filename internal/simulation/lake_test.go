package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/oracle"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/storetest"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// version is a row of deal_versions.
type version struct {
	Service     api.Service `json:"service"`
	Market      api.Market  `json:"market"`
	Kind        api.Kind    `json:"kind"`
	DealID      int64       `json:"deal_id"`
	Version     int32       `json:"version"`
	Change      string      `json:"change"`
	Reason      *string     `json:"reason"`
	KnownAt     time.Time   `json:"known_at"`
	ObservedAt  time.Time   `json:"observed_at"`
	RunID       string      `json:"run_id"`
	ContentHash *string     `json:"content_hash"`
	Payload     *string     `json:"payload"`

	content content // of the payload
}

func (v *version) feed() api.Feed {
	return api.Feed{Service: v.Service, Market: v.Market, Kind: v.Kind}
}

func (v *version) live() bool { return v != nil && v.Change != lake.Removed }

// ledger is the sum of a lake's history, read by the tests themselves.
type ledger struct {
	commit  int64
	known   time.Time
	read    map[string]bool // files of deal_versions
	newest  map[api.Feed]map[int64]*version
	payload map[api.Feed]map[int64]*version // the latest version with a payload
}

func newLedger() *ledger {
	return &ledger{read: map[string]bool{}, newest: map[api.Feed]map[int64]*version{}, payload: map[api.Feed]map[int64]*version{}}
}

// clone returns a copy of the ledger.
func (g *ledger) clone() *ledger {
	c := &ledger{commit: g.commit, known: g.known, read: maps.Clone(g.read), newest: map[api.Feed]map[int64]*version{}, payload: map[api.Feed]map[int64]*version{}}
	for feed := range g.newest {
		c.newest[feed], c.payload[feed] = maps.Clone(g.newest[feed]), maps.Clone(g.payload[feed])
	}
	return c
}

// follow reads the versions that were added since the last call, checks that they continue the earlier ones, and
// returns them.
func (g *ledger) follow(log *load.Log, s store.Store, mem memory.Allocator) ([]*version, error) {
	var fresh []*version
	for _, f := range log.Files(lake.HistoryTable(lake.DealVersions)) {
		if g.read[f.Path] {
			continue
		}
		g.read[f.Path] = true
		rows, err := rowsOf(s, f.Path, mem)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			v := new(version)
			if err := json.Unmarshal([]byte(row), v); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Path, err)
			}
			if v.KnownAt.After(g.known) { // a file that merges others has earlier versions, too
				fresh = append(fresh, v)
			}
		}
	}
	slices.SortFunc(fresh, func(a, b *version) int { return strings.Compare(a.key(), b.key()) })
	for _, v := range fresh {
		if err := g.enter(v); err != nil {
			return nil, fmt.Errorf("%s deal %d version %d (%s): %w", v.feed(), v.DealID, v.Version, v.Change, err)
		}
	}
	g.commit, g.known = log.Number, log.KnownAt.Time
	return fresh, nil
}

func (v *version) key() string { return fmt.Sprintf("%s %10d %10d", v.feed(), v.DealID, v.Version) }

// enter checks the rules for any version, whatever the market did. Numbers rise by one. A deal is added once, reappears
// only after a removal, and changes only to other content.
func (g *ledger) enter(v *version) (err error) {
	feed := v.feed()
	if g.newest[feed] == nil {
		g.newest[feed], g.payload[feed] = map[int64]*version{}, map[int64]*version{}
	}
	before, said := g.newest[feed][v.DealID], g.payload[feed][v.DealID]
	want := int32(1)
	if before != nil {
		want = before.Version + 1
	}
	may := lake.Added
	switch {
	case before != nil && !before.live():
		may = lake.Reappeared
	case before != nil:
		may = lake.Changed
	}
	switch {
	case v.Version != want:
		return fmt.Errorf("want version %d", want)
	case v.Change == lake.Removed:
		if !before.live() || v.Reason == nil || v.Payload != nil || v.ContentHash != nil {
			return fmt.Errorf("a removal of %+v, with reason, payload and hash %v %v %v", before, v.Reason, v.Payload, v.ContentHash)
		}
		if asked := *v.Reason; asked != lake.ReasonOutOfEntitlement && (asked == lake.ReasonPriced) != said.content.priced {
			return fmt.Errorf("reason %s, but the last payload's link says priced: %t", asked, said.content.priced)
		}
	case v.Change != may || v.Reason != nil || v.Payload == nil || v.ContentHash == nil:
		return fmt.Errorf("want %s with payload and hash", may)
	case v.Change == lake.Changed && *v.ContentHash == *said.ContentHash:
		return fmt.Errorf("the same content as version %d", said.Version)
	default:
		if v.content, err = contentOf(feed, v.DealID, *v.Payload); err != nil {
			return err
		}
		if said != nil && (v.content == said.content) != (*v.ContentHash == *said.ContentHash) {
			return fmt.Errorf("%s after %s, with hash %s after %s", stamp(v.content), stamp(said.content), *v.ContentHash, *said.ContentHash)
		}
		g.payload[feed][v.DealID] = v
	}
	if v.KnownAt.Before(v.ObservedAt) {
		return fmt.Errorf("known at %s, before it was observed at %s", v.KnownAt, v.ObservedAt)
	}
	g.newest[feed][v.DealID] = v
	return nil
}

// live returns the deals of a feed that are not removed, by id.
func (g *ledger) live(feed api.Feed) map[int64]*version {
	live := map[int64]*version{}
	for id, v := range g.newest[feed] {
		if v.live() {
			live[id] = v
		}
	}
	return live
}

// rowsOf reads a Parquet file, one JSON object per row.
func rowsOf(s store.Store, key string, mem memory.Allocator, omit ...string) ([]string, error) {
	body, err := s.Get(context.Background(), key)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	defer reader.Close()
	arrows, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{BatchSize: max(1, reader.NumRows())}, mem)
	if err != nil {
		return nil, err
	}
	records, err := arrows.GetRecordReader(context.Background(), nil, nil)
	if err != nil {
		return nil, err
	}
	defer records.Release()
	var rows []string
	for records.Next() {
		rows = append(rows, testkit.Rows(records.Record(), omit...)...)
	}
	return rows, nil
}

// tableRows reads a snapshot's table of one market and day in the oracle's spelling, with the version of each row. It
// leaves out the columns that parsers fill, which the oracle does not know.
func tableRows(log *load.Log, s store.Store, mem memory.Allocator, table string, market api.Market, day string) ([]oracle.Row, error) {
	var all []oracle.Row
	for _, f := range log.Files(lake.SnapshotTable(table)) {
		if !f.HasMarket(market) || f.Day() != day {
			continue
		}
		rows, err := rowsOf(s, f.Path, mem, append(helpersOf(table), "snapshot_date")...)
		if err != nil {
			return nil, err
		}
		for _, text := range rows {
			row := oracle.Row{}
			decoder := json.NewDecoder(strings.NewReader(text))
			decoder.UseNumber()
			if err := decoder.Decode(&row); err != nil {
				return nil, err
			}
			for name, value := range row {
				if n, ok := value.(json.Number); ok {
					if row[name], err = n.Int64(); err != nil {
						return nil, err
					}
				}
			}
			if row["market"] == string(market) {
				all = append(all, row)
			}
		}
	}
	return all, nil
}

// helpersOf names the helper columns of a table.
func helpersOf(table string) (names []string) {
	if found, ok := lake.TableByName(table); ok {
		for _, c := range found.Helpers {
			names = append(names, c.Name)
		}
	}
	return names
}

// wantWholeFiles checks that every file that the log names is there and holds what the log says.
func wantWholeFiles(t *testing.T, log *load.Log, s store.Store) {
	t.Helper()
	for _, f := range log.AllFiles() {
		if data := storetest.Bytes(t, s, f.Path); int64(len(data)) != f.Bytes || sumOf(data) != f.SHA256 {
			t.Errorf("%s: got %d bytes, SHA-256 %s; the commit says %d, %s", f.Path, len(data), sumOf(data), f.Bytes, f.SHA256)
		}
	}
}
