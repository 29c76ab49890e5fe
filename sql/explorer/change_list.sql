-- Versions that became known after "from" and not after "to", newest first, with the fields that changed.
{{template "_changed.sql"}}, named AS (
  SELECT 'bond' AS service, market, 'priced' AS kind, deal_id, version, borrower_name FROM history.bond_priced_deals WHERE valid_from <= $as_of::TIMESTAMPTZ
  UNION ALL
  SELECT 'bond', market, 'expected', deal_id, version, borrower_name FROM history.bond_expected_deals WHERE valid_from <= $as_of::TIMESTAMPTZ
  UNION ALL
  SELECT 'loan', market, 'priced', deal_id, version, borrower_name FROM history.loan_priced_deals WHERE valid_from <= $as_of::TIMESTAMPTZ
  UNION ALL
  SELECT 'loan', market, 'expected', deal_id, version, borrower_name FROM history.loan_expected_deals WHERE valid_from <= $as_of::TIMESTAMPTZ
), page AS (
  SELECT *, (SELECT count(*) FROM found) AS all_versions
  FROM found
  ORDER BY known_at DESC, service, market, kind, deal_id, version
  LIMIT $rows::BIGINT OFFSET $skip::BIGINT
)
SELECT p.service, p.market, p.kind, p.deal_id, p.version, p.change, p.reason, p.known_at, array_to_string(p.fields, ', ') AS fields,
       n.borrower_name AS borrower, p.all_versions
FROM page p
LEFT JOIN named n ON n.service = p.service AND n.market = p.market AND n.kind = p.kind AND n.deal_id = p.deal_id
 AND n.version = p.version - (p.change = 'removed')::INTEGER
ORDER BY p.known_at DESC, p.service, p.market, p.kind, p.deal_id, p.version
