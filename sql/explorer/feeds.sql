-- The newest run of each feed that took its snapshot, up to the instant.
SELECT f.service, f.market, f.kind, f.outcome, f.deals, f.added, f.changed, f.removed, f.reappeared, f.unchanged, f.quarantined, f.drift,
       r."commit", r.known_at, r.snapshot_date
FROM feed_runs f
JOIN runs r ON r.run_id = f.run_id
WHERE r.known_at <= $as_of::TIMESTAMPTZ AND f.outcome = 'done' AND r.snapshot_date IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY f.service, f.market, f.kind ORDER BY r."commit" DESC) = 1
ORDER BY f.service, f.market, f.kind DESC
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
