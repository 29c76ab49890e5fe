-- The values of {{.Column}} in {{.Table}} as known at the instant, the most frequent first.
WITH counted AS (
  SELECT {{ident .Column}}::VARCHAR AS value, count(*) AS n FROM {{ident (printf "%s_as_of" .Table)}}($as_of) GROUP BY ALL
), sums AS (
  SELECT count(value) AS different, sum(n) AS all_rows, coalesce(sum(n) FILTER (value IS NULL), 0) AS null_rows FROM counted
)
SELECT value, n AS "rows", different, all_rows, null_rows
FROM counted, sums
ORDER BY n DESC, value
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
