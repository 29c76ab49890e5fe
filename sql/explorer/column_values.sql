-- The values of {{.Column}} in {{.Table}} as known at the instant, the most frequent first.
SELECT value, n AS "rows", count(value) OVER () AS different, sum(n) OVER () AS all_rows, coalesce(sum(n) FILTER (value IS NULL) OVER (), 0) AS null_rows
FROM (SELECT {{ident .Column}}::VARCHAR AS value, count(*) AS n FROM {{ident (printf "%s_as_of" .Table)}}($as_of) GROUP BY ALL)
ORDER BY n DESC, value
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
