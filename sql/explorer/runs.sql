-- The runs and the maintenance that made a commit up to the instant, newest first.
SELECT * FROM runs
WHERE known_at <= $as_of::TIMESTAMPTZ
ORDER BY "commit" DESC
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
