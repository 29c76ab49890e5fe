-- loan_flex_and_terms: Priced loan tranches with terms and yield, and how margin, price and size moved since launch.
-- as of: loan_flex_and_terms({as_of})
--
-- Definition: One row per tranche of a priced loan deal as known at as_of. A range counts as its middle.
--   - yield_bp: margin_mid_bp + 100 × (100 − oid_mid) ÷ 3. The discount is divided over three years, and there is no
--     floor.
--   - launch_*: values of the launch. The launch is the first version of the same tranche in the expected deal whose
--     margin could be read. The expected deal is the one that ever linked to this priced deal; of several, the one
--     with the highest deal_id.
--   - Tranches of the two deals are matched by name in normal form and currency, as in the expected deal's latest
--     version. Equal ones are matched in order.
--   - yield_flex_bp: margin_flex_bp − 100 × oid_flex ÷ oid_years, as the loan market counts a discount over four
--     years. A change that is not known counts as 0, if the other one is known.
--   - flex: tighter if yield_flex_bp is negative, wider if it is positive, none if it is 0.
--   - duplicate_of: another market lists the tranche and keeps it (see league_table).
--   - purpose: the first that is true of lbo, sbo, dividend_recap, m&a, ipo, refi, gcp, other.
-- Parameters: as_of: the instant (default: the newest state). oid_years: the years over which yield_flex_bp divides a
--   discount; 4 by default.
-- Units: margins, yield_bp, margin_flex_bp, yield_flex_bp in basis points, rounded to 6 digits; oid_mid, launch_oid_mid, oid_flex in percent of
--   nominal; leverage_total times EBITDA; launch_volume_lo in units of the tranche's currency; size_ratio is a
--   number.
-- Caveats: The launch is what the lake saw first. If runs are far apart, or the deal was in its feed's first
--   commit, terms may have moved before. The two margins may be over different benchmarks. A tranche that changed
--   its name or currency when it priced has no launch. size_ratio is NULL if launch size and tranche have different
--   currencies.
-- Example: How many term loans B priced tighter than at launch, by year?
--   SELECT year(priced_date) AS year, count(*) AS tranches, count(flex) AS with_flex,
--          count(*) FILTER (flex = 'tighter') AS tighter, count(*) FILTER (flex = 'wider') AS wider
--   FROM loan_flex_and_terms
--   WHERE upper(short_type) = 'TLB'
--   GROUP BY 1
--   ORDER BY 1
CREATE MACRO main.loan_flex_and_terms(as_of := 'infinity'::TIMESTAMPTZ, oid_years := 4) AS TABLE
WITH _asked AS (
  SELECT oid_years AS _oid_years
), _known AS NOT MATERIALIZED (
  FROM _dealflow.known_versions(as_of)
), _deals AS (
  SELECT d.market, d.deal_id, d.priced_date, coalesce(a.canonical, n.name) AS borrower,
         d.borrower_sponsor_backed AS sponsor_backed, d.borrower_leveraged_multiple_total AS leverage_total,
         CASE WHEN d.use_of_proceeds_lbo THEN 'lbo'
              WHEN d.use_of_proceeds_sbo THEN 'sbo'
              WHEN d.use_of_proceeds_dividend_recap THEN 'dividend_recap'
              WHEN d.use_of_proceeds_mergers_and_acquisitions THEN 'm&a'
              WHEN d.use_of_proceeds_pre_post_ipo THEN 'ipo'
              WHEN d.use_of_proceeds_refi THEN 'refi'
              WHEN d.use_of_proceeds_gcp THEN 'gcp'
              WHEN d.use_of_proceeds_other THEN 'other' END AS purpose
  FROM main.loan_priced_deals_as_of(as_of) d
  LEFT JOIN _dealflow.spelling n ON n.spelt = d.borrower_name
  LEFT JOIN _dealflow.borrower_name a ON a.alias = n.name
   AND a.valid_from <= _dealflow.name_day(d.priced_date) AND a.valid_to > _dealflow.name_day(d.priced_date)
), tranches AS (
  SELECT t.market, t.deal_id, t.ordinal, t.tranche_id, t.name, t.short_type, t.currency, t.nominal_amount, t.covenant_light, t.duplicate_of,
         CASE WHEN t.margin_status IN ('OK', 'RANGE') THEN (t.margin_lo_bp + t.margin_hi_bp) / 2 END AS margin_mid_bp,
         CASE WHEN t.oid_status IN ('OK', 'RANGE') THEN (t.oid_lo + t.oid_hi) / 2 END AS oid_mid
  FROM _dealflow.loan_listings(as_of) t
), expected_versions AS (
  SELECT e.market, e.deal_id, e.version,
         CASE WHEN main.linked_market('loan', e.priced_deal_href) = e.market THEN e.priced_deal_id END AS priced_deal_id
  FROM _dealflow.history_loan_expected_deals e
  JOIN _known v
    ON v.service = 'loan' AND v.kind = 'expected' AND v.market = e.market AND v.deal_id = e.deal_id AND v.version = e.version
), linked AS (
  SELECT e.market, e.priced_deal_id, max(e.deal_id) AS expected_deal_id
  FROM expected_versions e
  WHERE e.priced_deal_id IS NOT NULL
  GROUP BY e.market, e.priced_deal_id
), newest AS (
  SELECT l.market, l.priced_deal_id, l.expected_deal_id, max(e.version) AS newest_version
  FROM linked l
  JOIN expected_versions e ON e.market = l.market AND e.deal_id = l.expected_deal_id
  GROUP BY l.market, l.priced_deal_id, l.expected_deal_id
), expected_tranches AS (
  SELECT n.market, n.priced_deal_id, n.expected_deal_id, u.tranche_uid, t.version, t.version = n.newest_version AS is_newest,
         t.ordinal, t.name, t.currency, t.volume_currency, t.volume_lo,
         t.margin_status IN ('OK', 'RANGE') AND t.margin_lo_bp + t.margin_hi_bp IS NOT NULL AS has_margin,
         (t.margin_lo_bp + t.margin_hi_bp) / 2 AS margin_mid_bp,
         CASE WHEN t.oid_status IN ('OK', 'RANGE') THEN (t.oid_lo + t.oid_hi) / 2 END AS oid_mid
  FROM newest n
  JOIN (
    -- A subquery names the columns: if a table is joined to a CTE directly, DuckDB reads all columns.
    SELECT market, deal_id, version, ordinal, name, currency, volume_currency, volume_lo,
           margin_status, margin_lo_bp, margin_hi_bp, oid_status, oid_lo, oid_hi
    FROM _dealflow.history_loan_expected_tranches
  ) t ON t.market = n.market AND t.deal_id = n.expected_deal_id AND t.version <= n.newest_version
  JOIN _dealflow.tranche_lineage u
    ON u.service = 'loan' AND u.market = t.market AND u.deal_id = t.deal_id AND u.version = t.version AND u.ordinal = t.ordinal
), launches AS (
  SELECT e.market, e.expected_deal_id, e.tranche_uid,
         min_by({margin_mid_bp: e.margin_mid_bp, oid_mid: e.oid_mid, volume_currency: e.volume_currency, volume_lo: e.volume_lo},
                e.version) FILTER (e.has_margin) AS launch
  FROM expected_tranches e
  GROUP BY e.market, e.expected_deal_id, e.tranche_uid
), candidates AS (
  SELECT e.market, e.priced_deal_id, e.expected_deal_id, e.tranche_uid, e.currency, s.name AS match_name,
         row_number() OVER (PARTITION BY e.market, e.priced_deal_id, s.name, e.currency ORDER BY e.ordinal) AS match_place
  FROM expected_tranches e
  LEFT JOIN _dealflow.spelling s ON s.spelt = e.name
  WHERE e.is_newest
), matchable AS ( -- the tranches of deals to which an expected deal links
  SELECT t.market, t.deal_id, t.ordinal, t.currency, t.nominal_amount, t.margin_mid_bp, t.oid_mid, s.name AS match_name,
         row_number() OVER (PARTITION BY t.market, t.deal_id, s.name, t.currency ORDER BY t.ordinal) AS match_place
  FROM tranches t
  SEMI JOIN newest n ON n.market = t.market AND n.priced_deal_id = t.deal_id
  LEFT JOIN _dealflow.spelling s ON s.spelt = t.name
), moves AS (
  SELECT t.market, t.deal_id, t.ordinal, c.tranche_uid AS expected_tranche_uid,
         l.launch.margin_mid_bp AS launch_margin_mid_bp, l.launch.oid_mid AS launch_oid_mid, l.launch.volume_lo AS launch_volume_lo,
         t.margin_mid_bp - l.launch.margin_mid_bp AS margin_flex_bp,
         t.oid_mid - l.launch.oid_mid AS oid_flex,
         CASE WHEN margin_flex_bp IS NOT NULL OR oid_flex IS NOT NULL
              THEN _dealflow.number(coalesce(margin_flex_bp, 0) - 100 * coalesce(oid_flex, 0) / (SELECT _oid_years FROM _asked)) END AS yield_flex_bp,
         CASE WHEN l.launch.volume_currency = t.currency AND l.launch.volume_lo > 0
              THEN t.nominal_amount::DOUBLE / l.launch.volume_lo::DOUBLE END AS size_ratio
  FROM matchable t
  JOIN candidates c
    ON c.market = t.market AND c.priced_deal_id = t.deal_id
   AND c.match_name = t.match_name AND c.currency = t.currency AND c.match_place = t.match_place
  JOIN launches l ON l.market = c.market AND l.expected_deal_id = c.expected_deal_id AND l.tranche_uid = c.tranche_uid
)
SELECT t.market, t.deal_id, t.tranche_id, t.ordinal, d.priced_date, d.borrower, t.name, t.short_type, t.currency,
       _dealflow.number(t.margin_mid_bp) AS margin_mid_bp, _dealflow.number(t.oid_mid) AS oid_mid,
       _dealflow.number(t.margin_mid_bp + 100 * (100 - t.oid_mid) / 3) AS yield_bp,
       t.covenant_light, d.sponsor_backed, _dealflow.number(d.leverage_total) AS leverage_total, d.purpose,
       n.expected_deal_id, m.expected_tranche_uid,
       _dealflow.number(m.launch_margin_mid_bp) AS launch_margin_mid_bp, _dealflow.number(m.launch_oid_mid) AS launch_oid_mid,
       m.launch_volume_lo, _dealflow.number(m.margin_flex_bp) AS margin_flex_bp, _dealflow.number(m.oid_flex) AS oid_flex,
       m.yield_flex_bp, _dealflow.number(m.size_ratio) AS size_ratio,
       CASE WHEN m.yield_flex_bp < 0 THEN 'tighter' WHEN m.yield_flex_bp > 0 THEN 'wider' WHEN m.yield_flex_bp = 0 THEN 'none' END AS flex,
       t.duplicate_of
FROM tranches t
JOIN _deals d ON d.market = t.market AND d.deal_id = t.deal_id
LEFT JOIN newest n ON n.market = t.market AND n.priced_deal_id = t.deal_id
LEFT JOIN moves m ON m.market = t.market AND m.deal_id = t.deal_id AND m.ordinal = t.ordinal
ORDER BY t.market, t.deal_id, t.ordinal;
COMMENT ON MACRO TABLE main.loan_flex_and_terms IS 'Priced loan tranches as known at as_of, with terms and yield, and how margin, price and size moved since launch.';

CREATE VIEW main.loan_flex_and_terms AS FROM main.loan_flex_and_terms();
COMMENT ON VIEW main.loan_flex_and_terms IS 'Priced loan tranches as of now, with terms and yield, and how margin, price and size moved since launch.';
COMMENT ON COLUMN main.loan_flex_and_terms.market IS 'Market of the feed: LL, CF or AF.';
COMMENT ON COLUMN main.loan_flex_and_terms.deal_id IS 'The source''s id of the priced deal; unique only within the market.';
COMMENT ON COLUMN main.loan_flex_and_terms.tranche_id IS 'The source''s id of the tranche.';
COMMENT ON COLUMN main.loan_flex_and_terms.ordinal IS 'Place of the tranche in the deal''s list, from 1.';
COMMENT ON COLUMN main.loan_flex_and_terms.priced_date IS 'Day on which the deal priced or signed.';
COMMENT ON COLUMN main.loan_flex_and_terms.borrower IS 'Canonical name of the borrower: from the aliases, else the name in normal form.';
COMMENT ON COLUMN main.loan_flex_and_terms.name IS 'Name of the tranche.';
COMMENT ON COLUMN main.loan_flex_and_terms.short_type IS 'Short form of the type, free text such as TLB.';
COMMENT ON COLUMN main.loan_flex_and_terms.currency IS 'Currency code, as written.';
COMMENT ON COLUMN main.loan_flex_and_terms.margin_mid_bp IS 'The final margin; of a range, the middle. Unit: basis points.';
COMMENT ON COLUMN main.loan_flex_and_terms.oid_mid IS 'The final issue price; of a range, the middle. Unit: percent of nominal.';
COMMENT ON COLUMN main.loan_flex_and_terms.yield_bp IS 'Margin plus a third of the discount; NULL without a price. Unit: basis points.';
COMMENT ON COLUMN main.loan_flex_and_terms.covenant_light IS 'Whether the tranche is covenant-light.';
COMMENT ON COLUMN main.loan_flex_and_terms.sponsor_backed IS 'Whether a financial sponsor backs the borrower.';
COMMENT ON COLUMN main.loan_flex_and_terms.leverage_total IS 'Total leverage. Unit: times EBITDA.';
COMMENT ON COLUMN main.loan_flex_and_terms.purpose IS 'The first that is true of lbo, sbo, dividend_recap, m&a, ipo, refi, gcp, other; NULL if none is.';
COMMENT ON COLUMN main.loan_flex_and_terms.expected_deal_id IS 'deal_id of the expected deal that links to this one; NULL if no link is known.';
COMMENT ON COLUMN main.loan_flex_and_terms.expected_tranche_uid IS 'tranche_uid of its tranche with the same name and currency; NULL if there is none.';
COMMENT ON COLUMN main.loan_flex_and_terms.launch_margin_mid_bp IS 'The first margin that the lake saw; of a range, the middle. Unit: basis points.';
COMMENT ON COLUMN main.loan_flex_and_terms.launch_oid_mid IS 'Issue price in the version with that margin; of a range, the middle. Unit: percent of nominal.';
COMMENT ON COLUMN main.loan_flex_and_terms.launch_volume_lo IS 'Size in the version with that margin; of a range, the lower end. Unit: units of the currency that its text names.';
COMMENT ON COLUMN main.loan_flex_and_terms.margin_flex_bp IS 'Final minus launch margin: negative is tighter. Unit: basis points.';
COMMENT ON COLUMN main.loan_flex_and_terms.oid_flex IS 'Final minus launch price: positive is tighter. Unit: percent of nominal.';
COMMENT ON COLUMN main.loan_flex_and_terms.size_ratio IS 'Nominal amount ÷ launch size, in the same currency.';
COMMENT ON COLUMN main.loan_flex_and_terms.yield_flex_bp IS 'Change of margin, and of the discount over four years: negative is tighter. Unit: basis points.';
COMMENT ON COLUMN main.loan_flex_and_terms.flex IS 'tighter, wider or none, by yield_flex_bp; NULL if neither margin nor price can be compared.';
COMMENT ON COLUMN main.loan_flex_and_terms.duplicate_of IS 'Market that lists the tranche too, and keeps it; NULL if the tranche counts.';

-- loan_terms_summary: Terms of priced loans by market and year: size, covenants, sponsors, leverage, flex and yield.
-- as of: loan_terms_summary({as_of})
--
-- Definition: One row per market and year of priced_date, over the tranches of loan_flex_and_terms that no other
--   market keeps. deals, sponsor_share and leverage count deals; all other columns count tranches. TLB means a tranche
--   with the short type TLB.
-- Parameters: as_of: the instant (default: the newest state).
-- Units: usd, tlb_usd in USD; shares from 0 to 1; tighter_pct, wider_pct in percent of flex_n; yield_median in
--   basis points; leverage_median times EBITDA.
-- Caveats: usd leaves out the tranches_unconverted (usd 0 or missing). A share, median or percentage is over the
--   number of deals or tranches in the column before it (…_n): compare that number with deals or tranches. Deals
--   without tranches are left out.
-- Example: How have the terms of leveraged loans changed over the years?
--   SELECT year, deals, tranches, usd, cov_lite_usd_share, leverage_n, leverage_median,
--          flex_n, tighter_pct, wider_pct, yield_n, yield_median
--   FROM loan_terms_summary
--   WHERE market = 'LL'
CREATE MACRO main.loan_terms_summary(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _tranches AS NOT MATERIALIZED (
  FROM main.loan_priced_tranches_as_of(as_of)
), tranches AS (
  SELECT f.market, year(f.priced_date) AS year, f.deal_id, f.sponsor_backed, f.leverage_total, f.covenant_light, f.flex, f.yield_bp,
         nullif(t.nominal_usd, 0) AS usd, coalesce(upper(f.short_type) = 'TLB', false) AS is_tlb,
         row_number() OVER (PARTITION BY f.market, f.deal_id ORDER BY f.ordinal) = 1 AS stands_for_deal
  FROM main.loan_flex_and_terms(as_of) f
  JOIN (SELECT market, deal_id, ordinal, nominal_usd FROM _tranches) t
    ON t.market = f.market AND t.deal_id = f.deal_id AND t.ordinal = f.ordinal
  WHERE f.duplicate_of IS NULL
)
SELECT market, year,
       count(*) FILTER (stands_for_deal) AS deals,
       count(*) AS tranches,
       count(*) FILTER (usd IS NULL) AS tranches_unconverted,
       sum(usd)::DECIMAL(38, 6) AS usd,
       count(usd) FILTER (is_tlb) AS tlb_n,
       (sum(usd) FILTER (is_tlb))::DECIMAL(38, 6) AS tlb_usd,
       coalesce(sum(usd) FILTER (is_tlb AND covenant_light), 0)::DOUBLE / (sum(usd) FILTER (is_tlb))::DOUBLE AS cov_lite_usd_share,
       count(sponsor_backed) FILTER (stands_for_deal) AS sponsor_n,
       count(*) FILTER (stands_for_deal AND sponsor_backed) / nullif(count(sponsor_backed) FILTER (stands_for_deal), 0) AS sponsor_share,
       count(leverage_total) FILTER (stands_for_deal) AS leverage_n,
       _dealflow.number(median(leverage_total) FILTER (stands_for_deal)) AS leverage_median,
       count(flex) AS flex_n,
       _dealflow.number(100.0::DOUBLE * count(*) FILTER (flex = 'tighter') / nullif(count(flex), 0)) AS tighter_pct,
       _dealflow.number(100.0::DOUBLE * count(*) FILTER (flex = 'wider') / nullif(count(flex), 0)) AS wider_pct,
       count(yield_bp) AS yield_n,
       _dealflow.number(median(yield_bp)) AS yield_median
FROM tranches
GROUP BY market, year
ORDER BY market, year;
COMMENT ON MACRO TABLE main.loan_terms_summary IS 'Terms of priced loans by market and year, as known at as_of.';

CREATE VIEW main.loan_terms_summary AS FROM main.loan_terms_summary();
COMMENT ON VIEW main.loan_terms_summary IS 'Terms of priced loans by market and year, as of now.';
COMMENT ON COLUMN main.loan_terms_summary.market IS 'Market of the feed: LL, CF or AF.';
COMMENT ON COLUMN main.loan_terms_summary.year IS 'Year in which the deals priced; NULL for deals without a date.';
COMMENT ON COLUMN main.loan_terms_summary.deals IS 'Number of deals with at least one tranche.';
COMMENT ON COLUMN main.loan_terms_summary.tranches IS 'Number of their tranches.';
COMMENT ON COLUMN main.loan_terms_summary.tranches_unconverted IS 'Number of tranches without an amount in USD.';
COMMENT ON COLUMN main.loan_terms_summary.usd IS 'Sum of the amounts in USD; NULL if no tranche has one. Unit: USD.';
COMMENT ON COLUMN main.loan_terms_summary.tlb_n IS 'Number of converted tranches with the short type TLB.';
COMMENT ON COLUMN main.loan_terms_summary.tlb_usd IS 'Sum of their amounts in USD; NULL if there are none. Unit: USD.';
COMMENT ON COLUMN main.loan_terms_summary.cov_lite_usd_share IS 'Share of tlb_usd that is covenant-light, from 0 to 1.';
COMMENT ON COLUMN main.loan_terms_summary.sponsor_n IS 'Number of deals that say whether a sponsor backs the borrower.';
COMMENT ON COLUMN main.loan_terms_summary.sponsor_share IS 'Share of those deals in which a sponsor does, from 0 to 1.';
COMMENT ON COLUMN main.loan_terms_summary.leverage_n IS 'Number of deals with a total leverage.';
COMMENT ON COLUMN main.loan_terms_summary.leverage_median IS 'Median of their total leverage. Unit: times EBITDA.';
COMMENT ON COLUMN main.loan_terms_summary.flex_n IS 'Number of tranches with a margin or price that can be compared with the launch.';
COMMENT ON COLUMN main.loan_terms_summary.tighter_pct IS 'Share of those tranches that priced tighter. Unit: percent.';
COMMENT ON COLUMN main.loan_terms_summary.wider_pct IS 'Share of those tranches that priced wider. Unit: percent.';
COMMENT ON COLUMN main.loan_terms_summary.yield_n IS 'Number of tranches with a yield.';
COMMENT ON COLUMN main.loan_terms_summary.yield_median IS 'Median of their yield. Unit: basis points.';
