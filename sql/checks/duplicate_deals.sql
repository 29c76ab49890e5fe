-- duplicate_deals: A version of this commit stands twice among the rows of its table.
-- severity: hold
WITH rows AS (
  SELECT 'bond/' || lower(market) || '/priced' AS feed, deal_id, known_at FROM bond_priced_deals
  UNION ALL
  SELECT 'bond/' || lower(market) || '/expected', deal_id, known_at FROM bond_expected_deals
  UNION ALL
  SELECT 'loan/' || lower(market) || '/priced', deal_id, known_at FROM loan_priced_deals
  UNION ALL
  SELECT 'loan/' || lower(market) || '/expected', deal_id, known_at FROM loan_expected_deals
), doubled AS (
  SELECT feed, deal_id
  FROM rows
  WHERE known_at = (SELECT max(known_at) FROM runs)
  GROUP BY feed, deal_id
  HAVING count(*) > 1
)
SELECT feed AS "where", count(*) AS n, 'such as deal ' || min(deal_id) AS detail
FROM doubled
GROUP BY feed
ORDER BY feed
