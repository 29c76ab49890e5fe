-- The expected deals that left the pipeline after "since" and up to the instant: removed, or priced and still listed. The filters are of the tranches then.
-- A priced deal of another market has that before its number, as in EM/7.
WITH listed_then AS (
  SELECT service, market, deal_id, version
  FROM deals_as_of(least($since::TIMESTAMPTZ, $as_of::TIMESTAMPTZ))
  WHERE kind = 'expected' AND ($service = '' OR service = $service) AND ($market = '' OR list_contains(string_split($market, ','), market))
), removed AS (
  SELECT service, market, deal_id, max(version) AS version, arg_max(reason, version) AS left_as, max(known_at) AS known_at
  FROM changes(least($since::TIMESTAMPTZ, $as_of::TIMESTAMPTZ), $as_of::TIMESTAMPTZ)
  WHERE kind = 'expected' AND change = 'removed'
  GROUP BY service, market, deal_id
), moved AS ({{/* version_last: now, or of a deal that is gone the last one with content */}}
  SELECT t.service, t.market, t.deal_id, t.version AS version_then, coalesce(n.version, r.version - 1) AS version_last, n.version IS NULL AS is_gone, r.left_as, r.known_at
  FROM listed_then t
  LEFT JOIN deals_as_of($as_of) n ON n.kind = 'expected' AND n.service = t.service AND n.market = t.market AND n.deal_id = t.deal_id
  LEFT JOIN removed r ON r.service = t.service AND r.market = t.market AND r.deal_id = t.deal_id
  WHERE n.version IS NULL OR n.version <> t.version
), versions AS (
  SELECT DISTINCT service, market, deal_id, unnest([version_then, version_last]) AS version FROM moved
), tranches AS (
  SELECT v.service, v.market, v.deal_id, v.version, d.borrower_name, d.headline, t.currency, t.timing, NULL::BOOLEAN AS sponsor_backed,
         t.status, t.priced_deal_id, t.priced_deal_href
  FROM versions v
  JOIN (
    SELECT market, deal_id, version, borrower_name, headline FROM bond_expected_deals_as_of($as_of, since := $since)
  ) d USING (market, deal_id, version)
  LEFT JOIN (
    SELECT market, deal_id, version, currency, timing, status, priced_deal_id, priced_deal_href FROM bond_expected_tranches_as_of($as_of, since := $since)
  ) t USING (market, deal_id, version)
  WHERE v.service = 'bond'
  UNION ALL
  SELECT v.service, v.market, v.deal_id, v.version, d.borrower_name, d.headline, t.currency, t.timing, d.borrower_sponsor_backed,
         t.status, d.priced_deal_id, d.priced_deal_href
  FROM versions v
  JOIN (
    SELECT market, deal_id, version, borrower_name, headline, borrower_sponsor_backed, priced_deal_id, priced_deal_href
    FROM loan_expected_deals_as_of($as_of, since := $since)
  ) d USING (market, deal_id, version)
  LEFT JOIN (
    SELECT market, deal_id, version, currency, timing, status FROM loan_expected_tranches_as_of($as_of, since := $since)
  ) t USING (market, deal_id, version)
  WHERE v.service = 'loan'
), deals AS (
  SELECT service, market, deal_id, version, any_value(borrower_name) AS borrower_name, any_value(headline) AS headline,
         bool_and(is_priced(service, status, priced_deal_id)) AS has_priced,
         bool_or(NOT is_priced(service, status, priced_deal_id) AND ($timing = '' OR {{template "_form.sql" "timing"}} = $timing)
           AND ($currency = '' OR currency = $currency) AND ($sponsor = '' OR sponsor_backed = ($sponsor = 'yes'))) AS is_found,
         list(DISTINCT {deal_id: priced_deal_id, other_market: nullif(linked_market(service, priced_deal_href), market)})
           FILTER (priced_deal_id IS NOT NULL) AS priced_deals
  FROM tranches
  GROUP BY service, market, deal_id, version
)
SELECT m.service, m.market, m.deal_id, coalesce(l.borrower_name, t.borrower_name) AS borrower_name, coalesce(l.headline, t.headline) AS headline,
       CASE WHEN m.is_gone THEN m.left_as ELSE 'priced, still listed' END AS left_as, CASE WHEN m.is_gone THEN m.known_at END AS known_at,
       array_to_string(list_transform(list_sort(l.priced_deals), lambda p: concat_ws('/', p.other_market, p.deal_id)), ' ') AS priced_deals
FROM moved m
JOIN deals t ON t.service = m.service AND t.market = m.market AND t.deal_id = m.deal_id AND t.version = m.version_then
LEFT JOIN deals l ON l.service = m.service AND l.market = m.market AND l.deal_id = m.deal_id AND l.version = m.version_last
WHERE t.is_found AND (m.is_gone OR l.has_priced)
ORDER BY m.service, m.market, m.deal_id
LIMIT $rows::BIGINT OFFSET $skip::BIGINT
