-- The last run of complete snapshots, feed by feed.
SELECT f.service, f.market, f.kind, f.outcome, f.deals, f.added, f.changed, f.removed, f.reappeared, f.quarantined, f.drift
FROM _dealflow.feed_runs f
JOIN runs r USING ("commit")
JOIN markets m ON m.market = f.market
WHERE r."commit" = (SELECT max("commit") FROM runs WHERE command = 'run' AND known_at <= getvariable('as_of'))
ORDER BY m.precedence, f.kind DESC
