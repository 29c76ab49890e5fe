package verify

import (
	"context"
	"errors"
	"slices"

	"dealflow/load/runs"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// startLifters creates the lifters of the feeds with a table whose files have several schema versions, and finds their
// base URLs. With a broken log nothing is compared, and no lifter is needed.
func (v *verifier) startLifters(ctx context.Context, files []lake.File) (err error) {
	v.lifters, v.bases = map[api.Feed]Lifter{}, map[api.Feed]*lake.Bases{}
	if v.log.broken {
		return nil
	}
	names := new(runs.Cache)
	for _, feed := range allFeeds {
		for _, table := range lake.FeedTables(feed) {
			if lake.OneSchemaVersion(tableFiles(files, feed, table)) {
				continue
			}
			if v.cfg.Lifter == nil {
				return errors.New("verify: files of several schema versions are to be compared: want Config.Lifter")
			}
			if v.bases[feed], err = names.Bases(ctx, v.store, v.log.Segments(), v.log.Commits, feed); err != nil {
				return err
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
