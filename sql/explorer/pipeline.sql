-- The tranches of expected deals that had not priced at the instant, with what became known of their deals after "since".
WITH news AS (
  SELECT service, market, deal_id, bool_or(change = 'added') AS is_new, bool_or(change = 'changed') AS is_changed, bool_or(change = 'reappeared') AS is_back,
         array_to_string(list_sort(list_distinct(flatten(list(fields)))), ', ') AS fields
  FROM changes(least($since::TIMESTAMPTZ, $as_of::TIMESTAMPTZ), $as_of::TIMESTAMPTZ)
  WHERE kind = 'expected' AND change <> 'removed'
  GROUP BY service, market, deal_id
), bond_tranches AS (
  SELECT market, deal_id, ordinal, changed FROM bond_expected_tranches_as_of($as_of)
), loan_deals AS (
  SELECT market, deal_id, borrower_sponsor_backed FROM loan_expected_deals_as_of($as_of)
), loan_deals_then AS (
  SELECT market, deal_id, stage FROM loan_expected_deals_as_of(least($since::TIMESTAMPTZ, $as_of::TIMESTAMPTZ))
)
SELECT p.service, p.market, p.deal_id, p.tranche_uid, p.ordinal, p.borrower_name, p.borrower, p.headline, p.stage,
       {{template "_form.sql" "p.stage"}} AS stage_form,
       p.tranche_name, p.status, p.currency, coalesce(p.structure, p.type) AS structure, p.volume, p.price, p.timing,
       {{template "_form.sql" "p.timing"}} AS timing_form,
       b.changed AS timing_said, p.created, p.first_known_at, p.left_censored, p.days_listed, d.borrower_sponsor_backed AS sponsor_backed,
       coalesce(n.is_new, false) AS is_new, coalesce(n.is_changed, false) AS is_changed, coalesce(n.is_back, false) AS is_back, n.fields,
       CASE WHEN t.deal_id IS NOT NULL AND coalesce(t.stage, '') <> coalesce(p.stage, '') THEN coalesce(t.stage, '') END AS moved_from
FROM pipeline_as_of($as_of) p
LEFT JOIN bond_tranches b ON p.service = 'bond' AND b.market = p.market AND b.deal_id = p.deal_id AND b.ordinal = p.ordinal
LEFT JOIN loan_deals d ON p.service = 'loan' AND d.market = p.market AND d.deal_id = p.deal_id
LEFT JOIN loan_deals_then t ON p.service = 'loan' AND t.market = p.market AND t.deal_id = p.deal_id
LEFT JOIN news n ON n.service = p.service AND n.market = p.market AND n.deal_id = p.deal_id
WHERE NOT p.is_priced AND ($service = '' OR p.service = $service) AND ($market = '' OR list_contains(string_split($market, ','), p.market))
  AND ($timing = '' OR timing_form = $timing)
  AND ($currency = '' OR p.currency = $currency) AND ($sponsor = '' OR d.borrower_sponsor_backed = ($sponsor = 'yes'))
ORDER BY p.service DESC, p.market, p.deal_id, p.ordinal
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
