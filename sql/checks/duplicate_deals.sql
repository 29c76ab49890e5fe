-- duplicate_deals: A version of this commit stands twice among the rows of its table.
-- severity: hold
WITH rows AS (
  SELECT 'bond/' || lower(market) || '/priced' AS feed, deal_id, version FROM brought_bond_priced_deals
  UNION ALL
  SELECT 'bond/' || lower(market) || '/expected', deal_id, version FROM brought_bond_expected_deals
  UNION ALL
  SELECT 'loan/' || lower(market) || '/priced', deal_id, version FROM brought_loan_priced_deals
  UNION ALL
  SELECT 'loan/' || lower(market) || '/expected', deal_id, version FROM brought_loan_expected_deals
), doubled AS (
  SELECT feed, deal_id
  FROM rows
  GROUP BY feed, deal_id, version
  HAVING count(*) > 1
)
SELECT feed AS "where", count(*) AS n, 'such as deal ' || min(deal_id) AS detail
FROM doubled
GROUP BY feed
ORDER BY feed
