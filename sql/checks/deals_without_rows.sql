-- deals_without_rows: A version of this commit has no row in its table.
-- severity: hold
WITH standing AS (
  SELECT service || '/' || lower(market) || '/' || kind AS feed, deal_id, version
  FROM deals
  WHERE valid_from = (SELECT max(known_at) FROM runs)
), stored AS (
  SELECT 'bond/' || lower(market) || '/priced' AS feed, deal_id, version FROM brought_bond_priced_deals
  UNION ALL
  SELECT 'bond/' || lower(market) || '/expected', deal_id, version FROM brought_bond_expected_deals
  UNION ALL
  SELECT 'loan/' || lower(market) || '/priced', deal_id, version FROM brought_loan_priced_deals
  UNION ALL
  SELECT 'loan/' || lower(market) || '/expected', deal_id, version FROM brought_loan_expected_deals
)
SELECT feed AS "where", count(*) AS n, 'such as deal ' || min(deal_id) AS detail
FROM (FROM standing ANTI JOIN stored USING (feed, deal_id, version))
GROUP BY feed
ORDER BY feed
