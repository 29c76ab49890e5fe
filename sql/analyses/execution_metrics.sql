-- execution_metrics: How each priced bond reached its price: tightening, guidance, cover, premium and time.
-- as of: execution_metrics({as_of})
--
-- Definition: One row per priced bond deal that counts (see bond_priced_as_of). Price talk is in the order of its
--   dates, then of ordinal. A talk is final if its stage is FINAL, or if it is the last one, names no stage and gives one
--   number without a remark such as area. Of a range, the middle counts. The benchmark of all swap curves is MS.
--   - first_talk_stage, first_talk_text: the talk from which tightening_bp is measured; else the first talk that is not
--     final and gives a spread or yield. The stage is NULL if the text names none.
--   - first_talk_benchmark, first_talk_mid_bp: the first talk that is not final and gives a spread.
--   - first_talk_yield_mid_pct: the first talk that is not final and gives a yield.
--   - ipt_text, ipt_benchmark, ipt_mid_bp, ipt_yield_mid_pct: the same, of talks that are not guidance or revised either.
--   - guidance_text, guidance_benchmark, guidance_mid_bp, guidance_yield_mid_pct: the last guidance or revised talk that
--     gives a spread; for the yield, that gives a yield.
--   - last_talk_stage, last_talk_text: the last talk that is not final and gives a spread or yield.
--   - rating: the letter of the composite rating (rating_composite_notch of bond_priced_deals): AAA, AA, A, BBB, BB, B, CCC
--     (and below), or unrated if the agencies have no rating. NULL if a text was not read that could
--     change it: the rating is not known then. Two equal ratings are it, whatever the third text says.
--   - final_benchmark, final_benchmark_index, final_bp, final_source: the spread at pricing if its text gives one number. IG and HY: spread. EM:
--     the one of swap and gov with the benchmark of the first talk, else the last final talk with that benchmark, else
--     swap, else gov. final_source names it: spread, swap, gov or final talk.
--   - final_yield_pct: the yield at pricing, if its text gives one number.
--   - tightening_bp: first_talk_mid_bp − final_bp over the same benchmark, with tightening_basis 'spread'. Except in HY,
--     if both yields are known: 100 × (first_talk_yield_mid_pct − final_yield_pct), with basis 'yield'.
--   - only_final_talk: whether all talk that gives a spread or yield is final; NULL if there is no such talk.
--   - guidance_revisions: number of talks of guidance or revision, minus one; 0 without such talk, too.
--   - final_vs_guidance: position of the final spread in the last guidance, revision or talk over the same benchmark.
--     It is inside (below the range), tight (its lower end), mid, wide (its upper end) or outside (above it).
--   - cover: final books ÷ nominal; NULL if unit_outlier_books of data_quality finds the deal: cover_flagged says so.
--   - nip_bp: the new-issue premium.
--   - first_talk, last_talk, window_minutes: dates of the earliest and the latest talk, and the time between them.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: Basis points, percent, minutes; cover is a multiple. A positive tightening_bp means that the deal priced
--   tighter than first talk. Numbers are rounded to 6 digits.
-- Caveats: A column is NULL if its text is missing or does not give one number: show the count next to each
--   average. Deals in IG and EM that were talked and priced in yield have no tightening_bp. A tightening from guidance
--   is smaller than one from initial talk: group by first_talk_stage. cover assumes that books and nominal have the same
--   currency and unit.
-- Example: Which deals of the latest year tightened most, and from where?
--   SELECT market, deal_id, pricing_date, borrower, first_talk_text, final_benchmark, final_bp, final_yield_pct,
--          tightening_bp, tightening_basis
--   FROM execution_metrics
--   WHERE tightening_bp IS NOT NULL AND pricing_date >= (SELECT max(pricing_date) FROM bond_priced_deals) - 365
--   ORDER BY tightening_bp DESC, market, deal_id LIMIT 10
CREATE MACRO main.execution_metrics(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _deals AS (
  SELECT market, deal_id, pricing_date, currency, borrower_name, nominal_amount, stats_final_books,
         CASE WHEN rating_composite_notch IS NOT NULL
                OR _dealflow.says_unrated(rating_moodys, rating_moodys_status)
                   AND _dealflow.says_unrated(rating_standard_and_poors, rating_standard_and_poors_status)
                   AND _dealflow.says_unrated(rating_fitch, rating_fitch_status)
              THEN _dealflow.rating_cohort(rating_composite_notch) END AS rating,
         spread_status = 'OK' AS has_spread, _dealflow.curve(spread_benchmark) AS spread_benchmark, spread_benchmark_index, spread_bp,
         swap_status = 'OK' AS has_swap, _dealflow.curve(swap_benchmark) AS swap_benchmark, swap_benchmark_index, swap_bp,
         gov_status = 'OK' AS has_gov, _dealflow.curve(gov_benchmark) AS gov_benchmark, gov_benchmark_index, gov_bp,
         CASE WHEN yield_status = 'OK' THEN yield_pct END AS final_yield_pct,
         _dealflow.nip_primary_bp(market, nip_status, nip_lo_bp, nip_hi_bp,
           premium_nip_status, premium_nip_lo_bp, premium_nip_hi_bp) AS nip_bp
  FROM _dealflow.bond_deals(as_of)
  WHERE duplicate_of IS NULL
), steps AS (
  SELECT market, deal_id, date, value, value_stage AS stage, value_lo_bp AS lo, value_hi_bp AS hi, value_bp AS bp, value_yield_pct, value_benchmark_index AS rate_index,
         _dealflow.curve(value_benchmark) AS benchmark, value_status AS status, value_quality AS quality,
         (value_lo_bp + value_hi_bp) / 2 AS mid, (value_yield_lo_pct + value_yield_hi_pct) / 2 AS yield,
         value_status IN ('OK', 'RANGE') AND value_lo_bp IS NOT NULL AS gives_spread,
         value_yield_lo_pct IS NOT NULL AS gives_yield,
         coalesce(value_stage IN ('GUIDANCE', 'REVISED'), false) AS guides,
         row_number() OVER (PARTITION BY market, deal_id ORDER BY date NULLS LAST, ordinal) AS step,
         count(*) OVER (PARTITION BY market, deal_id) AS steps
  FROM main.bond_priced_price_evolution_as_of(as_of)
), judged AS (
  SELECT * EXCLUDE (status, quality, steps, value_yield_pct),
         coalesce(stage = 'FINAL', quality IS NULL AND step = steps AND coalesce(status IN ('OK', 'OK_YIELD'), false)
           AND (bp IS NOT NULL OR value_yield_pct IS NOT NULL)) AS is_final
  FROM steps
), talk AS ( -- the step of a talk that can be chosen; NULL otherwise
  SELECT *,
         CASE WHEN gives_spread AND NOT is_final THEN step END AS spread_step,
         CASE WHEN gives_yield AND NOT is_final THEN step END AS yield_step,
         CASE WHEN gives_spread AND NOT is_final AND NOT guides THEN step END AS ipt_step,
         CASE WHEN gives_yield AND NOT is_final AND NOT guides THEN step END AS ipt_yield_step,
         CASE WHEN gives_spread AND guides THEN step END AS guidance_step,
         CASE WHEN gives_yield AND guides THEN step END AS guidance_yield_step,
         coalesce(spread_step, yield_step) AS open_step
  FROM judged
), path AS ( -- Column by column and without FILTER: structs and FILTER take DuckDB longer.
  SELECT market, deal_id, min(date) AS first_talk, max(date) AS last_talk,
         min(spread_step) AS spread_step, min(yield_step) AS yield_step,
         arg_min_null(stage, spread_step) AS spread_stage, arg_min_null(value, spread_step) AS spread_text,
         arg_min_null(benchmark, spread_step) AS talk_benchmark, arg_min_null(mid, spread_step) AS spread_mid,
         arg_min_null(stage, yield_step) AS yield_stage, arg_min_null(value, yield_step) AS yield_text,
         arg_min_null(yield, yield_step) AS yield_mid,
         arg_min_null(value, ipt_step) AS ipt_text, arg_min_null(benchmark, ipt_step) AS ipt_benchmark,
         arg_min_null(mid, ipt_step) AS ipt_mid, arg_min(yield, ipt_yield_step) AS ipt_yield,
         arg_max_null(value, guidance_step) AS guidance_text, arg_max_null(benchmark, guidance_step) AS guidance_benchmark,
         arg_max_null(mid, guidance_step) AS guidance_mid, arg_max(yield, guidance_yield_step) AS guidance_yield,
         arg_max_null(stage, open_step) AS last_stage, arg_max_null(value, open_step) AS last_text,
         bool_and(CASE WHEN gives_spread OR gives_yield THEN is_final END) AS only_final_talk,
         greatest(count(CASE WHEN guides THEN 1 END) - 1, 0) AS guidance_revisions
  FROM talk
  GROUP BY market, deal_id
), finals AS ( -- the last final talk over each benchmark
  SELECT market, deal_id, benchmark, max_by(bp, step) AS bp, arg_max_null(rate_index, step) AS rate_index
  FROM talk
  WHERE market = 'EM' AND is_final AND bp IS NOT NULL AND benchmark IS NOT NULL
  GROUP BY market, deal_id, benchmark
), guided AS ( -- the last guidance, revision or talk over each benchmark
  SELECT market, deal_id, benchmark, max_by(lo, step) AS lo, max_by(hi, step) AS hi
  FROM talk
  WHERE (guides OR stage = 'TALK') AND lo IS NOT NULL AND hi IS NOT NULL AND benchmark IS NOT NULL
  GROUP BY market, deal_id, benchmark
), sourced AS (
  SELECT d.*, p.* EXCLUDE (market, deal_id), f.bp AS final_talk_bp, f.rate_index AS final_talk_index,
         CASE WHEN d.market <> 'EM' THEN CASE WHEN d.has_spread THEN 'spread' END
              WHEN d.has_swap AND d.swap_benchmark = p.talk_benchmark THEN 'swap'
              WHEN d.has_gov AND d.gov_benchmark = p.talk_benchmark THEN 'gov'
              WHEN f.bp IS NOT NULL THEN 'final talk'
              WHEN d.has_swap THEN 'swap'
              WHEN d.has_gov THEN 'gov' END AS final_source
  FROM _deals d
  LEFT JOIN path p ON p.market = d.market AND p.deal_id = d.deal_id
  LEFT JOIN finals f ON f.market = d.market AND f.deal_id = d.deal_id AND f.benchmark = p.talk_benchmark
), priced AS (
  SELECT *,
         CASE final_source WHEN 'spread' THEN spread_benchmark WHEN 'swap' THEN swap_benchmark WHEN 'gov' THEN gov_benchmark
                           WHEN 'final talk' THEN talk_benchmark END AS final_benchmark,
         CASE final_source WHEN 'spread' THEN spread_benchmark_index WHEN 'swap' THEN swap_benchmark_index WHEN 'gov' THEN gov_benchmark_index
                           WHEN 'final talk' THEN final_talk_index END AS final_index,
         CASE final_source WHEN 'spread' THEN spread_bp WHEN 'swap' THEN swap_bp WHEN 'gov' THEN gov_bp
                           WHEN 'final talk' THEN final_talk_bp END AS final_bp
  FROM sourced
), measured AS (
  SELECT p.*, g.lo, g.hi,
         CASE WHEN p.talk_benchmark = p.final_benchmark THEN p.spread_mid - p.final_bp END AS by_spread,
         CASE WHEN p.market = 'HY' THEN 100 * (p.yield_mid - p.final_yield_pct) END AS by_yield,
         by_yield IS NOT NULL
           OR by_spread IS NULL AND (p.spread_step IS NULL OR coalesce(p.yield_step < p.spread_step, false)) AS first_is_yield
  FROM priced p
  LEFT JOIN guided g ON g.market = p.market AND g.deal_id = p.deal_id AND g.benchmark = p.final_benchmark
)
SELECT m.market, m.deal_id, m.pricing_date, m.currency,
       coalesce(a.canonical, n.name) AS borrower, m.rating,
       CASE WHEN m.first_is_yield THEN m.yield_stage ELSE m.spread_stage END AS first_talk_stage,
       CASE WHEN m.first_is_yield THEN m.yield_text ELSE m.spread_text END AS first_talk_text,
       m.talk_benchmark AS first_talk_benchmark, _dealflow.number(m.spread_mid) AS first_talk_mid_bp,
       _dealflow.number(m.yield_mid) AS first_talk_yield_mid_pct,
       m.ipt_text, m.ipt_benchmark, _dealflow.number(m.ipt_mid) AS ipt_mid_bp,
       _dealflow.number(m.ipt_yield) AS ipt_yield_mid_pct,
       m.guidance_text, m.guidance_benchmark, _dealflow.number(m.guidance_mid) AS guidance_mid_bp,
       _dealflow.number(m.guidance_yield) AS guidance_yield_mid_pct,
       m.last_stage AS last_talk_stage, m.last_text AS last_talk_text,
       m.final_benchmark, m.final_index AS final_benchmark_index, _dealflow.number(m.final_bp) AS final_bp, m.final_source,
       _dealflow.number(m.final_yield_pct) AS final_yield_pct,
       _dealflow.number(coalesce(m.by_yield, m.by_spread)) AS tightening_bp,
       CASE WHEN m.by_yield IS NOT NULL THEN 'yield' WHEN m.by_spread IS NOT NULL THEN 'spread' END AS tightening_basis,
       m.only_final_talk, coalesce(m.guidance_revisions, 0) AS guidance_revisions,
       CASE WHEN m.final_bp < m.lo THEN 'inside'
            WHEN m.final_bp > m.hi THEN 'outside'
            WHEN m.final_bp = m.lo AND m.lo < m.hi THEN 'tight'
            WHEN m.final_bp = m.hi AND m.lo < m.hi THEN 'wide'
            WHEN m.final_bp BETWEEN m.lo AND m.hi THEN 'mid' END AS final_vs_guidance,
       CASE WHEN NOT _dealflow.books_outlier(m.stats_final_books, m.nominal_amount)
            THEN _dealflow.number(m.stats_final_books / m.nominal_amount) END AS cover,
       _dealflow.books_outlier(m.stats_final_books, m.nominal_amount) AS cover_flagged,
       _dealflow.number(m.nip_bp) AS nip_bp, m.first_talk, m.last_talk,
       _dealflow.number(date_diff('microsecond', m.first_talk, m.last_talk) / 60e6) AS window_minutes
FROM measured m
LEFT JOIN _dealflow.spelling n ON n.spelt = m.borrower_name
LEFT JOIN _dealflow.borrower_name a ON a.alias = n.name
 AND a.valid_from <= _dealflow.name_day(m.pricing_date) AND a.valid_to > _dealflow.name_day(m.pricing_date);
COMMENT ON MACRO TABLE main.execution_metrics IS 'How each priced bond reached its price: tightening, guidance, cover, premium and time.';

CREATE VIEW main.execution_metrics AS FROM main.execution_metrics();
COMMENT ON VIEW main.execution_metrics IS 'How each priced bond reached its price: tightening, guidance, cover, premium and time. As of now.';
COMMENT ON COLUMN main.execution_metrics.market IS 'IG, HY or EM.';
COMMENT ON COLUMN main.execution_metrics.deal_id IS 'The source''s id of the deal; unique only within its market.';
COMMENT ON COLUMN main.execution_metrics.pricing_date IS 'Day on which the deal priced.';
COMMENT ON COLUMN main.execution_metrics.currency IS 'Currency of the deal.';
COMMENT ON COLUMN main.execution_metrics.borrower IS 'Canonical name of the borrower.';
COMMENT ON COLUMN main.execution_metrics.rating IS 'Letter of the composite rating: AAA, AA, A, BBB, BB, B, CCC (and below) or unrated; NULL if a text was not read that could change it.';
COMMENT ON COLUMN main.execution_metrics.first_talk_stage IS 'Stage of the talk from which tightening_bp is measured, else of the first talk that is not final: IPT, WHISPER, TALK, GUIDANCE or REVISED; NULL if the text names none.';
COMMENT ON COLUMN main.execution_metrics.first_talk_text IS 'That talk, as written.';
COMMENT ON COLUMN main.execution_metrics.first_talk_benchmark IS 'Benchmark of the first spread in the talk that is not final.';
COMMENT ON COLUMN main.execution_metrics.first_talk_mid_bp IS 'The first spread in the talk that is not final; of a range, the middle. Unit: basis points.';
COMMENT ON COLUMN main.execution_metrics.first_talk_yield_mid_pct IS 'The first yield in the talk that is not final; of a range, the middle. Unit: percent.';
COMMENT ON COLUMN main.execution_metrics.ipt_text IS 'The first talk that gives a spread, and is not guidance, revised or final, as written.';
COMMENT ON COLUMN main.execution_metrics.ipt_benchmark IS 'Benchmark of that spread.';
COMMENT ON COLUMN main.execution_metrics.ipt_mid_bp IS 'That spread; of a range, the middle. Unit: basis points.';
COMMENT ON COLUMN main.execution_metrics.ipt_yield_mid_pct IS 'The first yield in talk that is not guidance, revised or final; of a range, the middle. Unit: percent.';
COMMENT ON COLUMN main.execution_metrics.guidance_text IS 'The last guidance or revised talk that gives a spread, as written.';
COMMENT ON COLUMN main.execution_metrics.guidance_benchmark IS 'Benchmark of that spread.';
COMMENT ON COLUMN main.execution_metrics.guidance_mid_bp IS 'That spread; of a range, the middle. Unit: basis points.';
COMMENT ON COLUMN main.execution_metrics.guidance_yield_mid_pct IS 'The last yield in guidance or revised talk; of a range, the middle. Unit: percent.';
COMMENT ON COLUMN main.execution_metrics.last_talk_stage IS 'Stage of the last talk that is not final and gives a spread or yield; NULL if the text names none.';
COMMENT ON COLUMN main.execution_metrics.last_talk_text IS 'That talk, as written.';
COMMENT ON COLUMN main.execution_metrics.final_benchmark IS 'Benchmark of the spread at pricing.';
COMMENT ON COLUMN main.execution_metrics.final_benchmark_index IS 'Rate index of that benchmark, if its text names one: SOFR of SOFR MS+60 and of SOFR+78.';
COMMENT ON COLUMN main.execution_metrics.final_bp IS 'Spread at pricing, if its text gives one number. Unit: basis points.';
COMMENT ON COLUMN main.execution_metrics.final_source IS 'Where that spread is from: spread, swap, gov or final talk.';
COMMENT ON COLUMN main.execution_metrics.final_yield_pct IS 'Yield at pricing, if its text gives one number. Unit: percent.';
COMMENT ON COLUMN main.execution_metrics.tightening_bp IS 'First talk minus pricing: positive is tighter, negative is wider. Unit: basis points.';
COMMENT ON COLUMN main.execution_metrics.tightening_basis IS 'What tightening_bp compares: spread or yield.';
COMMENT ON COLUMN main.execution_metrics.only_final_talk IS 'Whether all talk that gives a spread or yield is final; NULL if there is no such talk.';
COMMENT ON COLUMN main.execution_metrics.guidance_revisions IS 'Number of talks of guidance or revision, minus one.';
COMMENT ON COLUMN main.execution_metrics.final_vs_guidance IS 'Position of the final spread in the last guidance: inside, tight, mid, wide or outside.';
COMMENT ON COLUMN main.execution_metrics.cover IS 'Final books ÷ nominal amount; NULL if their units seem to differ. Unit: times.';
COMMENT ON COLUMN main.execution_metrics.cover_flagged IS 'Whether their units seem to differ: final books are less than 0.5 or more than 20 times the nominal. NULL if one is missing.';
COMMENT ON COLUMN main.execution_metrics.nip_bp IS 'New-issue premium; of a range, the middle. Unit: basis points.';
COMMENT ON COLUMN main.execution_metrics.first_talk IS 'Date of the earliest price talk.';
COMMENT ON COLUMN main.execution_metrics.last_talk IS 'Date of the latest price talk.';
COMMENT ON COLUMN main.execution_metrics.window_minutes IS 'Time from the earliest to the latest price talk. Unit: minutes.';

-- execution_summary: Averages of execution_metrics by market and rating, each with its number of deals.
-- as of: execution_summary({as_of})
--
-- Definition: One row per market over all its deals that count, with rating 'all', and one row per market and rating.
--   - rating: as of execution_metrics. The deals whose rating is not known have the row 'unread'.
--   - tightening_bp, cover, nip_bp and window_minutes each have three columns: the number of deals that have a value
--     (_n), and the mean and median over those deals.
--   - cover_flagged: deals without a cover because the units of books and nominal seem to differ.
--   - cover_usd_weighted: the mean cover weighted by nominal in USD, over deals that have both.
--   - talk_n, only_final_talk, only_final_talk_share: deals with a talk that gives a spread or yield, those of them of
--     which only the final talk is known, and their share. They have no tightening_bp.
--   - tightening_from_guidance_n: the part of tightening_bp_n that is measured from guidance or revised talk.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: Basis points, multiples and minutes, rounded to 6 digits; a share from 0 to 1.
-- Caveats: An average is over its _n deals, not over all: compare _n with deals before you compare markets. In HY,
--   tightening_bp mixes its two bases.
-- Example: How do the markets compare in tightening and cover?
--   SELECT market, deals, tightening_bp_n, round(tightening_bp_median, 1) AS tightening_bp,
--          cover_n, round(cover_median, 2) AS cover
--   FROM execution_summary WHERE rating = 'all' ORDER BY market
CREATE MACRO main.execution_summary(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH weights AS (
  SELECT market, deal_id, nominal_usd AS usd FROM main.bond_priced_deals_as_of(as_of) WHERE nominal_usd <> 0
)
SELECT m.market, CASE WHEN grouping(m.rating) = 1 THEN 'all' ELSE coalesce(m.rating, 'unread') END AS rating, count(*) AS deals,
       count(m.tightening_bp) AS tightening_bp_n, _dealflow.mean(m.tightening_bp) AS tightening_bp_mean,
       _dealflow.number(median(m.tightening_bp)) AS tightening_bp_median,
       count(m.cover) AS cover_n, _dealflow.mean(m.cover) AS cover_mean, _dealflow.number(median(m.cover)) AS cover_median,
       count(m.nip_bp) AS nip_bp_n, _dealflow.mean(m.nip_bp) AS nip_bp_mean, _dealflow.number(median(m.nip_bp)) AS nip_bp_median,
       count(m.window_minutes) AS window_minutes_n, _dealflow.mean(m.window_minutes) AS window_minutes_mean,
       _dealflow.number(median(m.window_minutes)) AS window_minutes_median,
       _dealflow.number(sum((m.cover * w.usd::DOUBLE)::DECIMAL(38, 6))::DOUBLE / (sum(w.usd) FILTER (m.cover IS NOT NULL))::DOUBLE) AS cover_usd_weighted,
       count(*) FILTER (m.cover_flagged) AS cover_flagged,
       count(m.only_final_talk) AS talk_n, count(*) FILTER (m.only_final_talk) AS only_final_talk,
       count(*) FILTER (m.only_final_talk) / nullif(count(m.only_final_talk), 0) AS only_final_talk_share,
       count(m.tightening_bp) FILTER (m.first_talk_stage IN ('GUIDANCE', 'REVISED')) AS tightening_from_guidance_n
FROM main.execution_metrics(as_of) m
LEFT JOIN weights w ON w.market = m.market AND w.deal_id = m.deal_id
GROUP BY GROUPING SETS ((m.market), (m.market, m.rating))
ORDER BY 1, 2;
COMMENT ON MACRO TABLE main.execution_summary IS 'Averages of execution_metrics by market and rating, each with its number of deals.';

CREATE VIEW main.execution_summary AS FROM main.execution_summary();
COMMENT ON VIEW main.execution_summary IS 'Averages of execution_metrics by market and rating, each with its number of deals. As of now.';
COMMENT ON COLUMN main.execution_summary.market IS 'IG, HY or EM.';
COMMENT ON COLUMN main.execution_summary.rating IS 'all, or the letter of the composite rating: AAA, AA, A, BBB, BB, B, CCC (and below) or unrated; unread if a text was not read, and no other rating was.';
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
COMMENT ON COLUMN main.execution_summary.cover_flagged IS 'Number of deals without a cover because the units of books and nominal seem to differ.';
COMMENT ON COLUMN main.execution_summary.talk_n IS 'Number of deals with a talk that gives a spread or yield.';
COMMENT ON COLUMN main.execution_summary.only_final_talk IS 'Number of those deals of which only the final talk is known.';
COMMENT ON COLUMN main.execution_summary.only_final_talk_share IS 'only_final_talk ÷ talk_n, from 0 to 1.';
COMMENT ON COLUMN main.execution_summary.tightening_from_guidance_n IS 'Number of deals whose tightening_bp is measured from guidance or revised talk.';
