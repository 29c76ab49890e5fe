-- pipeline_conversion: How many tranches of one day's pipeline priced within n weekdays, and what became of the others.
-- as of: pipeline_conversion(DATE '2026-01-06', 2, {as_of})
-- as of: pipeline_conversion(DATE '2026-01-05', 20, {as_of})
--
-- Definition: One row per market, over the tranches (by tranche_uid) that were in the pipeline at the end of day d
--   (UTC) and had not priced, as known then. Each is one of the following, as known at as_of:
--   - priced_within: it priced, and that became known by the n-th weekday after d. A tranche has priced if a later
--     version shows so, or if its deal was removed as priced with the tranche in it.
--   - priced_later: it priced, and that became known later.
--   - pulled: its deal was removed for another reason, or it left its deal unpriced.
--   - unknown: as pulled, but the feed had not been read for more than 4 days before. When and how the tranche left is
--     not known.
--   - live: none of these.
--   - conversion_pct: 100 × priced_within ÷ tranches. Weekdays are Monday to Friday; d itself does not count.
-- Parameters: d: the day (DATE). n: number of weekdays, whole and not negative. as_of: only what was known at that instant (default: all).
-- Units: conversion_pct in percent.
-- Caveats: While window_complete is false, tranches may still price within the window. Holidays count as weekdays.
--   The instant that counts is when the pricing became known, not when it happened. A tranche that priced and left
--   its deal between two observations, while others stayed, counts as pulled: no version shows it priced. The five
--   numbers add up to tranches. A market without such tranches has no row.
-- Example: Of the tranches to come a week before the newest observation, how many priced within three weekdays?
--   SELECT service, market, tranches, priced_within, priced_later, pulled, unknown, live, conversion_pct, window_complete
--   FROM pipeline_conversion((SELECT utc_day(max(known_at)) - 7 FROM runs), 3)
CREATE MACRO main.pipeline_conversion(d, n, as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _observed AS NOT MATERIALIZED (
  FROM _dealflow.observed(as_of)
), _asked AS (
  SELECT _dealflow.days_asked('n', n) AS _days
), clock AS (
  -- Weekdays are counted from the Monday of d's week. Saturday and Sunday count as Friday.
  SELECT CASE WHEN d IS NOT NULL
              THEN least(((d::DATE + 1)::TIMESTAMP AT TIME ZONE 'UTC') - INTERVAL 1 MICROSECOND, as_of::TIMESTAMPTZ) END AS beginning,
         as_of::TIMESTAMPTZ AS ending,
         greatest(d::DATE, d::DATE - (isodow(d::DATE) - 1)::INTEGER
           + ((least(isodow(d::DATE), 5) - 1 + _days) // 5 * 7 + (least(isodow(d::DATE), 5) - 1 + _days) % 5)::INTEGER) AS deadline,
         4 * 86400000000 AS longest_gap_us
  FROM _asked
), listed AS (
  SELECT v.service, v.market, v.deal_id, v.version
  FROM _dealflow.version_index v
  CROSS JOIN clock
  WHERE v.kind = 'expected' AND v.change <> 'removed'
    AND v.valid_from <= clock.beginning AND (v.valid_to IS NULL OR v.valid_to > clock.beginning)
), versions AS (
  -- Every version of those deals from that day on, with the next version.
  SELECT v.service, v.market, v.deal_id, v.version, v.valid_from, v.version = l.version AS is_first,
         lead(v.valid_from) OVER deal AS next_from,
         coalesce(lead(v.change = 'removed' AND v.reason = 'priced') OVER deal, false) AS priced_next
  FROM listed l
  JOIN _dealflow.version_index v ON v.service = l.service AND v.market = l.market AND v.deal_id = l.deal_id
  CROSS JOIN clock
  WHERE v.kind = 'expected' AND v.version >= l.version AND v.valid_from <= clock.ending
  WINDOW deal AS (PARTITION BY v.service, v.market, v.deal_id ORDER BY v.version)
), tranches AS (
  -- Subqueries name the columns: if a table is joined to a CTE directly, DuckDB reads all columns.
  SELECT v.service, v.market, v.deal_id, v.version, t.ordinal, main.is_priced('bond', t.status, t.priced_deal_id) AS is_priced
  FROM versions v
  JOIN (SELECT market, deal_id, version, ordinal, status, priced_deal_id FROM _dealflow.history_bond_expected_tranches) t
    ON t.market = v.market AND t.deal_id = v.deal_id AND t.version = v.version
  WHERE v.service = 'bond'
  UNION ALL
  SELECT v.service, v.market, v.deal_id, v.version, t.ordinal, main.is_priced('loan', t.status, e.priced_deal_id)
  FROM versions v
  JOIN (SELECT market, deal_id, version, ordinal, status FROM _dealflow.history_loan_expected_tranches) t
    ON t.market = v.market AND t.deal_id = v.deal_id AND t.version = v.version
  JOIN (SELECT market, deal_id, version, priced_deal_id FROM _dealflow.history_loan_expected_deals) e
    ON e.market = v.market AND e.deal_id = v.deal_id AND e.version = v.version
  WHERE v.service = 'loan'
), fates AS (
  -- The last version of a deal has no next one: its tranches are still in the deal.
  SELECT v.service, v.market, v.deal_id, l.tranche_uid,
         min(CASE WHEN t.is_priced THEN v.valid_from WHEN v.priced_next THEN v.next_from END) AS priced_at,
         bool_or(v.next_from IS NULL) AS is_listed,
         max(v.next_from) AS left_at
  FROM tranches t
  JOIN versions v USING (service, market, deal_id, version)
  JOIN _dealflow.tranche_lineage l USING (service, market, deal_id, version, ordinal)
  GROUP BY v.service, v.market, v.deal_id, l.tranche_uid
  HAVING bool_or(v.is_first AND NOT t.is_priced)
), observations AS (
  SELECT f.service, f.market, r.known_at
  FROM _dealflow.feed_runs f
  JOIN _dealflow.runs r USING ("commit")
  WHERE f.kind = 'expected' AND f.outcome = 'done' AND r.command IN ('run', 'sync')
), outcomes AS (
  SELECT f.service, f.market,
         CASE WHEN main.utc_day(f.priced_at) <= clock.deadline THEN 'priced within'
              WHEN f.priced_at IS NOT NULL THEN 'priced later'
              WHEN f.is_listed THEN 'live'
              WHEN epoch_us(f.left_at) - epoch_us(o.known_at) <= clock.longest_gap_us THEN 'pulled'
              ELSE 'unknown' END AS outcome
  FROM fates f
  CROSS JOIN clock
  ASOF LEFT JOIN observations o ON o.service = f.service AND o.market = f.market AND o.known_at < f.left_at
)
SELECT o.service, o.market, count(*) AS tranches,
       count(*) FILTER (o.outcome = 'priced within') AS priced_within,
       count(*) FILTER (o.outcome = 'priced later') AS priced_later,
       count(*) FILTER (o.outcome = 'pulled') AS pulled,
       count(*) FILTER (o.outcome = 'unknown') AS unknown,
       count(*) FILTER (o.outcome = 'live') AS live,
       _dealflow.number(100.0::DOUBLE * count(*) FILTER (o.outcome = 'priced within') / count(*)) AS conversion_pct,
       bool_and(main.utc_day(s.known_at) > clock.deadline) AS window_complete
FROM outcomes o
CROSS JOIN clock
JOIN _observed s ON s.service = o.service AND s.market = o.market AND s.kind = 'expected'
GROUP BY o.service, o.market
ORDER BY o.service, o.market;
COMMENT ON MACRO TABLE main.pipeline_conversion IS 'How many tranches of the pipeline of day d priced within n weekdays, and what became of the others, as known at as_of.';
