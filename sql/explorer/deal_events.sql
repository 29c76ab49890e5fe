-- Everything known at the instant about one deal and the deals that it is linked to, in order of time.
SELECT event_at, clock, service, market, kind, deal_id, version, event, detail
FROM deal_timeline($service, $market, $kind, $deal_id::BIGINT, $as_of::TIMESTAMPTZ)
ORDER BY event_at, clock, kind, deal_id, version, event
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
