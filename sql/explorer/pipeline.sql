-- The tranches of expected deals that had not priced at the instant, with what became known of their deals after "since".
WITH news AS (
  SELECT service, market, deal_id, bool_or(change = 'added') AS is_new, bool_or(change = 'changed') AS is_changed, bool_or(change = 'reappeared') AS is_back,
         array_to_string(list_sort(list_distinct(flatten(list(fields)))), ', ') AS fields
  FROM changes(least($since::TIMESTAMPTZ, $as_of::TIMESTAMPTZ), $as_of::TIMESTAMPTZ)
  WHERE kind = 'expected' AND change <> 'removed'
  GROUP BY service, market, deal_id
), stages AS (
  SELECT c.market, c.deal_id, arg_min(coalesce(c.was, ''), c.version) AS stage_then
  FROM field_change($as_of) c
  JOIN deals_as_of(least($since::TIMESTAMPTZ, $as_of::TIMESTAMPTZ)) t
    ON t.service = c.service AND t.kind = c.kind AND t.market = c.market AND t.deal_id = c.deal_id
  WHERE c.service = 'loan' AND c.kind = 'expected' AND c.field = 'stage'
    AND c.known_at > $since::TIMESTAMPTZ AND c.known_at <= $as_of::TIMESTAMPTZ
  GROUP BY c.market, c.deal_id
)
SELECT p.service, p.market, p.deal_id, p.tranche_uid, p.ordinal, p.borrower_name, p.borrower, p.headline, p.stage,
       {{template "_form.sql" "p.stage"}} AS stage_form,
       p.tranche_name, p.status, p.currency, coalesce(p.structure, p.type) AS structure, p.volume, p.price, p.timing,
       {{template "_form.sql" "p.timing"}} AS timing_form,
       p.tranche_changed AS timing_said, p.created, p.first_known_at, p.left_censored, p.days_listed, p.sponsor_backed,
       coalesce(n.is_new, false) AS is_new, coalesce(n.is_changed, false) AS is_changed, coalesce(n.is_back, false) AS is_back, n.fields,
       CASE WHEN s.stage_then <> coalesce(p.stage, '') THEN s.stage_then END AS moved_from
FROM pipeline_as_of($as_of) p
LEFT JOIN stages s ON s.market = p.market AND s.deal_id = p.deal_id
LEFT JOIN news n ON n.service = p.service AND n.market = p.market AND n.deal_id = p.deal_id
WHERE NOT p.is_priced AND ($service = '' OR p.service = $service) AND ($market = '' OR list_contains(string_split($market, ','), p.market))
  AND ($timing = '' OR timing_form = $timing)
  AND ($currency = '' OR p.currency = $currency) AND ($sponsor = '' OR p.sponsor_backed = ($sponsor = 'yes'))
ORDER BY p.service DESC, p.market, p.deal_id, p.ordinal
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
