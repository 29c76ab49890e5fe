-- Counts the banks of each version of a priced deal that {{.Versions}} has, or of one part of the deals: distinct canonical
-- names on the day of pricing, and those of them that have a lead's role; and whether a name has two entries (loans: in a tranche).
INSERT INTO _dealflow.bank_count
WITH entries AS (
  SELECT b.market, b.deal_id, b.version, 0 AS tranche, b.name, coalesce(r.is_lead, false) AS is_lead
  FROM (SELECT market, deal_id, version, name, status FROM {{.Table.bond_priced_banks}} WHERE {{.Deals}}) b
  LEFT JOIN _dealflow.role_spelling r ON r.spelt = b.status
  UNION ALL
  SELECT market, deal_id, version, tranche_ordinal, name, coalesce(type_bookrunner, false) OR coalesce(type_mla, false)
  FROM {{.Table.loan_priced_tranche_banks}} WHERE {{.Deals}}
{{- if .Aliased}}
), days AS (
  SELECT market, deal_id, version, _dealflow.name_day(pricing_date) AS day FROM {{.Table.bond_priced_deals}} WHERE {{.Deals}}
  UNION ALL
  SELECT market, deal_id, version, _dealflow.name_day(priced_date) FROM {{.Table.loan_priced_deals}} WHERE {{.Deals}}
{{- end}}
), names AS (
  SELECT e.market, e.deal_id, e.version, n.number AS name, bool_or(e.is_lead) AS is_lead, count(*) > 1 AS repeated,
         {{if .Aliased}}coalesce(a.canonical, n.number){{else}}n.number{{end}} AS bank
  FROM entries e
  JOIN number_by_spelling n ON n.spelt = e.name
{{- if .Aliased}}
  JOIN days d ON d.market = e.market AND d.deal_id = e.deal_id AND d.version = e.version
  LEFT JOIN number_by_alias a ON a.alias = n.number AND a.valid_from <= d.day AND a.valid_to > d.day
{{- end}}
  GROUP BY e.market, e.deal_id, e.version, e.tranche, n.number, bank
), banks AS (
  SELECT market, deal_id, version, bank, bool_or(is_lead) AS is_lead, bool_or(repeated) AS repeated
  FROM names
  GROUP BY market, deal_id, version, bank
), counts AS (
  SELECT market, deal_id, version, count(*) AS banks, count(*) FILTER (is_lead) AS lead_banks, bool_or(repeated) AS repeated
  FROM banks
  GROUP BY market, deal_id, version
)
SELECT v.service, v.market, v.deal_id, v.version, c.banks, c.lead_banks, c.repeated
FROM counts c
JOIN (FROM {{.Versions}} WHERE kind = 'priced' AND {{.Deals}}) v ON v.market = c.market AND v.deal_id = c.deal_id AND v.version = c.version
ORDER BY v.service, v.market, v.deal_id, v.version;
