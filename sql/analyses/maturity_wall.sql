-- maturity_wall: Debt by the year in which it falls due. A bond line counts once, with its increases.
-- as of: maturity_wall({as_of})
--
-- Definition: One row per year, market and basis. A line is a bond line of tap_family, or a tranche of a loan.
--   - basis 'date': a bond line falls due at the maturity of its latest deal that has one, a loan tranche in the
--     year that its maturity names.
--   - basis 'tenor': a loan tranche whose maturity names no year falls due its tenor after the day on which it priced
--     (else its deal). The tenor is that of a maturity such as 7yr, else the number tenor. The source does not state
--     that number's unit: from 12 to 480 it is months, any other number is not read.
--   - basis 'first call': a perpetual falls due at the first call date of its latest deal that has one, unless that is
--     past. A line is perpetual if its latest deal says so, or if its maturity is in the year 9000 or later.
--   - basis 'none', year NULL: all other lines.
--   - usd: sum of the amounts that have been converted. unconverted: lines with an amount that has not.
--   - A line that fell due before the day (loans: the year) of the latest run that as_of knows is left out.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: USD at the source's own rates at pricing.
-- Caveats: Sizes are as issued: buybacks, calls, amortisation and repayments are not known. If a loan has both a
--   year and a tenor, the year is used: maturity_off_tenor of data_quality finds those that disagree. tenor_unit finds
--   tenors that are not read. A tranche that several markets list counts once (see league_table).
-- Example: How much falls due in each market in the years to come?
--   SELECT year, service, market, basis, lines, (usd / 1e9)::DECIMAL(18, 2) AS usd_bn, unconverted
--   FROM maturity_wall ORDER BY year NULLS LAST, service, market, basis LIMIT 40
CREATE MACRO main.maturity_wall(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _lines AS NOT MATERIALIZED (
  FROM _dealflow.bond_lines(as_of)
), _today AS (
  SELECT main.utc_day(main.knowledge_at(as_of)) AS day
), _deals AS (
  SELECT market, deal_id, pricing_date, maturity, perpetual, first_call_date, nominal_usd
  FROM _dealflow.bond_deals(as_of)
  WHERE duplicate_of IS NULL
), members AS (
  SELECT d.*, l.root_market, l.root_deal_id,
         row_number() OVER (PARTITION BY l.root_market, l.root_deal_id ORDER BY d.pricing_date NULLS FIRST, d.deal_id, d.market) AS place
  FROM _deals d
  JOIN _lines l ON l.market = d.market AND l.deal_id = d.deal_id
), lines AS (
  SELECT root_market AS market, coalesce(sum(nominal_usd), 0) AS usd, bool_or(coalesce(nominal_usd, 0) = 0) AS unconverted,
         max_by(maturity, place) FILTER (maturity IS NOT NULL) AS maturity,
         max_by(first_call_date, place) FILTER (first_call_date IS NOT NULL) AS first_call_date,
         max_by(coalesce(perpetual, false), place) AS perpetual
  FROM members
  GROUP BY root_market, root_deal_id
), bonds AS (
  SELECT 'bond' AS service, market, usd, unconverted, maturity, first_call_date,
         perpetual OR coalesce(year(maturity) >= 9000, false) AS perpetual
  FROM lines
), loans AS (
  SELECT market, nominal_usd, maturity_year, CASE WHEN maturity_year IS NULL THEN
           year(coalesce(pricing_date, priced_date) + to_months(_dealflow.tenor_months(maturity_tenor_years, tenor))) END AS tenor_year
  FROM _dealflow.loan_tranches(as_of)
  WHERE duplicate_of IS NULL
), due AS (
  SELECT service, market, usd, unconverted,
         CASE WHEN NOT perpetual AND maturity IS NOT NULL THEN 'date'
              WHEN perpetual AND first_call_date >= _today.day THEN 'first call' ELSE 'none' END AS basis,
         CASE basis WHEN 'date' THEN year(maturity) WHEN 'first call' THEN year(first_call_date) END::INTEGER AS year
  FROM bonds, _today
  WHERE perpetual OR maturity IS NULL OR maturity >= _today.day
  UNION ALL
  SELECT 'loan' AS service, market, coalesce(nominal_usd, 0) AS usd, coalesce(nominal_usd, 0) = 0 AS unconverted,
         CASE WHEN maturity_year IS NOT NULL THEN 'date' WHEN tenor_year IS NOT NULL THEN 'tenor' ELSE 'none' END AS basis,
         coalesce(maturity_year, tenor_year)::INTEGER AS year
  FROM loans, _today
  WHERE coalesce(maturity_year, tenor_year, year(_today.day)) >= year(_today.day)
)
SELECT year, basis, service, market, count(*) AS lines, sum(usd) AS usd, count(*) FILTER (unconverted) AS unconverted
FROM due
GROUP BY year, basis, service, market
ORDER BY service, market, year, basis;
COMMENT ON MACRO TABLE main.maturity_wall IS 'Debt by the year in which it falls due. A bond line counts once, with its increases.';

CREATE VIEW main.maturity_wall AS FROM main.maturity_wall();
COMMENT ON VIEW main.maturity_wall IS 'Debt by the year in which it falls due. A bond line counts once, with its increases. As of now.';
COMMENT ON COLUMN main.maturity_wall.year IS 'Year in which the lines fall due; NULL if no year is known.';
COMMENT ON COLUMN main.maturity_wall.basis IS 'date (of maturity), tenor (of a loan), first call (of a perpetual) or none.';
COMMENT ON COLUMN main.maturity_wall.service IS 'bond or loan.';
COMMENT ON COLUMN main.maturity_wall.market IS 'IG, HY, EM, LL, CF or AF; of a bond line, that of its original.';
COMMENT ON COLUMN main.maturity_wall.lines IS 'Number of bond lines or loan tranches.';
COMMENT ON COLUMN main.maturity_wall.usd IS 'Sum of their nominals that have been converted. Unit: USD.';
COMMENT ON COLUMN main.maturity_wall.unconverted IS 'Number of lines with a nominal that has not been converted.';
