-- What one commit did to each feed.
SELECT f.*
FROM feed_runs f
JOIN runs r ON r.run_id = f.run_id
WHERE r.known_at <= $as_of::TIMESTAMPTZ AND r."commit" = $commit::BIGINT
ORDER BY f.service, f.market, f.kind
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
