-- execution_metrics: How each priced bond reached its price: tightening, guidance, cover, premium and time.
-- as of: execution_metrics({as_of})
--
-- Definition: One row per priced bond deal that counts (see bond_priced_as_of). Price talk is in the order of its
--   dates, then of ordinal.
--   - ipt_text, ipt_benchmark, ipt_mid_bp: the first talk that gives a spread; of a range, the middle.
--   - ipt_yield_mid_pct: the first talk that gives a yield; of a range, the middle.
--   - final_benchmark, final_bp: the spread at pricing (IG and HY: spread; EM: swap) if its text gives one number.
--   - final_yield_pct: the yield at pricing, likewise.
--   - tightening_bp: ipt_mid_bp − final_bp over the same benchmark, with tightening_basis 'spread'. Except in HY, if
--     both yields are known: 100 × (ipt_yield_mid_pct − final_yield_pct), with basis 'yield'.
--   - guidance_revisions: number of talks of guidance or revision, minus one.
--   - final_vs_guidance: position of the final spread in the last guidance, revision or talk over the same benchmark.
--     It is inside (below the range), tight (its lower end), mid, wide (its upper end) or outside (above it).
--   - cover: final books ÷ nominal. nip_bp: the new-issue premium.
--   - first_talk, last_talk, window_minutes: dates of the earliest and the latest talk, and the time between them.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: Basis points, percent, minutes; cover is a multiple. A positive tightening_bp means that the deal priced
--   tighter than first talk.
-- Caveats: A column is NULL if its text is missing or does not give one number: show the count next to each
--   average. cover assumes that books and nominal have the same currency and unit; unit_outlier_books of
--   data_quality finds deals in which they seem not to.
-- Example: Which deals of the latest year tightened most, and from where?
--   SELECT market, deal_id, pricing_date, borrower, ipt_text, final_benchmark, final_bp, final_yield_pct,
--          tightening_bp, tightening_basis
--   FROM execution_metrics
--   WHERE tightening_bp IS NOT NULL AND pricing_date >= (SELECT max(pricing_date) FROM bond_priced_deals) - 365
--   ORDER BY tightening_bp DESC, market, deal_id LIMIT 10
CREATE MACRO main.execution_metrics(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH deals AS (
  SELECT market, deal_id, pricing_date, currency, borrower_name, nominal_amount, stats_final_books,
         CASE market WHEN 'EM' THEN swap_benchmark ELSE spread_benchmark END AS final_benchmark,
         _dealflow.spread_primary_bp(market, spread_status, spread_bp, swap_status, swap_bp) AS final_bp,
         CASE WHEN yield_status = 'OK' THEN yield_pct END AS final_yield_pct,
         _dealflow.nip_primary_bp(market, nip_status, nip_lo_bp, nip_hi_bp,
           premium_nip_status, premium_nip_lo_bp, premium_nip_hi_bp) AS nip_bp
  FROM _dealflow.bond_deals(as_of)
  WHERE duplicate_of IS NULL
), talk AS (
  SELECT market, deal_id, date, value, value_stage, value_benchmark, value_lo_bp, value_hi_bp,
         value_yield_lo_pct, value_yield_hi_pct,
         value_status IN ('OK', 'RANGE') AND value_lo_bp IS NOT NULL AS gives_spread,
         value_stage IN ('GUIDANCE', 'REVISED', 'TALK') AND value_lo_bp IS NOT NULL AND value_hi_bp IS NOT NULL AS guides,
         row_number() OVER (PARTITION BY market, deal_id ORDER BY date NULLS LAST, ordinal) AS step
  FROM main.bond_priced_price_evolution_as_of(as_of)
), path AS (
  SELECT t.market, t.deal_id, min(t.date) AS first_talk, max(t.date) AS last_talk,
         min_by({value: t.value, benchmark: t.value_benchmark, mid: (t.value_lo_bp + t.value_hi_bp) / 2}, t.step)
           FILTER (t.gives_spread) AS ipt,
         min_by((t.value_yield_lo_pct + t.value_yield_hi_pct) / 2, t.step)
           FILTER (t.value_yield_lo_pct IS NOT NULL) AS ipt_yield_mid_pct,
         max_by({lo: t.value_lo_bp, hi: t.value_hi_bp}, t.step)
           FILTER (t.guides AND t.value_benchmark = d.final_benchmark) AS guidance,
         greatest(count(*) FILTER (t.value_stage IN ('GUIDANCE', 'REVISED')) - 1, 0) AS guidance_revisions
  FROM talk t
  JOIN deals d ON d.market = t.market AND d.deal_id = t.deal_id
  GROUP BY t.market, t.deal_id
), measured AS (
  SELECT d.*, p.* EXCLUDE (market, deal_id),
         CASE WHEN p.ipt.benchmark = d.final_benchmark THEN p.ipt.mid - d.final_bp END AS by_spread,
         CASE WHEN d.market = 'HY' THEN 100 * (p.ipt_yield_mid_pct - d.final_yield_pct) END AS by_yield
  FROM deals d
  LEFT JOIN path p ON p.market = d.market AND p.deal_id = d.deal_id
)
SELECT m.market, m.deal_id, m.pricing_date, m.currency,
       coalesce(a.canonical, _dealflow.normal_name(m.borrower_name)) AS borrower,
       m.ipt.value AS ipt_text, m.ipt.benchmark AS ipt_benchmark, m.ipt.mid AS ipt_mid_bp,
       m.final_benchmark, m.final_bp, m.ipt_yield_mid_pct, m.final_yield_pct,
       coalesce(m.by_yield, m.by_spread) AS tightening_bp,
       CASE WHEN m.by_yield IS NOT NULL THEN 'yield' WHEN m.by_spread IS NOT NULL THEN 'spread' END AS tightening_basis,
       coalesce(m.guidance_revisions, 0) AS guidance_revisions,
       CASE WHEN m.final_bp < m.guidance.lo THEN 'inside'
            WHEN m.final_bp > m.guidance.hi THEN 'outside'
            WHEN m.final_bp = m.guidance.lo AND m.guidance.lo < m.guidance.hi THEN 'tight'
            WHEN m.final_bp = m.guidance.hi AND m.guidance.lo < m.guidance.hi THEN 'wide'
            WHEN m.final_bp BETWEEN m.guidance.lo AND m.guidance.hi THEN 'mid' END AS final_vs_guidance,
       CASE WHEN m.stats_final_books > 0 AND m.nominal_amount > 0 THEN m.stats_final_books / m.nominal_amount END AS cover,
       m.nip_bp, m.first_talk, m.last_talk, date_diff('microsecond', m.first_talk, m.last_talk) / 60e6 AS window_minutes
FROM measured m
LEFT JOIN _dealflow.borrower_name a ON a.alias = _dealflow.normal_name(m.borrower_name)
 AND a.valid_from <= _dealflow.name_day(m.pricing_date) AND a.valid_to > _dealflow.name_day(m.pricing_date);
COMMENT ON MACRO TABLE main.execution_metrics IS 'How each priced bond reached its price: tightening, guidance, cover, premium and time.';

CREATE VIEW main.execution_metrics AS FROM main.execution_metrics();
COMMENT ON VIEW main.execution_metrics IS 'How each priced bond reached its price: tightening, guidance, cover, premium and time. As of now.';
COMMENT ON COLUMN main.execution_metrics.market IS 'IG, HY or EM.';
COMMENT ON COLUMN main.execution_metrics.deal_id IS 'The source''s id of the deal; unique only within its market.';
COMMENT ON COLUMN main.execution_metrics.pricing_date IS 'Day on which the deal priced.';
COMMENT ON COLUMN main.execution_metrics.currency IS 'Currency of the deal.';
COMMENT ON COLUMN main.execution_metrics.borrower IS 'Canonical name of the borrower.';
COMMENT ON COLUMN main.execution_metrics.ipt_text IS 'The first price talk that gives a spread, as written.';
COMMENT ON COLUMN main.execution_metrics.ipt_benchmark IS 'Benchmark of that spread.';
COMMENT ON COLUMN main.execution_metrics.ipt_mid_bp IS 'The first spread in the price talk; of a range, the middle. Unit: basis points.';
COMMENT ON COLUMN main.execution_metrics.final_benchmark IS 'Benchmark of the spread at pricing.';
COMMENT ON COLUMN main.execution_metrics.final_bp IS 'Spread at pricing (EM: over swaps), if its text gives one number. Unit: basis points.';
COMMENT ON COLUMN main.execution_metrics.ipt_yield_mid_pct IS 'The first yield in the price talk; of a range, the middle. Unit: percent.';
COMMENT ON COLUMN main.execution_metrics.final_yield_pct IS 'Yield at pricing, if its text gives one number. Unit: percent.';
COMMENT ON COLUMN main.execution_metrics.tightening_bp IS 'First talk minus pricing: positive is tighter, negative is wider. Unit: basis points.';
COMMENT ON COLUMN main.execution_metrics.tightening_basis IS 'What tightening_bp compares: spread or yield.';
COMMENT ON COLUMN main.execution_metrics.guidance_revisions IS 'Number of talks of guidance or revision, minus one.';
COMMENT ON COLUMN main.execution_metrics.final_vs_guidance IS 'Position of the final spread in the last guidance: inside, tight, mid, wide or outside.';
COMMENT ON COLUMN main.execution_metrics.cover IS 'Final books ÷ nominal amount. Unit: times.';
COMMENT ON COLUMN main.execution_metrics.nip_bp IS 'New-issue premium; of a range, the middle. Unit: basis points.';
COMMENT ON COLUMN main.execution_metrics.first_talk IS 'Date of the earliest price talk.';
COMMENT ON COLUMN main.execution_metrics.last_talk IS 'Date of the latest price talk.';
COMMENT ON COLUMN main.execution_metrics.window_minutes IS 'Time from the earliest to the latest price talk. Unit: minutes.';

-- execution_summary: Averages of execution_metrics by market, each with its number of deals.
-- as of: execution_summary({as_of})
--
-- Definition: One row per market, over the deals that count.
--   - tightening_bp, cover, nip_bp and window_minutes each have three columns: the number of deals that have a value
--     (_n), and the mean and median over those deals.
--   - cover_usd_weighted: the mean cover weighted by nominal in USD, over deals that have both.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: Basis points, multiples, minutes.
-- Caveats: An average is over its _n deals, not over all: compare _n with deals before you compare markets. In HY,
--   tightening_bp mixes its two bases.
-- Example: How do the markets compare in tightening and cover?
--   SELECT market, deals, tightening_bp_n, round(tightening_bp_median, 1) AS tightening_bp,
--          cover_n, round(cover_median, 2) AS cover
--   FROM execution_summary ORDER BY market
CREATE MACRO main.execution_summary(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH weights AS (
  SELECT market, deal_id, nominal_usd AS usd FROM main.bond_priced_deals_as_of(as_of) WHERE nominal_usd <> 0
)
SELECT m.market, count(*) AS deals,
       count(m.tightening_bp) AS tightening_bp_n, _dealflow.mean(m.tightening_bp) AS tightening_bp_mean,
       median(m.tightening_bp) AS tightening_bp_median,
       count(m.cover) AS cover_n, _dealflow.mean(m.cover) AS cover_mean, median(m.cover) AS cover_median,
       count(m.nip_bp) AS nip_bp_n, _dealflow.mean(m.nip_bp) AS nip_bp_mean, median(m.nip_bp) AS nip_bp_median,
       count(m.window_minutes) AS window_minutes_n, _dealflow.mean(m.window_minutes) AS window_minutes_mean,
       median(m.window_minutes) AS window_minutes_median,
       sum((m.cover * w.usd::DOUBLE)::DECIMAL(38, 6))::DOUBLE / (sum(w.usd) FILTER (m.cover IS NOT NULL))::DOUBLE AS cover_usd_weighted
FROM main.execution_metrics(as_of) m
LEFT JOIN weights w ON w.market = m.market AND w.deal_id = m.deal_id
GROUP BY m.market
ORDER BY m.market;
COMMENT ON MACRO TABLE main.execution_summary IS 'Averages of execution_metrics by market, each with its number of deals.';

CREATE VIEW main.execution_summary AS FROM main.execution_summary();
COMMENT ON VIEW main.execution_summary IS 'Averages of execution_metrics by market, each with its number of deals. As of now.';
COMMENT ON COLUMN main.execution_summary.market IS 'IG, HY or EM.';
COMMENT ON COLUMN main.execution_summary.deals IS 'Number of priced deals that count.';
COMMENT ON COLUMN main.execution_summary.tightening_bp_n IS 'Number of deals with a tightening_bp.';
COMMENT ON COLUMN main.execution_summary.tightening_bp_mean IS 'Mean of their tightening_bp. Unit: basis points.';
COMMENT ON COLUMN main.execution_summary.tightening_bp_median IS 'Median of their tightening_bp. Unit: basis points.';
COMMENT ON COLUMN main.execution_summary.cover_n IS 'Number of deals with a cover.';
COMMENT ON COLUMN main.execution_summary.cover_mean IS 'Mean of their cover. Unit: times.';
COMMENT ON COLUMN main.execution_summary.cover_median IS 'Median of their cover. Unit: times.';
COMMENT ON COLUMN main.execution_summary.nip_bp_n IS 'Number of deals with a nip_bp.';
COMMENT ON COLUMN main.execution_summary.nip_bp_mean IS 'Mean of their nip_bp. Unit: basis points.';
COMMENT ON COLUMN main.execution_summary.nip_bp_median IS 'Median of their nip_bp. Unit: basis points.';
COMMENT ON COLUMN main.execution_summary.window_minutes_n IS 'Number of deals with a window_minutes.';
COMMENT ON COLUMN main.execution_summary.window_minutes_mean IS 'Mean of their window_minutes. Unit: minutes.';
COMMENT ON COLUMN main.execution_summary.window_minutes_median IS 'Median of their window_minutes. Unit: minutes.';
COMMENT ON COLUMN main.execution_summary.cover_usd_weighted IS 'Mean cover weighted by nominal in USD, over deals that have both. Unit: times.';
