-- Adds what new versions of priced deals list, or those of one part of the deals.
INSERT INTO _dealflow.listing
SELECT l.*, false
FROM (
  SELECT 'bond' AS service, market, deal_id, version, 0 AS ordinal, isin_code AS code, pricing_date AS day, deal_type AS kind,
         nominal_amount AS amount
  FROM {{.Table.bond_priced_deals}}
  WHERE {{.Deals}}
  UNION ALL
  SELECT 'loan', t.market, t.deal_id, t.version, t.ordinal, t.figi_code, d.priced_date, t.currency, t.nominal_amount
  FROM {{.Table.loan_priced_tranches}} t
  JOIN (SELECT market, deal_id, version, priced_date FROM {{.Table.loan_priced_deals}} WHERE {{.Deals}}) d USING (market, deal_id, version)
  WHERE {{.Deals}}
) l
SEMI JOIN (FROM new_version WHERE kind = 'priced' AND {{.Deals}}) v
  ON v.service = l.service AND v.market = l.market AND v.deal_id = l.deal_id AND v.version = l.version
WHERE l.code <> '' AND l.day IS NOT NULL AND l.kind IS NOT NULL AND l.amount IS NOT NULL
ORDER BY l.service, l.market, l.deal_id, l.version, l.ordinal;
