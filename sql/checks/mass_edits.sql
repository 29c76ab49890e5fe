-- mass_edits: More than half of a priced feed's deals, and more than 100, were edited in one commit.
-- severity: warn
WITH edited AS (
  SELECT service, market, kind, count(DISTINCT deal_id) AS n
  FROM _dealflow.field_change
  WHERE known_at = (SELECT max(known_at) FROM runs) AND kind = 'priced' AND change_kind = 'edit'
  GROUP BY ALL
), standing AS (
  SELECT service, market, kind, count(*) AS deals FROM deals GROUP BY ALL
)
SELECT service || '/' || lower(market) || '/' || kind AS "where", n, 'of ' || deals || ' deals' AS detail
FROM edited JOIN standing USING (service, market, kind)
WHERE n > 100 AND n * 2 > deals
ORDER BY ALL
