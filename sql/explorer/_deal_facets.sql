{{template "_listed.sql" .}}
SELECT facet, value, count(*) AS deals
FROM (
  SELECT unnest(['service', 'market', 'kind', 'currency', 'sector', 'grade', 'year', 'esg']) AS facet,
         unnest([service, market, kind, currency, sector, grade, strftime(day, '%Y'), esg]) AS value
  FROM found
)
WHERE value IS NOT NULL
GROUP BY facet, value
ORDER BY facet, deals DESC, value
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
