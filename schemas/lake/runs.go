package lake

import "slices"

// RunColumns returns the columns of the catalog's table runs. The caller owns the slice.
func RunColumns() []Column {
	return slices.Concat([]Column{
		{Name: "run_id", Type: Text, Doc: "The run: a UUIDv7."},
		{Name: "command", Type: Text, Doc: "run, sync, quarantine, compact, expire or replay."},
		{Name: "commit", Type: Int64, Doc: "Number of the run's commit."},
		{Name: "known_at", Type: Timestamp, Doc: "Instant of the commit: later than everything observed for it."},
		{Name: "started_at", Type: Timestamp, Doc: "When the run started."},
		{Name: "finished_at", Type: Timestamp, Doc: "When the run was ready to commit."},
		{Name: "snapshot_date", Type: Date, Doc: "Day of the snapshot that the run wrote; NULL for a run without a snapshot."},
		{Name: "outcome", Type: Text, Doc: "done, or partial if a feed failed or was held."},
		{Name: "dealflow_version", Type: Text, Doc: "Version of dealflow that made the commit."},
		{Name: "feeds", Type: Int32, Doc: "Number of feeds that the run pulled."},
	}, trafficColumns(), changeColumns())
}

// trafficColumns returns the columns that count what was fetched.
func trafficColumns() []Column {
	return []Column{
		{Name: "pages", Type: Int64, Doc: "List pages read."},
		{Name: "requests", Type: Int64, Doc: "Requests sent."},
		{Name: "bytes", Type: Int64, Unit: "bytes", Doc: "Bytes of response bodies, as sent over the network."},
	}
}

// changeColumns returns the columns that count the changes of deals.
func changeColumns() []Column {
	return []Column{
		{Name: "added", Type: Int64, Doc: "Deals that the lake did not know before."},
		{Name: "changed", Type: Int64, Doc: "Deals with changed content."},
		{Name: "removed", Type: Int64, Doc: "Deals that were removed."},
		{Name: "reappeared", Type: Int64, Doc: "Removed deals that appeared again."},
		{Name: "unchanged", Type: Int64, Doc: "Deals with the same content as before."},
		{Name: "quarantined", Type: Int64, Doc: "Records that could not be read."},
		{Name: "drift", Type: Int64, Doc: "Number of fields and values that the schema does not expect."},
	}
}

// CheckColumns returns the columns of the catalog's table checks. The caller owns the slice.
func CheckColumns() []Column {
	return []Column{
		{Name: "run_id", Type: Text, Doc: "The run: a UUIDv7."},
		{Name: "commit", Type: Int64, Doc: "Number of the run's commit."},
		{Name: "known_at", Type: Timestamp, Doc: "Instant of the commit: from then on its versions are known."},
		{Name: "name", Type: Text, Doc: "Name of the check, and of its file in sql/checks."},
		{Name: "severity", Type: Text, Doc: "warn or hold. If a check with hold finds something, the run commits nothing."},
		{Name: "outcome", Type: Text, Doc: "passed, warned, accepted (it found something, and --accept-checks named it) or failed (the query failed)."},
		{Name: "count", Type: Int64, Doc: "Number of things found."},
		{Name: "detail", Type: Text, Doc: "What the check found and where, with an example."},
	}
}

// CheckRow returns a check as a row of checks: values by column name.
func CheckRow(c *Commit, check *Check) map[string]any {
	return map[string]any{
		"run_id": c.RunID, "commit": c.Number, "known_at": c.KnownAt, "name": check.Name, "severity": check.Severity,
		"outcome": check.Outcome, "count": check.Count, "detail": check.Detail,
	}
}

// FeedRunColumns returns the columns of the catalog's table feed_runs. The caller owns the slice.
func FeedRunColumns() []Column {
	return slices.Concat([]Column{
		{Name: "run_id", Type: Text, Doc: "The run: a UUIDv7."},
		{Name: "feed", Type: Text, Doc: "service/market/kind, such as bond/ig/priced."},
		{Name: "service", Type: Text, Doc: "bond or loan."},
		{Name: "market", Type: Text, Doc: "IG, HY, EM, LL, CF or AF."},
		{Name: "kind", Type: Text, Doc: "priced or expected."},
		{Name: "outcome", Type: Text, Doc: "done, failed, held or skipped."},
		{Name: "error", Type: Text, Doc: "Why the feed is not done; NULL if it is."},
		{Name: "started_at", Type: Timestamp, Doc: "When the feed's extraction started."},
		{Name: "finished_at", Type: Timestamp, Doc: "When the feed's files were written."},
		{Name: "deals", Type: Int64, Doc: "Deals in the snapshot; of a sync, deals that it read."},
	}, changeColumns(), trafficColumns(), []Column{
		{Name: "retries", Type: Int64, Doc: "Requests sent again."},
		{Name: "waited_ms", Type: Int64, Unit: "milliseconds", Doc: "Time spent waiting: at the server's request, after a failure, or to keep to the rate."},
		{Name: "sweeps", Type: Int64, Doc: "Sweeps after the first walk until nothing was new."},
		{Name: "confirmations", Type: Int64, Doc: "Absent deals that were requested by id."},
		{Name: "base_url", Type: Text, Doc: "Base URL of the API from which the feed was pulled."},
		{Name: "out_of_entitlement", Type: Int64, Doc: "Removed deals that the account may no longer see."},
		{Name: "sync_missed", Type: Int64, Doc: "Changes that earlier syncs should have added and did not."},
		{Name: "extract_ms", Type: Int64, Unit: "milliseconds", Doc: "Time from the start until the feed was proved complete."},
		{Name: "write_ms", Type: Int64, Unit: "milliseconds", Doc: "Time to flatten and write the feed."},
	})
}

// RunRow returns a commit as a row of runs: values by column name.
func RunRow(c *Commit) map[string]any {
	sum := FeedRun{}
	var drift int64
	for i := range c.Feeds {
		f := &c.Feeds[i]
		sum.Pages += f.Pages
		sum.Requests += f.Requests
		sum.Bytes += f.Bytes
		sum.Added += f.Added
		sum.Changed += f.Changed
		sum.Removed += f.Removed
		sum.Reappeared += f.Reappeared
		sum.Unchanged += f.Unchanged
		sum.Quarantined += f.Quarantined
		drift += f.DriftCount()
	}
	row := map[string]any{
		"run_id": c.RunID, "command": c.Command, "commit": c.Number, "known_at": c.KnownAt,
		"started_at": c.StartedAt, "finished_at": c.FinishedAt, "snapshot_date": c.SnapshotDate,
		"outcome": c.Outcome, "dealflow_version": c.DealflowVersion, "feeds": len(c.Feeds), "drift": drift,
		"pages": sum.Pages, "requests": sum.Requests, "bytes": sum.Bytes, "added": sum.Added,
		"changed": sum.Changed, "removed": sum.Removed, "reappeared": sum.Reappeared,
		"unchanged": sum.Unchanged, "quarantined": sum.Quarantined,
	}
	if c.SnapshotDate == "" {
		row["snapshot_date"] = nil
	}
	return row
}

// FeedRunRow returns a feed of a commit as a row of feed_runs: values by column name.
func FeedRunRow(c *Commit, f *FeedRun) map[string]any {
	row := map[string]any{
		"run_id": c.RunID, "feed": f.Feed.String(), "service": f.Feed.Service, "market": f.Feed.Market,
		"kind": f.Feed.Kind, "outcome": f.Outcome, "error": f.Error, "started_at": f.StartedAt,
		"finished_at": f.FinishedAt, "deals": f.Deals, "added": f.Added, "changed": f.Changed,
		"removed": f.Removed, "reappeared": f.Reappeared, "unchanged": f.Unchanged,
		"quarantined": f.Quarantined, "drift": f.DriftCount(), "pages": f.Pages, "requests": f.Requests,
		"bytes": f.Bytes, "retries": f.Retries, "waited_ms": f.WaitedMS, "sweeps": f.Sweeps,
		"confirmations": f.Confirmations, "base_url": f.BaseURL, "out_of_entitlement": f.NotEntitled,
		"sync_missed": f.SyncMissed, "extract_ms": f.ExtractMS, "write_ms": f.WriteMS,
	}
	if f.Error == "" {
		row["error"] = nil
	}
	return row
}
