-- What changed from each version of one deal to the next, as known at the instant.
SELECT version, known_at, table_name, row_key, field, change, was, "is", change_kind
FROM field_change($as_of::TIMESTAMPTZ)
WHERE service = $service AND market = $market AND kind = $kind AND deal_id = $deal_id::BIGINT
  AND ($version = '' OR version = try_cast($version AS INTEGER))
ORDER BY version, table_name NULLS LAST, row_key NULLS FIRST, field
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
