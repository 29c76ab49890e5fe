package verify

import (
	"context"
	"errors"
	"slices"

	"dealflow/load/runs"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// readBases finds where runs pulled each feed from. With a broken log payloads are not compared with anything. What cannot be read is no
// finding, because it may be the store's fault, but then the lake is not proved.
func (v *verifier) readBases(ctx context.Context) error {
	v.bases = map[api.Feed]*lake.Bases{}
	if !v.cfg.ReadData || v.log.broken {
		return nil
	}
	names := new(runs.Cache)
	for _, feed := range allFeeds {
		bases, err := names.Bases(ctx, v.store, v.log.Segments(), v.log.Commits, feed)
		if err != nil {
			v.markUnread(lake.SegmentsPrefix, err)
			return ctx.Err()
		}
		v.bases[feed] = bases
	}
	return nil
}

// baseOf returns the base URL of the links in what a run pulled; false if it is not known. It is safe for concurrent use.
func (v *verifier) baseOf(pulled feedRun) (api.Base, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	bases := v.bases[pulled.feed]
	if bases == nil {
		return api.Base{}, false
	}
	base, err := bases.Of(pulled.runID)
	return base, err == nil // check has reported a run without a commit
}

// startLifters creates the lifters of the feeds with a table whose files have several schema versions. With a broken log
// nothing is compared, and no lifter is needed.
func (v *verifier) startLifters(files []lake.File) error {
	v.lifters = map[api.Feed]Lifter{}
	if v.log.broken {
		return nil
	}
	for _, feed := range allFeeds {
		for _, table := range lake.FeedTables(feed) {
			if lake.OneSchemaVersion(tableFiles(files, feed, table)) {
				continue
			}
			if v.cfg.Lifter == nil {
				return errors.New("verify: files of several schema versions are to be compared: want Config.Lifter")
			}
			if v.bases[feed] == nil {
				return errors.Join(v.storeErrors...)
			}
			v.lifters[feed] = v.cfg.Lifter(v.cfg.Memory, feed)
			break
		}
	}
	return nil
}

func (v *verifier) releaseLifters() {
	for _, lifter := range v.lifters {
		lifter.Release()
	}
}

// tableFiles lists the files of a feed's table that can be read.
func tableFiles(files []lake.File, feed api.Feed, table *lake.Table) []lake.File {
	return slices.DeleteFunc(slices.Clone(files), func(f lake.File) bool {
		return !f.HasMarket(feed.Market) || f.SchemaVersion < 1 || f.SchemaVersion > lake.SchemaVersion ||
			f.Table != lake.HistoryTable(table.Name) && f.Table != lake.SnapshotTable(table.Name)
	})
}
