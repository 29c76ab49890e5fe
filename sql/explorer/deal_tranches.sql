-- The identities of an expected deal's tranches, in their order, as of the instant $at.
SELECT ordinal, tranche_uid
FROM pipeline_as_of(least($at::TIMESTAMPTZ, $as_of::TIMESTAMPTZ))
WHERE service = $service AND market = $market AND deal_id = $deal_id::BIGINT AND ordinal IS NOT NULL
ORDER BY ordinal
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
