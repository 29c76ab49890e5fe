-- What the parsers read in each text, as known at an instant: one row per text that is not NULL. A text column that gets
-- a parser gets its line here. The year is that of pricing; for an expected deal, that of known_at.
CREATE MACRO _dealflow.texts_read(instant) AS TABLE
WITH texts AS (
  SELECT 'bond' AS service, t.market, 'priced' AS kind, 'bond_priced_deals' AS table_name, t.deal_id,
         year(t.pricing_date) AS year, t.parser_version,
         unnest([{field: 'pricing_time', text: t.pricing_time, status: t.pricing_time_status},
                 {field: 'cpn', text: t.cpn, status: t.cpn_status},
                 {field: 'non_bullet', text: t.non_bullet, status: t.non_bullet_status},
                 {field: 'spread', text: t.spread, status: t.spread_status},
                 {field: 'yield', text: t.yield, status: t.yield_status},
                 {field: 'gov', text: t.gov, status: t.gov_status},
                 {field: 'nip', text: t.nip, status: t.nip_status},
                 {field: 'swap', text: t.swap, status: t.swap_status},
                 {field: 'premium_nip', text: t.premium_nip, status: t.premium_nip_status},
                 {field: 'rating_moodys', text: t.rating_moodys, status: t.rating_moodys_status},
                 {field: 'rating_standard_and_poors', text: t.rating_standard_and_poors,
                  status: t.rating_standard_and_poors_status},
                 {field: 'rating_fitch', text: t.rating_fitch, status: t.rating_fitch_status}]) AS field_read
  FROM main.bond_priced_deals_as_of(instant) t
  UNION ALL
  SELECT 'bond' AS service, t.market, 'priced' AS kind, 'bond_priced_price_evolution' AS table_name, t.deal_id,
         year(d.pricing_date) AS year, t.parser_version,
         unnest([{field: 'value', text: t.value, status: t.value_status}]) AS field_read
  FROM main.bond_priced_price_evolution_as_of(instant) t
  JOIN main.bond_priced_deals_as_of(instant) d ON d.market = t.market AND d.deal_id = t.deal_id
  UNION ALL
  SELECT 'bond' AS service, t.market, 'expected' AS kind, 'bond_expected_tranches' AS table_name, t.deal_id,
         year(main.utc_day(t.known_at)) AS year, t.parser_version,
         unnest([{field: 'volume', text: t.volume, status: t.volume_status},
                 {field: 'structure', text: t.structure, status: t.structure_status},
                 {field: 'price_evolution', text: t.price_evolution, status: t.price_evolution_status},
                 {field: 'books', text: t.books, status: t.books_status},
                 {field: 'ratings_moodys', text: t.ratings_moodys, status: t.ratings_moodys_status},
                 {field: 'ratings_standard_and_poors', text: t.ratings_standard_and_poors,
                  status: t.ratings_standard_and_poors_status},
                 {field: 'ratings_fitch', text: t.ratings_fitch, status: t.ratings_fitch_status}]) AS field_read
  FROM main.bond_expected_tranches_as_of(instant) t
  UNION ALL
  SELECT 'loan' AS service, t.market, 'priced' AS kind, 'loan_priced_deals' AS table_name, t.deal_id,
         year(t.priced_date) AS year, t.parser_version,
         unnest([{field: 'borrower_leveraged_multiple', text: t.borrower_leveraged_multiple,
                  status: t.borrower_leveraged_multiple_status},
                 {field: 'borrower_ratings_moodys', text: t.borrower_ratings_moodys,
                  status: t.borrower_ratings_moodys_status},
                 {field: 'borrower_ratings_standard_and_poors', text: t.borrower_ratings_standard_and_poors,
                  status: t.borrower_ratings_standard_and_poors_status},
                 {field: 'borrower_ratings_fitch', text: t.borrower_ratings_fitch,
                  status: t.borrower_ratings_fitch_status}]) AS field_read
  FROM main.loan_priced_deals_as_of(instant) t
  UNION ALL
  SELECT 'loan' AS service, t.market, 'priced' AS kind, 'loan_priced_tranches' AS table_name, t.deal_id,
         year(d.priced_date) AS year, t.parser_version,
         unnest([{field: 'maturity', text: t.maturity, status: t.maturity_status},
                 {field: 'margin', text: t.margin, status: t.margin_status},
                 {field: 'oid', text: t.oid, status: t.oid_status},
                 {field: 'rating_moodys', text: t.rating_moodys, status: t.rating_moodys_status},
                 {field: 'rating_standard_and_poors', text: t.rating_standard_and_poors,
                  status: t.rating_standard_and_poors_status},
                 {field: 'rating_fitch', text: t.rating_fitch, status: t.rating_fitch_status}]) AS field_read
  FROM main.loan_priced_tranches_as_of(instant) t
  JOIN main.loan_priced_deals_as_of(instant) d ON d.market = t.market AND d.deal_id = t.deal_id
  UNION ALL
  SELECT 'loan' AS service, t.market, 'expected' AS kind, 'loan_expected_tranches' AS table_name, t.deal_id,
         year(main.utc_day(t.known_at)) AS year, t.parser_version,
         unnest([{field: 'volume', text: t.volume, status: t.volume_status},
                 {field: 'maturity', text: t.maturity, status: t.maturity_status},
                 {field: 'margin', text: t.margin, status: t.margin_status},
                 {field: 'oid', text: t.oid, status: t.oid_status}]) AS field_read
  FROM main.loan_expected_tranches_as_of(instant) t
)
SELECT service, market, kind, table_name, deal_id, year, parser_version,
       field_read.field AS field, field_read.status AS status
FROM texts
WHERE field_read.text IS NOT NULL;

-- parse_coverage: How many texts the parsers could read, by table, column and year.
-- as of: parse_coverage({as_of})
--
-- Definition: One row per market, text column, year and version of the parsers.
--   - year: for priced deals the year of pricing, for expected deals that of the version's known_at.
--   - texts: number of texts that are not NULL. The columns after it count them by status; ok is OK and OK_YIELD.
--   - parsed_share: (ok + range) ÷ (texts − no_number). That is the share read as a number or a range, of the texts
--     that should give one.
-- Parameters: as_of TIMESTAMPTZ: what was known at this instant; 'infinity', the default, is all that is known.
-- Units: Texts; a share from 0 to 1.
-- Caveats: parser_version is NULL for rows that were written before there were parsers. dealflow replay reads
--   their texts.
-- Example: Of which columns could the smallest share be read?
--   SELECT table_name, field, sum(texts) AS texts, sum(unparsed) AS unparsed,
--          round(sum(ok + range) / nullif(sum(texts - no_number), 0), 3) AS parsed_share
--   FROM parse_coverage GROUP BY table_name, field ORDER BY parsed_share, table_name, field
CREATE MACRO main.parse_coverage(as_of := 'infinity'::TIMESTAMPTZ) AS TABLE
WITH counts AS (
  SELECT service, market, table_name, field, year, parser_version, count(*) AS texts,
         count(*) FILTER (status IN ('OK', 'OK_YIELD')) AS ok,
         count(*) FILTER (status = 'RANGE') AS range,
         count(*) FILTER (status = 'VERBAL') AS verbal,
         count(*) FILTER (status = 'NO_NUMBER') AS no_number,
         count(*) FILTER (status = 'AMBIGUOUS') AS ambiguous,
         count(*) FILTER (status = 'UNPARSED') AS unparsed
  FROM _dealflow.texts_read(as_of)
  GROUP BY service, market, table_name, field, year, parser_version
)
SELECT service, market, table_name, field, year, texts, ok, range, verbal, no_number, ambiguous, unparsed,
       (ok + range) / nullif(texts - no_number, 0) AS parsed_share, parser_version
FROM counts
ORDER BY service, market, table_name, field, year, parser_version;
COMMENT ON MACRO TABLE main.parse_coverage IS 'How many texts the parsers could read, by table, column and year.';

CREATE VIEW main.parse_coverage AS FROM main.parse_coverage();
COMMENT ON VIEW main.parse_coverage IS 'How many texts the parsers could read, by table, column and year. As of now.';
COMMENT ON COLUMN main.parse_coverage.service IS 'bond or loan.';
COMMENT ON COLUMN main.parse_coverage.market IS 'IG, HY, EM, LL, CF or AF.';
COMMENT ON COLUMN main.parse_coverage.table_name IS 'The table with the text.';
COMMENT ON COLUMN main.parse_coverage.field IS 'The text column.';
COMMENT ON COLUMN main.parse_coverage.year IS 'Year of pricing; for expected deals, the year in which the version became known.';
COMMENT ON COLUMN main.parse_coverage.texts IS 'Number of texts: values that are not NULL.';
COMMENT ON COLUMN main.parse_coverage.ok IS 'Number of texts read as one number, or completely.';
COMMENT ON COLUMN main.parse_coverage.range IS 'Number of texts read as a range.';
COMMENT ON COLUMN main.parse_coverage.verbal IS 'Number of texts with words instead of a number.';
COMMENT ON COLUMN main.parse_coverage.no_number IS 'Number of texts that say that there is no number, or none yet.';
COMMENT ON COLUMN main.parse_coverage.ambiguous IS 'Number of texts that can be read in more than one way.';
COMMENT ON COLUMN main.parse_coverage.unparsed IS 'Number of texts that could not be read.';
COMMENT ON COLUMN main.parse_coverage.parsed_share IS 'Share of texts read as a number or a range, of those that should give one; from 0 to 1.';
COMMENT ON COLUMN main.parse_coverage.parser_version IS 'Version of the parsers that read the texts; NULL if none did.';
