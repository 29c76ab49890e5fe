{{template "_listed.sql" .}}
SELECT facet, value, sum(deals)::BIGINT AS deals
FROM (
  SELECT unnest(['service', 'market', 'kind', 'currency', 'sector', 'grade', 'year', 'esg']) AS facet,
         unnest([service, market, kind, currency, sector, grade, year, esg]) AS value, deals
  FROM (
    SELECT service, market, kind, currency, sector, grade, strftime(day, '%Y') AS year, esg, count(*) AS deals
    FROM found
    GROUP BY ALL
  )
)
WHERE trim(value) <> '' -- what cannot be seen is no filter
GROUP BY facet, value
ORDER BY facet, deals DESC, value
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
