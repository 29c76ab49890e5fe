-- The deals that had been removed at the instant, newest removal first.
SELECT service, market, kind, deal_id, version, reason, known_at
FROM history.deal_versions
WHERE valid_from <= $as_of::TIMESTAMPTZ AND (valid_to IS NULL OR valid_to > $as_of::TIMESTAMPTZ) AND change = 'removed'
  AND ($service = '' OR service = $service) AND ($market = '' OR market = $market) AND ($kind = '' OR kind = $kind)
  AND ($q = '' OR deal_id = try_cast($q AS BIGINT))
ORDER BY known_at DESC, service, market, kind, deal_id
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
