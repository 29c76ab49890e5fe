-- duplicate_deals: A deal stands twice among the rows of its table.
-- severity: hold
SELECT t AS "where", count(*) AS n, 'such as deal ' || min(deal_id) AS detail
FROM (
  SELECT 'bond/' || lower(market) || '/priced' AS t, deal_id FROM bond_priced_deals GROUP BY ALL HAVING count(*) > 1
  UNION ALL
  SELECT 'bond/' || lower(market) || '/expected', deal_id FROM bond_expected_deals GROUP BY ALL HAVING count(*) > 1
  UNION ALL
  SELECT 'loan/' || lower(market) || '/priced', deal_id FROM loan_priced_deals GROUP BY ALL HAVING count(*) > 1
  UNION ALL
  SELECT 'loan/' || lower(market) || '/expected', deal_id FROM loan_expected_deals GROUP BY ALL HAVING count(*) > 1
)
GROUP BY t
ORDER BY t
