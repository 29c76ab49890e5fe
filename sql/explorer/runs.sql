-- The runs and the maintenance that made a commit up to the instant, newest first.
SELECT * FROM runs
WHERE known_at <= $as_of::TIMESTAMPTZ AND ($command = '' OR command = $command) AND ($outcome = '' OR outcome = $outcome)
ORDER BY "commit" DESC
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
