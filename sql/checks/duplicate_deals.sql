-- duplicate_deals: A version of this commit has two rows in a table, or the number of an earlier version.
-- severity: hold
WITH numbered AS ( -- by one number each, because a first night has as many versions as deals
  SELECT *, hash(service, market, kind, deal_id, version) AS number
  FROM _dealflow.version_index
), repeated AS (
  SELECT number
  FROM numbered
  SEMI JOIN (FROM numbered WHERE valid_from = (SELECT known_at FROM _dealflow.catalog)) brought USING (number)
  GROUP BY number
  HAVING count(*) > 1
), doubled AS ( -- table by table: all rows at once would take much more memory
  SELECT 'bond/' || lower(market) || '/priced' AS feed, deal_id
  FROM brought_bond_priced_deals
  GROUP BY market, deal_id, version
  HAVING count(*) > 1
  UNION ALL
  SELECT 'bond/' || lower(market) || '/expected', deal_id
  FROM brought_bond_expected_deals
  GROUP BY market, deal_id, version
  HAVING count(*) > 1
  UNION ALL
  SELECT 'loan/' || lower(market) || '/priced', deal_id
  FROM brought_loan_priced_deals
  GROUP BY market, deal_id, version
  HAVING count(*) > 1
  UNION ALL
  SELECT 'loan/' || lower(market) || '/expected', deal_id
  FROM brought_loan_expected_deals
  GROUP BY market, deal_id, version
  HAVING count(*) > 1
  UNION ALL
  SELECT service || '/' || lower(market) || '/' || kind, deal_id
  FROM numbered
  SEMI JOIN repeated USING (number)
  GROUP BY service, market, kind, deal_id, version
  HAVING count(*) > 1
)
SELECT feed AS "where", count(DISTINCT deal_id) AS n, 'such as deal ' || min(deal_id) AS detail
FROM doubled
GROUP BY feed
ORDER BY feed
