-- The note of each check of data_quality.
CREATE VIEW _dealflow.quality_checks AS
FROM (VALUES
  ('usd_zero', 'The USD amount is 0 or missing. Total: bond deals or loan tranches.'),
  ('usd_off', 'The USD amount is more than 1 % off, whether the amount is multiplied or divided by the stated rate. Total: bond deals or loan tranches that state all three.'),
  ('unit_outlier_books', 'Final books are less than 0.5 or more than 20 times the nominal: their units may differ. Total: deals that state both.'),
  ('unit_outlier_nominal', 'The nominal is at least 1e11 USD, or less than 1e5: its unit may be wrong. Total: converted bond deals or loan tranches.'),
  ('dangling_original', 'An increase names an original that is not current. Total: deals that name one.'),
  ('dangling_priced_deal', 'An expected deal links to a priced deal that was never known. Total: links.'),
  ('map_sum_off_investor_types', 'The shares of investor types add up to less than 97 or more than 103. Total: deals with such shares.'),
  ('map_sum_off_geographies', 'The shares of geographies add up to less than 97 or more than 103. Total: deals with such shares.'),
  ('duplicate_in_two_markets', 'Another market lists the same security or tranche and keeps it, so it does not count. Total: all bond deals or loan tranches.'),
  ('duplicate_banks', 'A bank has two entries in a deal (loans: in a tranche), by name; it may have two roles. Total: deals with banks.'),
  ('unknown_banks', 'A bank''s name is not in the table of aliases. Total: distinct names; the examples are deals with such a name.'),
  ('unknown_roles', 'A bank''s role is in no list of roles, so it counts as no lead. Total: distinct roles; the examples are deals with such a role.'),
  ('maturity_off_tenor', 'The maturity (a day, a month, a year or a tenor as text) is more than six months off the tenor, counted from pricing. Total: loan tranches that state both.'),
  ('tenor_unit', 'The tenor is less than 12 or more than 480: its unit is not months, and it is not read. Total: loan tranches with a tenor.'),
  ('unknown_borrowers', 'A borrower''s name is not in the table of aliases. Total: distinct names; the examples are deals with such a name.'),
  ('pricing_date_missing', 'The pricing date is missing. Total: all deals.'),
  ('pricing_in_future', 'The pricing date is more than a day after the latest run. Total: deals with a pricing date.'),
  ('missing_currency', 'The currency is missing. Total: bond deals or loan tranches.')
) checks(name, note);

-- Checks of one amount; NULL if there is nothing to check. The direction of the rate is not documented.
CREATE MACRO _dealflow.usd_off(amount, usd, rate) AS CASE WHEN amount IS NOT NULL AND usd <> 0 AND rate <> 0 THEN
  abs(amount::DOUBLE * rate::DOUBLE - usd::DOUBLE) > abs(usd::DOUBLE) / 100 AND
  abs(amount::DOUBLE / rate::DOUBLE - usd::DOUBLE) > abs(usd::DOUBLE) / 100 END;
CREATE MACRO _dealflow.usd_outlier(usd) AS
  CASE WHEN usd <> 0 THEN usd >= 100000000000 OR usd > 0 AND usd < 100000 END;

-- Whether a loan's maturity is more than six months off its tenor in months. A maturity without a month can be any month of
-- its year; one without a year is a tenor too.
CREATE MACRO _dealflow.off_tenor(priced, months, maturity_year, maturity_month, maturity_tenor_years) AS
  CASE WHEN maturity_year IS NULL THEN abs(_dealflow.tenor_months(maturity_tenor_years, NULL) - months) > 6
       ELSE 12 * year(priced) + month(priced) + months
            NOT BETWEEN 12 * maturity_year + coalesce(maturity_month, 1) - 6 AND 12 * maturity_year + coalesce(maturity_month, 12) + 6 END;

-- One check of all rows of a group; failed is NULL for a row to which it does not apply.
CREATE MACRO _dealflow.verdict(name, failed, deal_id) AS {
  name: name, value: count(*) FILTER (failed), total: count(failed), examples: min(DISTINCT deal_id, 5) FILTER (failed)};

-- data_quality: Checks of the data as known: what is missing, odd or contradictory, with examples.
-- after: parse_coverage
-- as of: data_quality({as_of})
--
-- Definition: One row per check and market in which there is something to check. All records are checked,
--   duplicates too.
--   - value, total, share: number of failures, number checked, and value ÷ total.
--   - example: the lowest deal_ids that fail, at most five. Of names and roles: one deal, the lowest, of each.
--   - note: what the check counts.
--   - The checks `unparsed_<table>.<column>` count the texts that no parser could read, or that can be read in more than
--     one way. Their total is the texts that are not NULL.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: Deals, tranches, links, texts or names, as note says; share from 0 to 1.
-- Caveats: A failed check is a reason to look, not an error. A tap may be listed without its original, and one
--   bank may have two roles. The direction of the exchange rate is not documented, so usd_off tries both.
-- Example: Which checks fail most often?
--   SELECT service, market, kind, name, value, total, round(share, 3) AS share, example
--   FROM data_quality WHERE value > 0 ORDER BY share DESC, value DESC, service, market, kind, name LIMIT 20
CREATE MACRO main.data_quality(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH _today AS (
  SELECT main.utc_day(main.knowledge_at(as_of)) AS day
), _known AS NOT MATERIALIZED (
  FROM _dealflow.known_versions(as_of)
), _versions AS NOT MATERIALIZED (
  FROM _dealflow.versions_at(as_of)
), bonds AS MATERIALIZED (
  SELECT market, deal_id, original_deal_id, main.linked_market('bond', original_href) AS original_market, pricing_date, currency, borrower_name, nominal_amount, nominal_usd, fx_rate_usd,
         stats_final_books, duplicate_of
  FROM _dealflow.bond_deals(as_of)
), loans AS MATERIALIZED (
  SELECT market, deal_id, priced_date, borrower_name FROM main.loan_priced_deals_as_of(as_of)
), bank_texts AS MATERIALIZED ( -- the names and roles of banks, as written; loans state no role
  SELECT 'bond' AS service, market, name, status, min(deal_id) AS deal_id
  FROM main.bond_priced_banks_as_of(as_of) GROUP BY market, name, status
  UNION ALL
  SELECT 'loan', market, name, NULL, min(deal_id)
  FROM main.loan_priced_tranche_banks_as_of(as_of) GROUP BY market, name
), borrower_names AS (
  SELECT b.service, b.market, b.kind, b.deal_id, s.name
  FROM (
    SELECT 'bond' AS service, market, 'priced' AS kind, deal_id, borrower_name FROM bonds
    UNION ALL
    SELECT 'loan', market, 'priced', deal_id, borrower_name FROM loans
    UNION ALL
    SELECT 'bond', market, 'expected', deal_id, borrower_name FROM main.bond_expected_deals_as_of(as_of)
    UNION ALL
    SELECT 'loan', market, 'expected', deal_id, borrower_name FROM main.loan_expected_deals_as_of(as_of)
  ) b
  JOIN _dealflow.spelling s ON s.spelt = b.borrower_name
), names AS (
  SELECT 'unknown_banks' AS name, b.service, b.market, 'priced' AS kind, min(b.deal_id) AS deal_id, s.name AS spelt
  FROM bank_texts b JOIN _dealflow.spelling s ON s.spelt = b.name
  WHERE s.name IS NOT NULL GROUP BY b.service, b.market, s.name
  UNION ALL
  SELECT 'unknown_borrowers', service, market, kind, min(deal_id), name
  FROM borrower_names WHERE name IS NOT NULL GROUP BY service, market, kind, name
), roles AS (
  SELECT b.market, s.name AS role, min(b.deal_id) AS deal_id
  FROM bank_texts b JOIN _dealflow.spelling s ON s.spelt = b.status
  WHERE s.name IS NOT NULL GROUP BY b.market, s.name
), declared AS (
  SELECT 'unknown_banks' AS name, _dealflow.normal_name(unnest([alias, canonical])) AS spelt FROM _dealflow.bank_alias
  UNION
  SELECT 'unknown_borrowers', _dealflow.normal_name(unnest([alias, canonical])) FROM _dealflow.borrower_alias
), judged AS ( -- per market, what is checked in each row of a table
  SELECT 'bond' AS service, d.market, 'priced' AS kind, unnest([
           _dealflow.verdict('usd_zero', coalesce(d.nominal_usd, 0) = 0, d.deal_id),
           _dealflow.verdict('usd_off', _dealflow.usd_off(d.nominal_amount, d.nominal_usd, d.fx_rate_usd), d.deal_id),
           _dealflow.verdict('unit_outlier_books', _dealflow.books_outlier(d.stats_final_books, d.nominal_amount), d.deal_id),
           _dealflow.verdict('unit_outlier_nominal', _dealflow.usd_outlier(d.nominal_usd), d.deal_id),
           _dealflow.verdict('dangling_original', CASE WHEN d.original_deal_id IS NOT NULL THEN o.deal_id IS NULL END, d.deal_id),
           _dealflow.verdict('duplicate_in_two_markets', d.duplicate_of IS NOT NULL, d.deal_id),
           _dealflow.verdict('pricing_date_missing', d.pricing_date IS NULL, d.deal_id),
           _dealflow.verdict('pricing_in_future', d.pricing_date > _today.day + 1, d.deal_id),
           _dealflow.verdict('missing_currency', coalesce(trim(d.currency), '') = '', d.deal_id)]) AS verdict
  FROM bonds d
  CROSS JOIN _today
  LEFT JOIN bonds o ON o.market = d.original_market AND o.deal_id = d.original_deal_id
  GROUP BY d.market
  UNION ALL
  SELECT 'loan', d.market, 'priced', unnest([
           _dealflow.verdict('pricing_date_missing', d.priced_date IS NULL, d.deal_id),
           _dealflow.verdict('pricing_in_future', d.priced_date > _today.day + 1, d.deal_id)])
  FROM loans d
  CROSS JOIN _today
  GROUP BY d.market
  UNION ALL
  SELECT 'loan', t.market, 'priced', unnest([
           _dealflow.verdict('usd_zero', coalesce(t.nominal_usd, 0) = 0, t.deal_id),
           _dealflow.verdict('usd_off', _dealflow.usd_off(t.nominal_amount, t.nominal_usd, t.fx_rate_usd), t.deal_id),
           _dealflow.verdict('unit_outlier_nominal', _dealflow.usd_outlier(t.nominal_usd), t.deal_id),
           _dealflow.verdict('missing_currency', coalesce(trim(t.currency), '') = '', t.deal_id),
           _dealflow.verdict('duplicate_in_two_markets', t.duplicate_of IS NOT NULL, t.deal_id),
           _dealflow.verdict('tenor_unit', CASE WHEN t.tenor IS NOT NULL THEN t.tenor NOT BETWEEN 12 AND 480 END, t.deal_id),
           _dealflow.verdict('maturity_off_tenor', _dealflow.off_tenor(coalesce(t.pricing_date, t.priced_date),
              _dealflow.tenor_months(NULL, t.tenor), t.maturity_year, t.maturity_month, t.maturity_tenor_years), t.deal_id)])
  FROM _dealflow.loan_tranches(as_of) t
  GROUP BY t.market
), checked AS ( -- one row per other check and thing to check; failed is NULL where the check does not apply
  SELECT l.service, l.market, 'expected' AS kind, l.deal_id, {name: 'dangling_priced_deal', failed: p.deal_id IS NULL} AS verdict
  FROM (
    SELECT 'bond' AS service, market, deal_id, priced_deal_id, main.linked_market('bond', priced_deal_href) AS priced_market
    FROM main.bond_expected_tranches_as_of(as_of)
    UNION ALL
    SELECT 'loan' AS service, market, deal_id, priced_deal_id, main.linked_market('loan', priced_deal_href) AS priced_market
    FROM main.loan_expected_deals_as_of(as_of)
  ) l
  LEFT JOIN _known p ON p.service = l.service AND p.market = l.priced_market AND p.kind = 'priced'
   AND p.deal_id = l.priced_deal_id AND p.version = 1
  WHERE l.priced_deal_id IS NOT NULL
  UNION ALL
  SELECT 'bond', market, 'priced', deal_id, {name: 'map_sum_off_investor_types', failed: sum(value) NOT BETWEEN 97 AND 103}
  FROM main.bond_priced_investor_types_as_of(as_of) GROUP BY market, deal_id
  UNION ALL
  SELECT 'bond', market, 'priced', deal_id, {name: 'map_sum_off_geographies', failed: sum(value) NOT BETWEEN 97 AND 103}
  FROM main.bond_priced_geographies_as_of(as_of) GROUP BY market, deal_id
  UNION ALL
  SELECT b.service, b.market, 'priced', b.deal_id, {name: 'duplicate_banks', failed: b.repeated}
  FROM _dealflow.bank_count b
  JOIN _versions v
    ON v.service = b.service AND v.kind = 'priced' AND v.market = b.market AND v.deal_id = b.deal_id AND v.version = b.version
  UNION ALL
  SELECT n.service, n.market, n.kind, n.deal_id, {name: n.name, failed: d.spelt IS NULL}
  FROM names n
  LEFT JOIN declared d ON d.name = n.name AND d.spelt = n.spelt
  UNION ALL
  SELECT 'bond', r.market, 'priced', r.deal_id, {name: 'unknown_roles', failed: k.role IS NULL}
  FROM roles r
  LEFT JOIN _dealflow.bank_role k ON k.role = r.role
), counted AS (
  SELECT service, market, kind, verdict.name AS name,
         count(*) FILTER (verdict.failed) AS value, count(verdict.failed) AS total,
         min(DISTINCT deal_id, 5) FILTER (verdict.failed) AS examples
  FROM checked
  GROUP BY 1, 2, 3, 4
  UNION ALL
  SELECT service, market, kind, verdict.name, verdict.value, verdict.total, verdict.examples FROM judged
  UNION ALL
  SELECT service, market, kind, 'unparsed_' || table_name || '.' || field,
         _dealflow.texts_with(texts, _dealflow.is_unread(status)), sum(texts)::BIGINT,
         list_sort(list_distinct(flatten(list(unread) FILTER (_dealflow.is_unread(status)))))[1:5]
  FROM _dealflow.texts_read(as_of, true)
  GROUP BY service, market, kind, table_name, field
)
SELECT c.service, c.market, c.kind, c.name, c.value, c.total, c.value / c.total AS share,
       array_to_string(c.examples, ', ') AS example,
       coalesce(q.note, 'The parser could not read the text, or could read it in more than one way. Total: texts.') AS note
FROM counted c
LEFT JOIN _dealflow.quality_checks q ON q.name = c.name
WHERE c.total > 0
ORDER BY c.service, c.market, c.kind, c.name;
COMMENT ON MACRO TABLE main.data_quality IS 'Checks of the data as known: what is missing, odd or contradictory, with examples.';

CREATE VIEW main.data_quality AS FROM main.data_quality();
COMMENT ON VIEW main.data_quality IS 'Checks of the data as known: what is missing, odd or contradictory, with examples. As of now.';
COMMENT ON COLUMN main.data_quality.service IS 'bond or loan.';
COMMENT ON COLUMN main.data_quality.market IS 'IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN main.data_quality.kind IS 'priced or expected.';
COMMENT ON COLUMN main.data_quality.name IS 'Name of the check.';
COMMENT ON COLUMN main.data_quality.value IS 'Number of failures.';
COMMENT ON COLUMN main.data_quality.total IS 'Number of records, links, texts or names that were checked.';
COMMENT ON COLUMN main.data_quality.share IS 'value ÷ total, from 0 to 1.';
COMMENT ON COLUMN main.data_quality.example IS 'The lowest deal_ids that fail, at most five.';
COMMENT ON COLUMN main.data_quality.note IS 'What the check counts, and what its total is.';
