-- emptied_columns: A column lost its value in at least 50 deals, and a fifth of its feed's, in one commit.
-- severity: hold
WITH last AS (
  SELECT max(known_at) AS known_at FROM runs
), lost AS (
  SELECT service, market, kind, table_name, field, count(DISTINCT deal_id) AS n,
         array_to_string(list_slice(list_sort(list_distinct(min(deal_id, 50))), 1, 3), ', ') AS examples -- a deal has several rows in a list
  FROM _dealflow.field_change
  WHERE known_at = (SELECT known_at FROM last) AND change = 'cleared'
  GROUP BY ALL
  HAVING n >= 50
), standing AS (
  SELECT service, market, kind, count(*) AS deals FROM deals GROUP BY ALL
)
SELECT service || '/' || lower(market) || '/' || kind AS "where", n,
       table_name || '.' || field || ' of ' || deals || ' deals, such as ' || examples AS detail
FROM lost JOIN standing USING (service, market, kind)
WHERE n * 5 >= deals
ORDER BY ALL
