-- The days whose snapshot of a feed was complete and known: the last run that took it had become known.
CREATE TABLE _dealflow.known_snapshot AS
SELECT f.service, f.market, f.kind, r.snapshot_date AS day
FROM _dealflow.feed_runs f
JOIN _dealflow.runs r USING ("commit")
WHERE f.outcome = 'done' AND r.snapshot_date IS NOT NULL
GROUP BY ALL
HAVING max(r.known_at) <= {{lit .}}::TIMESTAMPTZ;
-- The months with such a day.
SELECT concat(string_agg(DISTINCT concat(' ', service, '/', kind, '/', strftime(day, '%Y-%m'), ' '), '')) FROM _dealflow.known_snapshot
