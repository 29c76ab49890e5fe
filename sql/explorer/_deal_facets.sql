{{template "_listed.sql" .}}
SELECT facet, value, count(*) AS deals
FROM (
  SELECT unnest(['service', 'market', 'kind', 'currency', 'sector', 'grade', 'year', 'esg']) AS facet,
         unnest([service, market, kind, currency, sector, grade, strftime(day, '%Y'), esg]) AS value
  FROM found
)
WHERE trim(value) <> '' -- what cannot be seen is no filter
GROUP BY facet, value
ORDER BY facet, deals DESC, value
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
