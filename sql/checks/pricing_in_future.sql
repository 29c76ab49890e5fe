-- pricing_in_future: A priced deal of this commit has a pricing date more than a week after the commit.
-- severity: warn
WITH last AS (
  SELECT max(known_at) AS known_at FROM runs
), priced AS (
  SELECT 'bond' AS service, market, deal_id, pricing_date FROM brought_bond_priced_deals
  UNION ALL
  SELECT 'loan', market, deal_id, priced_date FROM brought_loan_priced_deals
)
SELECT service || '/' || lower(market) || '/priced' AS "where", count(*) AS n, 'such as deal ' || min(deal_id) AS detail
FROM priced
WHERE pricing_date > (SELECT known_at::DATE + 7 FROM last)
GROUP BY ALL
ORDER BY ALL
