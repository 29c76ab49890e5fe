package verify

import (
	"context"
	"fmt"
	"iter"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// PublishedCatalog is a lake's published catalog, opened before the lake is verified. internal/catalog implements it.
type PublishedCatalog interface {
	// State returns the commit that the catalog shows, and why it must not be used; nil for no reason.
	State() (shows lake.NamedCommit, flaw error)
	// Versions yields the version index of a feed, by deal and version; ok is false if this program cannot read it.
	Versions(ctx context.Context, feed api.Feed) (index iter.Seq2[lake.IndexedVersion, error], ok bool)
}

// checkCatalog checks that the catalog is as it was made.
func (v *verifier) checkCatalog() {
	if v.cfg.Catalog == nil {
		return
	}
	if _, flaw := v.cfg.Catalog.State(); flaw != nil {
		v.reportCatalog("%v", flaw)
	}
}

func (v *verifier) reportCatalog(format string, args ...any) {
	v.report(Finding{Check: Catalog, Path: lake.CatalogKey, Detail: fmt.Sprintf(format, args...)})
}

// checkVersionIndex compares the catalog's version index with history as of the commit that the catalog shows.
func (v *verifier) checkVersionIndex(ctx context.Context, indexes map[api.Feed]versionIndex) error {
	if v.cfg.Catalog == nil {
		return nil
	}
	shows, _ := v.cfg.Catalog.State()
	if known := v.log.known; shows.Number < 1 || shows.Number >= int64(len(known)) || known[shows.Number] != shows.KnownAt.UnixMicro() {
		return nil // it shows a later commit than the log that was read, or none of it
	}
	for _, feed := range allFeeds {
		index, known := indexes[feed]
		stated, readable := v.cfg.Catalog.Versions(ctx, feed)
		if !known || !readable {
			continue
		}
		c := indexComparison{v: v, feed: feed, want: index, shown: shows.KnownAt.UnixMicro()}
		for version, err := range stated {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				v.reportCatalog("%v", err)
				return nil
			}
			c.compare(version)
		}
		c.finish()
	}
	return nil
}

// indexComparison compares the versions of a feed in the catalog, one after another, with those of history.
type indexComparison struct {
	v     *verifier
	feed  api.Feed
	want  versionIndex // entries before next were compared
	next  int
	shown int64 // known_at of the catalog's commit in microseconds: it has no later versions
}

func (c *indexComparison) fault(deal int64, version int32, format string, args ...any) {
	c.v.report(Finding{Check: Catalog, Path: lake.CatalogKey, Detail: fmt.Sprintf("%s: ", c.feed) + fmt.Sprintf(format, args...)}.about(deal, version))
}

// skip reports the versions of history before a version of the catalog, which lacks them.
func (c *indexComparison) skip(isBefore func(*versionEntry) bool) {
	for ; c.next < len(c.want) && isBefore(&c.want[c.next]); c.next++ {
		if e := &c.want[c.next]; e.knownAt <= c.shown {
			c.fault(e.deal, e.version, "the catalog's version index lacks the version, which history has")
		}
	}
}

func (c *indexComparison) compare(stated lake.IndexedVersion) {
	c.skip(func(e *versionEntry) bool {
		return e.deal < stated.DealID || e.deal == stated.DealID && e.version < stated.Version
	})
	if c.next == len(c.want) || c.want[c.next].deal != stated.DealID || c.want[c.next].version != stated.Version || c.want[c.next].knownAt > c.shown {
		c.fault(stated.DealID, stated.Version, "the catalog's version index has the version, which history has not, or has twice")
		return
	}
	e := &c.want[c.next]
	c.next++
	want := lake.IndexedVersion{DealID: e.deal, Version: e.version, Change: e.change.word(), ValidFrom: instantOf(e.knownAt)}
	if c.next < len(c.want) && c.want[c.next].deal == e.deal && c.want[c.next].knownAt <= c.shown {
		want.ValidTo = instantOf(c.want[c.next].knownAt)
	}
	if stated != want {
		c.fault(e.deal, e.version, "the catalog's version index says %s, from %s until %s; history says %s, from %s until %s",
			stated.Change, stated.ValidFrom, until(stated.ValidTo), want.Change, want.ValidFrom, until(want.ValidTo))
	}
}

func (c *indexComparison) finish() { c.skip(func(*versionEntry) bool { return true }) }

func until(i lake.Instant) string {
	if i.IsZero() {
		return "now"
	}
	return i.String()
}
