-- duplicate_deals: A version of this commit has two rows in a table, or the number of an earlier version.
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
  UNION
  SELECT service || '/' || lower(market) || '/' || kind, deal_id
  FROM _dealflow.version_index
  SEMI JOIN (FROM _dealflow.version_index WHERE valid_from = (SELECT known_at FROM _dealflow.catalog)) brought
    USING (service, market, kind, deal_id, version)
  GROUP BY service, market, kind, deal_id, version
  HAVING count(*) > 1
)
SELECT feed AS "where", count(*) AS n, 'such as deal ' || min(deal_id) AS detail
FROM doubled
GROUP BY feed
ORDER BY feed
