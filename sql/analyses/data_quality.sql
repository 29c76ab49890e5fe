-- What each check of data_quality counts.
CREATE VIEW _dealflow.quality_checks AS
FROM (VALUES
  ('usd_zero', 'Not converted to USD: 0 or none. Of bond deals or loan tranches.'),
  ('usd_off', 'The USD amount is more than 1 % off the amount times and by the stated rate. Of bond deals or loan tranches that state all three.'),
  ('unit_outlier_books', 'Final books are below 0.5 or above 20 times the nominal: their units may differ. Of deals that state both.'),
  ('unit_outlier_nominal', 'The nominal is at least 1e11 USD, or below 1e5: its unit may be wrong. Of converted bond deals or loan tranches.'),
  ('dangling_original', 'The original that an increase names does not stand. Of deals that name one.'),
  ('dangling_priced_deal', 'The priced deal that an expected one links to was never known. Of links.'),
  ('map_sum_off_investor_types', 'The shares of investor types add up to less than 97 or more than 103. Of deals that have them.'),
  ('map_sum_off_geographies', 'The shares of geographies add up to less than 97 or more than 103. Of deals that have them.'),
  ('duplicate_in_two_markets', 'Another market lists the same security and keeps it: does not count. Of all deals.'),
  ('duplicate_banks', 'One bank stands twice (loans: in a tranche), by name; two roles may be meant. Of deals with banks.'),
  ('unknown_banks', 'Names of banks that are not in the table of aliases. Of different names; the examples are deals that have them.'),
  ('unknown_borrowers', 'Names of borrowers that are not in the table of aliases. Of different names; the examples are deals that have them.'),
  ('pricing_date_missing', 'No day of pricing. Of all deals.'),
  ('pricing_in_future', 'Priced more than a day after the latest run. Of deals with a day of pricing.'),
  ('missing_currency', 'No currency. Of bond deals or loan tranches.')
) checks(name, note);

-- Checks of one amount; NULL where there is nothing to check. The direction of the rate is not documented.
CREATE MACRO _dealflow.usd_off(amount, usd, rate) AS CASE WHEN amount IS NOT NULL AND usd <> 0 AND rate <> 0 THEN
  abs(amount::DOUBLE * rate::DOUBLE - usd::DOUBLE) > abs(usd::DOUBLE) / 100 AND
  abs(amount::DOUBLE / rate::DOUBLE - usd::DOUBLE) > abs(usd::DOUBLE) / 100 END;
CREATE MACRO _dealflow.usd_outlier(usd) AS
  CASE WHEN usd <> 0 THEN usd >= 100000000000 OR usd > 0 AND usd < 100000 END;

-- data_quality: What is wrong or odd in the data as known, check by check, with examples.
-- after: parse_coverage
-- as of: data_quality({as_of})
--
-- Definition: One row per check and market where there is anything to check: value is how many fail, of total; share is
--   value / total; example: the least deal_ids that fail, at most five; note says what the check counts. Checks of the
--   texts are called unparsed_<table>.<column>: texts that could not be read, or in more than one way, of those that are
--   not NULL. All records are checked, those that count and those that do not.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: Deals, tranches, links, texts or names: see note; a share from 0 to 1.
-- Caveats: A failed check is a reason to look, not an error: taps may be listed without their original, and one bank may
--   have two roles. The direction of the rate is not documented: usd_off tries both.
-- Example: Where should one look first?
--   SELECT service, market, kind, name, value, total, round(share, 3) AS share, example
--   FROM data_quality WHERE value > 0 ORDER BY share DESC, value DESC, service, market, kind, name LIMIT 20
CREATE MACRO main.data_quality(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH today AS (
  SELECT main.utc_day(main.knowledge_at(as_of)) AS day
), bonds AS MATERIALIZED (
  SELECT market, deal_id, original_deal_id, pricing_date, currency, borrower_name, nominal_amount, nominal_usd, fx_rate_usd,
         stats_final_books, duplicate_of
  FROM _dealflow.bond_deals(as_of)
), loans AS MATERIALIZED (
  SELECT market, deal_id, priced_date, borrower_name FROM main.loan_priced_deals_as_of(as_of)
), spellings AS MATERIALIZED ( -- each looked at once
  SELECT spelt, _dealflow.normal_name(spelt) AS name
  FROM (SELECT name AS spelt FROM main.bond_priced_banks_as_of(as_of) UNION SELECT name FROM main.loan_priced_tranche_banks_as_of(as_of))
), bank_names AS MATERIALIZED ( -- as often as each stands in a deal or a loan's tranche
  SELECT 'bond' AS service, b.market, b.deal_id, s.name, count(*) AS times
  FROM main.bond_priced_banks_as_of(as_of) b JOIN spellings s ON s.spelt = b.name
  GROUP BY 2, 3, 4
  UNION ALL
  SELECT 'loan', b.market, b.deal_id, s.name, count(*)
  FROM main.loan_priced_tranche_banks_as_of(as_of) b JOIN spellings s ON s.spelt = b.name
  GROUP BY 2, 3, b.tranche_ordinal, 4
), borrower_names AS (
  SELECT 'bond' AS service, market, 'priced' AS kind, deal_id, _dealflow.normal_name(borrower_name) AS name FROM bonds
  UNION ALL
  SELECT 'loan', market, 'priced', deal_id, _dealflow.normal_name(borrower_name) FROM loans
  UNION ALL
  SELECT 'bond', market, 'expected', deal_id, _dealflow.normal_name(borrower_name) FROM main.bond_expected_deals_as_of(as_of)
  UNION ALL
  SELECT 'loan', market, 'expected', deal_id, _dealflow.normal_name(borrower_name) FROM main.loan_expected_deals_as_of(as_of)
), names AS (
  SELECT 'unknown_banks' AS name, service, market, 'priced' AS kind, min(deal_id) AS deal_id, name AS spelt
  FROM bank_names WHERE name IS NOT NULL GROUP BY service, market, spelt
  UNION ALL
  SELECT 'unknown_borrowers', service, market, kind, min(deal_id), name
  FROM borrower_names WHERE name IS NOT NULL GROUP BY service, market, kind, name
), declared AS (
  SELECT 'unknown_banks' AS name, _dealflow.normal_name(unnest([alias, canonical])) AS spelt FROM _dealflow.bank_alias
  UNION
  SELECT 'unknown_borrowers', _dealflow.normal_name(unnest([alias, canonical])) FROM _dealflow.borrower_alias
), checked AS ( -- one row per check and thing to check; failed is NULL where the check does not apply
  SELECT 'bond' AS service, d.market, 'priced' AS kind, d.deal_id, unnest([
           {name: 'usd_zero', failed: coalesce(d.nominal_usd, 0) = 0},
           {name: 'usd_off', failed: _dealflow.usd_off(d.nominal_amount, d.nominal_usd, d.fx_rate_usd)},
           {name: 'unit_outlier_books', failed: CASE WHEN d.stats_final_books > 0 AND d.nominal_amount > 0
                                                THEN d.stats_final_books / d.nominal_amount NOT BETWEEN 0.5 AND 20 END},
           {name: 'unit_outlier_nominal', failed: _dealflow.usd_outlier(d.nominal_usd)},
           {name: 'dangling_original', failed: CASE WHEN d.original_deal_id IS NOT NULL THEN o.deal_id IS NULL END},
           {name: 'duplicate_in_two_markets', failed: d.duplicate_of IS NOT NULL},
           {name: 'pricing_date_missing', failed: d.pricing_date IS NULL},
           {name: 'pricing_in_future', failed: d.pricing_date > today.day + 1},
           {name: 'missing_currency', failed: coalesce(trim(d.currency), '') = ''}]) AS verdict
  FROM bonds d
  CROSS JOIN today
  LEFT JOIN bonds o ON o.market = d.market AND o.deal_id = d.original_deal_id
  UNION ALL
  SELECT 'loan', d.market, 'priced', d.deal_id, unnest([
           {name: 'pricing_date_missing', failed: d.priced_date IS NULL},
           {name: 'pricing_in_future', failed: d.priced_date > today.day + 1}])
  FROM loans d
  CROSS JOIN today
  UNION ALL
  SELECT 'loan', t.market, 'priced', t.deal_id, unnest([
           {name: 'usd_zero', failed: coalesce(t.nominal_usd, 0) = 0},
           {name: 'usd_off', failed: _dealflow.usd_off(t.nominal_amount, t.nominal_usd, t.fx_rate_usd)},
           {name: 'unit_outlier_nominal', failed: _dealflow.usd_outlier(t.nominal_usd)},
           {name: 'missing_currency', failed: coalesce(trim(t.currency), '') = ''}])
  FROM main.loan_priced_tranches_as_of(as_of) t
  UNION ALL
  SELECT l.service, l.market, 'expected', l.deal_id, {name: 'dangling_priced_deal', failed: p.deal_id IS NULL}
  FROM (
    SELECT 'bond' AS service, market, deal_id, priced_deal_id FROM main.bond_expected_tranches_as_of(as_of)
    UNION ALL
    SELECT 'loan' AS service, market, deal_id, priced_deal_id FROM main.loan_expected_deals_as_of(as_of)
  ) l
  LEFT JOIN _dealflow.version_index p ON p.service = l.service AND p.market = l.market AND p.kind = 'priced'
   AND p.deal_id = l.priced_deal_id AND p.version = 1 AND p.valid_from <= as_of::TIMESTAMPTZ
  WHERE l.priced_deal_id IS NOT NULL
  UNION ALL
  SELECT 'bond', market, 'priced', deal_id, {name: 'map_sum_off_investor_types', failed: sum(value) NOT BETWEEN 97 AND 103}
  FROM main.bond_priced_investor_types_as_of(as_of) GROUP BY market, deal_id
  UNION ALL
  SELECT 'bond', market, 'priced', deal_id, {name: 'map_sum_off_geographies', failed: sum(value) NOT BETWEEN 97 AND 103}
  FROM main.bond_priced_geographies_as_of(as_of) GROUP BY market, deal_id
  UNION ALL
  SELECT service, market, 'priced', deal_id, {name: 'duplicate_banks', failed: max(times) > 1}
  FROM bank_names WHERE name IS NOT NULL GROUP BY service, market, deal_id
  UNION ALL
  SELECT n.service, n.market, n.kind, n.deal_id, {name: n.name, failed: d.spelt IS NULL}
  FROM names n
  LEFT JOIN declared d ON d.name = n.name AND d.spelt = n.spelt
), counted AS (
  SELECT service, market, kind, verdict.name AS name,
         count(*) FILTER (verdict.failed) AS value, count(verdict.failed) AS total,
         min(DISTINCT deal_id, 5) FILTER (verdict.failed) AS examples
  FROM checked
  GROUP BY 1, 2, 3, 4
  UNION ALL
  SELECT service, market, kind, 'unparsed_' || table_name || '.' || field,
         count(*) FILTER (status IN ('UNPARSED', 'AMBIGUOUS')), count(*),
         min(DISTINCT deal_id, 5) FILTER (status IN ('UNPARSED', 'AMBIGUOUS'))
  FROM _dealflow.texts_read(as_of)
  GROUP BY service, market, kind, table_name, field
)
SELECT c.service, c.market, c.kind, c.name, c.value, c.total, c.value / c.total AS share,
       array_to_string(c.examples, ', ') AS example,
       coalesce(q.note, 'The parser could not read the text, or in more than one way. Of texts.') AS note
FROM counted c
LEFT JOIN _dealflow.quality_checks q ON q.name = c.name
WHERE c.total > 0
ORDER BY c.service, c.market, c.kind, c.name;
COMMENT ON MACRO TABLE main.data_quality IS 'What is wrong or odd in the data as known, check by check, with examples.';

CREATE VIEW main.data_quality AS FROM main.data_quality();
COMMENT ON VIEW main.data_quality IS 'What is wrong or odd in the data as known, check by check, with examples. As of now.';
COMMENT ON COLUMN main.data_quality.service IS 'bond or loan.';
COMMENT ON COLUMN main.data_quality.market IS 'IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN main.data_quality.kind IS 'priced or expected.';
COMMENT ON COLUMN main.data_quality.name IS 'The check.';
COMMENT ON COLUMN main.data_quality.value IS 'How many fail.';
COMMENT ON COLUMN main.data_quality.total IS 'Of how many.';
COMMENT ON COLUMN main.data_quality.share IS 'value by total. From 0 to 1.';
COMMENT ON COLUMN main.data_quality.example IS 'The least deal_ids that fail, at most five.';
COMMENT ON COLUMN main.data_quality.note IS 'What the check counts, and of what.';
