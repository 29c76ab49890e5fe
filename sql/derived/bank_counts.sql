-- Counts the banks of each version of a priced deal that {{.Versions}} has, or of one part of the deals: distinct canonical
-- names on the day of pricing, and those of them that have a lead's role; and whether a name has two entries (loans: in a tranche).
INSERT INTO _dealflow.bank_count
WITH entries AS (
  SELECT 'bond' AS service, b.market, b.deal_id, b.version, 0 AS tranche, b.name, d.pricing_date AS day, coalesce(r.is_lead, false) AS is_lead
  FROM (SELECT market, deal_id, version, name, status FROM {{.Table.bond_priced_banks}} WHERE {{.Deals}}) b
  JOIN (SELECT market, deal_id, version, pricing_date FROM {{.Table.bond_priced_deals}} WHERE {{.Deals}}) d USING (market, deal_id, version)
  LEFT JOIN _dealflow.role_spelling r ON r.spelt = b.status
  UNION ALL
  SELECT 'loan', b.market, b.deal_id, b.version, b.tranche_ordinal, b.name, d.priced_date, coalesce(b.type_bookrunner, false) OR coalesce(b.type_mla, false)
  FROM (SELECT market, deal_id, version, tranche_ordinal, name, type_bookrunner, type_mla FROM {{.Table.loan_priced_tranche_banks}} WHERE {{.Deals}}) b
  JOIN (SELECT market, deal_id, version, priced_date FROM {{.Table.loan_priced_deals}} WHERE {{.Deals}}) d USING (market, deal_id, version)
), names AS (
  SELECT e.service, e.market, e.deal_id, e.version, n.name, coalesce(a.canonical, n.name) AS bank, bool_or(e.is_lead) AS is_lead,
         count(*) > 1 AS repeated
  FROM entries e
  SEMI JOIN (FROM {{.Versions}} WHERE kind = 'priced' AND {{.Deals}}) v
    ON v.service = e.service AND v.market = e.market AND v.deal_id = e.deal_id AND v.version = e.version
  JOIN _dealflow.spelling n ON n.spelt = e.name
  LEFT JOIN _dealflow.bank_name a ON a.alias = n.name
   AND a.valid_from <= _dealflow.name_day(e.day) AND a.valid_to > _dealflow.name_day(e.day)
  WHERE n.name IS NOT NULL
  GROUP BY e.service, e.market, e.deal_id, e.version, e.tranche, n.name, a.canonical
), banks AS (
  SELECT service, market, deal_id, version, bank, bool_or(is_lead) AS is_lead, bool_or(repeated) AS repeated
  FROM names
  GROUP BY service, market, deal_id, version, bank
)
SELECT service, market, deal_id, version, count(*), count(*) FILTER (is_lead), bool_or(repeated)
FROM banks
GROUP BY service, market, deal_id, version
ORDER BY service, market, deal_id, version;
