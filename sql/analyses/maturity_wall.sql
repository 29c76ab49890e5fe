-- maturity_wall: What falls due in which year, each bond line counted once at its size with increases.
-- as of: maturity_wall({as_of})
--
-- Definition: Bonds: a row per year of market and basis; lines are those of tap_family. A line falls due at the maturity
--   of its latest deal that has one (basis 'maturity'). A perpetual (its latest deal says so, or the maturity is in the
--   year 9000 or later) falls due at the first call date of its latest deal that has one (basis 'first call'); where that
--   is past or not stated, and where a line has no maturity, year is NULL and basis 'none'. Loans: lines are tranches, by
--   the year of their maturity (basis 'maturity'), NULL where its text names none (basis 'none'). What fell due before
--   the day (loans: the year) of the latest run that as_of knows is not in it. usd sums what has been converted;
--   unconverted: lines of which something has not.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: USD at the source's own rates at pricing.
-- Caveats: Sizes are as issued: nothing is known of buybacks, calls, amortisation or repayment. Tenors of loans, such as
--   7yr, name no year.
-- Example: How high is the wall of each market in the years to come?
--   SELECT year, service, market, basis, lines, (usd / 1e9)::DECIMAL(18, 2) AS usd_bn, unconverted
--   FROM maturity_wall ORDER BY year NULLS LAST, service, market, basis LIMIT 40
CREATE MACRO main.maturity_wall(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH today AS (
  SELECT main.utc_day(main.knowledge_at(as_of)) AS day
), deals AS (
  SELECT market, deal_id, pricing_date, maturity, perpetual, first_call_date, nominal_usd
  FROM _dealflow.bond_deals(as_of)
  WHERE duplicate_of IS NULL
), members AS (
  SELECT d.*, l.root_deal_id,
         row_number() OVER (PARTITION BY d.market, l.root_deal_id ORDER BY d.pricing_date NULLS FIRST, d.deal_id) AS place
  FROM deals d
  JOIN _dealflow.bond_lines(as_of) l ON l.market = d.market AND l.deal_id = d.deal_id
), lines AS (
  SELECT market, root_deal_id, coalesce(sum(nominal_usd), 0) AS usd, bool_or(coalesce(nominal_usd, 0) = 0) AS unconverted,
         max_by(maturity, place) FILTER (maturity IS NOT NULL) AS maturity,
         max_by(first_call_date, place) FILTER (first_call_date IS NOT NULL) AS first_call_date,
         max_by(coalesce(perpetual, false), place) AS perpetual
  FROM members
  GROUP BY market, root_deal_id
), bonds AS (
  SELECT 'bond' AS service, market, usd, unconverted, maturity, first_call_date,
         perpetual OR coalesce(year(maturity) >= 9000, false) AS perpetual
  FROM lines
), due AS (
  SELECT service, market, usd, unconverted,
         CASE WHEN NOT perpetual AND maturity IS NOT NULL THEN 'maturity'
              WHEN perpetual AND first_call_date >= today.day THEN 'first call' ELSE 'none' END AS basis,
         CASE basis WHEN 'maturity' THEN year(maturity) WHEN 'first call' THEN year(first_call_date) END::INTEGER AS year
  FROM bonds, today
  WHERE perpetual OR maturity IS NULL OR maturity >= today.day
  UNION ALL
  SELECT 'loan' AS service, market, coalesce(nominal_usd, 0) AS usd, coalesce(nominal_usd, 0) = 0 AS unconverted,
         CASE WHEN maturity_year IS NULL THEN 'none' ELSE 'maturity' END AS basis, maturity_year AS year
  FROM main.loan_priced_tranches_as_of(as_of), today
  WHERE maturity_year IS NULL OR maturity_year >= year(today.day)
)
SELECT year, basis, service, market, count(*) AS lines, sum(usd) AS usd, count(*) FILTER (unconverted) AS unconverted
FROM due
GROUP BY year, basis, service, market
ORDER BY service, market, year, basis;
COMMENT ON MACRO TABLE main.maturity_wall IS 'What falls due in which year, each bond line counted once at its size with increases.';

CREATE VIEW main.maturity_wall AS FROM main.maturity_wall();
COMMENT ON VIEW main.maturity_wall IS 'What falls due in which year, each bond line counted once at its size with increases. As of now.';
COMMENT ON COLUMN main.maturity_wall.year IS 'The year; NULL where none is known.';
COMMENT ON COLUMN main.maturity_wall.basis IS 'maturity, first call (of a perpetual) or none.';
COMMENT ON COLUMN main.maturity_wall.service IS 'bond or loan.';
COMMENT ON COLUMN main.maturity_wall.market IS 'IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN main.maturity_wall.lines IS 'Bond lines; loan tranches.';
COMMENT ON COLUMN main.maturity_wall.usd IS 'Sum of their nominals, as far as they have been converted. Unit: USD.';
COMMENT ON COLUMN main.maturity_wall.unconverted IS 'Of the lines, those of which something has not been converted.';
