-- As of the third night: the bond pipeline as it was known then, and what has become of its deals since.
WITH pipeline_then AS (
  FROM bond_expected_deals_as_of((SELECT known_at FROM runs ORDER BY "commit" LIMIT 1 OFFSET 2))
), latest AS (
  SELECT market, deal_id, max_by(change, version) AS change, max_by(reason, version) AS reason
  FROM history.deal_versions
  WHERE service = 'bond' AND kind = 'expected'
  GROUP BY ALL
)
SELECT market, count(*) AS expected_then,
       count(*) FILTER (change = 'removed' AND reason = 'priced') AS priced_since,
       count(*) FILTER (change = 'removed' AND reason = 'gone') AS gone_since,
       count(*) FILTER (change <> 'removed') AS still_expected
FROM pipeline_then
JOIN latest USING (market, deal_id)
GROUP BY market
ORDER BY market
