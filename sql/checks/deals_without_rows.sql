-- deals_without_rows: A deal of the index stands in no row of its table, or a row's deal is not in the index.
-- severity: hold
WITH standing AS (
  SELECT service || '/' || lower(market) || '/' || kind AS feed, deal_id FROM deals
), stored AS (
  SELECT 'bond/' || lower(market) || '/priced' AS feed, deal_id FROM bond_priced_deals
  UNION ALL
  SELECT 'bond/' || lower(market) || '/expected', deal_id FROM bond_expected_deals
  UNION ALL
  SELECT 'loan/' || lower(market) || '/priced', deal_id FROM loan_priced_deals
  UNION ALL
  SELECT 'loan/' || lower(market) || '/expected', deal_id FROM loan_expected_deals
)
SELECT feed AS "where", count(*) AS n, 'such as deal ' || min(deal_id) AS detail
FROM (FROM standing ANTI JOIN stored USING (feed, deal_id) UNION ALL FROM stored ANTI JOIN standing USING (feed, deal_id))
GROUP BY feed
ORDER BY feed
