-- duplicate_deals: A version of this commit has two rows in a table, or the number of an earlier version.
-- severity: hold
WITH numbered AS NOT MATERIALIZED ( -- by one number each, because a first night has as many versions as deals
  SELECT service, market, kind, deal_id, version, valid_from, hash(service, market, kind, deal_id, version) AS number
  FROM _dealflow.version_index
), repeated AS (
  SELECT number
  FROM numbered
  SEMI JOIN (SELECT number FROM numbered WHERE valid_from = (SELECT known_at FROM _dealflow.catalog)) brought USING (number)
  GROUP BY number
  HAVING count(*) > 1
), doubled AS ( -- two versions may have one number by chance
  SELECT service || '/' || lower(market) || '/' || kind AS feed, deal_id
  FROM numbered
  SEMI JOIN repeated USING (number)
  GROUP BY service, market, kind, deal_id, version
  HAVING count(*) > 1
)
SELECT feed AS "where", count(DISTINCT deal_id) AS n, 'such as deal ' || min(deal_id) AS detail
FROM doubled
GROUP BY feed
ORDER BY feed;

-- Table by table, because each one's files take 20 MiB while they are read.
SELECT 'bond/' || lower(market) || '/priced' AS "where", count(DISTINCT deal_id) AS n, 'such as deal ' || min(deal_id) AS detail
FROM (SELECT market, deal_id FROM brought_bond_priced_deals GROUP BY market, deal_id, version HAVING count(*) > 1)
GROUP BY market
ORDER BY market;

SELECT 'bond/' || lower(market) || '/expected' AS "where", count(DISTINCT deal_id) AS n, 'such as deal ' || min(deal_id) AS detail
FROM (SELECT market, deal_id FROM brought_bond_expected_deals GROUP BY market, deal_id, version HAVING count(*) > 1)
GROUP BY market
ORDER BY market;

SELECT 'loan/' || lower(market) || '/priced' AS "where", count(DISTINCT deal_id) AS n, 'such as deal ' || min(deal_id) AS detail
FROM (SELECT market, deal_id FROM brought_loan_priced_deals GROUP BY market, deal_id, version HAVING count(*) > 1)
GROUP BY market
ORDER BY market;

SELECT 'loan/' || lower(market) || '/expected' AS "where", count(DISTINCT deal_id) AS n, 'such as deal ' || min(deal_id) AS detail
FROM (SELECT market, deal_id FROM brought_loan_expected_deals GROUP BY market, deal_id, version HAVING count(*) > 1)
GROUP BY market
ORDER BY market;
