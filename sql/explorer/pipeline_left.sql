-- The expected deals that left the pipeline after "since" and up to the instant: removed, or priced and still listed. The filters are of the tranches then.
-- A priced deal of another market has that before its number, as in EM/7.
WITH gone AS (
  SELECT service, market, deal_id, version, reason AS left_as, known_at
  FROM changes(least($since::TIMESTAMPTZ, $as_of::TIMESTAMPTZ), $as_of::TIMESTAMPTZ)
  WHERE kind = 'expected' AND change = 'removed'
  QUALIFY row_number() OVER (PARTITION BY service, market, deal_id ORDER BY version DESC) = 1
), listed AS (
  SELECT service, market, deal_id, any_value(borrower_name) AS borrower_name, any_value(headline) AS headline, bool_and(is_priced) AS all_priced,
         list(DISTINCT {deal_id: priced_deal_id, other_market: nullif(priced_market, market)}) FILTER (priced_deal_id IS NOT NULL) AS priced_deals
  FROM pipeline_as_of($as_of)
  GROUP BY service, market, deal_id
), loan_deals_then AS (
  SELECT market, deal_id, borrower_sponsor_backed FROM loan_expected_deals_as_of(least($since::TIMESTAMPTZ, $as_of::TIMESTAMPTZ))
), then_listed AS (
  SELECT p.service, p.market, p.deal_id, any_value(p.borrower_name) AS borrower_name, any_value(p.headline) AS headline
  FROM pipeline_as_of(least($since::TIMESTAMPTZ, $as_of::TIMESTAMPTZ)) p
  LEFT JOIN loan_deals_then d ON p.service = 'loan' AND d.market = p.market AND d.deal_id = p.deal_id
  GROUP BY p.service, p.market, p.deal_id
  HAVING bool_or(NOT p.is_priced AND ($timing = '' OR {{template "_form.sql" "p.timing"}} = $timing)
    AND ($currency = '' OR p.currency = $currency) AND ($sponsor = '' OR d.borrower_sponsor_backed = ($sponsor = 'yes')))
), bond_links AS (
  SELECT market, deal_id, version, list(DISTINCT {deal_id: priced_deal_id, other_market: nullif(linked_market('bond', priced_deal_href), market)}) AS priced_deals
  FROM history.bond_expected_tranches
  WHERE valid_from <= $as_of::TIMESTAMPTZ AND priced_deal_id IS NOT NULL
  GROUP BY market, deal_id, version
), loan_links AS (
  SELECT market, deal_id, version, [{deal_id: priced_deal_id, other_market: nullif(linked_market('loan', priced_deal_href), market)}] AS priced_deals
  FROM history.loan_expected_deals
  WHERE valid_from <= $as_of::TIMESTAMPTZ AND priced_deal_id IS NOT NULL
), found AS (
  SELECT g.service, g.market, g.deal_id, g.left_as, g.known_at, t.borrower_name, t.headline, coalesce(b.priced_deals, l.priced_deals) AS priced_deals
  FROM gone g
  JOIN then_listed t ON t.service = g.service AND t.market = g.market AND t.deal_id = g.deal_id
  LEFT JOIN listed i ON i.service = g.service AND i.market = g.market AND i.deal_id = g.deal_id
  LEFT JOIN bond_links b ON g.service = 'bond' AND b.market = g.market AND b.deal_id = g.deal_id AND b.version = g.version - 1
  LEFT JOIN loan_links l ON g.service = 'loan' AND l.market = g.market AND l.deal_id = g.deal_id AND l.version = g.version - 1
  WHERE i.deal_id IS NULL
  UNION ALL BY NAME
  SELECT i.service, i.market, i.deal_id, 'priced, still listed' AS left_as, i.borrower_name, i.headline, i.priced_deals
  FROM listed i
  JOIN then_listed t ON t.service = i.service AND t.market = i.market AND t.deal_id = i.deal_id
  WHERE i.all_priced
)
SELECT service, market, deal_id, borrower_name, headline, left_as, known_at,
       array_to_string(list_transform(list_sort(priced_deals), lambda p: concat_ws('/', p.other_market, p.deal_id)), ' ') AS priced_deals
FROM found
WHERE ($service = '' OR service = $service) AND ($market = '' OR list_contains(string_split($market, ','), market))
ORDER BY service, market, deal_id
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
