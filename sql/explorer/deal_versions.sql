-- The versions of one deal that were known at the instant. valid_to is NULL for the one that was current then.
SELECT version, change, reason, valid_from AS known_at, CASE WHEN valid_to <= $as_of::TIMESTAMPTZ THEN valid_to END AS valid_to,
       observed_at, source_updated_at, run_id, lower(hex(payload_hash)) AS payload_sha256, strlen(payload) AS payload_bytes
FROM history.deal_versions
WHERE valid_from <= $as_of::TIMESTAMPTZ AND service = $service AND market = $market AND kind = $kind AND deal_id = $deal_id::BIGINT
ORDER BY version
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
