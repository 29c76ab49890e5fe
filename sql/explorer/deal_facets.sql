-- The number of those deals by service, market, kind, currency and sector.
{{template "_listed.sql"}}
SELECT facet, value, count(*) AS deals
FROM (
  SELECT unnest(['service', 'market', 'kind', 'currency', 'sector']) AS facet, unnest([service, market, kind, currency, sector]) AS value
  FROM found
)
WHERE value IS NOT NULL
GROUP BY facet, value
ORDER BY facet, deals DESC, value
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
