-- The values of all columns of some deals' own tables, version by version, as text. A removed version has no values.
CREATE MACRO _dealflow.values_of(of_service, of_market, of_kind, of_deal_ids) AS TABLE
SELECT deal_id, version, field, value
FROM (SELECT deal_id, version, COLUMNS(* EXCLUDE (deal_id, version, market))::VARCHAR
      FROM (SELECT COLUMNS('_(.+)') AS '\1'
            FROM (FROM _dealflow._history_bond_priced_deals
                  WHERE of_service = 'bond' AND of_kind = 'priced' AND _market = of_market AND _deal_id IN (SELECT unnest(of_deal_ids)))))
UNPIVOT INCLUDE NULLS (value FOR field IN (* EXCLUDE (deal_id, version)))
UNION ALL
SELECT deal_id, version, field, value
FROM (SELECT deal_id, version, COLUMNS(* EXCLUDE (deal_id, version, market, file_year))::VARCHAR
      FROM (SELECT COLUMNS('_(.+)') AS '\1'
            FROM (FROM _dealflow._history_bond_expected_deals
                  WHERE of_service = 'bond' AND of_kind = 'expected' AND _market = of_market AND _deal_id IN (SELECT unnest(of_deal_ids)))))
UNPIVOT INCLUDE NULLS (value FOR field IN (* EXCLUDE (deal_id, version)))
UNION ALL
SELECT deal_id, version, field, value
FROM (SELECT deal_id, version, COLUMNS(* EXCLUDE (deal_id, version, market))::VARCHAR
      FROM (SELECT COLUMNS('_(.+)') AS '\1'
            FROM (FROM _dealflow._history_loan_priced_deals
                  WHERE of_service = 'loan' AND of_kind = 'priced' AND _market = of_market AND _deal_id IN (SELECT unnest(of_deal_ids)))))
UNPIVOT INCLUDE NULLS (value FOR field IN (* EXCLUDE (deal_id, version)))
UNION ALL
SELECT deal_id, version, field, value
FROM (SELECT deal_id, version, COLUMNS(* EXCLUDE (deal_id, version, market, file_year))::VARCHAR
      FROM (SELECT COLUMNS('_(.+)') AS '\1'
            FROM (FROM _dealflow._history_loan_expected_deals
                  WHERE of_service = 'loan' AND of_kind = 'expected' AND _market = of_market AND _deal_id IN (SELECT unnest(of_deal_ids)))))
UNPIVOT INCLUDE NULLS (value FOR field IN (* EXCLUDE (deal_id, version)));

-- The rows of vintages: of_service, of_market and of_kind are spelled as in the tables.
CREATE MACRO _dealflow.vintages_of(of_service, of_market, of_deal_id, of_field, of_kind, as_of) AS TABLE
WITH found AS MATERIALIZED (
  FROM _dealflow.values_of(of_service, of_market, of_kind, [of_deal_id])
), _asked AS (
  SELECT of_service AS _service, of_kind AS _kind, of_field::VARCHAR AS _field
), _versions AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM _dealflow._version
        WHERE _service = of_service AND _market = of_market AND _kind = of_kind AND _deal_id = of_deal_id AND _valid_from <= as_of::TIMESTAMPTZ)
), versions AS (
  SELECT v.deal_id, v.version, v.valid_from, v.change, f.value,
         lag(f.value) OVER (ORDER BY v.version) AS before, row_number() OVER (ORDER BY v.version) = 1 AS is_first
  FROM _versions v
  CROSS JOIN _asked a
  LEFT JOIN found f ON f.deal_id = v.deal_id AND f.version = v.version AND f.field = a._field
  WHERE CASE WHEN EXISTS (FROM found WHERE field = a._field) OR NOT EXISTS (FROM found) THEN true
             ELSE error('vintages: ' || coalesce(a._field, 'NULL') || ' is no column of the deals: want one of ' || a._service || '_' || a._kind || '_deals') END
)
SELECT valid_from AS known_at, lead(valid_from) OVER (ORDER BY version) AS known_until, version, change, value
FROM versions
WHERE is_first OR change IN ('removed', 'reappeared') OR value IS DISTINCT FROM before;

-- vintages: Each value that a column of a deal had, and from when it was known: for studies without look-ahead.
-- as of: vintages('bond', 'IG', (SELECT min(deal_id) FROM deals_as_of({as_of}) WHERE market = 'IG' AND kind = 'priced'), 'nominal_usd', as_of := {as_of})
--
-- Definition: One row per value of the column of_field of the deal's own table, in the order in which the values became
--   known. Versions that did not change the value have no row.
--   - known_at, known_until: the value was the known one from known_at until just before known_until; NULL: it still is.
--   - change: added, changed, removed (the deal was not listed: value is NULL) or reappeared.
-- Parameters: of_service: 'bond' or 'loan'. of_market: IG, HY, EM, LL, CF or AF. of_deal_id. of_field: a column of
--   bond_priced_deals, bond_expected_deals, loan_priced_deals or loan_expected_deals. of_kind: 'priced', the default, or
--   'expected'. as_of: only what was known at that instant (default: all).
-- Units: value is the text of the value in the unit of its column: cast it, such as value::DECIMAL(24, 6).
-- Caveats: Columns that parsers fill change with a replay, and then for all versions at once.
-- Example: Which sizes did the newest bond of the lake have?
--   SELECT known_at, known_until, change, value
--   FROM vintages('bond', 'IG', (SELECT max(deal_id) FROM bond_priced_deals WHERE market = 'IG'), 'nominal_usd')
CREATE MACRO main.vintages(of_service, of_market, of_deal_id, of_field, of_kind := 'priced', as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _unknown AS NOT MATERIALIZED (
  FROM _dealflow.unknown_feed(of_service, of_market, of_kind)
)
FROM _dealflow.vintages_of(lower(of_service), upper(of_market), of_deal_id, of_field, lower(of_kind), as_of)
WHERE NOT EXISTS (FROM _unknown)
ORDER BY version;
COMMENT ON MACRO TABLE main.vintages IS 'Each value that a column of a deal had, and from when it was known.';

-- The rows of vintages_wide: of_service, of_market and of_kind are spelled as in the tables.
CREATE MACRO _dealflow.vintages_wide_of(of_service, of_market, of_deal_ids, of_fields, of_kind, as_of) AS TABLE
WITH found AS MATERIALIZED (
  SELECT deal_id, version, _field AS field, value
  FROM (FROM (SELECT deal_id, version, field AS _field, value FROM _dealflow.values_of(of_service, of_market, of_kind, of_deal_ids)) _found
        WHERE _field IN (SELECT unnest(of_fields)))
), _versions AS NOT MATERIALIZED (
  SELECT COLUMNS('_(.+)') AS '\1'
  FROM (FROM _dealflow._version WHERE _service = of_service AND _market = of_market AND _kind = of_kind AND _valid_from <= as_of::TIMESTAMPTZ)
), wanted AS (
  SELECT DISTINCT deal_id, field FROM found
), versions AS (
  SELECT v.deal_id, w.field, v.version, v.valid_from, v.change, f.value,
         lag(f.value) OVER one AS before, v.version = min(v.version) OVER (PARTITION BY v.deal_id, w.field) AS is_first
  FROM _versions v
  JOIN wanted w ON w.deal_id = v.deal_id
  LEFT JOIN found f ON f.deal_id = v.deal_id AND f.version = v.version AND f.field = w.field
  WINDOW one AS (PARTITION BY v.deal_id, w.field ORDER BY v.version)
)
SELECT deal_id, field, map(list(valid_from ORDER BY version), list(value ORDER BY version)) AS by_known_at
FROM versions
WHERE is_first OR change IN ('removed', 'reappeared') OR value IS DISTINCT FROM before
GROUP BY deal_id, field;

-- vintages_wide: The vintages of several columns of several deals: one row per deal and column, its values by known_at.
-- as of: vintages_wide('bond', 'IG', (SELECT list(deal_id ORDER BY deal_id)[:5] FROM deals_as_of({as_of}) WHERE market = 'IG' AND kind = 'priced'), ['nominal_usd', 'isin_code'], as_of := {as_of})
--
-- Definition: One row per deal and column, field × known_at.
--   - by_known_at: a map from each known_at at which the value changed (or the deal was removed) to the value, as text.
-- Parameters: of_service, of_market: as of vintages. of_deal_ids: a list of deal_ids. of_fields: a list of columns. of_kind:
--   'priced', the default, or 'expected'. as_of: only what was known at that instant (default: all).
-- Units: as of vintages.
-- Caveats: as of vintages. A column that does not exist has no row. PIVOT makes columns of the instants: see the example.
-- Example: How did size and ISIN of three bonds become known?
--   SELECT deal_id, field, by_known_at
--   FROM vintages_wide('bond', 'IG', (SELECT list(deal_id ORDER BY deal_id DESC)[:3] FROM bond_priced_deals WHERE market = 'IG'),
--                      ['nominal_usd', 'isin_code'])
CREATE MACRO main.vintages_wide(of_service, of_market, of_deal_ids, of_fields, of_kind := 'priced', as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _unknown AS NOT MATERIALIZED (
  FROM _dealflow.unknown_feed(of_service, of_market, of_kind)
)
FROM _dealflow.vintages_wide_of(lower(of_service), upper(of_market), of_deal_ids, of_fields, lower(of_kind), as_of)
WHERE NOT EXISTS (FROM _unknown)
ORDER BY deal_id, field;
COMMENT ON MACRO TABLE main.vintages_wide IS 'The vintages of several columns of several deals: one row per deal and column.';
