-- The deals that had been removed at the instant, newest removal first, with the borrower of the version before.
WITH removed AS (
  SELECT service, market, kind, deal_id, version, reason, known_at
  FROM history.deal_versions
  WHERE valid_from <= $as_of::TIMESTAMPTZ AND (valid_to IS NULL OR valid_to > $as_of::TIMESTAMPTZ) AND change = 'removed'
    AND ($service = '' OR service = $service) AND ($market = '' OR market = $market) AND ($kind = '' OR kind = $kind)
), named AS (
  SELECT 'bond' AS service, market, 'priced' AS kind, deal_id, version, borrower_name, NULL::VARCHAR AS headline FROM history.bond_priced_deals WHERE valid_from <= $as_of::TIMESTAMPTZ
  UNION ALL
  SELECT 'bond', market, 'expected', deal_id, version, borrower_name, headline FROM history.bond_expected_deals WHERE valid_from <= $as_of::TIMESTAMPTZ
  UNION ALL
  SELECT 'loan', market, 'priced', deal_id, version, borrower_name, headline FROM history.loan_priced_deals WHERE valid_from <= $as_of::TIMESTAMPTZ
  UNION ALL
  SELECT 'loan', market, 'expected', deal_id, version, borrower_name, headline FROM history.loan_expected_deals WHERE valid_from <= $as_of::TIMESTAMPTZ
)
SELECT r.service, r.market, r.kind, r.deal_id, n.borrower_name AS borrower, r.version, r.reason, r.known_at
FROM removed r
LEFT JOIN named n ON n.service = r.service AND n.market = r.market AND n.kind = r.kind AND n.deal_id = r.deal_id AND n.version = r.version - 1
WHERE $q = '' OR r.deal_id = try_cast($q AS BIGINT)
   OR try_cast($q AS BIGINT) IS NULL AND contains(strip_accents(lower(concat_ws(' ', n.borrower_name, n.headline))), strip_accents(lower($q)))
ORDER BY r.known_at DESC, r.service, r.market, r.kind, r.deal_id
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
