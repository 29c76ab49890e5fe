-- As of the third night: the bond deals that were still to price then, and what has become of them since.
WITH then_to_price AS (
  SELECT DISTINCT market, deal_id
  FROM pipeline_as_of((SELECT known_at FROM runs ORDER BY "commit" LIMIT 1 OFFSET 2))
  WHERE service = 'bond' AND NOT is_priced
), listed AS ( -- a deal stays listed for a while after it has priced
  SELECT market, deal_id, bool_and(is_priced) AS has_priced
  FROM pipeline_as_of
  WHERE service = 'bond'
  GROUP BY ALL
), removed AS (
  SELECT market, deal_id, max_by(change, version) = 'removed' AS is_removed, max_by(reason, version) AS reason
  FROM history.deal_versions
  WHERE service = 'bond' AND kind = 'expected'
  GROUP BY ALL
)
SELECT market, count(*) AS to_price_then,
       count(*) FILTER (l.has_priced OR r.is_removed AND r.reason = 'priced') AS priced_since,
       count(*) FILTER (r.is_removed AND r.reason IS DISTINCT FROM 'priced') AS gone_since,
       count(*) FILTER (NOT l.has_priced) AS still_to_price
FROM then_to_price
JOIN removed r USING (market, deal_id)
LEFT JOIN listed l USING (market, deal_id)
GROUP BY market
ORDER BY market
