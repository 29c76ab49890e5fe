-- issuance_volume: Issuance by period, market and currency, with the year before and the part that has an ESG label.
-- as of: issuance_volume('week', {as_of})
-- as of: issuance_volume('quarter', {as_of})
--
-- Definition: One row per period, market and currency. Bonds are the deals that count (see bond_priced_as_of), by
--   pricing_date. Loans are deals by priced_date, each with the sum of its tranches; currency is 'multiple' if those
--   have several. A tranche that several markets list counts once (see league_table).
--   - usd: sum of the amounts that have been converted.
--   - deals_unconverted: deals with an amount that has not been converted. A loan without tranches is one of them.
--   - nominal_increases_usd: the part of usd from increases (taps), each with its own nominal.
--   - usd_year_before: usd of the same cell a year earlier (of a week: 52 weeks), known at the same as_of. NULL if
--     there is no such cell.
--   - esg_usd, esg_share: the part that is green, social, sustainability or sustainability-linked; and esg_usd ÷ usd.
-- Parameters: grain: 'week', 'month', 'quarter' or 'year'. as_of TIMESTAMPTZ: what was known at this instant;
--   'infinity', the default, is all that is known.
-- Units: USD at the source's own rates. period is the first day of the period; NULL for deals without a date.
-- Caveats: The nominal does not include retained, exchanged and secondary amounts. A recent period has had less
--   time for corrections than the period a year before: issuance_growth compares them at equal age.
-- Example: How much was issued in each market and quarter, and how much a year before?
--   SELECT period, service, market, sum(deals) AS deals, (sum(usd) / 1e9)::DECIMAL(18, 2) AS usd_bn,
--          (sum(usd_year_before) / 1e9)::DECIMAL(18, 2) AS year_before_bn
--   FROM issuance_volume('quarter')
--   GROUP BY period, service, market ORDER BY period DESC NULLS LAST, service, market LIMIT 24
CREATE MACRO main.issuance_volume(grain, as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH bonds AS (
  SELECT 'bond' AS service, market, pricing_date AS day, currency, coalesce(nominal_usd, 0) = 0 AS unconverted,
         nominal_usd AS usd,
         CASE WHEN deal_type = 'INCREASE' THEN nominal_usd END AS increase_usd,
         CASE WHEN _dealflow.esg_label(green, social, sustainable, sustainability_linked) IS NOT NULL
              THEN nominal_usd END AS esg_usd
  FROM _dealflow.bond_deals(as_of)
  WHERE duplicate_of IS NULL
), tranches AS (
  SELECT market, deal_id, min(currency) FILTER (counts) AS least_currency, max(currency) FILTER (counts) AS greatest_currency,
         bool_or(coalesce(nominal_usd, 0) = 0) FILTER (counts) AS unconverted, sum(nominal_usd) FILTER (counts) AS usd,
         sum(nominal_usd) FILTER (counts AND _dealflow.esg_label(green_loan, NULL, NULL, sustainability_linked) IS NOT NULL) AS esg_usd,
         bool_or(counts) AS counts
  FROM (SELECT market, deal_id, currency, nominal_usd, green_loan, sustainability_linked, duplicate_of IS NULL AS counts
        FROM _dealflow.loan_tranches(as_of))
  GROUP BY market, deal_id
), loans AS (
  SELECT 'loan' AS service, d.market, d.priced_date AS day,
         CASE WHEN t.least_currency < t.greatest_currency THEN 'multiple' ELSE t.least_currency END AS currency,
         coalesce(t.unconverted, true) AS unconverted, t.usd, NULL AS increase_usd, t.esg_usd
  FROM main.loan_priced_deals_as_of(as_of) d
  LEFT JOIN tranches t ON t.market = d.market AND t.deal_id = d.deal_id
  WHERE coalesce(t.counts, true)
), issued AS (
  SELECT date_trunc(CASE WHEN lower(grain) IN ('week', 'month', 'quarter', 'year') THEN lower(grain)
              ELSE error('grain is week, month, quarter or year, not ' || coalesce(grain, 'NULL')) END, day)::DATE AS period, service, market, currency,
         count(*) AS deals, count(*) FILTER (unconverted) AS deals_unconverted,
         coalesce(sum(usd), 0) AS usd, coalesce(sum(increase_usd), 0) AS nominal_increases_usd,
         coalesce(sum(esg_usd), 0) AS esg_usd
  FROM (FROM bonds UNION ALL FROM loans)
  GROUP BY 1, 2, 3, 4
)
SELECT i.period, i.service, i.market, i.currency, i.deals, i.deals_unconverted, i.usd, i.nominal_increases_usd,
       before.usd AS usd_year_before, i.esg_usd, i.esg_usd / nullif(i.usd, 0) AS esg_share
FROM issued i
LEFT JOIN issued before
  ON before.period = (i.period - CASE upper(grain) WHEN 'WEEK' THEN INTERVAL 364 DAYS ELSE INTERVAL 1 YEAR END)::DATE
 AND before.service = i.service AND before.market = i.market AND before.currency IS NOT DISTINCT FROM i.currency
ORDER BY i.period, i.service, i.market, i.currency;
COMMENT ON MACRO TABLE main.issuance_volume IS 'Issuance by period, market and currency, with the year before and the part that has an ESG label.';

-- issuance_growth: Growth of issuance against the year before, each as known at the same age.
-- as of: issuance_growth('week', {as_of})
-- as of: issuance_growth('quarter', {as_of})
--
-- Definition: One row per period and market.
--   - usd: what issuance_volume returns for the period, over all currencies.
--   - usd_year_before_then: what it returned for the period a year earlier (of a week: 52 weeks), one year before the
--     latest run that as_of knows.
--   - growth_pct: 100 × (usd − usd_year_before_then) / usd_year_before_then.
-- Parameters: grain: 'week', 'month', 'quarter' or 'year'. as_of TIMESTAMPTZ: what was known at this instant;
--   'infinity', the default, is all that is known.
-- Units: USD; percent.
-- Caveats: usd_year_before_then is NULL if the lake knew nothing at that time: the analysis needs more than a year
--   of history.
-- Example: How does each quarter compare with the quarter a year earlier, as that was known a year ago?
--   SELECT period, market, (usd / 1e9)::DECIMAL(18, 2) AS usd_bn, round(growth_pct, 1) AS growth_pct
--   FROM issuance_growth('quarter') WHERE period IS NOT NULL ORDER BY period DESC, market LIMIT 12
CREATE MACRO main.issuance_growth(grain, as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH now_known AS (
  SELECT period, service, market, sum(usd) AS usd
  FROM main.issuance_volume(grain, as_of)
  GROUP BY period, service, market
), known_then AS (
  SELECT period, service, market, sum(usd) AS usd
  FROM main.issuance_volume(grain, (SELECT main.knowledge_at(as_of) - INTERVAL 1 YEAR))
  GROUP BY period, service, market
)
SELECT n.period, n.service, n.market, n.usd, t.usd AS usd_year_before_then,
       _dealflow.number(100 * (n.usd - t.usd)::DOUBLE / nullif(t.usd, 0)) AS growth_pct
FROM now_known n
LEFT JOIN known_then t
  ON t.period = (n.period - CASE upper(grain) WHEN 'WEEK' THEN INTERVAL 364 DAYS ELSE INTERVAL 1 YEAR END)::DATE
 AND t.service = n.service AND t.market = n.market
ORDER BY n.period, n.service, n.market;
COMMENT ON MACRO TABLE main.issuance_growth IS 'Growth of issuance against the year before, each as known at the same age.';
