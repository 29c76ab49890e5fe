-- The payload of one version of a deal: the record's bytes as first received.
SELECT payload, lower(hex(payload_hash)) AS payload_sha256, run_id
FROM history.deal_versions
WHERE valid_from <= $as_of::TIMESTAMPTZ AND service = $service AND market = $market AND kind = $kind AND deal_id = $deal_id::BIGINT
  AND version = $version::INTEGER
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
