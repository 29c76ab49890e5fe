-- The priced deals that were known at as_of. too_young: they had not been known for that number of days when their feed was last observed.
CREATE MACRO _dealflow.restatement_base(days, as_of) AS TABLE
WITH _asked AS (
  SELECT _dealflow.days_asked('days', days) AS _days
), _versions AS NOT MATERIALIZED (
  FROM _dealflow.known_versions(as_of)
), _observed AS NOT MATERIALIZED (
  FROM _dealflow.observed(as_of)
)
SELECT v.service, v.market, v.deal_id, v.left_censored,
       epoch_us(o.known_at) - epoch_us(v.first_known_at) < a._days * 86400000000 AS too_young
FROM _versions v
JOIN _observed o ON o.service = v.service AND o.market = v.market AND o.kind = v.kind
CROSS JOIN _asked a
WHERE v.kind = 'priced' AND v.version = 1;

-- The edits of priced deals within that number of days of becoming known.
CREATE MACRO _dealflow.early_edits(days, as_of) AS TABLE
WITH _asked AS (
  SELECT _dealflow.days_asked('days', days) AS _days
)
SELECT c.*
FROM main.field_change(as_of) c
CROSS JOIN _asked a
WHERE c.kind = 'priced' AND c.change_kind = 'edit' AND c.lag_days <= a._days;

-- restatement_stats: How often priced deals are edited within a number of days of becoming known, by market.
-- after: field_change
-- as of: restatement_stats(1, {as_of})
--
-- Definition: One row per market. The base is the priced deals that first became known after their feed's first
--   commit, and at least the given number of days before their feed's last observation. So each deal had the full
--   window.
--   - restated: deals with a field_change of kind 'edit' whose lag is at most that number of days.
--   - edits: versions with such changes.
--   - A deal counts whether it is current or has been removed.
-- Parameters: days: the window's length, whole and not negative. as_of: only what was known at that instant (default: all).
-- Units: restated_pct in percent of deals; median_lag_days in days of 24 hours, over the restated deals' first
--   edits.
-- Caveats: Deals of their feed's first commit (left_censored) and deals known for less than the window (too_young)
--   are in no other column. A backfill is no edit, and neither is a change outside all columns. A value for a field
--   that was NULL is an edit. A lag is only as exact as the runs are frequent.
-- Example: How many priced deals are restated within a week?
--   SELECT service, market, deals, restated, restated_pct, edits, median_lag_days, left_censored, too_young
--   FROM restatement_stats(7)
CREATE MACRO main.restatement_stats(days, as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _deals AS (
  FROM _dealflow.restatement_base(days, as_of)
), edits AS (
  SELECT service, market, deal_id, count(DISTINCT version) AS edits, min(lag_days) AS first_lag_days
  FROM _dealflow.early_edits(days, as_of)
  GROUP BY service, market, deal_id
)
SELECT d.service, d.market,
       count(*) FILTER (NOT d.left_censored AND NOT d.too_young) AS deals,
       count(e.edits) FILTER (NOT d.too_young) AS restated,
       _dealflow.number(100.0::DOUBLE * restated / nullif(deals, 0)) AS restated_pct,
       coalesce(sum(e.edits) FILTER (NOT d.too_young), 0)::BIGINT AS edits,
       _dealflow.number(median(e.first_lag_days) FILTER (NOT d.too_young)) AS median_lag_days,
       count(*) FILTER (d.left_censored) AS left_censored,
       count(*) FILTER (NOT d.left_censored AND d.too_young) AS too_young
FROM _deals d
LEFT JOIN edits e USING (service, market, deal_id)
GROUP BY d.service, d.market
ORDER BY d.service, d.market;
COMMENT ON MACRO TABLE main.restatement_stats IS 'How often priced deals are edited within a number of days of becoming known, by market, as known at as_of.';

-- restatement_fields: Which fields of priced deals are edited within a number of days of becoming known, by market.
-- as of: restatement_fields(1, {as_of})
--
-- Definition: One row per market, table and field. The base and the edits are those of restatement_stats.
--   - deals_restated: deals of the base in which the field was edited. If field is NULL: in which a row of the table
--     was added or removed.
--   - share: deals_restated ÷ all deals of the base.
-- Parameters: days: the window's length, whole and not negative. as_of: only what was known at that instant (default: all).
-- Units: share from 0 to 1.
-- Caveats: A deal counts for each of its fields, so shares do not add up to 1. A field that was never edited has
--   no row.
-- Example: Which fields of priced bonds are restated within thirty days?
--   SELECT market, table_name, field, deals_restated, share
--   FROM restatement_fields(30)
--   WHERE service = 'bond'
--   ORDER BY deals_restated DESC, market, table_name, field
--   LIMIT 20
CREATE MACRO main.restatement_fields(days, as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _deals AS (
  FROM _dealflow.restatement_base(days, as_of) WHERE NOT left_censored AND NOT too_young
), bases AS (
  SELECT service, market, count(*) AS base
  FROM _deals
  GROUP BY service, market
), edited AS (
  SELECT c.service, c.market, c.table_name, c.field, count(DISTINCT c.deal_id) AS deals_restated
  FROM _dealflow.early_edits(days, as_of) c
  JOIN _deals d USING (service, market, deal_id)
  GROUP BY c.service, c.market, c.table_name, c.field
)
SELECT e.service, e.market, e.table_name, e.field, e.deals_restated, e.deals_restated / b.base AS share
FROM edited e
JOIN bases b USING (service, market)
ORDER BY e.service, e.market, e.deals_restated DESC, e.table_name, e.field;
COMMENT ON MACRO TABLE main.restatement_fields IS 'Which fields of priced deals are edited within a number of days of becoming known, by market, as known at as_of.';
