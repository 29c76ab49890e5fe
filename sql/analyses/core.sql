-- bond_deals_core_as_of: Priced bond deals in the columns that most questions need, as known at an instant.
-- as of: bond_deals_core_as_of({as_of})
--
-- Definition: One row per priced bond deal, with the columns that people read first. bond_priced_as_of has all columns,
--   and their definitions. The view bond_deals_core is the same as of now.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: USD; basis points and percent, rounded to 6 digits.
-- Caveats: A number is NULL if its text does not give one number. nominal_usd is NULL where the source states 0. Add
--   WHERE counted to sums.
-- Example: What priced last?
--   SELECT market, pricing_date, borrower, currency, (nominal_amount / 1e6)::DECIMAL(18, 1) AS millions, rating, benchmark, spread_bp
--   FROM bond_deals_core ORDER BY pricing_date DESC, market, deal_id LIMIT 10
CREATE MACRO main.bond_deals_core_as_of(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH leads AS (
  SELECT market, deal_id, string_agg(bank, '; ' ORDER BY bank) AS leads
  FROM _dealflow.bond_banks(as_of) WHERE is_lead GROUP BY market, deal_id
)
SELECT d.market, d.deal_id, d.pricing_date, coalesce(a.canonical, n.name) AS borrower,
       d.borrower_country AS country, d.borrower_sector AS sector, d.deal_type, d.currency, d.nominal_amount,
       nullif(d.nominal_usd, 0) AS nominal_usd, d.maturity, d.ranking, d.rating_composite_grade AS rating,
       _dealflow.number(d.cpn_pct) AS coupon_pct, _dealflow.number(CASE WHEN d.yield_status = 'OK' THEN d.yield_pct END) AS yield_pct,
       CASE d.market WHEN 'EM' THEN d.swap_benchmark ELSE d.spread_benchmark END AS benchmark,
       _dealflow.number(_dealflow.spread_primary_bp(d.market, d.spread_status, d.spread_bp, d.swap_status, d.swap_bp)) AS spread_bp,
       _dealflow.number(_dealflow.nip_primary_bp(d.market, d.nip_status, d.nip_lo_bp, d.nip_hi_bp,
         d.premium_nip_status, d.premium_nip_lo_bp, d.premium_nip_hi_bp)) AS nip_bp,
       _dealflow.esg_label(d.green, d.social, d.sustainable, d.sustainability_linked) AS esg_label,
       l.leads, d.duplicate_of IS NULL AS counted, d.known_at
FROM _dealflow.bond_deals(as_of) d
LEFT JOIN leads l ON l.market = d.market AND l.deal_id = d.deal_id
LEFT JOIN _dealflow.spelling n ON n.spelt = d.borrower_name
LEFT JOIN _dealflow.borrower_name a ON a.alias = n.name
 AND a.valid_from <= _dealflow.name_day(d.pricing_date) AND a.valid_to > _dealflow.name_day(d.pricing_date);
COMMENT ON MACRO TABLE main.bond_deals_core_as_of IS 'Priced bond deals in the columns that most questions need, as known at as_of.';

CREATE VIEW main.bond_deals_core AS FROM main.bond_deals_core_as_of();
COMMENT ON VIEW main.bond_deals_core IS 'Priced bond deals in the columns that most questions need. As of now.';
COMMENT ON COLUMN main.bond_deals_core.market IS 'IG, HY or EM.';
COMMENT ON COLUMN main.bond_deals_core.deal_id IS 'The source''s id of the deal; unique only within its market.';
COMMENT ON COLUMN main.bond_deals_core.pricing_date IS 'Day on which the deal priced.';
COMMENT ON COLUMN main.bond_deals_core.borrower IS 'Canonical name of the borrower.';
COMMENT ON COLUMN main.bond_deals_core.country IS 'Country of the borrower.';
COMMENT ON COLUMN main.bond_deals_core.sector IS 'Sector of the borrower.';
COMMENT ON COLUMN main.bond_deals_core.deal_type IS 'ORIGINAL or INCREASE.';
COMMENT ON COLUMN main.bond_deals_core.currency IS 'Currency of the deal.';
COMMENT ON COLUMN main.bond_deals_core.nominal_amount IS 'Nominal amount. Unit: units of the currency.';
COMMENT ON COLUMN main.bond_deals_core.nominal_usd IS 'Nominal amount in USD; NULL if it was not converted. Unit: USD.';
COMMENT ON COLUMN main.bond_deals_core.maturity IS 'Maturity.';
COMMENT ON COLUMN main.bond_deals_core.ranking IS 'Ranking of the debt, as written.';
COMMENT ON COLUMN main.bond_deals_core.rating IS 'Composite rating on the scale of Standard & Poor''s; NULL if unrated, or if a text was not read that could change it.';
COMMENT ON COLUMN main.bond_deals_core.coupon_pct IS 'Coupon. Unit: percent.';
COMMENT ON COLUMN main.bond_deals_core.yield_pct IS 'Yield at pricing. Unit: percent.';
COMMENT ON COLUMN main.bond_deals_core.benchmark IS 'Benchmark of the spread at pricing.';
COMMENT ON COLUMN main.bond_deals_core.spread_bp IS 'Spread at pricing (EM: over swaps). Unit: basis points.';
COMMENT ON COLUMN main.bond_deals_core.nip_bp IS 'New-issue premium; of a range, the middle. Unit: basis points.';
COMMENT ON COLUMN main.bond_deals_core.esg_label IS 'green, social, sustainability, slb or multiple; NULL if there is none.';
COMMENT ON COLUMN main.bond_deals_core.leads IS 'Canonical names of the lead banks.';
COMMENT ON COLUMN main.bond_deals_core.counted IS 'Whether the deal counts: false if another market lists the same security and keeps it.';
COMMENT ON COLUMN main.bond_deals_core.known_at IS 'When the version became known.';

-- loan_deals_core_as_of: Priced loan deals in the columns that most questions need, as known at an instant.
-- as of: loan_deals_core_as_of({as_of})
--
-- Definition: One row per priced loan deal, with sums and bounds of its tranches. loan_priced_as_of has all columns, and
--   their definitions. The view loan_deals_core is the same as of now.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: USD; basis points over the benchmark, percent of nominal, times EBITDA, rounded to 6 digits.
-- Caveats: usd leaves out the unconverted tranches. Margins of one deal may be over different benchmarks.
-- Example: What priced last?
--   SELECT market, priced_date, borrower, tranche_types, (usd / 1e6)::DECIMAL(18, 1) AS usd_millions, margin_lo_bp, margin_hi_bp
--   FROM loan_deals_core WHERE priced_date IS NOT NULL ORDER BY priced_date DESC, market, deal_id LIMIT 10
CREATE MACRO main.loan_deals_core_as_of(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH sponsors AS (
  SELECT market, deal_id, string_agg(name, '; ' ORDER BY ordinal) AS sponsors
  FROM main.loan_priced_sponsors_as_of(as_of) GROUP BY market, deal_id
), tranches AS (
  SELECT market, deal_id, count(*) AS tranches, string_agg(short_type, '; ' ORDER BY ordinal) AS tranche_types,
         string_agg(DISTINCT currency, '; ' ORDER BY currency) AS currencies,
         sum(nominal_usd) FILTER (nominal_usd <> 0)::DECIMAL(38, 6) AS usd, count(*) FILTER (coalesce(nominal_usd, 0) = 0) AS unconverted,
         min(margin_lo_bp) AS margin_lo_bp, max(margin_hi_bp) AS margin_hi_bp, min(oid_lo) AS oid_lo, max(oid_hi) AS oid_hi,
         max(maturity_year) AS latest_maturity_year, bool_or(covenant_light) AS covenant_light
  FROM main.loan_priced_tranches_as_of(as_of) GROUP BY market, deal_id
), leads AS (
  SELECT market, deal_id, string_agg(DISTINCT bank, '; ' ORDER BY bank) AS leads
  FROM _dealflow.loan_banks(as_of) WHERE is_lead GROUP BY market, deal_id
)
SELECT d.market, d.deal_id, d.priced_date, coalesce(a.canonical, n.name) AS borrower,
       d.borrower_country AS country, d.borrower_sector AS sector, s.sponsors,
       _dealflow.number(d.borrower_leveraged_multiple_total) AS leverage_total,
       coalesce(t.tranches, 0) AS tranches, t.tranche_types, t.currencies, t.usd, coalesce(t.unconverted, 0) AS unconverted,
       _dealflow.number(t.margin_lo_bp) AS margin_lo_bp, _dealflow.number(t.margin_hi_bp) AS margin_hi_bp,
       _dealflow.number(t.oid_lo) AS oid_lo, _dealflow.number(t.oid_hi) AS oid_hi, t.latest_maturity_year, t.covenant_light,
       l.leads, d.known_at
FROM main.loan_priced_deals_as_of(as_of) d
LEFT JOIN tranches t ON t.market = d.market AND t.deal_id = d.deal_id
LEFT JOIN sponsors s ON s.market = d.market AND s.deal_id = d.deal_id
LEFT JOIN leads l ON l.market = d.market AND l.deal_id = d.deal_id
LEFT JOIN _dealflow.spelling n ON n.spelt = d.borrower_name
LEFT JOIN _dealflow.borrower_name a ON a.alias = n.name
 AND a.valid_from <= _dealflow.name_day(d.priced_date) AND a.valid_to > _dealflow.name_day(d.priced_date);
COMMENT ON MACRO TABLE main.loan_deals_core_as_of IS 'Priced loan deals in the columns that most questions need, as known at as_of.';

CREATE VIEW main.loan_deals_core AS FROM main.loan_deals_core_as_of();
COMMENT ON VIEW main.loan_deals_core IS 'Priced loan deals in the columns that most questions need. As of now.';
COMMENT ON COLUMN main.loan_deals_core.market IS 'LL, CF or AF.';
COMMENT ON COLUMN main.loan_deals_core.deal_id IS 'The source''s id of the deal; unique only within its market.';
COMMENT ON COLUMN main.loan_deals_core.priced_date IS 'Day on which the deal priced or signed.';
COMMENT ON COLUMN main.loan_deals_core.borrower IS 'Canonical name of the borrower.';
COMMENT ON COLUMN main.loan_deals_core.country IS 'Country of the borrower.';
COMMENT ON COLUMN main.loan_deals_core.sector IS 'Sector of the borrower.';
COMMENT ON COLUMN main.loan_deals_core.sponsors IS 'Names of the sponsors.';
COMMENT ON COLUMN main.loan_deals_core.leverage_total IS 'Total leverage. Unit: times EBITDA.';
COMMENT ON COLUMN main.loan_deals_core.tranches IS 'Number of tranches.';
COMMENT ON COLUMN main.loan_deals_core.tranche_types IS 'Short types of the tranches, in order.';
COMMENT ON COLUMN main.loan_deals_core.currencies IS 'Their currencies, in order, each once.';
COMMENT ON COLUMN main.loan_deals_core.usd IS 'Sum of their nominals in USD; NULL if none was converted. Unit: USD.';
COMMENT ON COLUMN main.loan_deals_core.unconverted IS 'Number of tranches without an amount in USD.';
COMMENT ON COLUMN main.loan_deals_core.margin_lo_bp IS 'The lowest margin. Unit: basis points.';
COMMENT ON COLUMN main.loan_deals_core.margin_hi_bp IS 'The highest margin. Unit: basis points.';
COMMENT ON COLUMN main.loan_deals_core.oid_lo IS 'The lowest issue price. Unit: percent of nominal.';
COMMENT ON COLUMN main.loan_deals_core.oid_hi IS 'The highest issue price. Unit: percent of nominal.';
COMMENT ON COLUMN main.loan_deals_core.latest_maturity_year IS 'The latest year that a maturity names.';
COMMENT ON COLUMN main.loan_deals_core.covenant_light IS 'Whether any tranche is covenant-light.';
COMMENT ON COLUMN main.loan_deals_core.leads IS 'Canonical names of the lead banks of any tranche.';
COMMENT ON COLUMN main.loan_deals_core.known_at IS 'When the version became known.';

-- pipeline_core_as_of: Tranches that have not priced, in the columns that most questions need, as known at an instant.
-- after: pipeline_as_of
-- as of: pipeline_core_as_of({as_of})
--
-- Definition: One row per tranche of pipeline_as_of that has not priced, bonds and loans. The view pipeline_core is the
--   same as of now.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: volume_lo in units of volume_currency; basis points and percent, rounded to 6 digits; days.
-- Caveats: As of pipeline_as_of.
-- Example: What has been listed for longest?
--   SELECT market, borrower, tranche, volume, price, timing, days_listed
--   FROM pipeline_core WHERE days_listed IS NOT NULL ORDER BY days_listed DESC, market, deal_id, tranche_uid LIMIT 10
CREATE MACRO main.pipeline_core_as_of(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
SELECT p.service, p.market, p.deal_id, p.tranche_uid, p.borrower, p.tranche_name AS tranche, p.status, p.stage, p.currency,
       coalesce(p.structure, p.type) AS structure, p.volume, p.volume_lo, p.volume_currency, p.price, p.price_benchmark,
       _dealflow.number((p.price_lo_bp + p.price_hi_bp) / 2) AS price_bp,
       _dealflow.number((p.price_yield_lo_pct + p.price_yield_hi_pct) / 2) AS price_yield_pct,
       p.timing, p.days_listed, p.first_known_at
FROM main.pipeline_as_of(as_of) p
WHERE NOT p.is_priced;
COMMENT ON MACRO TABLE main.pipeline_core_as_of IS 'Tranches that have not priced, in the columns that most questions need, as known at as_of.';

CREATE VIEW main.pipeline_core AS FROM main.pipeline_core_as_of();
COMMENT ON VIEW main.pipeline_core IS 'Tranches that have not priced, in the columns that most questions need. As of now.';
COMMENT ON COLUMN main.pipeline_core.service IS 'bond or loan.';
COMMENT ON COLUMN main.pipeline_core.market IS 'IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN main.pipeline_core.deal_id IS 'The source''s id of the expected deal.';
COMMENT ON COLUMN main.pipeline_core.tranche_uid IS 'Identity of the tranche in its deal.';
COMMENT ON COLUMN main.pipeline_core.borrower IS 'Canonical name of the borrower.';
COMMENT ON COLUMN main.pipeline_core.tranche IS 'Name of the tranche.';
COMMENT ON COLUMN main.pipeline_core.status IS 'Status of the tranche.';
COMMENT ON COLUMN main.pipeline_core.stage IS 'Stage of the deal (loans).';
COMMENT ON COLUMN main.pipeline_core.currency IS 'Currency of the tranche.';
COMMENT ON COLUMN main.pipeline_core.structure IS 'Structure of a bond, or type of a loan, as written.';
COMMENT ON COLUMN main.pipeline_core.volume IS 'Size, as written.';
COMMENT ON COLUMN main.pipeline_core.volume_lo IS 'Size; of a range, the lower end. Unit: units of volume_currency.';
COMMENT ON COLUMN main.pipeline_core.volume_currency IS 'Currency of the size.';
COMMENT ON COLUMN main.pipeline_core.price IS 'The latest price talk, or margin, as written.';
COMMENT ON COLUMN main.pipeline_core.price_benchmark IS 'Its benchmark.';
COMMENT ON COLUMN main.pipeline_core.price_bp IS 'Its spread or margin; of a range, the middle. Unit: basis points.';
COMMENT ON COLUMN main.pipeline_core.price_yield_pct IS 'Its yield; of a range, the middle. Unit: percent.';
COMMENT ON COLUMN main.pipeline_core.timing IS 'When the deal is expected, as written.';
COMMENT ON COLUMN main.pipeline_core.days_listed IS 'Full days for which the lake has known the deal. Unit: days.';
COMMENT ON COLUMN main.pipeline_core.first_known_at IS 'When the deal first became known.';
