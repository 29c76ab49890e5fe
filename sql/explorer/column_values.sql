-- The values of {{.Column}} in {{.Table}} as known at the instant, the most frequent first.
SELECT {{ident .Column}}::VARCHAR AS value, count(*) AS "rows", count(*) OVER () AS different, sum(count(*)) OVER () AS all_rows
FROM {{ident (printf "%s_as_of" .Table)}}($as_of)
GROUP BY ALL
ORDER BY "rows" DESC, value
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
