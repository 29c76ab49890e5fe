-- loan_priced_as_of: Priced loan deals as they were known at an instant, with totals of their tranches.
-- as of: loan_priced_as_of({as_of})
--
-- Definition: One row per priced loan deal that was current at as_of. It has all columns of loan_priced_deals, and
--   these:
--   - when the deal first became known, its borrower's canonical name, and its sponsors;
--   - of its tranches: their number, the sum in USD, banks, margin, price, maturity and terms.
--   - banks, lead_banks: number of distinct canonical names over all tranches. A lead is bookrunner or mandated lead
--     arranger of a tranche. Canonical names are those of the day of pricing.
-- Parameters: as_of: the instant, required.
-- Units: tranches_usd in USD; margin_lo_bp, margin_hi_bp in basis points over the benchmark; oid_lo, oid_hi in
--   percent of nominal.
-- Caveats: tranches_usd leaves out tranches that the source has not converted (usd 0 or missing);
--   tranches_unconverted counts them. It is NULL if no tranche is converted. Margins of one deal may be over
--   different benchmarks.
-- Example: How much was lent to borrowers with and without a sponsor, by market?
--   SELECT market, borrower_sponsor_backed, count(*) AS deals, sum(tranches_usd) AS usd, sum(tranches_unconverted) AS unconverted
--   FROM loan_priced_as_of('infinity')
--   GROUP BY ALL
--   ORDER BY ALL
CREATE MACRO main.loan_priced_as_of(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _versions AS NOT MATERIALIZED (
  FROM _dealflow.versions_at(as_of)
), sponsors AS (
  SELECT market, deal_id, string_agg(name, '; ' ORDER BY ordinal) AS sponsors
  FROM main.loan_priced_sponsors_as_of(as_of)
  GROUP BY market, deal_id
), tranches AS (
  SELECT market, deal_id, count(*) AS tranches,
         sum(nominal_usd) FILTER (nominal_usd <> 0)::DECIMAL(38, 6) AS tranches_usd,
         count(*) FILTER (coalesce(nominal_usd, 0) = 0) AS tranches_unconverted,
         min(margin_lo_bp) AS margin_lo_bp, max(margin_hi_bp) AS margin_hi_bp,
         min(oid_lo) AS oid_lo, max(oid_hi) AS oid_hi,
         max(maturity_year) AS latest_maturity_year,
         bool_or(covenant_light) AS covenant_light,
         coalesce(bool_or(upper(short_type) = 'TLB'), false) AS has_tlb
  FROM main.loan_priced_tranches_as_of(as_of)
  GROUP BY market, deal_id
), known AS ( -- all that is not a column of the deal: the wide rows are joined once, to the result
  SELECT v.market, v.deal_id, v.version, v.valid_from, v.first_known_at, v.left_censored,
         coalesce(a.canonical, n.name) AS borrower, s.sponsors, b.banks, b.lead_banks, t.* EXCLUDE (market, deal_id)
  FROM _versions v
  JOIN (SELECT market, deal_id, version, borrower_name, priced_date FROM _dealflow.history_loan_priced_deals) d
    ON d.market = v.market AND d.deal_id = v.deal_id AND d.version = v.version
  LEFT JOIN _dealflow.spelling n ON n.spelt = d.borrower_name
  LEFT JOIN _dealflow.borrower_name a ON a.alias = n.name
   AND a.valid_from <= _dealflow.name_day(d.priced_date) AND a.valid_to > _dealflow.name_day(d.priced_date)
  LEFT JOIN sponsors s ON s.market = v.market AND s.deal_id = v.deal_id
  LEFT JOIN tranches t ON t.market = v.market AND t.deal_id = v.deal_id
  LEFT JOIN _dealflow.bank_count b
    ON b.service = 'loan' AND b.market = v.market AND b.deal_id = v.deal_id AND b.version = v.version
  WHERE v.service = 'loan' AND v.kind = 'priced'
)
SELECT d.*, k.valid_from AS known_at, k.first_known_at, k.left_censored, k.borrower, k.sponsors,
       coalesce(k.tranches, 0) AS tranches, k.tranches_usd, coalesce(k.tranches_unconverted, 0) AS tranches_unconverted,
       coalesce(k.banks, 0) AS banks, coalesce(k.lead_banks, 0) AS lead_banks,
       k.margin_lo_bp, k.margin_hi_bp, k.oid_lo, k.oid_hi, k.latest_maturity_year, k.covenant_light,
       coalesce(k.has_tlb, false) AS has_tlb
FROM files.loan_priced_deals d
JOIN known k ON k.market = d.market AND k.deal_id = d.deal_id AND k.version = d.version;
COMMENT ON MACRO TABLE main.loan_priced_as_of IS 'Priced loan deals as they were known at as_of, with totals of their tranches.';
