-- rescaled_amounts: An amount grew or shrank a hundredfold in at least 20 deals, and a twentieth of its feed's, in one commit: its unit seems to have changed.
-- severity: hold
WITH last AS (
  SELECT max(known_at) AS known_at FROM runs
), amounts AS (
  SELECT service, market, kind, table_name, field, deal_id,
         try_cast(was AS DECIMAL(38, 6))::DOUBLE AS was, try_cast("is" AS DECIMAL(38, 6))::DOUBLE AS now
  FROM _dealflow.field_change
  WHERE known_at = (SELECT known_at FROM last) AND change = 'edited'
    AND (field = 'amount' OR field LIKE '%\_amount' ESCAPE '\' OR field LIKE '%\_usd' ESCAPE '\' OR field = 'stats_final_books')
), rescaled AS (
  SELECT service, market, kind, table_name, field, count(DISTINCT deal_id) AS n, min(deal_id) AS example
  FROM amounts
  WHERE was > 0 AND now > 0 AND (now / was >= 100 OR was / now >= 100)
  GROUP BY ALL
  HAVING n >= 20
), standing AS (
  SELECT service, market, kind, count(*) AS deals FROM deals GROUP BY ALL
)
SELECT service || '/' || lower(market) || '/' || kind AS "where", n,
       table_name || '.' || field || ' of ' || deals || ' deals, such as ' || example AS detail
FROM rescaled JOIN standing USING (service, market, kind)
WHERE n * 20 >= deals
ORDER BY ALL
