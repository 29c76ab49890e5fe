-- tap_family: Bond lines with their increases: how large each is, and whether the source's total agrees.
-- as of: tap_family({as_of})
--
-- Definition: One row per line, also without increases. A line is an original deal with the deals that name it as
--   their original, directly or through each other, of whatever market. Its members are the deals that count (see
--   bond_priced_as_of): a link to a deal that another market keeps leads to that market's deal.
--   - increases: number of members other than the original.
--   - original_*: values of the original. If the original is not known, or what the deals name as their original is an
--     increase itself, they are NULL and original_known is false;
--     borrower, currency and isin_code are then those of the earliest increase.
--   - line_size, line_size_usd: sum of the members' nominals. unconverted: members without an amount in USD. line_size_usd
--     is NULL if no member has one.
--   - source_total: nominal of the line as its latest member states it. mismatch: source_total − line_size.
--   - *_spread_bp: as in bond_priced_as_of. tap_spread_change_bp: last increase − original, over the same benchmark.
--   - taps_12m: increases priced in the 365 days up to the day of the latest run that as_of knows, that day included.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: Units of the currency; line_size_usd in USD over members that have been converted; basis points.
-- Caveats: All members of a line are assumed to have one currency. mismatch is not 0 if increases are missing from
--   the list, or if a total was stated before the last increase. Latest means by pricing date, then deal_id.
-- Example: Which lines were increased most often, and at which spreads?
--   SELECT market, root_deal_id, borrower, currency, original_date, increases, line_size, mismatch,
--          original_spread_bp, last_tap_spread_bp
--   FROM tap_family WHERE increases > 0 ORDER BY increases DESC, market, root_deal_id LIMIT 10
CREATE MACRO main.tap_family(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _today AS (
  SELECT main.utc_day(main.knowledge_at(as_of)) AS day
), _lines AS NOT MATERIALIZED (
  FROM _dealflow.bond_lines(as_of)
), _deals AS (
  SELECT market, deal_id, pricing_date, borrower_name, currency, isin_code,
         nominal_amount, nominal_usd, total_nominal_amount,
         duplicate_of IS NULL AS counted,
         CASE market WHEN 'EM' THEN swap_benchmark ELSE spread_benchmark END AS benchmark,
         _dealflow.spread_primary_bp(market, spread_status, spread_bp, swap_status, swap_bp) AS spread_bp
  FROM _dealflow.bond_deals(as_of)
), members AS (
  SELECT d.*, l.root_market, l.root_deal_id, l.root_known,
         d.market <> l.root_market OR d.deal_id <> l.root_deal_id OR NOT l.root_known AS increase,
         row_number() OVER (PARTITION BY l.root_market, l.root_deal_id ORDER BY d.pricing_date NULLS FIRST, d.deal_id, d.market) AS place
  FROM _deals d
  JOIN _lines l ON l.market = d.market AND l.deal_id = d.deal_id
  WHERE d.counted
), lines AS (
  SELECT root_market, root_deal_id, root_known, count(*) FILTER (increase) AS increases,
         max(pricing_date) FILTER (increase) AS last_increase_date,
         count(*) FILTER (increase AND date_diff('day', pricing_date, _today.day) BETWEEN 0 AND 364) AS taps_12m,
         sum(nominal_amount) AS line_size, sum(nominal_usd) FILTER (nominal_usd <> 0) AS line_size_usd,
         count(*) FILTER (coalesce(nominal_usd, 0) = 0) AS unconverted,
         min_by({market: market, deal_id: deal_id}, place) AS earliest,
         max_by({total: total_nominal_amount}, place) AS latest,
         max_by({benchmark: benchmark, spread_bp: spread_bp}, place) FILTER (increase) AS tap
  FROM members
  CROSS JOIN _today
  GROUP BY root_market, root_deal_id, root_known
)
SELECT l.root_market AS market, l.root_deal_id, coalesce(a.canonical, n.name) AS borrower,
       d.currency, d.isin_code,
       CASE WHEN l.root_known THEN d.pricing_date END AS original_date,
       l.increases, l.last_increase_date,
       CASE WHEN l.root_known THEN d.nominal_amount END AS original_nominal,
       l.line_size, l.line_size_usd, l.latest.total AS source_total, l.latest.total - l.line_size AS mismatch,
       CASE WHEN l.root_known THEN d.spread_bp END AS original_spread_bp,
       l.tap.spread_bp AS last_tap_spread_bp,
       CASE WHEN l.root_known AND l.tap.benchmark = d.benchmark
            THEN l.tap.spread_bp - d.spread_bp END AS tap_spread_change_bp,
       l.taps_12m, l.root_known AS original_known, l.unconverted
FROM lines l
JOIN _deals d ON d.market = CASE WHEN l.root_known THEN l.root_market ELSE l.earliest.market END
 AND d.deal_id = CASE WHEN l.root_known THEN l.root_deal_id ELSE l.earliest.deal_id END
LEFT JOIN _dealflow.spelling n ON n.spelt = d.borrower_name
LEFT JOIN _dealflow.borrower_name a ON a.alias = n.name
 AND a.valid_from <= _dealflow.name_day(d.pricing_date) AND a.valid_to > _dealflow.name_day(d.pricing_date)
ORDER BY l.root_market, l.root_deal_id;
COMMENT ON MACRO TABLE main.tap_family IS 'Bond lines with their increases: how large each is, and whether the source''s total agrees.';

CREATE VIEW main.tap_family AS FROM main.tap_family();
COMMENT ON VIEW main.tap_family IS 'Bond lines with their increases: how large each is, and whether the source''s total agrees. As of now.';
COMMENT ON COLUMN main.tap_family.market IS 'Market of the original: IG, HY or EM.';
COMMENT ON COLUMN main.tap_family.root_deal_id IS 'deal_id of the original; if original_known is false, the deal_id at which the links end.';
COMMENT ON COLUMN main.tap_family.borrower IS 'Canonical name of the borrower.';
COMMENT ON COLUMN main.tap_family.currency IS 'Currency of the line.';
COMMENT ON COLUMN main.tap_family.isin_code IS 'ISIN of the original.';
COMMENT ON COLUMN main.tap_family.original_date IS 'Day on which the original priced; NULL if the original is not known.';
COMMENT ON COLUMN main.tap_family.increases IS 'Number of increases.';
COMMENT ON COLUMN main.tap_family.last_increase_date IS 'Day on which the last increase priced.';
COMMENT ON COLUMN main.tap_family.original_nominal IS 'Nominal of the original alone; NULL if the original is not known. Unit: units of the currency.';
COMMENT ON COLUMN main.tap_family.line_size IS 'Sum of the nominals of the original and its increases. Unit: units of the currency.';
COMMENT ON COLUMN main.tap_family.line_size_usd IS 'Sum of the nominals that have been converted to USD; NULL if none has. Unit: USD.';
COMMENT ON COLUMN main.tap_family.source_total IS 'Nominal of the line as its latest deal states it. Unit: units of the currency.';
COMMENT ON COLUMN main.tap_family.mismatch IS 'source_total minus line_size. Unit: units of the currency.';
COMMENT ON COLUMN main.tap_family.original_spread_bp IS 'Spread of the original (EM: over swaps). Unit: basis points.';
COMMENT ON COLUMN main.tap_family.last_tap_spread_bp IS 'Spread of the last increase. Unit: basis points.';
COMMENT ON COLUMN main.tap_family.tap_spread_change_bp IS 'Last increase minus original, over the same benchmark; negative is tighter. Unit: basis points.';
COMMENT ON COLUMN main.tap_family.taps_12m IS 'Number of increases priced in the 365 days up to the day of the latest run, that day included.';
COMMENT ON COLUMN main.tap_family.original_known IS 'Whether the original is current, and is no increase itself.';
COMMENT ON COLUMN main.tap_family.unconverted IS 'Number of members without an amount in USD.';
