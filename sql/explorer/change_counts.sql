-- The number of versions that became known in that time, by feed and change.
{{template "_changed.sql"}}
SELECT service, market, kind, change, reason, count(*) AS versions
FROM found
GROUP BY ALL
ORDER BY ALL
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
