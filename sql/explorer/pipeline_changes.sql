-- What became of the amount, price, timing and the like of expected deals after "since" and up to the instant.
SELECT service, market, deal_id, row_key, field, arg_min(coalesce(was, ''), version) AS was, arg_max(coalesce("is", ''), version) AS "is"
FROM field_change($as_of)
WHERE kind = 'expected' AND known_at > $since::TIMESTAMPTZ AND known_at <= $as_of::TIMESTAMPTZ
  AND field IN ('volume', 'price_evolution', 'margin', 'oid', 'timing', 'structure', 'books', 'stage', 'status')
  AND ($service = '' OR service = $service) AND ($market = '' OR list_contains(string_split($market, ','), market))
GROUP BY service, market, deal_id, row_key, field
HAVING was <> "is"
ORDER BY service, market, deal_id, row_key NULLS FIRST, field
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
