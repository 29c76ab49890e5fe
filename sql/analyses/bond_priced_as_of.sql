-- bond_priced_as_of: Priced bond deals as they were known at an instant, with a summary of each deal's lists.
-- as of: bond_priced_as_of({as_of})
--
-- Definition: One row per priced bond deal that was current at as_of. It has all columns of bond_priced_deals, and
--   these:
--   - first_known_at, left_censored: when the deal first became known, and whether that was its feed's first commit.
--     If it was, first_known_at says nothing about the deal.
--   - versions: number of versions known at as_of.
--   - borrower: canonical name on the pricing date.
--   - grade_canon: the grade, with SUB_INVESTMENT in place of HIGH_YIELD.
--   - spread_primary_*: the spread of IG and HY, the swap spread of EM. source names the column that was read. bp is
--     set only if the text gives one number.
--   - nip_primary_*: the new-issue premium. It is nip in IG and HY; in EM it is premium_nip if that has a number, else
--     nip. bp is the middle of a range; a text with one bound alone has no number.
--   - esg_label: green, social, sustainability or slb; multiple if there are several.
--   - banks, lead_banks: number of distinct canonical names.
--   - price_steps: number of rows of price evolution.
--   - counted, duplicate_of: if several markets list one security (equal ISIN, pricing date, deal type and nominal
--     amount), it counts only in the first of IG, HY and EM.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity' is all that is known.
-- Units: Spreads and premiums in basis points; amounts as in bond_priced_deals.
-- Caveats: Duplicates are included: add WHERE counted to sums. Two records of one market are never duplicates of
--   each other.
-- Example: What priced in the last known month, and at which spread?
--   SELECT market, deal_id, pricing_date, borrower, currency, nominal_amount, spread_primary_benchmark, spread_primary_bp
--   FROM bond_priced_as_of('infinity')
--   WHERE counted AND pricing_date >= date_trunc('month', (SELECT max(pricing_date) FROM bond_priced_deals))
--   ORDER BY pricing_date, market, deal_id
CREATE MACRO main.bond_priced_as_of(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _versions AS NOT MATERIALIZED (
  FROM _dealflow.versions_at(as_of)
), _duplicates AS NOT MATERIALIZED (
  FROM _dealflow.duplicates('bond', as_of)
), steps AS (
  SELECT market, deal_id, count(*) AS price_steps
  FROM main.bond_priced_price_evolution_as_of(as_of)
  GROUP BY market, deal_id
), known AS ( -- all that is not a column of the deal: the wide rows are joined once, to the result
  SELECT v.market, v.deal_id, v.version, v.valid_from, v.first_known_at, v.left_censored,
         coalesce(a.canonical, n.name) AS borrower, b.banks, b.lead_banks, s.price_steps, x.duplicate_of
  FROM _versions v
  JOIN (SELECT market, deal_id, version, borrower_name, pricing_date FROM _dealflow.history_bond_priced_deals) d
    ON d.market = v.market AND d.deal_id = v.deal_id AND d.version = v.version
  LEFT JOIN _duplicates x ON x.market = v.market AND x.deal_id = v.deal_id
  LEFT JOIN _dealflow.spelling n ON n.spelt = d.borrower_name
  LEFT JOIN _dealflow.borrower_name a ON a.alias = n.name
   AND a.valid_from <= _dealflow.name_day(d.pricing_date) AND a.valid_to > _dealflow.name_day(d.pricing_date)
  LEFT JOIN _dealflow.bank_count b
    ON b.service = 'bond' AND b.market = v.market AND b.deal_id = v.deal_id AND b.version = v.version
  LEFT JOIN steps s ON s.market = v.market AND s.deal_id = v.deal_id
  WHERE v.service = 'bond' AND v.kind = 'priced'
)
SELECT d.*, k.valid_from AS known_at,
       k.first_known_at, k.left_censored, d.version AS versions, k.borrower,
       _dealflow.grade_canon(d.grade) AS grade_canon,
       _dealflow.spread_primary_bp(d.market, d.spread_status, d.spread_bp, d.swap_status, d.swap_bp) AS spread_primary_bp,
       CASE d.market WHEN 'EM' THEN d.swap_benchmark ELSE d.spread_benchmark END AS spread_primary_benchmark,
       CASE d.market WHEN 'EM' THEN 'swap' ELSE 'spread' END AS spread_primary_source,
       _dealflow.number(_dealflow.nip_primary_bp(d.market, d.nip_status, d.nip_lo_bp, d.nip_hi_bp,
         d.premium_nip_status, d.premium_nip_lo_bp, d.premium_nip_hi_bp)) AS nip_primary_bp,
       CASE WHEN d.market = 'EM' AND d.premium_nip_status IN ('OK', 'RANGE') AND d.premium_nip_lo_bp + d.premium_nip_hi_bp IS NOT NULL
            THEN 'premium_nip' ELSE 'nip' END AS nip_primary_source,
       _dealflow.esg_label(d.green, d.social, d.sustainable, d.sustainability_linked) AS esg_label,
       coalesce(k.banks, 0) AS banks, coalesce(k.lead_banks, 0) AS lead_banks, coalesce(k.price_steps, 0) AS price_steps,
       k.duplicate_of IS NULL AS counted, k.duplicate_of
FROM files.bond_priced_deals d
JOIN known k ON k.market = d.market AND k.deal_id = d.deal_id AND k.version = d.version;
COMMENT ON MACRO TABLE main.bond_priced_as_of IS 'Priced bond deals as they were known at an instant, with a summary of each deal''s lists.';
