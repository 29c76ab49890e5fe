-- The events of deal_timeline: of_service, of_market and of_kind are spelled as in the tables.
CREATE MACRO _dealflow.timeline(of_service, of_market, of_kind, of_deal_id, as_of) AS TABLE
WITH RECURSIVE _asked AS (
  SELECT of_service AS _service, of_market AS _market, of_kind AS _kind, of_deal_id::BIGINT AS _deal_id
), _bonds AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM _dealflow._history_bond_priced_deals WHERE of_service = 'bond' AND _market = of_market)
), _loans AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM _dealflow._history_loan_priced_deals WHERE of_service = 'loan' AND _market = of_market)
), _tranches AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM _dealflow._history_loan_priced_tranches WHERE of_service = 'loan' AND _market = of_market)
), _expected_bonds AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM _dealflow._history_bond_expected_deals WHERE of_service = 'bond' AND _market = of_market)
), _expected_loans AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM _dealflow._history_loan_expected_deals WHERE of_service = 'loan' AND _market = of_market)
), _talk AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM _dealflow._history_bond_priced_price_evolution WHERE of_service = 'bond' AND _market = of_market)
), _changes AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM _dealflow._field_change WHERE _service = of_service AND _market = of_market)
), known AS (
  SELECT _kind AS kind, _deal_id AS deal_id, _version AS version, _change AS change, _reason AS reason, _valid_from AS valid_from
  FROM (FROM _dealflow._version WHERE _service = of_service AND _market = of_market AND _valid_from <= as_of::TIMESTAMPTZ)
), all_links AS (
  SELECT 'bond' AS _service, 'expected' AS _kind, market AS _market, deal_id AS _deal_id, version AS _version, priced_deal_id AS _other_id,
         main.linked_market('bond', priced_deal_href) AS _other_market
  FROM _dealflow.history_bond_expected_tranches
  UNION ALL
  SELECT 'loan', 'expected', market, deal_id, version, priced_deal_id, main.linked_market('loan', priced_deal_href)
  FROM _dealflow.history_loan_expected_deals
  UNION ALL
  SELECT 'bond', 'priced', market, deal_id, version, original_deal_id, main.linked_market('bond', original_href)
  FROM _dealflow.history_bond_priced_deals
), links AS (
  SELECT _kind AS kind, _deal_id AS deal_id, _version AS version, _other_id AS other_id
  FROM (FROM all_links WHERE _service = of_service AND _market = of_market AND _other_market = of_market)
), known_links AS (
  SELECT DISTINCT l.kind, l.deal_id, l.other_id
  FROM links l
  JOIN known k ON k.kind = l.kind AND k.deal_id = l.deal_id AND k.version = l.version
), neighbours AS (
  SELECT l.kind, l.deal_id, 'priced' AS other_kind, l.other_id FROM known_links l
  UNION ALL
  SELECT 'priced', l.other_id, l.kind, l.deal_id FROM known_links l
), reached AS (
  SELECT _kind AS kind, _deal_id AS deal_id, 0 AS steps FROM _asked
  UNION
  SELECT n.other_kind, n.other_id, r.steps + 1
  FROM reached r
  JOIN neighbours n ON n.kind = r.kind AND n.deal_id = r.deal_id
  WHERE r.steps < 5
), family AS (
  SELECT DISTINCT r.kind, r.deal_id FROM reached r
), versions AS (
  SELECT k.kind, k.deal_id, k.version, k.change, k.reason, k.valid_from,
         k.version = max(k.version) FILTER (k.change <> 'removed') OVER (PARTITION BY k.kind, k.deal_id) AS is_newest
  FROM known k
  JOIN family f ON f.kind = k.kind AND f.deal_id = k.deal_id
), newest AS (
  SELECT v.kind, v.deal_id, v.version FROM versions v WHERE v.is_newest
), bonds_priced AS (
  SELECT p.deal_id, p.version, p.deal_type,
         coalesce(p.pricing_ts_utc, p.pricing_date::TIMESTAMP AT TIME ZONE 'UTC') AS priced_at,
         nullif(concat_ws(', ', CASE WHEN p.market = 'EM' THEN p.swap ELSE p.spread END, p."yield"), '') AS price
  FROM newest w
  JOIN (
    -- Subqueries name the columns: if a table is joined to a CTE directly, DuckDB reads all columns.
    SELECT market, deal_id, version, deal_type, pricing_date, pricing_ts_utc, spread, swap, "yield"
    FROM _bonds
  ) p ON p.deal_id = w.deal_id AND p.version = w.version
  WHERE w.kind = 'priced'
), loans_priced AS (
  SELECT p.deal_id, p.version, p.priced_date::TIMESTAMP AT TIME ZONE 'UTC' AS priced_at,
         nullif(string_agg(t.margin, '; ' ORDER BY t.ordinal), '') AS price
  FROM newest w
  JOIN (
    SELECT deal_id, version, priced_date
    FROM _loans
  ) p ON p.deal_id = w.deal_id AND p.version = w.version
  LEFT JOIN (
    SELECT deal_id, version, ordinal, margin
    FROM _tranches
  ) t ON t.deal_id = p.deal_id AND t.version = p.version
  WHERE w.kind = 'priced'
  GROUP BY p.deal_id, p.version, p.priced_date
), announced AS (
  SELECT e.deal_id, e.version, e.created
  FROM newest w
  JOIN (
    SELECT deal_id, version, created
    FROM _expected_bonds
    UNION ALL
    SELECT deal_id, version, created
    FROM _expected_loans
  ) e ON e.deal_id = w.deal_id AND e.version = w.version
  WHERE w.kind = 'expected'
), field_lists AS (
  SELECT c.kind, c.deal_id, c.version, list_sort(list(DISTINCT concat_ws('.', c.table_name, c.field))) AS fields
  FROM _changes c
  JOIN family f ON f.kind = c.kind AND f.deal_id = c.deal_id
  WHERE c.table_name IS NOT NULL
  GROUP BY c.kind, c.deal_id, c.version
), events AS (
  SELECT a.created AS event_at, 'source' AS clock, 'expected' AS kind, a.deal_id, a.version, 'announced' AS event, NULL AS detail
  FROM announced a
  UNION ALL
  SELECT s.date, 'source', 'priced', s.deal_id, s.version, 'talk', s.value
  FROM newest w
  JOIN (
    SELECT deal_id, version, date, value
    FROM _talk
  ) s ON s.deal_id = w.deal_id AND s.version = w.version
  WHERE w.kind = 'priced'
  UNION ALL
  SELECT b.priced_at, 'source', 'priced', b.deal_id, b.version, 'priced', b.price FROM bonds_priced b
  UNION ALL
  SELECT p.priced_at, 'source', 'priced', p.deal_id, p.version, 'priced', p.price FROM loans_priced p
  UNION ALL
  SELECT v.valid_from, 'known', v.kind, v.deal_id, v.version,
         CASE WHEN v.change = 'added' AND v.kind = 'expected' THEN 'listed'
              WHEN v.change = 'added' AND b.deal_type = 'INCREASE' THEN 'increase'
              WHEN v.change = 'added' THEN 'pricing known'
              WHEN v.change = 'changed' THEN 'update'
              ELSE v.change END,
         CASE v.change
              WHEN 'changed' THEN array_to_string(l.fields[:10], ', ') || CASE WHEN len(l.fields) > 10 THEN ', …' ELSE '' END
              WHEN 'removed' THEN v.reason END
  FROM versions v
  LEFT JOIN bonds_priced b ON v.kind = 'priced' AND b.deal_id = v.deal_id
  LEFT JOIN field_lists l ON l.kind = v.kind AND l.deal_id = v.deal_id AND l.version = v.version
)
SELECT e.event_at, e.clock, a._service AS service, a._market AS market, e.kind, e.deal_id, e.version, e.event, e.detail
FROM events e
CROSS JOIN _asked a
WHERE e.event_at IS NOT NULL;

-- deal_timeline: Everything known about one deal and the deals that it is linked to, in order of time.
-- as of: deal_timeline({feed}, {deal_id}, {as_of})
--
-- Definition: One row per event of the deal's family. The family is all deals of the market that links reach from the deal
--   in at most five steps, in both directions. Links lead from an expected deal to its priced deals, and from an increase
--   to its original. Each event is on one of two clocks:
--   - announced (source): an expected deal's created.
--   - talk (source): a dated step of price talk. detail is its text.
--   - priced (source): date and time of pricing, or midnight UTC if only the date is known. detail is the spread and
--     yield as text; for loans, the margins.
--   - listed (known): the first version of an expected deal.
--   - pricing known, increase (known): the first version of a priced deal, and of one that increases another.
--   - update (known): a later version. detail lists what changed, at most ten fields.
--   - removed, reappeared (known): detail of a removal is its reason.
-- Parameters: of_service: 'bond' or 'loan'. of_market: 'IG', 'HY', 'EM', 'LL', 'CF' or 'AF'. of_kind: 'expected'
--   or 'priced'. of_deal_id. as_of: only what was known at that instant (default: all).
-- Units: event_at is an instant. clock is 'source' for the source's clock, and 'known' for the instant at which
--   the lake came to know.
-- Caveats: Events on the source's clock are those of each record's latest version known at as_of. If a deal was in
--   its feed's first commit, its first version says when reading began, not when the deal was listed. A pricing
--   without a time comes before the talk of its day.
-- Example: What happened to the newest increase of an investment-grade bond?
--   SELECT event_at, clock, kind, deal_id, version, event, detail
--   FROM deal_timeline('bond', 'IG', 'priced',
--     (SELECT max(deal_id) FROM bond_priced_deals WHERE market = 'IG' AND deal_type = 'INCREASE'))
CREATE MACRO main.deal_timeline(of_service, of_market, of_kind, of_deal_id, as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _unknown AS NOT MATERIALIZED (
  FROM _dealflow.unknown_feed(of_service, of_market, of_kind)
)
FROM _dealflow.timeline(lower(of_service), upper(of_market), lower(of_kind), of_deal_id, as_of)
WHERE NOT EXISTS (FROM _unknown)
ORDER BY event_at, kind, deal_id, version, event, detail;
COMMENT ON MACRO TABLE main.deal_timeline IS 'Everything known at as_of about one deal and the deals that it is linked to, in order of time.';
