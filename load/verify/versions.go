package verify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// versionEntry is one version in the index: 40 bytes. It has only the first eight bytes of each hash, enough to tell
// two versions of a deal apart.
type versionEntry struct {
	deal        int64
	knownAt     int64 // microseconds
	content     uint64
	payload     uint64
	version     int32
	change      changeCode
	hashVersion uint8
	year        int16 // in which the version's run began; 0 if it is not known
}

type changeCode uint8

const (
	unknownChange changeCode = iota
	wasAdded
	wasChanged
	wasRemoved
	wasReappeared
)

var changeCodes = map[string]changeCode{lake.Added: wasAdded, lake.Changed: wasChanged, lake.Removed: wasRemoved, lake.Reappeared: wasReappeared}

// versionIndex is all versions of a feed, sorted by deal and version.
type versionIndex []versionEntry

func (x versionIndex) sort() {
	slices.SortFunc(x, func(a, b versionEntry) int {
		return cmp.Or(cmp.Compare(a.deal, b.deal), cmp.Compare(a.version, b.version))
	})
}

// find returns the index of a version; -1 if it is absent.
func (x versionIndex) find(deal int64, version int32) int {
	i, found := slices.BinarySearchFunc(x, parquet.RowKey{DealID: deal, Version: version}, func(e versionEntry, k parquet.RowKey) int {
		return cmp.Or(cmp.Compare(e.deal, k.DealID), cmp.Compare(e.version, k.Version))
	})
	if !found {
		return -1
	}
	return i
}

// isCurrent says whether entry i is its deal's current version as of an instant in microseconds. A removed deal has
// none.
func (x versionIndex) isCurrent(i int, instant int64) bool {
	last := i+1 == len(x) || x[i+1].deal != x[i].deal || x[i+1].knownAt > instant
	return last && x[i].knownAt <= instant && x[i].change != wasRemoved
}

// checkVersions checks deal_versions, market by market, and returns the index of each feed. A feed has no index if one
// of its files is damaged: then nothing can be compared with it.
func (v *verifier) checkVersions(ctx context.Context, files []lake.File) (map[api.Feed]versionIndex, error) {
	markets := marketsOf(nil)
	indexes := make([]map[api.Feed]versionIndex, len(markets))
	err := v.each(ctx, len(markets), func(ctx context.Context, i int) error {
		marketFiles := slices.DeleteFunc(slices.Clone(files), func(f lake.File) bool {
			return f.Table != lake.HistoryTable(lake.DealVersions) || !f.HasMarket(markets[i])
		})
		var err error
		indexes[i], err = v.marketVersions(ctx, markets[i], marketFiles)
		return err
	})
	all := map[api.Feed]versionIndex{}
	for i, market := range markets {
		for _, feed := range allFeeds {
			if indexes[i] != nil && feed.Market == market {
				all[feed] = indexes[i][feed]
				v.versions += int64(len(all[feed]))
			}
		}
	}
	return all, err
}

// marketVersions reads and checks the versions of a market's feeds. It returns nil if they are not completely known.
func (v *verifier) marketVersions(ctx context.Context, market api.Market, files []lake.File) (map[api.Feed]versionIndex, error) {
	index := map[api.Feed]versionIndex{}
	for _, f := range files {
		if !v.isSound(f) {
			continue
		}
		if err := v.readVersions(ctx, f, market, index); err != nil {
			return nil, err
		}
	}
	if v.log.broken || !v.allSound(files) {
		return nil, nil
	}
	for feed := range index {
		index[feed].sort()
		v.checkDeals(feed, index[feed])
		index[feed] = slices.CompactFunc(index[feed], func(a, b versionEntry) bool { return a.deal == b.deal && a.version == b.version })
	}
	return index, nil
}

// versionColumns are the columns of deal_versions that are read, in this order.
var versionColumns = []string{
	"service", "market", "kind", "deal_id", "version", "change", "reason", "known_at", "run_id", "content_hash", "hash_version", "payload_hash", "payload",
}

// versionFile checks the rows of one file of deal_versions.
type versionFile struct {
	v        *verifier
	file     lake.File
	market   api.Market
	last     map[api.Kind]parquet.RowKey
	pulls    map[feedRun]*pull
	rows     int64
	min, max int64
}

// feedRun is a run that pulled a feed.
type feedRun struct {
	feed  api.Feed
	runID string
}

// pull is what is needed of a feedRun to read payloads.
type pull struct {
	base api.Base
	hash func(payload []byte) (lake.Digest, error) // nil: content hashes are not checked
}

// readVersions checks the rows of a market in a file of deal_versions by themselves, and adds them to the index. The index
// may be nil.
func (v *verifier) readVersions(ctx context.Context, f lake.File, market api.Market, index map[api.Feed]versionIndex) error {
	rows := &versionFile{v: v, file: f, market: market, last: map[api.Kind]parquet.RowKey{}, pulls: map[feedRun]*pull{}}
	err := v.scanFile(ctx, f, market, versionColumns, func(record arrow.Record) {
		c := versionRecord{record}
		for i := range int(record.NumRows()) {
			entry := c.entry(i)
			entry.year = v.log.yearOf(c.text(8, i))
			feed, ok := c.feed(i)
			if !ok || feed.Market != market {
				rows.reportMisplaced(c, i, entry)
				continue
			}
			rows.check(c, i, feed, entry)
			if index != nil {
				index[feed] = append(index[feed], entry)
				rows.remember(c, i, feed, entry)
			}
		}
	})
	if err == nil && v.isSound(f) {
		v.checkCounts(f, rows.rows, rows.min, rows.max)
	}
	return err
}

// remember gives a version's payload to the feed's lifter, if it has one.
func (r *versionFile) remember(c versionRecord, i int, feed api.Feed, e versionEntry) {
	lifter := r.v.lifters[feed]
	if lifter == nil || c.null(12, i) {
		return
	}
	lifter.Remember(e.deal, e.version, r.pull(feed, c.text(8, i)).base, []byte(c.text(12, i)))
}

// pull returns the pull of a feed by a run; an empty one if it is not known.
func (r *versionFile) pull(feed api.Feed, runID string) *pull {
	key := feedRun{feed, runID}
	p, known := r.pulls[key]
	if known {
		return p
	}
	key.runID = strings.Clone(runID) // it points into a record
	p = &pull{}
	if base, ok := r.v.baseOf(key); ok {
		p.base = base
		if r.v.cfg.ContentHash != nil {
			p.hash = r.v.cfg.ContentHash(base)
		}
	}
	r.pulls[key] = p
	return p
}

var allFeeds = api.Feeds()

// versionRecord is a record with versionColumns.
type versionRecord struct{ arrow.Record }

func (c versionRecord) text(column, i int) string { return c.Column(column).(*array.String).Value(i) }

func (c versionRecord) null(column, i int) bool { return c.Column(column).IsNull(i) }

func (c versionRecord) hash(column, i int) []byte {
	if c.null(column, i) {
		return nil
	}
	return c.Column(column).(*array.FixedSizeBinary).Value(i)
}

// feed returns a row's feed; ok is false for an unknown one. The feed does not point into the record's memory.
func (c versionRecord) feed(i int) (feed api.Feed, ok bool) {
	for _, feed := range allFeeds {
		if string(feed.Service) == c.text(0, i) && string(feed.Market) == c.text(1, i) && string(feed.Kind) == c.text(2, i) {
			return feed, true
		}
	}
	return api.Feed{}, false
}

// hashPrefix returns the first eight bytes of a hash; 0 for no hash.
func hashPrefix(hash []byte) uint64 {
	if len(hash) == 0 {
		return 0
	}
	return binary.LittleEndian.Uint64(hash)
}

func (c versionRecord) entry(i int) versionEntry {
	return versionEntry{
		deal: c.Column(3).(*array.Int64).Value(i), version: c.Column(4).(*array.Int32).Value(i),
		change: changeCodes[c.text(5, i)], knownAt: int64(c.Column(7).(*array.Timestamp).Value(i)),
		content: hashPrefix(c.hash(9, i)), hashVersion: uint8(c.Column(10).(*array.Int32).Value(i)), payload: hashPrefix(c.hash(11, i)),
	}
}

// reportMisplaced reports a row of another market than the file's, or of an unknown feed.
func (r *versionFile) reportMisplaced(c versionRecord, i int, e versionEntry) {
	r.count(e)
	r.v.report(Finding{Check: RowPartition, Path: r.file.Path, Table: r.file.Table, Detail: fmt.Sprintf(
		"the row's feed is %s %s %s, want one of market %s as in the commit", c.text(0, i), c.text(1, i), c.text(2, i), r.market)}.about(e.deal, e.version))
}

// count adds a row to the file's counts.
func (r *versionFile) count(e versionEntry) {
	if r.rows == 0 {
		r.min, r.max = e.deal, e.deal
	}
	r.rows++
	r.min, r.max = min(r.min, e.deal), max(r.max, e.deal)
}

// check checks a row against the row before it, its commit, and its own payload.
func (r *versionFile) check(c versionRecord, i int, feed api.Feed, e versionEntry) {
	fault := func(check Check, format string, args ...any) {
		r.v.report(Finding{Check: check, Path: r.file.Path, Table: r.file.Table, Detail: fmt.Sprintf("%s: ", feed) + fmt.Sprintf(format, args...)}.about(e.deal, e.version))
	}
	r.checkOrder(feed, e, fault)
	runID := c.text(8, i)
	switch known, ok := r.v.log.instantOf(runID); {
	case !ok && !r.v.log.broken:
		fault(VersionKnownAt, "run %s of the version has no commit", runID)
	case ok && known != e.knownAt:
		fault(VersionKnownAt, "known_at is %s, but the commit of its run %s has %s", micros(e.knownAt), runID, micros(known))
	}
	checkYear(r.file, e.year, fault)
	r.checkContent(c, i, e, fault)
	if !c.null(9, i) && !c.null(12, i) && e.hashVersion == lake.HashVersion {
		r.checkHash(c, i, r.pull(feed, runID), fault)
	}
}

type faultFunc func(check Check, format string, args ...any)

// checkOrder checks that the rows of a kind are sorted.
func (r *versionFile) checkOrder(feed api.Feed, e versionEntry, fault faultFunc) {
	r.count(e)
	key := parquet.RowKey{DealID: e.deal, Version: e.version}
	last, begun := r.last[feed.Kind]
	switch order := key.Compare(last); {
	case begun && order == 0:
		fault(RowKey, "duplicate row key")
	case begun && order < 0:
		fault(RowOrder, "the row is out of order: it follows deal %d version %d", last.DealID, last.Version)
	}
	r.last[feed.Kind] = key
}

// checkContent checks that a version has the payload, hashes and reason that its change requires.
func (r *versionFile) checkContent(c versionRecord, i int, e versionEntry, fault faultFunc) {
	has := []bool{!c.null(9, i), !c.null(11, i), !c.null(12, i)} // content_hash, payload_hash, payload
	reason := ""
	if !c.null(6, i) {
		reason = c.text(6, i)
	}
	known := slices.Contains([]string{lake.ReasonGone, lake.ReasonPriced, lake.ReasonOutOfEntitlement}, reason)
	switch {
	case e.change == unknownChange:
		fault(VersionChange, "change is %q, want added, changed, removed or reappeared", c.text(5, i))
	case e.change == wasRemoved && (slices.Contains(has, true) || !known):
		fault(VersionRemoval, "removal with reason %q; content hash, payload hash, payload present: %t; want a reason and none of the three", reason, has)
	case e.change != wasRemoved && (slices.Contains(has, false) || reason != ""):
		fault(VersionRemoval, "version with reason %q; content hash, payload hash, payload present: %t; want no reason and all of the three", reason, has)
	}
	if has[1] && has[2] {
		if sum := sha256.Sum256([]byte(c.text(12, i))); string(sum[:]) != string(c.hash(11, i)) {
			fault(PayloadHash, "the payload has SHA-256 %.6x, its payload_hash is %.6x", sum, c.hash(11, i))
		}
	}
}

// checkHash computes a version's content hash from its payload.
func (r *versionFile) checkHash(c versionRecord, i int, pulled *pull, fault faultFunc) {
	if pulled.hash == nil {
		return
	}
	payload := c.text(12, i)
	switch sum, err := pulled.hash([]byte(payload)); {
	case err != nil:
		fault(ContentHash, "the payload has no content: %v", err)
	case string(sum[:]) != string(c.hash(9, i)):
		fault(ContentHash, "the payload's content has SHA-256 %.6x, its content_hash is %.6x", sum, c.hash(9, i))
	}
}

// checkYear checks that a file of history is of the year in which the run of one of its versions began; 0 if that is not known.
func checkYear(f lake.File, year int16, fault faultFunc) {
	if named, err := strconv.Atoi(f.Year()); year != 0 && (err != nil || named != int(year)) {
		fault(RowPartition, "the version's run began in %d, but the file is of year %s: readers leave out files by their year", year, f.Year())
	}
}

// micros formats an instant in microseconds.
func micros(instant int64) string { return instantOf(instant).String() }

// instantOf converts an instant in microseconds.
func instantOf(micros int64) lake.Instant { return lake.At(time.UnixMicro(micros)) }

// checkDeals compares the versions of each deal of a feed with each other.
func (v *verifier) checkDeals(feed api.Feed, index versionIndex) {
	table := lake.HistoryTable(lake.DealVersions)
	for i := range index {
		e := &index[i]
		fault := func(check Check, format string, args ...any) {
			v.report(Finding{Check: check, Path: v.versionsFolder(feed), Table: table, Detail: fmt.Sprintf("%s: ", feed) + fmt.Sprintf(format, args...)}.about(e.deal, e.version))
		}
		if i == 0 || index[i-1].deal != e.deal {
			if e.version != 1 {
				fault(VersionNumbers, "got this as the deal's first version, want version 1")
			} else if e.change != wasAdded {
				fault(VersionChange, "the deal's first version: want change `added`")
			}
			continue
		}
		checkSuccession(&index[i-1], e, fault)
	}
}

// checkSuccession compares a version with the one before it.
func checkSuccession(before, e *versionEntry, fault faultFunc) {
	if e.version == before.version {
		fault(RowKey, "duplicate version in history")
		return
	}
	if e.version != before.version+1 {
		fault(VersionNumbers, "versions are missing: the version before is %d", before.version)
	}
	if e.knownAt <= before.knownAt {
		fault(VersionIntervals, "known_at is %s, want an instant after %s of the version before: the intervals overlap", micros(e.knownAt), micros(before.knownAt))
	}
	if wants := before.change == wasRemoved; e.version == before.version+1 && (wants != (e.change == wasReappeared) || e.change == wasAdded) {
		fault(VersionChange, "change is %s, which cannot follow a version with change %s", e.change, before.change)
	}
	if e.change == wasChanged && e.content == before.content && e.hashVersion == before.hashVersion {
		fault(VersionContent, "change is `changed`, but the content equals that of the version before")
	}
}

// String returns the word for a change in deal_versions, in backquotes.
func (c changeCode) String() string {
	if word := c.word(); word != "" {
		return "`" + word + "`"
	}
	return "unknown"
}

// word returns the word for a change in deal_versions; "" for an unknown one.
func (c changeCode) word() string {
	for word, code := range changeCodes {
		if code == c {
			return word
		}
	}
	return ""
}

// versionsFolder is the folder of the versions of a feed.
func (v *verifier) versionsFolder(feed api.Feed) string {
	return path.Dir(lake.HistoryFolder(v.log.Format, lake.DealVersions, feed.Market, 0))
}
